//! `inject` to the server and `duplicate` of requests: what the server gets that no client sent, and when.

use super::super::condition::{Condition, Time};
use super::super::effects::Did;
use super::super::fault::Fault;
use super::super::fault::dropping::Drop;
use super::super::fault::duplicate::Duplicate;
use super::super::fault::event_text::{EventData, EventText};
use super::super::fault::inject::{Inject, Place, To, What};
use super::super::record::{Entry, PointFate};
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{after, answer, at, delay, hold, message, ms, notification, of, respond, rule, seen};

fn cancel(of: &str) -> What {
    let message = serde_json::json!({ "method": "notifications/cancelled", "params": { "requestId": of } });
    What::Event(EventText { data: Some(EventData::Message(message)), ..EventText::default() })
}

fn to_server(selector: Selector, place: Place) -> Rule {
    sending(selector, Inject { what: cancel("${owner.id}"), to: To::Server, place, when: None, repeat: Some(1) })
}

fn sending(selector: Selector, inject: Inject) -> Rule {
    rule("send", selector, Fault::Inject(inject))
}

fn again(times: u64, gap: u64) -> Rule {
    rule("again", of(At::Request, "tools/call"), Fault::Duplicate(Duplicate { times, gap: Time::Fixed(ms(gap)) }))
}

const CANCEL: &str = r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#;

fn bodies(play: &Play) -> Vec<&str> {
    play.sent.iter().map(|(_, body)| std::str::from_utf8(body).expect("text")).collect()
}

#[test]
fn what_is_sent_before_a_request_is_written_before_it_and_what_is_sent_after_it_behind() {
    for (place, order) in [(Place::Before, ["post a", "forward a"]), (Place::After, ["forward a", "post a"])] {
        let mut play = Play::new(vec![to_server(of(At::Request, "tools/call"), place)]);
        play.calls("a", 7);
        assert_eq!(play.left(), order);
        assert_eq!((bodies(&play), play.counts("send")), (vec![CANCEL], (1, 1, 1)));
        let (sent, request) = (play.point("s1/post:7/sent#1"), play.point("s1/post:7/request#1"));
        assert_eq!((sent.fate, sent.maker.as_deref(), &*sent.point), (PointFate::Passed, Some("send"), "request"));
        assert_eq!(sent.rpc[0].method.as_deref(), Some("notifications/cancelled"));
        assert_eq!(sent.left_seq < request.left_seq, place == Place::Before);
        let did = &play.engine.summary().effects[0].did;
        assert!(matches!(did, Did::Added { again: false, to_server: true, message: Some(_), .. }), "{did:?}");
        play.answers("a", 7);
        assert_eq!(play.body("a"), answer(7), "its client gets its own answer");
        assert!(play.engine.exchanges.is_empty() && play.engine.awaited.is_empty());
    }
}

#[test]
fn a_unit_waits_until_what_goes_before_it_is_written() {
    let mut play = Play::new(vec![to_server(of(At::Head, "tools/call"), Place::Before)]);
    play.calls("a", 7).stops_reading("a").streams("a");
    assert_eq!(play.left(), ["forward a", "post a"]);
    play.reads_again();
    assert_eq!(play.left(), ["head a"]);
}

#[test]
fn a_request_goes_although_what_goes_before_it_cannot_be_sent() {
    let mut play = Play::new(vec![to_server(of(At::Request, "tools/call"), Place::Before)]);
    play.fails_to_send = true;
    play.calls("a", 7);
    // It never will be: then it goes all the same, and the journal says so.
    assert_eq!(play.left(), ["post a", "forward a"]);
    assert_eq!((play.point("s1/post:7/sent#1").fate, play.counts("send")), (PointFate::Gone, (1, 1, 0)));
    let noted = |entry: &Entry| matches!(entry, Entry::Note(note) if note.text == "s1/post:7/sent#1: could not be sent: refused");
    assert!(play.entries.iter().any(noted), "{:#?}", play.entries);
}

