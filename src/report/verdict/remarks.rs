//! What a reader of the verdict would not guess from the rules: what they could not do, and server's legs that outlived the
//! run.
//!
//! The one rule: a line names the exchange it is about.

use super::count;
use crate::engine::record::{Remark, Summary};
use crate::report::names::{self, Methods};

/// How many are named.
const NAMED: usize = 3;

/// What rules could not do, or did otherwise than they say.
pub(super) fn lines(summary: &Summary) -> impl Iterator<Item = String> {
    summary.remarks.iter().map(|remark| {
        let Remark { key, what } = remark;
        let point = key.rsplit('/').next().is_some_and(|own| own.contains('#'));
        let name =
            if point { names::point(key, &summary.methods) } else { names::exchange_stream(key, &summary.methods) };
        format!("{name}: {what}")
    })
}

/// Legs that rules had left open, and that were open still when the run ended.
pub(super) fn left_open(summary: &Summary) -> Option<String> {
    let open = summary.left_open.len();
    let mut names: Vec<String> = summary.left_open.iter().take(NAMED).map(|key| named(key, &summary.methods)).collect();
    if open > NAMED {
        names.push(format!("{} more", open - NAMED));
    }
    let legs = count(u64::try_from(open).unwrap_or(u64::MAX), "leg");
    let were = if open == 1 { "was" } else { "were" };
    (open > 0).then(|| {
        format!(
            "{legs} of the server's, left open by rules, {were} open still when the run ended: {}",
            names.join(", ")
        )
    })
}

/// An exchange, or a request that was sent in its name.
fn named(key: &str, methods: &Methods) -> String {
    match key.rsplit_once('/') {
        Some((exchange, point)) if point.contains('#') => {
            format!("what was sent beside {}", names::exchange_stream(exchange, methods))
        }
        _ => names::exchange_stream(key, methods),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_could_not_do_is_said_of_its_exchange_or_point() {
        let remark = |key: &str| Remark { key: key.to_owned(), what: "no".to_owned() };
        let remarks = vec![remark("s1/post:1"), remark("s1/get:1/block#2")];
        let methods = Methods::from([("s1/post:1".to_owned(), "tools/call".to_owned())]);
        let summary = Summary { remarks, methods, ..Summary::default() };
        let said: Vec<_> = lines(&summary).collect();
        assert_eq!(said, ["POST tools/call id 1: no", "block 2 of GET: no"]);
    }

    #[test]
    fn legs_that_are_open_still_are_counted_and_the_first_are_named() {
        let said = |keys: &[&str]| {
            let methods = Methods::from([("s1/post:1".to_owned(), "tools/call".to_owned())]);
            let left_open = keys.iter().map(|&key| key.to_owned()).collect();
            super::left_open(&Summary { left_open, methods, ..Summary::default() })
        };
        assert_eq!(said(&[]), None);
        let one = "1 leg of the server's, left open by rules, was open still when the run ended: POST tools/call id 1";
        assert_eq!(said(&["s1/post:1"]).as_deref(), Some(one));
        let many = "5 legs of the server's, left open by rules, were open still when the run ended: GET, what was sent \
                    beside POST tools/call id 1, GET 2, 2 more";
        let keys = ["s1/get:1", "s1/post:1/sent#2", "s1/get:2", "s1/get:3", "s1/get:4"];
        assert_eq!(said(&keys).as_deref(), Some(many));
    }
}
