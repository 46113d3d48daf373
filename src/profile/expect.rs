//! Reads an `[[expect]]`. Its form is checked whole; counting is not built yet, so nothing is made of it.

use super::read::Reader;
use super::schema::EXPECT;
use super::tree::Node;

impl Reader<'_> {
    /// Checks an expectation.
    pub(super) fn expectation(&mut self, node: &Node) {
        let params = self.table("the expectation", node, &[&EXPECT]);
        match (node.entry("match"), node.entry("that")) {
            (None, None) => {
                let what = "the expectation counts nothing";
                self.report.wrong(&node.spot, what, "write `match`, or `that` for a named check");
            }
            (Some(_), Some(that)) => {
                self.report.wrong(&that.spot, "`match` and `that` together", "write one of them");
            }
            (None, Some(that)) if params.written("count").is_some() => {
                self.report.wrong(&that.spot, "a named check does not count", "remove `count`");
            }
            _ => {}
        }
        self.report.not_built(&node.spot, "[[expect]]");
    }
}