#[test]
fn it_has_the_session_of_the_exchange_in_hand_and_nothing_of_its_message() {
    let headers = [
        ("host", "h"),
        ("authorization", "Bearer x"),
        ("mcp-session-id", "S"),
        ("mcp-protocol-version", "2025-11-25"),
        ("content-length", "99"),
        ("last-event-id", "e1"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "a"),
    ];
    let mut play = Play::new(vec![to_server(Selector::any(At::Request), Place::Before)]);
    play.sends("a", "POST", &headers, r#"{"id":7,"method":"tools/call","params":{"name":"a"}}"#);
    let (head, body) = &play.sent[0];
    let listed: Vec<_> =
        head.headers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))).collect();
    let expected = [
        "host: h",
        "authorization: Bearer x",
        "mcp-session-id: S",
        "mcp-protocol-version: 2025-11-25",
        "accept: application/json, text/event-stream",
        "content-type: application/json",
        &format!("content-length: {}", body.len()),
        "mcp-method: notifications/cancelled",
    ];
    assert_eq!(
        (head.method.as_str(), head.target.as_str(), listed),
        ("POST", "/mcp", expected.map(str::to_owned).to_vec())
    );
}

#[test]
fn beside_an_answer_it_goes_before_or_behind_the_unit_in_hand() {
    for (selector, before, behind) in [
        (of(At::Head, "tools/call"), ["post a", "head a"], ["head a", "post a"]),
        (message("answer"), ["post a", "write a"], ["write a", "post a"]),
        (of(At::End, "tools/call"), ["post a", "finish a"], ["finish a", "post a"]),
    ] {
        for (place, order) in [(Place::Before, before), (Place::After, behind)] {
            let mut play = Play::new(vec![to_server(selector.clone(), place)]);
            play.calls("a", 7).answers("a", 7);
            let left = play.left();
            let found: Vec<_> = left.iter().filter(|line| order.contains(&line.as_str())).collect();
            assert_eq!(found, order, "{left:?}");
            assert_eq!((play.body("a"), play.counts("send").2), (&*answer(7), 1));
            assert!(play.engine.exchanges.is_empty() && play.engine.awaited.is_empty());
        }
    }
}

#[test]
fn with_when_it_is_sent_when_its_time_has_come_and_again() {
    let inject =
        |when, repeat| Inject { what: cancel("x"), to: To::Server, place: Place::After, when: Some(when), repeat };
    let mut play = Play::new(vec![sending(of(At::Request, "tools/call"), inject(after(50), Some(2)))]);
    play.calls("a", 7).waits(49);
    assert_eq!((play.forwarded("a"), play.sent.len()), (true, 0));
    play.waits(1);
    assert_eq!(play.sent.len(), 1);
    play.waits(500);
    assert_eq!((play.sent.len(), play.counts("send")), (2, (1, 1, 1)));

    // What the end of the exchange itself makes true is sent yet; what comes later is not.
    for (when, sent) in [(seen(of(At::End, "tools/call")), 1), (after(50), 0)] {
        let mut play = Play::new(vec![sending(of(At::Request, "tools/call"), inject(when, Some(1)))]);
        play.calls("a", 7).answers("a", 7).waits(100);
        assert_eq!(play.sent.len(), sent);
        assert!(play.engine.exchanges.is_empty() && play.engine.additions.is_empty() && play.engine.timers.is_empty());
    }
}

#[test]
fn a_request_is_sent_again_as_it_was_and_its_client_gets_one_answer() {
    let mut play = Play::new(vec![again(2, 0)]);
    play.calls("a", 7);
    assert_eq!(play.left(), ["forward a", "post a", "post a"]);
    let seen = play.of("a");
    for (head, body) in &play.sent {
        assert_eq!((head, body), (&seen.asked, &seen.request));
    }
    play.answers("a", 7);
    assert_eq!((play.body("a"), play.counts("again")), (&*answer(7), (1, 1, 1)));
    assert!(play.engine.exchanges.is_empty());
    let mut play = Play::new(vec![]);
    play.calls("a", 7);
    assert_eq!((play.left(), play.sent.len()), (vec!["forward a".to_owned()], 0));
}

