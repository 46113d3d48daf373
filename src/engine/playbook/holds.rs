//! `hold` and `delay`: what waits, for what, and what opened it.

use super::super::condition::{Condition, Leg, Same};
use super::super::record::{Opened, PointFate};
use super::super::selector::{At, Count, Selector};
use super::Play;
use super::tools::{after, answer, at, delay, hold, message, ms, notification, of, rule, seen, sight};

/// The condition of `get-opens-late`.
fn calls_are_over() -> Condition {
    seen(Selector { in_flight: Some(Count::Is(0)), ..of(At::End, "tools/call") })
}

fn get_opens_late() -> Play {
    Play::new(vec![rule("hold-get", at(At::Request, "get"), hold(calls_are_over()))])
}

#[test]
fn the_get_opens_only_after_the_call_has_ended() {
    let mut play = get_opens_late();
    play.gets("get").calls("a", 1).streams("a").data("a", &answer(1));
    assert!(!play.forwarded("get"), "the answer alone is not the end");
    play.ends("a");
    assert!(play.forwarded("get"));
    assert_eq!(play.opened(), [Opened::By("s1/post:1/end#1".into())]);
    assert_eq!(play.counts("hold-get"), (1, 1, 1));
}

#[test]
fn without_the_rule_the_get_opens_at_once() {
    let mut play = Play::new(vec![]);
    play.gets("get");
    assert!(play.forwarded("get"));
}

#[test]
fn a_call_that_is_still_out_keeps_the_get_closed() {
    let mut play = get_opens_late();
    play.gets("get").calls("a", 1).calls("b", 2).answers("a", 1);
    assert!(!play.forwarded("get"), "b is in flight");
    play.answers("b", 2);
    assert!(play.forwarded("get"));
}

#[test]
fn what_another_session_did_opens_nothing() {
    let mut play = get_opens_late();
    play.calls("a", 1).answers("a", 1);
    play.sends("get2", "GET", &[("mcp-session-id", "T")], "");
    assert!(!play.forwarded("get2"));
    play.gets("get1");
    assert_eq!(play.opened(), [Opened::Already("s1/post:1/end#1".into())]);
    assert_eq!(play.counts("hold-get").2, 1, "an order that is already there is ensured");
}

#[test]
fn a_hold_is_let_go_at_its_limit_which_is_a_failure_only_with_the_condition_under_way() {
    for (call, opened) in [(true, Opened::Limit), (false, Opened::Vacuous)] {
        let mut play = get_opens_late();
        play.gets("get");
        if call {
            play.calls("a", 1).streams("a");
        }
        play.waits(9_999);
        assert!(!play.forwarded("get"));
        play.waits(1);
        assert!(play.forwarded("get"));
        assert_eq!(play.opened(), [opened]);
        assert_eq!(play.counts("hold-get").2, u64::from(call));
    }
}

#[test]
fn a_held_block_keeps_those_behind_it_and_leaves_in_the_same_step() {
    let until = seen(Selector { stream: super::tools::glob("get"), ..Selector::any(At::Head) });
    let mut play = Play::new(vec![rule("r", message("notification"), hold(until))]);
    play.calls("a", 1).streams("a").data("a", &[answer(9), notification(1), answer(1)].concat()).ends("a");
    assert_eq!(play.body("a"), answer(9));
    play.left();
    play.gets("get").head("get", 405, &[]);
    assert_eq!(play.body("a"), [answer(9), notification(1), answer(1)].concat());
    assert_eq!(play.left(), ["forward get", "head get", "write a", "write a", "finish a"]);
}

