//! What became of a request, in each of the published words; who closed first, and what each leg did last.

use super::{Story, cancel, event, request};
use crate::engine::condition::Condition;
use crate::engine::event::Ending;
use crate::engine::fault::Fault;
use crate::engine::fault::cut::Place;
use crate::engine::playbook::tools::{answer, cut, hold, message, notification, of, rule};
use crate::engine::selector::At;
use crate::monitor::{Close, Closer, Outcome};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[test]
fn an_answer_on_its_own_stream_is_answered_and_one_behind_a_resume_resumed() {
    let mut story = Story::opened(vec![]);
    story.play.calls("a", 1).answers("a", 1);
    story.play.calls("b", 2).streams("b").data("b", &event("b-0", "")).ends("b");
    story.watch();
    assert_eq!(request(&story.watcher, 2).outcome, Outcome::Told);
    story.resumes("r", "b-0").streams("r");
    story.watch();
    assert_eq!(request(&story.watcher, 2).outcome, Outcome::Open, "the client waits on the resume");
    story.play.data("r", &answer(2)).ends("r");
    let watcher = story.finish();
    assert_eq!([request(&watcher, 1).outcome, request(&watcher, 2).outcome], [Outcome::Answered, Outcome::Resumed]);
    assert_eq!(watcher.watched().counts[&Outcome::Answered], 2, "initialize is one of them");
}

#[test]
fn a_stream_that_ends_breaks_or_is_refused_without_the_answer_is_told() {
    for ending in [Ending::Eof, Ending::Fin, Ending::Reset] {
        let mut story = Story::opened(vec![]);
        story.play.calls("a", 1).streams("a").data("a", &notification(1)).waits(7).ends_as("a", ending);
        let watcher = story.finish();
        let told = request(&watcher, 1);
        assert_eq!((told.outcome, told.settled), (Outcome::Told, Some(7_000)));
        let close = told.closed.as_ref().map(|Close { by, ending, .. }| (by.clone(), ending.clone()));
        assert_eq!(close, Some((Closer::Server, ending.word().to_owned())));
        assert_eq!((told.server.what.as_str(), told.rule.as_deref()), ("end#1", None));
    }
    let mut story = Story::opened(vec![]);
    story.play.calls("a", 1).head("a", 503, &[("content-type", "text/html")]).data("a", "busy").ends("a");
    let watcher = story.finish();
    assert_eq!((request(&watcher, 1).outcome, request(&watcher, 1).refused), (Outcome::Told, Some(503)));
}

#[test]
fn a_rule_that_ends_the_stream_is_named_and_the_client_was_told() {
    let rule = rule("cut", message("answer"), Fault::Cut(cut(Ending::Reset, Place::Before)));
    let mut story = Story::opened(vec![rule]);
    story.play.calls("a", 1).answers("a", 1);
    let watcher = story.finish();
    let told = request(&watcher, 1);
    assert_eq!((told.outcome, told.rule.as_deref()), (Outcome::Told, Some("cut")));
    assert_eq!(told.closed.as_ref().map(|close| &close.by), Some(&Closer::Rule("cut".to_owned())));
}

#[test]
fn a_client_that_cancels_or_leaves_has_settled_its_request() {
    let mut story = Story::opened(vec![]);
    story.play.calls("a", 1).streams("a");
    story.cancels("c", 1);
    story.play.data("a", &answer(1)).ends("a");
    story.play.calls("b", 2).streams("b").leaves("b");
    let watcher = story.finish();
    assert_eq!([request(&watcher, 1).outcome, request(&watcher, 2).outcome], [Outcome::Cancelled, Outcome::Left]);
    assert_eq!(request(&watcher, 2).closed.as_ref().map(|close| &close.by), Some(&Closer::Client));
    assert_eq!(
        watcher.leaves().map(|leave| (&*leave.key, leave.seen.is_some())).collect::<Vec<_>>(),
        [("s1/post:2", true)]
    );
}

#[test]
fn what_a_rule_keeps_is_withheld_by_it_and_without_the_rule_the_same_is_open() {
    let never = || hold(Condition::Never);
    let stall = Fault::Cut(cut(Ending::Stall, Place::Before));
    for fault in [
        rule("r", message("answer"), never()),
        rule("r", of(At::Head, "tools/call"), never()),
        rule("r", message("answer"), stall),
    ] {
        let mut story = Story::opened(vec![fault]);
        story.play.calls("a", 1).streams("a").data("a", &answer(1));
        let watcher = story.finish();
        let withheld = request(&watcher, 1);
        assert_eq!((withheld.outcome, withheld.rule.as_deref()), (Outcome::Withheld, Some("r")));
    }
    let mut story = Story::opened(vec![]);
    story.play.calls("a", 1).streams("a").data("a", &notification(1));
    let watcher = story.finish();
    assert_eq!((request(&watcher, 1).outcome, request(&watcher, 1).settled), (Outcome::Open, None));
}

#[test]
fn an_answer_that_nobody_looks_into_is_taken_for_one() {
    let mut story = Story::opened(vec![]);
    let encoded = [("content-type", "application/json"), ("content-encoding", "gzip")];
    story.play.calls("a", 1).head("a", 200, &encoded).data("a", "?").ends("a");
    story.play.calls("b", 2).head("b", 200, &[("content-type", "application/json")]).ends_with("b", ANSWER);
    let watcher = story.finish();
    assert_eq!(request(&watcher, 1).outcome, Outcome::Answered);
    assert_eq!(request(&watcher, 2).outcome, Outcome::Told, "it answers id 1");
}

#[test]
fn what_is_accepted_is_answered_on_the_stream_of_2024_11_05_or_lost_with_it() {
    let sse = [(":target", "/sse"), ("accept", "text/event-stream")];
    let play = |answered: bool| {
        let mut story = Story::with(vec![]);
        story.play.sends("g", "GET", &sse, "").streams("g").data("g", "event: endpoint\ndata: /messages?s=1\n\n");
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
        story.play.sends("c", "POST", &[(":target", "/messages?s=1")], call).head("c", 202, &[]).ends("c");
        if answered {
            story.play.data("g", &answer(1));
        }
        story.play.ends("g");
        request(&story.finish(), 1).outcome
    };
    assert_eq!([play(true), play(false)], [Outcome::Answered, Outcome::Told]);
}

#[test]
fn a_long_run_forgets_what_was_answered_and_counts_it() {
    let mut story = Story::opened(vec![]);
    story.play.calls("open", 1).streams("open");
    for id in 2..2_100 {
        story.play.calls("a", id).answers("a", id);
    }
    let watched = story.finish().watched();
    assert_eq!((watched.requests.len(), watched.forgotten), (2_000, 100));
    assert_eq!((watched.counts[&Outcome::Answered], watched.counts[&Outcome::Open]), (2_099, 1));
    assert!(watched.requests.iter().any(|request| request.outcome == Outcome::Open), "the open one is kept");
}

#[test]
fn a_cancel_that_came_before_the_answer_left_is_a_cancel() {
    let hold = rule("hold", message("answer"), hold(crate::engine::playbook::tools::after(50)));
    let mut story = Story::opened(vec![hold]);
    story.play.calls("a", 1).streams("a").data("a", &answer(1));
    story.play.posts("c", &cancel(1)).head("c", 202, &[]).ends("c").waits(60);
    assert_eq!(request(&story.finish(), 1).outcome, Outcome::Cancelled);
}
