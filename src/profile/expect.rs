//! Reads an `[[expect]]`. Its form is checked whole; counting is not built yet, so nothing is made of it.

use super::problem::ProblemKind;
use super::read::Reader;
use super::schema::EXPECT;
use super::tree::Node;

impl Reader<'_> {
    /// Checks an expectation; `before` problems were known when its variables were not filled in yet.
    pub(super) fn expectation(&mut self, node: &Node, before: usize) {
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
        // One mistake is one line: that expectations are not built is the news only where nothing else is wrong.
        let found = self.report.undo(before);
        let wrong: Vec<_> = found.into_iter().filter(|problem| problem.kind == ProblemKind::Wrong).collect();
        if wrong.is_empty() {
            self.report.not_built(&node.spot, "[[expect]]");
        }
        self.report.redo(wrong);
        // Nothing is made of it, so what may be wrong with it misleads nobody.
        self.report.take_doubts();
    }
}
