//! `inject` and `duplicate`: what no server sent, where it stands, when it comes, who sees it.

use std::time::Duration;

use super::super::condition::{Condition, Seen, Time};
use super::super::effects::Did;
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::Place as CutPlace;
use super::super::fault::duplicate::Duplicate;
use super::super::fault::event_text::{EventData, EventText};
use super::super::fault::inject::{Inject, Place, To, What};
use super::super::fault::respond::{Content, Respond};
use super::super::record::PointFate;
use super::super::rule::Rule;
use super::super::selector::{At, Glob, Selector};
use super::Play;
use super::tools::{
    after, answer, at, cut, delay, hold, message, ms, notification, of, question, respond, rule, seen, sight,
};

fn comment(text: &str) -> What {
    What::Event(EventText { comment: Some(text.to_owned()), ..EventText::default() })
}

fn add(selector: Selector, what: What, place: Place) -> Rule {
    adding(selector, Inject { what, to: To::Client, place, when: None, repeat: Some(1) })
}

fn adding(selector: Selector, inject: Inject) -> Rule {
    rule("add", selector, Fault::Inject(inject))
}

fn again(selector: Selector, times: u64, gap: u64) -> Rule {
    rule("again", selector, Fault::Duplicate(Duplicate { times, gap: Time::Fixed(ms(gap)) }))
}

fn after_head(what: What) -> Rule {
    add(of(At::Head, "tools/call"), what, Place::After)
}

fn blocks(kind: &str) -> Selector {
    let any = Glob { any: vec![kind.to_owned()], none: Vec::new() };
    Selector { block: Some(any), ..Selector::any(At::Block) }
}

const X: &str = ": x\n\n";

#[test]
fn what_is_added_stands_where_the_rule_says() {
    let (one, two) = (notification(1), answer(1));
    for (rule, expected) in [
        (Some(after_head(comment("x"))), [X, &one, &two].concat()),
        (Some(add(message("answer"), comment("x"), Place::Before)), [&*one, X, &two].concat()),
        (Some(add(message("notification"), comment("x"), Place::After)), [&*one, X, &two].concat()),
        (Some(add(of(At::End, "tools/call"), comment("x"), Place::Before)), [&*one, &two, X].concat()),
        (None, [&*one, &two].concat()),
    ] {
        let expected_effects = u64::from(rule.is_some());
        let mut play = Play::new(rule.into_iter().collect());
        play.calls("a", 1).streams("a").data("a", &one).data("a", &two).ends("a");
        assert_eq!((play.body("a"), play.of("a").ending), (&*expected, Some(Ending::Eof)));
        if expected_effects == 1 {
            assert_eq!(play.counts("add"), (1, 1, 1));
            assert!(
                matches!(&play.engine.summary().effects[0].did, Did::Added { block, again: false, .. } if block == "comment")
            );
            assert_eq!(play.point("s1/post:1/block.comment#1").maker.as_deref(), Some("add"));
        }
        assert!(play.engine.exchanges.is_empty());
    }
}

#[test]
fn every_kind_of_event_is_as_it_is_written() {
    let event = |event: EventText| What::Event(event);
    let text = |text: &str| Some(text.to_owned());
    for (what, wire, kind) in [
        (comment("one\ntwo"), ": one\n: two\n\n", "comment"),
        (
            event(EventText { id: text("p1"), data: Some(EventData::Text(String::new())), ..EventText::default() }),
            "id: p1\ndata: \n\n",
            "priming",
        ),
        (event(EventText { retry: Some(100), ..EventText::default() }), "retry: 100\n\n", "retry"),
        (
            event(EventText { event: text("foo"), data: Some(EventData::Text("a\nb".into())), ..EventText::default() }),
            "event: foo\ndata: a\ndata: b\n\n",
            "other",
        ),
        (
            event(EventText {
                data: Some(EventData::Message(serde_json::json!({"method": "x"}))),
                ..EventText::default()
            }),
            "data: {\"method\":\"x\"}\n\n",
            "message",
        ),
        (What::Raw("\u{feff}".to_owned()), "\u{feff}", "comment"),
        (What::Raw("data: {\"method\":\"x\"}\n".to_owned()), "data: {\"method\":\"x\"}\n", "message"),
    ] {
        let mut play = Play::new(vec![after_head(what)]);
        play.calls("a", 1).streams("a");
        assert_eq!(play.body("a"), wire);
        play.data("a", &answer(1)).ends("a");
        assert_eq!(play.body("a"), [wire, &answer(1)].concat());
        let made: Vec<_> = play.points().filter(|point| point.maker.is_some()).collect();
        assert_eq!((made.len(), made[0].block.as_deref()), (1, Some(kind)));
    }
}