#[test]
fn a_get_is_sent_again_too() {
    let twice = Fault::Duplicate(Duplicate { times: 1, gap: Time::Fixed(ms(0)) });
    let mut play = Play::new(vec![rule("again", at(At::Request, "get"), twice)]);
    play.gets("g");
    assert_eq!((play.sent[0].0.method.as_str(), play.sent[0].1.len()), ("GET", 0));
}

#[test]
fn a_copy_of_a_request_is_sent_so_much_later() {
    let mut play = Play::new(vec![again(2, 20)]);
    play.calls("a", 7).waits(19);
    assert_eq!(play.sent.len(), 0);
    play.waits(1);
    assert_eq!(play.sent.len(), 1);
    play.waits(20);
    assert_eq!(play.sent.len(), 2);
}

#[test]
fn a_request_of_which_not_all_is_known_is_not_sent_again() {
    let known = [("mcp-session-id", "S"), ("content-length", "5")];
    let any =
        rule("again", Selector::any(At::Request), Fault::Duplicate(Duplicate { times: 1, gap: Time::Fixed(ms(0)) }));
    let mut play = Play::new(vec![any]);
    play.sends("a", "POST", &known, "");
    assert_eq!((play.sent.len(), play.counts("again")), (0, (1, 1, 0)));
}

#[test]
fn what_is_sent_after_a_block_that_is_lost_goes_at_once() {
    let lose = rule("lose", message("notification"), Fault::Drop(Drop));
    let mut play = Play::new(vec![to_server(message("notification"), Place::After), lose]);
    play.calls("a", 7).streams("a").data("a", &notification(1));
    assert_eq!((bodies(&play), play.body("a")), (vec![CANCEL], ""));
}

#[test]
fn what_is_not_sent_is_not_sent_again() {
    let lose = rule("lose", of(At::Request, "tools/call"), Fault::Drop(Drop));
    let mut play = Play::new(vec![lose, again(1, 0)]);
    play.calls("a", 7);
    assert_eq!((play.sent.len(), play.counts("again")), (0, (0, 0, 0)));
    let respond = Fault::Respond(respond(503));
    let mut play = Play::new(vec![again(1, 0), rule("respond", of(At::Request, "tools/call"), respond)]);
    play.calls("a", 7);
    assert_eq!((play.sent.len(), play.forwarded("a")), (0, false));
}

#[test]
fn rules_do_nothing_to_what_a_rule_sends_and_a_held_request_keeps_its_copies() {
    let late = rule("late", of(At::Request, "tools/call"), delay(30));
    let mut play = Play::new(vec![again(1, 0), late]);
    play.calls("a", 7).waits(29);
    assert_eq!((play.sent.len(), play.forwarded("a")), (0, false));
    play.waits(1);
    assert_eq!((play.left(), play.counts("late").0), (vec!["forward a".to_owned(), "post a".to_owned()], 1));
}

/// Between a rule that sends before a unit and one that sends after it nobody waits for ever.
#[test]
fn rules_that_send_before_and_after_one_unit_do_not_wait_for_each_other() {
    let named = |name: &str, place| Rule { name: name.into(), ..to_server(message("notification"), place) };
    let rules = vec![named("after", Place::After), named("before", Place::Before), named("again", Place::After)];
    let mut play = Play::new(rules);
    play.calls("a", 7).streams("a").data("a", &(notification(1) + &answer(7))).ends("a");
    assert_eq!((play.body("a"), play.sent.len()), (&*(notification(1) + &answer(7)), 3));
    assert!(play.engine.exchanges.is_empty() && play.engine.awaited.is_empty());
}

#[test]
fn a_condition_sees_a_request_that_was_sent_again() {
    let mut twice = super::tools::sight(of(At::Request, "tools/call"));
    twice.nth = 2;
    let until = Condition::Seen(Box::new(twice));
    let mut play = Play::new(vec![again(1, 0), rule("hold", message("answer"), hold(until))]);
    play.calls("a", 7).answers("a", 7);
    assert_eq!((play.body("a"), play.counts("hold").2), (&*answer(7), 1));
}
