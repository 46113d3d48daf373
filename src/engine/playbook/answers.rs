//! `respond`: whose answer the client gets, what becomes of the server's, and what is left behind.

use super::super::condition::Condition;
use super::super::event::{Ending, Fate};
use super::super::fault::Fault;
use super::super::fault::cut::Place;
use super::super::fault::respond::{Content, Respond};
use super::super::record::PointFate;
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{self, after, answer, cut, of, rule};

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