#[test]
fn what_stood_behind_was_let_go_by_what_let_the_first_go() {
    let until = seen(of(At::Request, "ping"));
    let mut play = Play::new(vec![rule("r", message("notification"), hold(until))]);
    play.calls("a", 1).streams("a").data("a", &[answer(9), notification(1), answer(1)].concat());
    play.posts("p", r#"{"id":5,"method":"ping"}"#);
    let [first, second, third] = [1, 2, 3].map(|n| play.point(&format!("s1/post:1/block#{n}")).clone());
    let opener = play.point("s1/post:5/request#1");
    assert_eq!(first.by, Some(first.seq), "nothing held it");
    assert_eq!((second.by, third.by), (opener.left_seq, opener.left_seq));
}

#[test]
fn a_delay_counts_from_arrival_so_that_events_that_came_together_leave_together() {
    let mut play = Play::new(vec![rule("slow", at(At::Block, "post"), delay(60))]);
    play.calls("a", 1).streams("a");
    let events = [notification(1), notification(2), notification(3)].concat();
    play.data("a", &events).waits(59);
    assert_eq!(play.body("a"), "");
    play.waits(1);
    assert_eq!(play.body("a"), events);
}

#[test]
fn every_point_can_be_held() {
    let points = [At::Connect, At::RequestHead, At::Request, At::Head, At::Block, At::End, At::Leave];
    for point in points {
        let selector = if point == At::Block { message("response") } else { Selector::any(point) };
        for (rules, held) in [(vec![], false), (vec![rule("r", selector, hold(after(100)))], true)] {
            let mut play = Play::new(rules);
            play.calls("a", 1).streams("a").data("a", &answer(1));
            if point == At::Leave {
                play.leaves("a")
            } else {
                play.ends("a")
            };
            let missing = match point {
                At::Connect => !play.points().any(|entry| entry.point == "connect"),
                At::RequestHead => !play.points().any(|entry| entry.point == "request-head"),
                At::Request => !play.forwarded("a"),
                At::Head => play.of("a").sent_head.is_none(),
                At::Block => play.body("a").is_empty(),
                At::End => play.of("a").ending.is_none(),
                At::Leave => play.of("a").server.is_none(),
            };
            assert_eq!(missing, held, "{point:?}");
            play.waits(100);
            let rest = play.engine.busy.len() + play.engine.timers.len();
            assert_eq!(rest, 0, "{point:?}: nothing waits any more");
        }
    }
}

#[test]
fn a_gathering_opens_once_and_in_order() {
    let mut play = Play::new(vec![rule("together", of(At::Request, "tools/call"), hold(Condition::Gathered(3)))]);
    play.calls("a", 1).calls("b", 2);
    assert!(!play.forwarded("a") && !play.forwarded("b"));
    play.left();
    play.calls("c", 3);
    assert_eq!(play.left(), ["forward a", "forward b", "forward c"]);
    play.calls("d", 4);
    assert!(play.forwarded("d"), "later ones pass");
}

#[test]
fn a_client_that_leaves_frees_what_waited_for_it() {
    let mut play = get_opens_late();
    play.gets("get").leaves("get");
    assert!(!play.forwarded("get"));
    assert_eq!(play.opened(), [Opened::Left]);
    assert_eq!(play.point("s1/get:1/request#1").fate, PointFate::Gone);
    play.waits(20_000);
    assert_eq!(play.opened().len(), 1, "its timer went with it");
}

#[test]
fn what_still_waits_at_the_end_of_the_run_is_withheld() {
    let mut play = get_opens_late();
    play.gets("get").finishes();
    assert_eq!(play.opened(), [Opened::RunEnded]);
    assert_eq!(play.point("s1/get:1/request#1").fate, PointFate::Withheld);
}

/// `answers-cross`: the first call's question waits until the client has answered the second's.
#[test]
fn a_question_waits_for_the_clients_answer_to_another_calls_question() {
    use super::super::condition::Seen;
    use super::super::selector::{MessageSelector, OwnerSelector};
    let answered = Selector {
        message: Some(MessageSelector { kind: super::tools::glob("answer"), ..MessageSelector::default() }),
        owner: Some(OwnerSelector { method: super::tools::glob("tools/call"), ..OwnerSelector::default() }),
        ..Selector::any(At::Request)
    };
    let until = Condition::Seen(Box::new(Seen { same: Same::NotOwner, ..sight(answered) }));
    let first = Selector { exchange: vec![1], method: super::tools::glob("tools/call"), ..message("request") };
    let mut play = Play::new(vec![rule("hold-first", first, hold(until))]);
    play.calls("a", 1).calls("b", 2).streams("a").streams("b");
    play.data("a", &super::tools::question(7)).data("b", &super::tools::question(8));
    assert_eq!((play.body("a"), play.body("b")), ("", &*super::tools::question(8)));
    play.posts("reply", r#"{"jsonrpc":"2.0","id":8,"result":{}}"#);
    assert_eq!(play.body("a"), super::tools::question(7));
    assert_eq!(play.point("s1/answer:8/request#1").owner.as_ref().and_then(|owner| owner.name.as_deref()), Some("b"));
}

#[test]
fn next_counts_only_what_comes_after_the_unit_in_hand() {
    let mut until = sight(of(At::Request, "tools/call"));
    (until.next, until.leg) = (true, Some(Leg::Client));
    let until = Condition::Seen(Box::new(until));
    let mut play = Play::new(vec![rule("r", of(At::Request, "notifications/initialized"), hold(until))]);
    play.calls("a", 1).posts("init", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(!play.forwarded("init"), "a came before");
    play.calls("b", 2);
    assert!(play.forwarded("init"));
}

#[test]
fn plus_is_time_after_the_point_was_seen() {
    let mut until = sight(of(At::End, "tools/call"));
    until.plus = Some(super::super::condition::Time::Fixed(ms(600)));
    let mut play = Play::new(vec![rule("r", at(At::Request, "get"), hold(Condition::Seen(Box::new(until))))]);
    play.gets("get").calls("a", 1).waits(50).answers("a", 1).waits(599);
    assert!(!play.forwarded("get"));
    play.waits(1);
    assert!(play.forwarded("get"));
    assert_eq!(play.gates()[0].held, 650_000);
}

#[test]
fn what_is_never_delivered_because_of_a_hold_was_changed_by_it() {
    let behind = hold(seen(Selector { index: vec![2], ..Selector::any(At::Block) }));
    let mut play = Play::new(vec![rule("r", Selector { index: vec![1], ..message("notification") }, behind)]);
    play.calls("a", 1).streams("a").data("a", &[notification(1), notification(2), answer(1)].concat()).leaves("a");
    assert_eq!((play.body("a"), play.opened()), ("", vec![Opened::Left]));
    assert_eq!(play.counts("r"), (1, 1, 1));
}

#[test]
fn a_request_whose_client_left_was_kept_by_its_hold_only_if_what_it_waited_for_was_under_way() {
    for call in [true, false] {
        let mut play = get_opens_late();
        play.gets("get");
        if call {
            play.calls("a", 1).streams("a");
        }
        play.leaves("get");
        assert_eq!((play.opened(), play.counts("hold-get").2), (vec![Opened::Left], u64::from(call)));
    }
}

/// What a request could only bring itself is not under way while it is held.
#[test]
fn a_held_units_own_exchange_is_not_what_is_under_way() {
    let over = || hold(seen(of(At::End, "tools/call")));
    for (calls, opened) in [(1, Opened::Vacuous), (2, Opened::Limit)] {
        let mut held = rule("r", of(At::Request, "tools/call"), over());
        held.trigger.times = Some(1);
        let mut play = Play::new(vec![held]);
        play.calls("a", 1);
        if calls == 2 {
            play.calls("b", 2);
        }
        play.waits(10_000);
        assert_eq!(play.opened()[0], opened);
        assert_eq!(play.counts("r").2, u64::from(opened == Opened::Limit));
    }
}

#[test]
fn a_block_that_waits_for_one_behind_it_waits_for_nothing_that_is_under_way() {
    for (overtake, opened) in [(false, Opened::Vacuous), (true, Opened::Limit)] {
        let until = seen(Selector { index: vec![3], ..Selector::any(At::Block) });
        let limit = Some(ms(10_000));
        let fault =
            super::super::fault::Fault::Hold(super::super::fault::hold::Hold { until, limit, overtake, reading: true });
        let mut play = Play::new(vec![rule("r", Selector { index: vec![1], ..message("notification") }, fault)]);
        play.calls("a", 1).streams("a").data("a", &[notification(1), notification(2)].concat()).waits(10_000);
        assert_eq!(play.opened(), [opened]);
    }
}

/// A block that waits for one behind it, whose client leaves: how many blocks it kept, and whether `overtake` would help.
fn starved(fault: super::super::fault::Fault, behind: &[String]) -> (u64, bool) {
    let mut play = Play::new(vec![rule("r", Selector { index: vec![1], ..message("notification") }, fault)]);
    play.calls("a", 1).streams("a").data("a", &[&[notification(1)], behind].concat().concat()).leaves("a");
    let gate = play.gates().remove(0);
    assert_eq!(gate.opened, Opened::Left);
    (gate.undelivered, gate.overtake)
}

#[test]
fn a_hold_that_starves_itself_counts_what_it_kept_and_says_whether_overtake_would_help() {
    let answered = || seen(Selector { ..message("answer") });
    let behind = [notification(2), answer(1)];
    assert_eq!(starved(hold(answered()), &behind), (3, true));
    assert_eq!(starved(hold(answered()), &behind[..1]), (2, false), "what it waits for never came");
    assert_eq!(starved(hold(seen(of(At::Request, "ping"))), &behind), (3, false), "that comes elsewhere");
    assert_eq!(starved(hold(seen(of(At::End, "tools/call"))), &behind), (3, false), "an end overtakes nobody");
    let third = Condition::Seen(Box::new(super::super::condition::Seen { nth: 3, ..sight(Selector::any(At::Block)) }));
    assert_eq!(starved(hold(third), &behind), (3, false), "two are not three");
    let mut passing = hold(seen(of(At::Request, "ping")));
    if let super::super::fault::Fault::Hold(hold) = &mut passing {
        hold.overtake = true;
    }
    assert_eq!(starved(passing, &behind), (1, false), "those behind it had passed");
}

#[test]
fn what_a_held_head_or_request_keeps_is_not_helped_by_overtake() {
    let until = || hold(seen(message("answer")));
    for (point, undelivered) in [(At::Head, 1), (At::Request, 0)] {
        let mut play = Play::new(vec![rule("r", of(point, "tools/call"), until())]);
        play.calls("a", 1);
        if point == At::Head {
            play.streams("a").data("a", &answer(1));
        }
        play.finishes();
        let gate = play.gates().remove(0);
        assert_eq!((gate.opened, gate.undelivered, gate.overtake), (Opened::RunEnded, undelivered, false), "{point:?}");
    }
}
