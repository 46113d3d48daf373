//! What became of the expectations: a line for each, with what was expected and, where it was not met, what was seen.
//!
//! The one rule: one that was never asked is not held (rule R34), and its reason is said once.

use super::reason::{Kind, Reason};
use crate::engine::record::{ExpectationEntry, ExpectationTally, SawEntry, Summary};
use crate::journal::{ExpectationLine, ExpectationState};
use crate::report::names::{Methods, point};
use crate::report::words::{count, span};

/// Each expectation, in written order.
pub(super) fn judged(summary: &Summary) -> Vec<ExpectationLine> {
    let line = |tally: &ExpectationTally| ExpectationLine {
        name: tally.name.clone(),
        state: state(tally),
        why: why(tally, &summary.methods),
        checked: tally.checked,
    };
    summary.expectations.iter().map(line).collect()
}

/// One of [`judged`], as it stands on the screen.
#[must_use]
pub fn line(it: &ExpectationLine) -> String {
    let ExpectationLine { name, why, checked, .. } = it;
    match it.state {
        ExpectationState::Held => format!("{name}: held, {}: {why}", count(*checked, "time")),
        ExpectationState::Failed => format!("{name}: FAILED: {why}"),
        ExpectationState::Vacuous => format!("{name}: vacuous: {why}"),
    }
}

/// Those that fail the run. One may be allowed not to be asked; where a rule that never had an effect is why, that has been said.
pub(super) fn reasons(summary: &Summary) -> Vec<Reason> {
    let fruitless = |rule: &String| {
        summary.rules.iter().any(|tally| tally.name == *rule && tally.effective == 0 && !tally.optional)
    };
    let said = |tally: &ExpectationTally| !tally.waits_for.is_empty() && tally.waits_for.iter().all(fruitless);
    let reason = |tally: &ExpectationTally| {
        let (name, why) = (&tally.name, why(tally, &summary.methods));
        match state(tally) {
            ExpectationState::Held => None,
            ExpectationState::Failed => {
                Some(Reason::of(Kind::Expectation, name, format!("expectation \"{name}\" failed: {why}")))
            }
            ExpectationState::Vacuous if tally.optional || said(tally) => None,
            ExpectationState::Vacuous => {
                Some(Reason::of(Kind::Vacuous, name, format!("expectation \"{name}\" was never asked: {why}")))
            }
        }
    };
    summary.expectations.iter().filter_map(reason).collect()
}

fn state(tally: &ExpectationTally) -> ExpectationState {
    match (tally.failed, tally.checked) {
        (0, 0) => ExpectationState::Vacuous,
        (0, _) => ExpectationState::Held,
        (_, _) => ExpectationState::Failed,
    }
}

fn why(tally: &ExpectationTally, methods: &Methods) -> String {
    let ExpectationTally { expected, after, checked, failed, unfollowed, .. } = tally;
    let unfollowed = match unfollowed {
        0 => String::new(),
        number => format!("; not followed to the end {}, too many were open", count(*number, "time")),
    };
    let text = match (state(tally), tally.failures.first(), &tally.void) {
        (ExpectationState::Held, ..) => expected.clone(),
        (_, Some(first), _) => {
            let often =
                if *checked > 1 { format!(" ({failed} of {})", count(*checked, "time")) } else { String::new() };
            format!("expected {expected}; {}{often}", saw(first, methods))
        }
        (_, None, Some(void)) => void.clone(),
        (_, None, None) if after.is_empty() => format!("nothing crossed that could tell: {expected}"),
        (_, None, None) => format!("it was never true that {after}"),
    };
    text + &unfollowed
}

