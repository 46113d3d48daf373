//! The named checks about the client's requests, each met and not met.

use std::time::Duration;

use super::{Story, event};
use crate::engine::condition::Condition;
use crate::engine::expectation::RequestCheck;
use crate::engine::playbook::tools::{hold, message, rule};
use crate::engine::record::ExpectationTally;
use crate::monitor::expected::judge;

fn judged(story: Story, check: RequestCheck, within: Option<u64>) -> ExpectationTally {
    let mut tally = ExpectationTally::default();
    judge(&story.finish().watched(), check, within.map(Duration::from_millis), &mut tally);
    tally
}

/// How often it was judged and not met.
fn counts(story: Story, check: RequestCheck, within: Option<u64>) -> (u64, u64) {
    let tally = judged(story, check, within);
    (tally.checked, tally.failed)
}

/// A session and a call that takes so long.
fn answered_after(ms: u64) -> Story {
    let mut story = Story::opened(vec![]);
    story.play.calls("a", 1).waits(ms).answers("a", 1);
    story
}

#[test]
fn each_request_is_settled_and_soon_enough() {
    assert_eq!(counts(answered_after(2_000), RequestCheck::Settled, None), (2, 0), "initialize is one of them");
    assert_eq!(counts(answered_after(2_000), RequestCheck::Settled, Some(2_000)), (2, 0));
    let late = judged(answered_after(2_001), RequestCheck::Settled, Some(2_000));
    assert_eq!((late.failed, late.failures[0].what.as_deref()), (1, Some("tools/call id 1 was answered after 2.0 s")));
    assert_eq!(late.failures[0].saw[0].key, "s1/post:1");
    let mut open = Story::opened(vec![]);
    open.play.calls("a", 1).streams("a").waits(3_000);
    let tally = judged(open, RequestCheck::Settled, None);
    assert_eq!(tally.failures[0].what.as_deref(), Some("tools/call id 1 was open for 3.0 s, to the end"));
}

#[test]
fn what_a_rule_withholds_does_not_count() {
    let mut story = Story::opened(vec![rule("r", message("answer"), hold(Condition::Never))]);
    story.play.calls("a", 1).streams("a").data("a", &crate::engine::playbook::tools::answer(1));
    let (checked, failed) = counts(story, RequestCheck::Settled, None);
    assert_eq!((checked, failed), (0, 0), "the answer to initialize is withheld as well");
}

#[test]
fn a_cancel_of_what_had_ended_is_one_and_a_cancel_of_what_runs_is_none() {
    let cancelled = |ended: bool| {
        let mut story = Story::opened(vec![]);
        story.play.calls("a", 1).streams("a");
        if ended {
            story.play.ends("a");
        }
        story.play.waits(5_000);
        story.cancels("c", 1);
        counts(story, RequestCheck::NoLateCancel, None)
    };
    assert_eq!((cancelled(true), cancelled(false)), ((2, 1), (2, 0)));
}

#[test]
fn a_cancel_of_a_question_that_crossed_no_stream_is_one() {
    let cancelled = |asked: bool| {
        let mut story = Story::opened(vec![]);
        story.play.gets("get").streams("get");
        if asked {
            let question = r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{}}"#;
            story.play.data("get", &event("g-1", question));
        }
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
        story.play.data("get", &event("g-2", cancel));
        counts(story, RequestCheck::NoLostRequest, None)
    };
    assert_eq!((cancelled(false), cancelled(true)), ((1, 1), (1, 0)));
}
