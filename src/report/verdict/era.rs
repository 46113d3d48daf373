//! Rules that the protocol's era left without anything to match: by their profile's `era`, or by what they ask for.
//!
//! The one rule: nothing is said of a rule that matched, nor where no era was seen.

use std::collections::BTreeMap;

use crate::engine::era::{Era, Eras};
use crate::engine::record::Summary;

/// Of the rules that may stay unfired, those: why the others failed is a reason of its own.
pub(super) fn notes(summary: &Summary, profiles: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let unmatched = summary.rules.iter().filter(|rule| rule.optional && rule.matched == 0);
    unmatched.filter_map(|rule| why(&rule.name, summary, profiles)).collect()
}

/// Why this rule could match nothing in the eras seen.
pub(super) fn why(rule: &str, summary: &Summary, profiles: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let seen = seen(&summary.eras);
    if summary.eras.is_empty() {
        return None;
    }
    let of = rule.rsplit_once('/').and_then(|(profile, _)| profiles.get(profile)).filter(|eras| !eras.is_empty());
    if let Some(eras) = of.filter(|eras| !summary.eras.keys().any(|era| eras.iter().any(|word| word == era.word()))) {
        let eras: Vec<&str> = eras.iter().map(String::as_str).collect();
        return Some(format!("rule \"{rule}\" is for the {} era, and what crossed was {seen}", eras.join(" or ")));
    }
    let foreign = summary.foreign.iter().find(|foreign| foreign.rule == rule)?;
    let eras: Vec<&str> = foreign.of.iter().map(|era| era.word()).collect();
    let by = foreign.by;
    let only = if eras.is_empty() { "of no era".to_owned() } else { format!("of the {} era only", eras.join(" or ")) };
    Some(format!("rule \"{rule}\" can match nothing here: {by} is {only}, and what crossed was {seen}"))
}

/// `the session era (2025-11-25)`.
fn seen(eras: &Eras) -> String {
    let one = |(era, versions): (&Era, &std::collections::BTreeSet<String>)| {
        let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
        let versions = if versions.is_empty() { String::new() } else { format!(" ({})", versions.join(", ")) };
        format!("the {} era{versions}", era.word())
    };
    eras.iter().map(one).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::{Foreign, RuleTally};

    fn summary(seen: Era, matched: u64) -> Summary {
        Summary {
            rules: vec![RuleTally { name: "p#2/listen".into(), matched, optional: true, ..RuleTally::default() }],
            eras: Eras::from([(seen, ["2025-11-25".to_owned()].into())]),
            foreign: vec![Foreign { rule: "p#2/listen".into(), of: vec![Era::Modern], by: "its stream" }],
            ..Summary::default()
        }
    }

    fn said(summary: &Summary, era: &[&str]) -> Vec<String> {
        let era = era.iter().map(|era| (*era).to_owned()).collect();
        notes(summary, &BTreeMap::from([("p#2".to_owned(), era)]))
    }

    #[test]
    fn a_rule_of_another_era_is_named_with_what_was_seen() {
        let session = summary(Era::Session, 0);
        assert_eq!(
            said(&session, &["modern", "legacy"]),
            ["rule \"p#2/listen\" is for the modern or legacy era, and what crossed was the session era (2025-11-25)"]
        );
        let by_stream = "rule \"p#2/listen\" can match nothing here: its stream is of the modern era only, and what crossed \
                         was the session era (2025-11-25)";
        assert_eq!(said(&session, &[]), [by_stream]);
        assert_eq!(said(&session, &["session"]), [by_stream]);
    }

    #[test]
    fn nothing_is_said_of_a_rule_that_matched_or_where_no_era_was_seen() {
        assert!(said(&summary(Era::Session, 1), &["modern"]).is_empty());
        let unknown = Summary { eras: Eras::new(), ..summary(Era::Session, 0) };
        assert!(said(&unknown, &["modern"]).is_empty());
    }
}