#[test]
fn names_of_the_run_are_filled_in() {
    let message = serde_json::json!({ "method": "x", "params": { "of": "${owner.id}" } });
    let what = What::Event(EventText { data: Some(EventData::Message(message)), ..EventText::default() });
    let mut play = Play::new(vec![after_head(what)]);
    play.calls("a", 7).streams("a");
    assert_eq!(play.body("a"), "data: {\"method\":\"x\",\"params\":{\"of\":7}}\n\n");
}

#[test]
fn what_is_made_is_seen_and_counted_by_later_rules_only() {
    let slow = |name: &str| rule(name, blocks("comment"), delay(10));
    let mut play = Play::new(vec![slow("before"), after_head(comment("x")), slow("behind")]);
    play.calls("a", 1).streams("a").data("a", &answer(1));
    assert_eq!((play.counts("before"), play.counts("behind")), ((0, 0, 0), (1, 1, 1)));
    assert_eq!(play.body("a"), "", "the stream waits behind what was made, as behind anything");
    play.waits(10);
    assert_eq!(play.body("a"), [X, &answer(1)].concat());
}

#[test]
fn a_later_addition_stands_next_to_an_earlier_one() {
    let later = Rule { name: "later".into(), ..add(blocks("comment"), comment("y"), Place::Before) };
    let mut play = Play::new(vec![after_head(comment("x")), later]);
    play.calls("a", 1).streams("a").data("a", &answer(1));
    assert_eq!(play.body("a"), [": y\n\n", X, &answer(1)].concat());
}

