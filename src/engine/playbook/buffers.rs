//! Buffered bodies: what is kept until when, and that nothing else changes.

use super::super::condition::{Condition, Leg, Same, Seen};
use super::super::engine::LANE_LIMIT;
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::buffer::{Buffer, Until};
use super::super::record::{Entry, Opened};
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{after, answer, at, message, ms, notification, of, rule, seen, sight};

fn buffer(until: Until, head: bool) -> Rule {
    rule("r", at(At::Head, "post"), Fault::Buffer(Buffer { until, head, limit: ms(1_000) }))
}

fn until(condition: Condition) -> Rule {
    buffer(Until::Condition(condition), false)
}

/// A call whose answer is a notification and a response, at these steps: what its body was after each.
fn body_after_each(rules: Vec<Rule>) -> (Play, [String; 3]) {
    let mut play = Play::new(rules);
    let mut seen = Vec::new();
    play.calls("a", 1).streams("a").data("a", &notification(1));
    seen.push(play.body("a").to_owned());
    play.data("a", &answer(1));
    seen.push(play.body("a").to_owned());
    play.ends("a");
    seen.push(play.body("a").to_owned());
    let seen = <[String; 3]>::try_from(seen).expect("there are three");
    (play, seen)
}

#[test]
fn a_body_is_kept_to_its_end_and_its_head_is_not() {
    let whole = notification(1) + &answer(1);
    let (mut play, seen) = body_after_each(vec![until(Condition::End)]);
    assert_eq!(seen, ["".to_owned(), "".to_owned(), whole.clone()]);
    assert_eq!(play.left(), ["forward a", "head a", "write a", "write a", "finish a"]);
    assert_eq!((play.counts("r"), play.opened()), ((1, 1, 1), vec![Opened::By("the end of the answer".into())]));
    assert_eq!(play.of("a").ending, Some(Ending::Eof));

    let (_, seen) = body_after_each(vec![]);
    assert_eq!(seen, [notification(1), whole.clone(), whole]);
}

#[test]
fn a_head_can_be_kept_with_its_body() {
    for (head, left) in [(true, vec!["forward a"]), (false, vec!["forward a", "head a"])] {
        let mut play = Play::new(vec![buffer(Until::Condition(Condition::End), head)]);
        play.calls("a", 1).streams("a").data("a", &notification(1));
        assert_eq!(play.left(), left);
        play.ends("a");
        assert_eq!((play.body("a"), play.of("a").ending), (&*notification(1), Some(Ending::Eof)));
    }
}

#[test]
fn a_body_is_kept_until_its_answer_and_then_no_more() {
    let answered = Seen { leg: Some(Leg::Server), ..sight(message("answer")) };
    let (mut play, seen) = body_after_each(vec![until(Condition::Seen(Box::new(answered)))]);
    let whole = notification(1) + &answer(1);
    assert_eq!(seen, ["".to_owned(), whole.clone(), whole]);
    play.calls("b", 2).streams("b").data("b", &notification(1));
    assert_eq!(play.body("b"), notification(1), "the session has seen an answer");
}

#[test]
fn a_body_leaves_in_blocks_of_a_size() {
    let mut play = Play::new(vec![buffer(Until::Size(8), false)]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]);
    let mut lengths = Vec::new();
    for piece in ["12345", "67", "8", "1", "2345678123456781", "23"] {
        play.data("a", piece);
        lengths.push(play.body("a").len());
    }
    assert_eq!(lengths, [0, 0, 8, 8, 24, 24]);
    play.ends("a");
    assert_eq!((play.body("a"), play.of("a").ending), ("123456781234567812345678123", Some(Ending::Eof)));
    assert_eq!((play.counts("r"), play.opened().len()), ((1, 1, 1), 0));
}

#[test]
fn a_head_waits_for_its_first_block() {
    let mut play = Play::new(vec![buffer(Until::Size(8), true)]);
    play.calls("a", 1).streams("a").data("a", ": one\n");
    assert!(play.of("a").sent_head.is_none());
    play.data("a", "\n: two");
    assert!(play.of("a").sent_head.is_some());
    assert_eq!(play.body("a"), ": one\n\n:");
    play.calls("b", 2).streams("b").ends("b");
    assert!(play.of("b").sent_head.is_some(), "nothing more will come");
}