/// `saw request of GET 2 1.2 s after end of POST tools/call id 1`.
fn saw(it: &ExpectationEntry, methods: &Methods) -> String {
    let session = it.session.filter(|session| *session > 1).map(|session| format!(" in session {session}"));
    let session = session.unwrap_or_default();
    let place = |saw: &SawEntry| point(&saw.key, methods);
    if let Some(what) = &it.what {
        let places = it.saw.iter().map(place).collect::<Vec<_>>().join(", ");
        return if places.is_empty() { what.clone() } else { format!("{places}: {what}{session}") };
    }
    let since = match &it.after {
        Some(after) => format!("after {}", point(after, methods)),
        None => "after the first that crossed".to_owned(),
    };
    let later = |saw: &SawEntry| format!("{} {} later", place(saw), span(saw.at.saturating_sub(it.since)));
    match it.seen {
        0 => format!("saw none {since}{session}"),
        seen => {
            let last = it.saw.iter().map(later).collect::<Vec<_>>().join(", ");
            let more = if it.saw.len() as u64 == seen { ":" } else { ", the last:" };
            format!("saw {seen} {since}{session}{more} {last}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::RuleTally;

    fn entry(after: Option<&str>, seen: u64, saw: &[(&str, u64)]) -> ExpectationEntry {
        let saw: Vec<_> = saw.iter().map(|(key, at)| SawEntry { key: (*key).to_owned(), at: *at }).collect();
        ExpectationEntry { after: after.map(str::to_owned), since: 1_000_000, seen, saw, ..ExpectationEntry::default() }
    }

    fn tally(checked: u64, failures: Vec<ExpectationEntry>) -> ExpectationTally {
        ExpectationTally {
            name: "late/soon".to_owned(),
            expected: "at least 1 resume".to_owned(),
            after: "late/cut has acted".to_owned(),
            waits_for: vec!["late/cut".to_owned()],
            checked,
            failed: failures.len() as u64,
            failures,
            ..ExpectationTally::default()
        }
    }

    fn screen(tally: ExpectationTally) -> String {
        judged(&Summary { expectations: vec![tally], ..Summary::default() }).iter().map(line).collect()
    }

    #[test]
    fn a_line_says_what_was_expected_and_what_was_seen_where() {
        assert_eq!(screen(tally(2, vec![])), "late/soon: held, 2 times: at least 1 resume");
        let none = entry(Some("s1/post:1/block#2"), 0, &[]);
        assert_eq!(
            screen(tally(1, vec![none.clone()])),
            "late/soon: FAILED: expected at least 1 resume; saw none after block 2 of POST id 1"
        );
        let two = entry(None, 5, &[("s1/get:4/request#1", 1_100_000), ("s1/get:5/request#1", 3_000_000)]);
        assert_eq!(
            screen(tally(3, vec![ExpectationEntry { session: Some(2), ..two }, none])),
            "late/soon: FAILED: expected at least 1 resume; saw 5 after the first that crossed in session 2, the last: \
             request of GET 4 100 ms later, request of GET 5 2.0 s later (2 of 3 times)"
        );
        let wrong = entry(None, 1, &[("s1/resume:1(post:1)/request#1", 1)]);
        assert_eq!(
            screen(tally(1, vec![ExpectationEntry { what: Some("the wrong id".to_owned()), ..wrong }])),
            "late/soon: FAILED: expected at least 1 resume; request of resume of POST id 1: the wrong id"
        );
        assert_eq!(screen(tally(0, vec![])), "late/soon: vacuous: it was never true that late/cut has acted");
    }

    #[test]
    fn what_could_not_be_followed_or_asked_is_said() {
        let many = ExpectationTally { unfollowed: 7, ..tally(1, vec![]) };
        assert!(screen(many).ends_with("at least 1 resume; not followed to the end 7 times, too many were open"));
        let void = ExpectationTally { void: Some("no command ran".to_owned()), ..tally(0, vec![]) };
        assert_eq!(screen(void), "late/soon: vacuous: no command ran");
        let quiet = ExpectationTally { after: String::new(), ..tally(0, vec![]) };
        assert_eq!(screen(quiet), "late/soon: vacuous: nothing crossed that could tell: at least 1 resume");
    }

    #[test]
    fn a_failure_is_3_and_one_that_was_never_asked_4_unless_its_rule_is_to_blame() {
        let codes = |tally: ExpectationTally, effective| {
            let rule = RuleTally { name: "late/cut".to_owned(), effective, ..RuleTally::default() };
            let summary = Summary { rules: vec![rule], expectations: vec![tally], ..Summary::default() };
            reasons(&summary).into_iter().map(|reason| reason.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(tally(1, vec![entry(None, 0, &[])]), 1), [3]);
        assert_eq!(codes(tally(1, vec![]), 1), [0_u8; 0]);
        assert_eq!(codes(tally(0, vec![]), 1), [4]);
        assert_eq!(codes(tally(0, vec![]), 0), [0_u8; 0], "that the rule never had an effect has been said");
        let other = ExpectationTally { waits_for: Vec::new(), ..tally(0, vec![]) };
        assert_eq!(codes(other.clone(), 0), [4]);
        assert_eq!(codes(ExpectationTally { optional: true, ..other }, 0), [0_u8; 0]);
    }
}
