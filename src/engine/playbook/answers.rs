//! `respond`: whose answer the client gets, what becomes of the server's, and what is left behind.

use super::super::condition::{Condition, Leg, Seen};
use super::super::engine::LANE_LIMIT;
use super::super::event::{Ending, Fate};
use super::super::fault::Fault;
use super::super::fault::cut::Place;
use super::super::fault::respond::{Content, Respond};
use super::super::record::{Opened, PointFate};
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{self, after, answer, cut, of, rule, seen, sight};

fn respond(point: At, forward: bool, when: Option<Condition>) -> Rule {
    let content = Content::Text("made".to_owned());
    let respond = Respond { content, when, forward, ..tools::respond(503) };
    rule("respond", of(point, "tools/call"), Fault::Respond(respond))
}

fn status(play: &Play) -> Option<u16> {
    play.of("a").head.as_ref().map(|head| head.status)
}

#[test]
fn a_request_that_is_answered_here_is_not_forwarded() {
    let mut play = Play::new(vec![respond(At::Request, false, None)]);
    play.calls("a", 1);
    assert!(!play.forwarded("a"));
    assert_eq!((status(&play), play.body("a"), play.of("a").ending), (Some(503), "made", Some(Ending::Eof)));
    assert_eq!(play.counts("respond"), (1, 1, 1));
    assert!(play.engine.exchanges.is_empty());
    let mut control = Play::new(vec![]);
    control.calls("a", 1);
    assert!(control.forwarded("a") && status(&control).is_none());
}

#[test]
fn the_servers_own_answer_is_read_to_its_end_and_goes_no_further() {
    let mut play = Play::new(vec![respond(At::Request, true, None)]);
    play.calls("a", 1).streams("a").data("a", &answer(1)).ends("a");
    assert!(play.forwarded("a"));
    assert_eq!((play.body("a"), play.of("a").server), ("made", Some(Fate::Drain(None))));
    for key in ["s1/post:1/head#2", "s1/post:1/end#2"] {
        assert_eq!(play.point(key).fate, PointFate::Cut, "{key}");
    }
    assert!(play.engine.exchanges.is_empty());
}

/// A request that is answered with a stall: how often that was effective, and how much is remarked.
fn stalls(method: &str, status: u16) -> (u64, usize) {
    let stalling = Respond { ending: Ending::Stall, ..tools::respond(status) };
    let mut play = Play::new(vec![rule("stall", Selector::any(At::Request), Fault::Respond(stalling))]);
    play.sends("a", method, &[("mcp-session-id", "S")], "");
    (play.counts("stall").2, play.engine.summary().remarks.len())
}

/// Its client has the whole answer with the head, and its connection is of use.
#[test]
fn a_stall_of_an_answer_without_a_body_is_none_and_that_is_said() {
    assert_eq!([stalls("HEAD", 200), stalls("GET", 204), stalls("GET", 200)], [(0, 1), (0, 1), (1, 0)]);
}

fn forward(when: Condition) -> Play {
    let mut play = Play::new(vec![respond(At::Request, true, Some(when))]);
    play.calls("a", 1);
    play
}

#[test]
fn a_head_that_comes_before_the_answer_of_a_rule_waits_in_vain() {
    let mut play = forward(after(100));
    play.waits(50).streams("a").data("a", &answer(1)).ends("a").waits(49);
    assert_eq!((play.of("a").sent_head, play.body("a")), (None, ""));
    play.waits(1);
    assert_eq!((status(&play), play.body("a"), play.counts("respond")), (Some(503), "made", (1, 1, 1)));
    assert_eq!(play.point("s1/post:1/head#1").fate, PointFate::Cut);
    assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
}

#[test]
fn the_arrival_of_a_head_may_be_what_makes_a_rule_answer_in_its_place() {
    let head = Seen { leg: Some(Leg::Server), ..sight(of(At::Head, "tools/call")) };
    let mut play = forward(Condition::Seen(Box::new(head)));
    play.streams("a");
    assert_eq!((status(&play), play.body("a"), play.of("a").ending), (Some(503), "made", Some(Ending::Eof)));
}

#[test]
fn a_head_that_has_waited_for_the_answer_of_a_rule_to_the_limit_goes_on() {
    for (condition, opened) in [
        (seen(of(At::Request, "ping")), Opened::Vacuous),
        (Condition::Any(vec![seen(of(At::Request, "ping")), after(5_000)]), Opened::Limit),
    ] {
        let mut play = forward(condition);
        play.waits(500).streams("a").data("a", &answer(1)).ends("a").waits(999);
        assert_eq!(play.of("a").sent_head, None, "the limit is counted from its arrival");
        play.waits(1);
        assert_eq!((status(&play), play.body("a"), play.opened()), (Some(200), &*answer(1), vec![opened]));
        assert_eq!(play.counts("respond"), (1, 1, 0));
        assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty() && play.engine.cutting.is_empty());
    }
}

#[test]
fn a_client_that_leaves_while_a_head_waits_for_the_answer_of_a_rule_leaves_nothing_behind() {
    let mut play = forward(after(100));
    play.streams("a").leaves("a");
    assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty() && play.engine.cutting.is_empty());
    assert_eq!(play.opened(), []);
}

#[test]
fn an_answer_that_is_thrown_away_is_not_kept_until_its_end() {
    let mut play = Play::new(vec![respond(At::Head, false, Some(Condition::End))]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")]);
    let piece = "x".repeat(LANE_LIMIT / 4);
    (0..6).for_each(|_| _ = play.data("a", &piece));
    assert!(!play.of("a").paused && play.of("a").sent_head.is_none());
    play.ends("a");
    assert_eq!((status(&play), play.body("a"), play.counts("respond").2), (Some(503), "made", 1));
    assert!(play.engine.exchanges.is_empty());
}

#[test]
fn what_was_planned_for_an_exchange_leaves_no_timer_behind_when_a_rule_answers_it() {
    let mut later = cut(Ending::Reset, Place::After);
    later.when = Some(after(5_000));
    let later = rule("later", of(At::Request, "tools/call"), Fault::Cut(later));
    let mut play = Play::new(vec![later, respond(At::Request, true, Some(after(10)))]);
    play.calls("a", 1).waits(10);
    assert_eq!((status(&play), play.body("a")), (Some(503), "made"));
    assert!(play.engine.timers.is_empty() && play.engine.cutting.is_empty(), "{:?}", play.engine.timers);
    assert_eq!(play.counts("later").2, 0);
}

/// Its head is a head like any other to the rules behind, and still the answer is there already.
#[test]
fn an_answer_that_a_rule_has_made_is_not_made_again() {
    let again = Rule { name: "again".to_owned(), ..respond(At::Head, false, None) };
    for when in [None, Some(after(5))] {
        let first = respond(At::Head, false, when);
        for (rules, made) in [(vec![first.clone(), again.clone()], [1, 0]), (vec![again.clone()], [0, 1])] {
            let mut play = Play::new(rules.clone());
            play.calls("a", 1).streams("a").waits(5);
            assert_eq!((status(&play), play.of("a").sent_head.is_some()), (Some(503), true));
            assert_eq!((play.body("a"), play.of("a").ending), ("made", Some(Ending::Eof)));
            let effective = ["respond", "again"]
                .map(|name| rules.iter().any(|rule| rule.name == name).then(|| play.counts(name).2));
            assert_eq!(effective.map(Option::unwrap_or_default), made);
        }
    }
}
