//! `drop`: what is lost, what nobody sees any more, and what the other side still believes.

use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::Place;
use super::super::fault::dropping::Drop;
use super::super::record::{Opened, PointFate};
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::super::trigger::Trigger;
use super::Play;
use super::tools::{answer, at, cut, delay, glob, hold, message, notification, of, question, rule, seen};

fn lose(selector: Selector) -> Rule {
    rule("lose", selector, Fault::Drop(Drop))
}

#[test]
fn a_lost_block_is_missing_and_its_neighbours_are_not() {
    let all = [notification(1), question(5), notification(2), answer(1)];
    let mut play = Play::new(vec![lose(message("request"))]);
    play.calls("a", 1).streams("a").data("a", &all.concat()).ends("a");
    assert_eq!(play.body("a"), [notification(1), notification(2), answer(1)].concat());
    let lost = play.point("s1/post:1/block#2");
    assert_eq!((lost.fate, lost.bytes), (PointFate::Dropped, 0));
    assert_eq!(play.counts("lose"), (1, 1, 1));
    let mut play = Play::new(vec![]);
    play.calls("a", 1).streams("a").data("a", &all.concat()).ends("a");
    assert_eq!(play.body("a"), all.concat());
}

#[test]
fn a_line_end_that_comes_late_is_lost_with_its_block() {
    let lose_first = Rule { trigger: Trigger { nth: vec![1], ..Trigger::default() }, ..lose(at(At::Block, "*")) };
    let mut play = Play::new(vec![lose_first]);
    play.calls("a", 1).streams("a").data("a", "data: {\"id\":5,\"method\":\"x\"}\r\n\r").data("a", "\ndata: 2\r\n\r\n");
    assert_eq!(play.body("a"), "data: 2\r\n\r\n");
}

#[test]
fn what_is_gone_is_not_seen_by_later_rules() {
    let later = |selector| rule("later", selector, delay(10));
    let mut play = Play::new(vec![lose(message("notification")), later(message("notification"))]);
    play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1)].concat());
    assert_eq!((play.body("a"), play.counts("later")), (&*answer(1), (0, 0, 0)));
    // Written the other way round, it sees it; but what does not leave does not leave late.
    let mut play = Play::new(vec![later(message("notification")), lose(message("notification"))]);
    play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1)].concat());
    assert_eq!((play.body("a"), play.counts("later").1), (&*answer(1), 1));
    assert!(play.engine.timers.is_empty());
}

#[test]
fn a_cut_that_was_planned_for_a_lost_block_does_not_happen() {
    let planned = rule("cut", message("notification"), Fault::Cut(cut(Ending::Reset, Place::After)));
    let mut play = Play::new(vec![planned, lose(message("notification"))]);
    play.calls("a", 1).streams("a").data("a", &[notification(1), answer(1)].concat()).ends("a");
    assert_eq!((play.of("a").ending, play.counts("cut")), (Some(Ending::Eof), (1, 1, 0)));
}

#[test]
fn a_lost_json_answer_is_an_empty_body() {
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for length in [Some(body.len().to_string()), None] {
        let mut play = Play::new(vec![lose(message("answer"))]);
        let mut head = vec![("content-type", "application/json")];
        head.extend(length.as_deref().map(|length| ("content-length", length)));
        play.calls("a", 1).head("a", 200, &head).ends_with("a", body);
        let seen = play.of("a");
        // Its length was a lie: it is sent in chunks.
        assert_eq!((&*seen.body, seen.ending, seen.sent_head), (&[][..], Some(Ending::Eof), Some(true)));
        assert_eq!(play.counts("lose"), (1, 1, 1));
    }
}

#[test]
fn the_server_never_gets_a_lost_request_and_its_client_waits() {
    let mut play = Play::new(vec![lose(of(At::Request, "tools/call"))]);
    play.calls("a", 1).calls("b", 2).waits(100_000);
    assert!(!play.forwarded("a") && play.of("a").ending.is_none() && play.of("a").sent_head.is_none());
    assert_eq!(play.point("s1/post:1/request#1").fate, PointFate::Dropped);
    play.leaves("a");
    assert_eq!((play.of("a").server, play.point("s1/post:1/leave#1").fate), (None, PointFate::Ended));
    assert_eq!(play.engine.exchanges.len(), 1, "nothing of it is remembered");
}

/// What nobody can answer is nothing to wait for.
#[test]
fn the_answer_to_a_lost_request_is_not_under_way() {
    for (loses, opened) in [(true, Opened::Vacuous), (false, Opened::Limit)] {
        let mut rules = vec![rule("hold", of(At::Request, "ping"), hold(seen(of(At::End, "tools/call"))))];
        rules.extend(loses.then(|| lose(of(At::Request, "tools/call"))));
        let mut play = Play::new(rules);
        play.calls("a", 1).posts("ping", r#"{"id":2,"method":"ping"}"#).waits(10_000);
        assert_eq!((play.opened(), play.forwarded("ping")), (vec![opened], true));
        assert_eq!(play.counts("hold").2, u64::from(!loses));
    }
}

#[test]
fn the_server_of_a_lost_leave_goes_on_and_is_read_to_its_end() {
    let rules = || vec![lose(Selector { stream: glob("post"), ..Selector::any(At::Leave) })];
    for rules in [rules(), vec![]] {
        let lost = !rules.is_empty();
        let mut play = Play::new(rules);
        play.calls("a", 1).streams("a").data("a", &notification(1)).leaves("a");
        assert_eq!(play.of("a").server.is_none(), lost);
        let fate = if lost { PointFate::Dropped } else { PointFate::Passed };
        assert_eq!(play.point("s1/post:1/leave#1").fate, fate);
        if lost {
            play.data("a", &answer(1)).ends("a");
            assert_eq!(play.body("a"), notification(1));
        }
        assert!(play.engine.exchanges.is_empty());
    }
}

#[test]
fn an_answer_whose_leave_may_be_lost_is_not_relayed_unseen() {
    for (selector, relayed) in [(at(At::Leave, "post"), false), (at(At::Leave, "get"), true)] {
        let setup = super::Setup { rules: vec![lose(selector)], seed: 1, ..super::Setup::default() };
        let mut play = Play::with(setup);
        play.calls("a", 1);
        assert_eq!(play.of("a").relayed, relayed);
    }
}