#[test]
fn where_nothing_can_stand_between_events_nothing_is_added() {
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for selector in [Selector::any(At::Head), message("answer"), Selector::any(At::End)] {
        for rule in [add(selector.clone(), comment("x"), Place::Before), again(selector.clone(), 1, 0)] {
            if selector.at != At::Block && rule.name == "again" {
                continue;
            }
            let name = rule.name.clone();
            let mut play = Play::new(vec![rule]);
            play.calls("a", 1).head("a", 200, &[("content-type", "application/json")]).ends_with("a", body);
            assert_eq!((play.body("a"), play.counts(&name)), (body, (1, 1, 0)));
        }
    }
    let mut play = Play::new(vec![after_head(comment("x"))]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/event-stream"), ("content-encoding", "gzip")]);
    assert_eq!((play.body("a"), play.counts("add").2), ("", 0));
}

#[test]
fn a_burst_comes_at_once() {
    let burst = Inject { what: comment("x"), to: To::Client, place: Place::After, when: None, repeat: Some(200) };
    let mut play = Play::new(vec![adding(of(At::Head, "tools/call"), burst)]);
    play.calls("a", 1).streams("a");
    assert_eq!((play.body("a"), play.counts("add")), (&*X.repeat(200), (1, 1, 1)));
}

// --- when ---

fn when(when: Condition, repeat: Option<u64>) -> Rule {
    let inject = Inject { what: comment("x"), to: To::Client, place: Place::After, when: Some(when), repeat };
    adding(of(At::Head, "tools/call"), inject)
}

#[test]
fn what_is_awaited_keeps_nothing_back_and_comes_when_its_time_has_come() {
    let mut play = Play::new(vec![when(after(50), Some(1))]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).waits(49);
    assert_eq!(play.body("a"), notification(1));
    play.waits(1);
    assert_eq!(play.body("a"), [&*notification(1), X].concat());
    play.waits(1_000).data("a", &answer(1)).ends("a");
    assert_eq!(play.body("a"), [&*notification(1), X, &answer(1)].concat());
    assert_eq!(play.point("s1/post:1/block.comment#1").arrived, 50_000, "it was made when its time had come");
}

#[test]
fn what_is_awaited_is_dropped_with_its_stream() {
    for end in [|play: &mut Play| _ = play.ends("a"), |play: &mut Play| _ = play.leaves("a")] {
        let mut play = Play::new(vec![when(after(50), None)]);
        play.calls("a", 1).streams("a").data("a", &answer(1));
        end(&mut play);
        assert!(play.engine.additions.is_empty() && play.engine.timers.is_empty() && play.engine.exchanges.is_empty());
        play.waits(1_000);
        assert_eq!((play.body("a"), play.counts("add")), (&*answer(1), (1, 1, 0)));
    }
}

#[test]
fn a_when_that_never_came_is_told_and_one_that_did_is_not() {
    let unmet = |cond: Condition| {
        let mut play = Play::new(vec![when(cond, None)]);
        play.calls("a", 1).streams("a").waits(50).data("a", &answer(1)).ends("a").finishes();
        play.engine.summary().unmet.pop().map(|unmet| unmet.silence)
    };
    let silence = |time| Condition::Idle { time, plus: None };
    assert_eq!((unmet(after(50)), unmet(after(51))), (None, Some(None)));
    let (shorter, longer) = (Duration::from_millis(50), Duration::from_millis(51));
    assert_eq!((unmet(silence(shorter)), unmet(silence(longer))), (None, Some(Some(longer))));
}

#[test]
fn a_heartbeat_comes_after_each_silence() {
    let silence = Condition::Idle { time: Duration::from_secs(1), plus: None };
    let mut play = Play::new(vec![when(silence, None)]);
    play.calls("a", 1).streams("a").waits(999);
    assert_eq!(play.body("a"), "");
    play.waits(1).waits(600).data("a", &notification(1)).waits(999);
    assert_eq!(play.body("a"), [X, &notification(1)].concat());
    play.waits(1).waits(2_000);
    assert_eq!(play.body("a"), [X, &notification(1), X, X, X].concat());
    assert_eq!(play.counts("add"), (1, 1, 1));
}

#[test]
fn so_often_is_so_often() {
    let mut play = Play::new(vec![when(after(10), Some(3))]);
    play.calls("a", 1).streams("a").waits(1_000);
    assert_eq!(play.body("a"), X.repeat(3));
    assert!(play.engine.timers.is_empty() && play.engine.additions.is_empty());
}

/// A point that is awaited and arrives on the same stream, or passes there, in one piece with what follows.
#[test]
fn it_comes_before_the_unit_that_made_it_true_by_arriving_and_right_behind_one_that_passed() {
    let all = [notification(1), question(5), notification(2)];
    for (leg, expected) in [
        (Some(super::super::condition::Leg::Server), [&all[0], X, &all[1], &all[2]].concat()),
        (None, [&all[0], &all[1], X, &all[2]].concat()),
    ] {
        let asked = Condition::Seen(Box::new(Seen { leg, ..sight(message("request")) }));
        let mut play = Play::new(vec![when(asked, Some(1))]);
        play.calls("a", 1).streams("a").data("a", &all.concat());
        assert_eq!(play.body("a"), expected, "{leg:?}");
    }
}

#[test]
fn again_after_each_of_what_comes_next() {
    let next = Condition::Seen(Box::new(Seen { next: true, ..sight(message("notification")) }));
    let mut play = Play::new(vec![when(next, None)]);
    let all = [notification(1), notification(2), answer(1)];
    play.calls("a", 1).streams("a").data("a", &all.concat()).ends("a");
    assert_eq!(play.body("a"), [&all[0], X, &all[1], X, &all[2]].concat());
}

#[test]
fn it_passes_what_waits_on_its_stream_but_not_its_head_or_its_unit() {
    let slow = rule("slow", message("notification"), hold(Condition::Never));
    let mut play = Play::new(vec![when(after(10), Some(1)), slow]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).waits(10);
    assert_eq!(play.body("a"), X);

    let slow_head = rule("slow", of(At::Head, "tools/call"), delay(50));
    let mut play = Play::new(vec![when(after(10), Some(2)), slow_head]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).waits(49);
    assert_eq!(play.of("a").sent_head, None);
    play.waits(1);
    assert_eq!(play.body("a"), [X, X, &notification(1)].concat());

    let behind =
        Inject { what: comment("x"), to: To::Client, place: Place::After, when: Some(after(10)), repeat: Some(1) };
    let slow = rule("slow", message("notification"), delay(50));
    let mut play = Play::new(vec![adding(message("notification"), behind), slow]);
    play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1))).waits(50);
    assert_eq!(play.body("a"), [&*notification(1), X, &answer(1)].concat());
}

#[test]
fn a_made_answer_can_be_added_to() {
    let data = Some(EventData::Text("{\"id\":1,\"result\":{}}".into()));
    let content = Content::Events(vec![EventText { data, ..EventText::default() }]);
    let respond = Respond { content, ..respond(200) };
    let made = rule("respond", of(At::Request, "tools/call"), Fault::Respond(respond));
    let mut play = Play::new(vec![made, after_head(comment("x"))]);
    play.calls("a", 1);
    assert_eq!(play.body("a"), [X, "data: {\"id\":1,\"result\":{}}\n\n"].concat());
    assert_eq!(play.counts("add"), (1, 1, 1));
}

