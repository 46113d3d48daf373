//! The hang detector: who is named, when, and who is not.

use std::time::Duration;

use super::Story;
use crate::engine::condition::Condition;
use crate::engine::playbook::tools::{answer, glob, hold, message, notification, rule};
use crate::engine::selector::Selector;

/// A call that streams, watched until then.
fn begun(rules: Vec<crate::engine::rule::Rule>) -> Story {
    let mut story = Story::opened(rules);
    story.play.calls("a", 1).streams("a");
    story.watch();
    story
}

fn seconds(time: u64) -> Duration {
    Duration::from_secs(time)
}

#[test]
fn a_request_on_which_nothing_happens_is_named_once_with_what_its_legs_did_last() {
    let mut story = begun(vec![]);
    assert_eq!(story.watcher.next_due(), Some(seconds(30)));
    assert_eq!(story.watcher.tick(seconds(29)), Vec::<String>::new());
    let named = story.watcher.tick(seconds(30));
    let expected = "tools/call id 1 has no answer and is quiet: open 30.0 s (s1/post:1); last on the client's leg: head 30.0 s \
                    ago; on the server's leg: head 30.0 s ago";
    assert_eq!(named, [expected]);
    assert_eq!((story.watcher.next_due(), story.watcher.tick(seconds(99))), (None, vec![]), "it was named");
}

#[test]
fn an_event_makes_it_wait_anew_and_a_comment_does_not() {
    for (said, due) in [(notification(1), 50), (": still here\n\n".to_owned(), 30)] {
        let mut story = begun(vec![]);
        story.play.waits(20_000).data("a", &said);
        story.watch();
        assert_eq!(story.watcher.next_due(), Some(seconds(due)), "{said:?}");
    }
}

#[test]
fn what_was_answered_is_not_waited_for() {
    let mut story = begun(vec![]);
    story.play.data("a", &answer(1)).ends("a");
    story.watch();
    assert_eq!(story.watcher.next_due(), None);
}

#[test]
fn what_a_rule_holds_is_not_named_and_is_listed_with_the_rule() {
    let answers = Selector { method: glob("tools/call"), ..message("answer") };
    let mut story = begun(vec![rule("r", answers, hold(Condition::Never))]);
    story.play.data("a", &answer(1));
    story.watch();
    assert_eq!(story.watcher.tick(seconds(30)), Vec::<String>::new());
    assert_eq!(story.watcher.next_due(), Some(seconds(60)), "it is looked at again");
    let listed = story.watcher.open_requests(seconds(31));
    assert!(listed[0].starts_with("tools/call id 1, held by r: open 31.0 s (s1/post:1)"), "{listed:?}");
}