/// A limit is a failure, and what follows passes as it comes.
#[test]
fn a_buffer_lets_go_at_its_limit() {
    for until in [Until::Condition(Condition::End), Until::Size(1_000)] {
        let mut play = Play::new(vec![buffer(until, false)]);
        play.calls("a", 1).streams("a").data("a", &notification(1)).waits(999);
        assert_eq!(play.body("a"), "");
        play.waits(1);
        assert_eq!((play.body("a"), play.opened()), (&*notification(1), vec![Opened::Limit]));
        play.data("a", &notification(2));
        assert_eq!(play.body("a"), notification(1) + &notification(2));
        play.ends("a");
        assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
    }
}

/// The limit of a block is counted from its own first byte.
#[test]
fn each_block_has_its_own_limit() {
    let mut play = Play::new(vec![buffer(Until::Size(8), false)]);
    play.calls("a", 1).streams("a").data("a", "1234567").waits(900).data("a", "8").waits(900).data("a", "1").waits(900);
    assert_eq!((play.body("a"), play.opened().len()), ("12345678", 0));
    play.waits(100);
    assert_eq!((play.body("a"), play.opened()), ("123456781", vec![Opened::Limit]));
    assert_eq!(play.gates()[0].held, 1_000_000, "and it has held no longer");
}

#[test]
fn what_is_kept_when_the_client_leaves_is_told_and_forgotten() {
    for until in [Until::Condition(Condition::End), Until::Size(1_000)] {
        let mut play = Play::new(vec![buffer(until, false)]);
        play.calls("a", 1).streams("a").data("a", &notification(1)).leaves("a");
        assert_eq!((play.body("a"), play.counts("r")), ("", (1, 1, 1)));
        assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
    }
}

#[test]
fn a_buffer_that_had_nothing_to_keep_is_not_effective() {
    for until in [Until::Condition(Condition::End), Until::Condition(after(900)), Until::Size(1_000)] {
        let mut play = Play::new(vec![buffer(until, false)]);
        play.calls("a", 1).head("a", 202, &[("content-length", "0")]).ends("a");
        assert_eq!((play.of("a").ending, play.counts("r")), (Some(Ending::Eof), (1, 1, 0)));
    }
}

#[test]
fn two_buffers_add_nothing_to_each_other() {
    let other = Rule { name: "s".into(), ..buffer(Until::Size(100), false) };
    let mut play = Play::new(vec![until(after(500)), other]);
    play.calls("a", 1).streams("a").data("a", &"x".repeat(150)).waits(499);
    assert_eq!(play.body("a"), "");
    play.waits(1);
    assert_eq!(play.body("a").len(), 100);
}

/// As much as can be kept has come: whether it is paused, and how the gate of this rule ended, before its limit and at it.
fn filled(rule: Rule) -> (Play, [(bool, Vec<Opened>); 2]) {
    let mut play = Play::new(vec![rule]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]);
    let piece = "x".repeat(LANE_LIMIT / 4);
    for _ in 0..4 {
        play.data("a", &piece);
    }
    let before = (play.of("a").paused, play.opened());
    play.waits(1_000);
    let at_limit = (play.of("a").paused, play.opened());
    (play, [before, at_limit])
}

/// Memory is bounded: the server is read no further, and that is said.
#[test]
fn a_body_larger_than_what_can_be_kept_stops_its_server() {
    let (play, ends) = filled(until(seen(of(At::End, "ping"))));
    assert_eq!(ends, [(true, vec![]), (false, vec![Opened::Vacuous])]);
    assert_eq!(play.body("a").len(), LANE_LIMIT);
    let said = |entry: &Entry| matches!(entry, Entry::Note(note) if note.text.contains("read no further"));
    assert_eq!(play.entries.iter().filter(|entry| said(entry)).count(), 1);
}

/// Its end, and what the server still has to send on it, would not be read while it waits.
#[test]
fn a_body_larger_than_what_can_be_kept_does_not_wait_for_its_own_rest() {
    let rest = Seen { leg: Some(Leg::Server), same: Same::Exchange, ..sight(Selector::any(At::End)) };
    for condition in [Condition::End, Condition::Any(vec![Condition::End, Condition::Seen(Box::new(rest))])] {
        let (play, ends) = filled(until(condition));
        assert_eq!(ends, [(false, vec![Opened::Full]), (false, vec![Opened::Full])]);
        assert_eq!((play.body("a").len(), play.counts("r")), (LANE_LIMIT, (1, 1, 1)));
    }
    let (_, ends) = filled(until(Condition::Any(vec![Condition::End, after(900)])));
    assert_eq!(ends[0], (true, vec![]), "the time comes in any case");
}
