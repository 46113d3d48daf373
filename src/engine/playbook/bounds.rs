//! What is remembered is bounded, whatever peers send and for however long.

use std::sync::Arc;

use bytes::Bytes;

use super::super::counting::SCOPES;
use super::super::engine::{LANE_LIMIT, Setup};
use super::super::event::Moment;
use super::super::fault::Fault;
use super::super::fault::moving::{Closed, Move, MoveTo};
use super::super::owner::{Answers, Calls, Trail};
use super::super::record::{Entry, PointFate};
use super::super::rpc;
use super::super::rule::Rule;
use super::super::selector::{At, Selector, Stream};
use super::super::session::{Client, Sessions};
use super::super::sighting::{Log, Sighting};
use super::super::trigger::{Scope, Trigger};
use super::super::unit::Key;
use super::Play;
use super::tools::{after, delay, glob, hold, message, ms, notification, of, question, rule, seen};

fn request(n: u64) -> rpc::Message {
    let text = format!(r#"{{"id":{n},"method":"tools/call","params":{{"_meta":{{"progressToken":{n}}}}}}}"#);
    rpc::peek(&Bytes::from(text)).remove(0)
}

#[test]
fn requests_and_event_ids_of_both_sides() {
    let mut calls = Calls::default();
    let trail = Trail { key: Arc::from("get:1"), stream: Stream::Get, messages: vec![], owners: vec![] };
    let trail = Arc::new(trail);
    for n in 0..40_000 {
        calls.hear_client(n % 7_000, request(n));
        calls.hear_server(n, request(n), &trail, Answers::Open);
        calls.issue(n, format!("{n}").as_bytes(), &trail);
        calls.issue(n, format!("x{n}").as_bytes(), &trail);
        calls.names.tell_event(n, &Bytes::from(format!("{n}")), format!("x{n}").as_bytes());
    }
    let places = 4 * 16 * 1024 + 96 * 1024;
    assert!(calls.remembered() <= places, "{} in {places}", calls.remembered());
    assert_eq!(calls.in_flight(39_999 % 7_000), 2, "those that are remembered are still counted");
}

#[test]
fn sessions() {
    let mut sessions = Sessions::default();
    for n in 0..10_000u64 {
        let id = Bytes::from(n.to_string());
        assert_eq!(sessions.with_id(&id, Client::default()), n + 1, "numbers go on");
    }
    assert!(sessions.get(1).is_none() && sessions.get(10_000).is_some());
}

/// A server's `endpoint` may be as long as a block.
#[test]
fn targets_of_endpoints() {
    for (length, known) in [(4096, true), (4097, false)] {
        let target = format!("/{}", "m".repeat(length - 1));
        let mut play = Play::new(vec![]);
        play.sends("sse", "GET", &[(":target", "/sse"), ("accept", "text/event-stream")], "").streams("sse");
        play.data("sse", &format!("event: endpoint\ndata: {target}\n\n"));
        assert_eq!(play.engine.sessions.at_endpoint(&target).is_some(), known);
        assert_eq!(play.engine.sessions.is_legacy("/sse"), known);
        let said = |entry: &Entry| matches!(entry, Entry::Note(note) if note.text.contains("4096 bytes"));
        assert_eq!(play.entries.iter().any(said), !known);
    }
}

/// What one rule counts in many exchanges makes another forget nothing.
#[test]
fn scopes_of_each_rule_apart() {
    let once = |name: &str, selector: Selector, scope: Scope| Rule {
        trigger: Trigger { times: Some(1), ..Trigger::default() },
        scope,
        ..rule(name, selector, delay(1))
    };
    let calm = once("calm", of(At::Request, "tools/call"), Scope::Session);
    let busy = once("busy", of(At::Request, "ping"), Scope::Exchange);
    let mut play = Play::with(Setup { rules: vec![calm, busy], seed: 1, ..Setup::default() });
    play.calls("a", 1).waits(1).answers("a", 1);
    for id in 10..11 + SCOPES as u64 {
        play.posts("ping", &format!(r#"{{"id":{id},"method":"ping"}}"#)).waits(1).answers("ping", id);
    }
    assert!(!play.engine.counters.iter().any(|counters| counters.len() > SCOPES));
    play.calls("b", 2);
    assert!(play.forwarded("b"), "it has fired in this session");
}

#[test]
fn sightings() {
    let mut log = Log::default();
    let key = Key { session: 1, exchange: Arc::from("get:1"), name: "block", ordinal: 1 };
    for seq in 0..10_000 {
        let sighting =
            Sighting { seq, at: Moment::default(), key: key.clone(), exchange: None, belongs: Arc::default() };
        log.add(1, sighting);
    }
    assert_eq!(log.of(Some(1)).len(), 4096);
    assert_eq!(log.of(Some(1)).last().map(|sighting| sighting.seq), Some(9_999));
}

/// A held stream is read on, but not for ever.
#[test]
fn bytes_that_wait() {
    let mut play = Play::new(vec![rule("r", message("notification"), hold(after(100)))]);
    play.calls("a", 1).streams("a");
    let event = format!("data: {{\"method\":\"x\",\"params\":\"{}\"}}\n\n", "x".repeat(1024 * 1024));
    for _ in 0..16 {
        play.data("a", &event);
    }
    assert!(play.of("a").paused, "the server is read no further");
    play.waits(100);
    assert!(!play.of("a").paused);
    assert_eq!(play.body("a").len(), 16 * event.len());
}

#[test]
fn a_hold_without_reading_lets_the_server_feel_it() {
    use super::super::fault::Fault;
    for reading in [true, false] {
        let mut fault = hold(after(100));
        if let Fault::Hold(hold) = &mut fault {
            hold.reading = reading;
        }
        let mut play = Play::new(vec![rule("r", message("notification"), fault)]);
        play.calls("a", 1).streams("a").data("a", &notification(1));
        assert_eq!(play.of("a").paused, !reading);
        play.waits(100);
        assert!(!play.of("a").paused);
    }
}

/// A 413 comes before the request is sent, and nothing of it will be reported any more.
#[test]
fn a_request_that_the_server_did_not_read_to_its_end_is_forgotten_with_its_exchange() {
    let mut play = Play::new(vec![]);
    play.reads_no_request_whole().calls("a", 1).head("a", 413, &[]).ends("a");
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty());
    assert_eq!(play.point("s1/post:1/request#1").fate, PointFate::Gone);
    play.calls("b", 2).leaves("b");
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty());
    assert_eq!(play.point("s1/post:2/request#1").fate, PointFate::Gone);
}

#[test]
fn what_moves_to_a_stream_that_nobody_reads_is_bounded() {
    let to_get = Fault::Move(Move { to: MoveTo::Get, copy: false, closed: Closed::Wait, limit: ms(1_000) });
    let mut play = Play::new(vec![rule("to-get", Selector { stream: glob("post"), ..message("request") }, to_get)]);
    play.gets("get").streams("get").stops_reading("get").calls("a", 1).streams("a");
    let question = format!("data: {{\"id\":7,\"method\":\"x\",\"params\":\"{}\"}}\n\n", "x".repeat(LANE_LIMIT / 3));
    for _ in 0..5 {
        play.data("a", &question);
    }
    assert_eq!((play.body("get").len(), play.body("a").len()), (2 * question.len(), 3 * question.len()));
}

#[test]
fn a_session_whose_calls_are_all_forgotten_takes_no_room_among_them() {
    let ping = rpc::peek(&Bytes::from_static(br#"{"id":1,"method":"ping"}"#)).remove(0);
    let mut calls = Calls::default();
    let filled = |calls: &mut Calls, sessions: std::ops::Range<u64>| {
        sessions.for_each(|session| drop(calls.hear_client(session, ping.clone())));
        calls.remembered()
    };
    let full = filled(&mut calls, 0..20_000);
    assert_eq!(filled(&mut calls, 20_000..40_000), full);
}

#[test]
fn small_params_keep_no_large_request_alive_once_it_is_settled() {
    let body = Bytes::from(format!(r#"{{"id":1,"method":"ping","params":{{}},"x":"{}"}}"#, "x".repeat(100_000)));
    let mut calls = Calls::default();
    let spoken = calls.hear_client(1, rpc::peek(&body).remove(0));
    let call = spoken.about.expect("it is a request");
    drop(spoken);
    calls.settle(call);
    assert_eq!(&calls.get(call).expect("it is known").params[..], b"{}");
    assert!(body.is_unique(), "nothing else holds it");
}

#[test]
fn a_hold_that_failed_is_not_forgotten_for_those_that_opened() {
    let never = hold(seen(of(At::Request, "no/such")));
    let mut play = Play::new(vec![
        rule("failed", message("request"), never),
        rule("fine", message("notification"), hold(after(1))),
    ]);
    play.calls("a", 1).streams("a").data("a", &question(7)).waits(10_000);
    let failed = play.opened();
    play.data("a", &notification(1).repeat(10_001)).waits(1);
    assert_eq!((play.opened().len(), &play.opened()[..1]), (10_000, &failed[..]));
}