// --- duplicate ---

#[test]
fn a_block_leaves_again_behind_itself() {
    let mut play = Play::new(vec![again(message("notification"), 2, 0)]);
    play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1))).ends("a");
    assert_eq!(play.body("a"), [notification(1).repeat(3), answer(1)].concat());
    assert_eq!(play.counts("again"), (1, 1, 1));
    let copy = play.point("s1/post:1/block#3");
    assert_eq!(
        (copy.maker.as_deref(), copy.fate, copy.block.as_deref()),
        (Some("again"), PointFate::Passed, Some("message"))
    );
    assert_eq!(play.point("s1/post:1/block#4").maker, None, "the answer is the fourth");
    let mut play = Play::new(vec![]);
    play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1))).ends("a");
    assert_eq!(play.body("a"), notification(1) + &answer(1));
}

#[test]
fn a_copy_leaves_so_much_later_and_what_follows_waits_behind_it() {
    let mut play = Play::new(vec![again(message("notification"), 2, 20)]);
    play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1))).waits(19);
    assert_eq!(play.body("a"), notification(1));
    play.waits(1);
    assert_eq!(play.body("a"), notification(1).repeat(2));
    play.waits(20);
    assert_eq!(play.body("a"), notification(1).repeat(3) + &answer(1));
    let mut play = Play::new(vec![again(message("notification"), 2, 20)]);
    play.calls("a", 1).streams("a").data("a", &notification(1)).leaves("a");
    assert!(play.engine.timers.is_empty());
}

#[test]
fn a_copy_is_the_same_message_of_the_same_owner() {
    let mut play = Play::new(vec![again(message("request"), 1, 0)]);
    play.calls("a", 1).streams("a").data("a", &question(5));
    let owner = |key: &str| play.point(key).owner.as_ref().map(|owner| owner.id.to_string());
    assert_eq!((owner("s1/post:1/block#1"), owner("s1/post:1/block#2")), (Some("1".into()), Some("1".into())));
    let mut play = Play::new(vec![again(message("answer"), 1, 0)]);
    play.calls("a", 1).streams("a").data("a", &answer(1)).ends("a");
    assert_eq!(play.body("a"), answer(1).repeat(2));
    assert_eq!(play.engine.calls.in_flight(1), 0);
}

#[test]
fn a_later_cut_can_fall_between_a_block_and_its_copy() {
    let mine = Selector { index: vec![2], ..message("notification") };
    let cut = rule("cut", mine, Fault::Cut(cut(Ending::Fin, CutPlace::Before)));
    let mut play = Play::new(vec![again(message("notification"), 2, 0), cut]);
    play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1)));
    assert_eq!((play.body("a"), play.of("a").ending), (&*notification(1), Some(Ending::Fin)));
    assert_eq!(play.counts("again").2, 0, "nothing that it made has left");
}

#[test]
fn a_condition_sees_what_was_made_pass() {
    let held = rule("hold", at(At::End, "post"), hold(seen(blocks("comment"))));
    let mut play = Play::new(vec![after_head(comment("x")), held]);
    play.calls("a", 1).streams("a").data("a", &answer(1)).ends("a");
    assert_eq!((play.of("a").ending, play.counts("hold").2), (Some(Ending::Eof), 1));
}

// === bounds ===

#[test]
fn copies_are_no_more_than_what_a_queue_holds() {
    let large = format!("data: {{\"method\":\"x\",\"params\":\"{}\"}}\n\n", "x".repeat(4 * 1024 * 1024));
    for (event, copies) in [(large, 3), (notification(1), 100)] {
        let mut play = Play::new(vec![again(message("notification"), 100, 0)]);
        play.calls("a", 1).streams("a").data("a", &event);
        assert_eq!(play.body("a").len(), (1 + copies) * event.len());
    }
}

#[test]
fn nothing_more_is_added_for_a_client_that_does_not_read() {
    let what = comment(&"x".repeat(1024 * 1024));
    let inject = Inject { what, to: To::Client, place: Place::After, when: Some(after(1)), repeat: None };
    let mut play = Play::new(vec![adding(of(At::Head, "tools/call"), inject)]);
    play.calls("a", 1).streams("a").stops_reading("a");
    for _ in 0..100 {
        play.waits(1);
    }
    assert!(play.body("a").len() < 20 * 1024 * 1024, "{} bytes wait", play.body("a").len());
    assert!(play.engine.additions.is_empty());
}
