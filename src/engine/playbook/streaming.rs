//! What passes when nothing fires: every byte, at once, in order.

use super::super::condition::Time;
use super::super::engine::Setup;
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::delay::Delay;
use super::super::fault::moving::{Closed, Move, MoveTo};
use super::super::fault::reorder::{Order, Reorder};
use super::super::record::{Entry, PointFate};
use super::super::rpc::Id;
use super::super::selector::{At, Selector};
use super::super::sse::BLOCK_LIMIT;
use super::Play;
use super::tools::{after, answer, at, delay, glob, hold, message, ms, notification, of, question, rule};

/// A proxy that kept an unfinished block back would deadlock a client that waits for its first byte.
#[test]
fn a_client_that_gets_one_byte_a_write_sees_each_at_once() {
    let mut play = Play::new(vec![]);
    play.calls("a", 1).streams("a");
    let answer = answer(1);
    for (n, byte) in answer.char_indices() {
        play.data("a", &byte.to_string());
        assert_eq!(play.of("a").writes, n + 1);
    }
    play.data("a", "data: no blank line").ends("a");
    assert_eq!(play.body("a"), format!("{answer}data: no blank line"));
    assert_eq!((play.of("a").ending, play.of("a").sent_head), (Some(Ending::Eof), Some(false)));
}

#[test]
fn every_point_is_written_down_with_its_key_and_owner() {
    let mut play = Play::new(vec![]);
    play.calls("echo", 2).streams("echo");
    play.data("echo", &[notification(1), ": ping\n\n".into(), question(2), answer(2)].concat()).ends("echo");
    let fates: Vec<_> = play.points().map(|point| (&*point.key, point.fate)).collect();
    let expected = [
        ("s0/conn:1/connect#1", PointFate::Ended),
        ("s1/early:1/request-head#1", PointFate::Ended),
        ("s1/post:2/request#1", PointFate::Passed),
        ("s1/post:2/head#1", PointFate::Passed),
        ("s1/post:2/block#1", PointFate::Passed),
        ("s1/post:2/block.comment#1", PointFate::Passed),
        ("s1/post:2/block#2", PointFate::Passed),
        ("s1/post:2/block#3", PointFate::Passed),
        ("s1/post:2/end#1", PointFate::Passed),
    ];
    assert_eq!(fates, expected);
    let asked = play.point("s1/post:2/block#2");
    let owner = asked.owner.as_ref().expect("a question on a POST's stream belongs to its call");
    assert_eq!((&owner.id, &*owner.method), (&Id::Number("2".into()), "tools/call"));
    assert_eq!(owner.name.as_deref(), Some("echo"));
    let answered = &play.point("s1/post:2/block#3").rpc[0];
    assert_eq!((&*answered.kind, answered.method.as_deref()), ("response", Some("tools/call")));
}

#[test]
fn each_ending_of_the_server_is_that_of_the_client() {
    for ending in [Ending::Eof, Ending::Fin, Ending::Reset] {
        let mut play = Play::new(vec![]);
        play.calls("a", 1).streams("a").data("a", "data: hal").ends_as("a", ending);
        assert_eq!((play.of("a").ending, play.body("a")), (Some(ending), "data: hal"));
    }
    let mut play = Play::new(vec![]);
    play.calls("a", 1).ends_as("a", Ending::Reset);
    assert_eq!((play.of("a").ending, play.of("a").sent_head), (Some(Ending::Reset), None));
}

#[test]
fn a_client_that_leaves_takes_the_server_leg_with_it() {
    let mut play = Play::new(vec![]);
    play.calls("a", 1).streams("a").leaves("a");
    assert_eq!(play.left().last().map(String::as_str), Some("close a"));
    assert!(play.engine.exchanges.is_empty(), "nothing is remembered of it");
    play.data("a", &answer(1)).ends("a");
    assert_eq!(play.body("a"), "", "what comes late goes nowhere");
}

#[test]
fn an_exchange_that_is_over_is_forgotten() {
    let mut play = Play::new(vec![]);
    for id in 0..50 {
        play.calls(&format!("a{id}"), id).answers(&format!("a{id}"), id);
    }
    assert!(play.engine.exchanges.is_empty() && play.engine.flights.is_empty() && play.engine.busy.is_empty());
    assert_eq!(play.engine.summary().exchanges, 50);
}

#[test]
fn a_json_answer_passes_as_it_comes_and_is_one_block() {
    for length in [true, false] {
        let mut play = Play::new(vec![]);
        let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let length = if length { body.len().to_string() } else { String::new() };
        play.calls("a", 1).head("a", 200, &[("content-type", "application/json"), ("content-length", &length)]);
        play.data("a", &body[..10]);
        assert_eq!(play.body("a"), &body[..10]);
        play.data("a", &body[10..]).ends("a");
        assert_eq!(play.body("a"), body);
        assert_eq!(play.point("s1/post:1/block#1").fate, PointFate::Passed);
        assert_eq!(play.engine.calls.in_flight(1), 0);
    }
}

#[test]
fn a_body_that_nobody_asks_about_is_relayed_unseen() {
    let rules = vec![rule("late", of(At::Request, "tools/call"), delay(5))];
    let mut play = Play::with(Setup { rules, seed: 0, ..Setup::default() });
    play.calls("a", 1);
    assert!(!play.forwarded("a"));
    play.waits(5).streams("a").data("a", &answer(1)).ends("a");
    assert!(play.of("a").relayed && play.engine.exchanges.is_empty());
    assert_eq!((play.body("a"), play.engine.calls.in_flight(1)), (&*answer(1), 0));
    let mut seen = Play::new(vec![rule("late", of(At::Request, "tools/call"), delay(5))]);
    seen.calls("a", 1).waits(5);
    assert!(seen.forwarded("a") && !seen.of("a").relayed, "what is recorded is seen");
}

#[test]
fn an_encoded_body_is_not_looked_into_and_the_journal_says_so() {
    let mut play = Play::new(vec![rule("r", at(At::Block, "post"), delay(50))]);
    play.calls("a", 1).head("a", 200, &[("content-type", "text/event-stream"), ("content-encoding", "gzip")]);
    play.data("a", &answer(1));
    assert_eq!((play.body("a"), play.counts("r").0), (&*answer(1), 0));
    let said = play.entries.iter().any(|entry| matches!(entry, Entry::Note(note) if note.text.contains("gzip")));
    assert!(said);
}

#[test]
fn a_json_answer_that_is_too_large_passes_as_it_comes() {
    for rules in [vec![], vec![rule("r", at(At::Block, "post"), delay(50))]] {
        let mut play = Play::new(rules);
        play.calls("a", 1).head("a", 200, &[("content-type", "application/json")]);
        let megabyte = "x".repeat(1024 * 1024);
        for _ in 0..17 {
            play.data("a", &megabyte);
        }
        play.ends("a");
        assert_eq!((play.body("a").len(), play.of("a").ending), (17 * megabyte.len(), Some(Ending::Eof)));
    }
}

/// A frame for each event would cost more than the fault.
#[test]
fn events_that_came_together_and_leave_together_leave_in_one_write() {
    let rules = vec![rule("r", at(At::Block, "post"), delay(0))];
    let mut play = Play::with(Setup { rules, seed: 0, ..Setup::default() });
    let events = [notification(1), notification(2), notification(3)].concat();
    play.calls("a", 1).streams("a").data("a", &events);
    assert_eq!((play.body("a"), play.of("a").writes), (&*events, 1));
}

#[test]
fn only_a_rule_that_looks_into_a_body_asks_for_identity() {
    let headers = [("mcp-session-id", "S"), ("accept-encoding", "gzip, deflate")];
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    for (rules, asks) in [(vec![], false), (vec![rule("late", at(At::Block, "post"), delay(5))], true)] {
        let mut play = Play::new(rules);
        play.sends("a", "POST", &headers, call);
        assert_eq!(play.of("a").identity, asks);
    }
}

#[test]
fn that_identity_is_asked_for_is_said_once_in_a_run() {
    use super::super::record::Entry;
    let mut play = Play::new(vec![rule("late", at(At::Block, "post"), delay(5))]);
    for name in ["a", "b"] {
        let headers = [("mcp-session-id", "S"), ("accept-encoding", "gzip")];
        play.sends(name, "POST", &headers, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#);
        assert!(play.of(name).identity);
    }
    let notes = play.entries.iter().filter(|entry| matches!(entry, Entry::Note(_)));
    assert_eq!(notes.count(), 1);
}

/// A client that knows the length does not wait for an end.
#[test]
fn an_answer_whose_end_is_kept_back_loses_its_length() {
    for (fault, point, rechunked) in [
        (delay(50), At::End, true),
        (hold(after(50)), At::End, true),
        (delay(50), At::Block, false),
        (hold(after(50)), At::Head, false),
    ] {
        let mut play = Play::new(vec![rule("late", of(point, "tools/call"), fault)]);
        play.calls("a", 1).head("a", 200, &[("content-type", "application/json"), ("content-length", "36")]).waits(50);
        assert_eq!(play.of("a").sent_head, Some(rechunked), "{point:?}");
    }
}

#[test]
fn a_request_beyond_the_peek_cap_is_matched_by_its_head_only() {
    use super::super::engine::{Engine, Setup};
    use super::super::event::{Command, Moment};
    use super::super::event::{ConnId, Event, ExchangeId, RequestBody, RequestHead};
    let rules = vec![rule("r", of(At::Request, "*"), hold(after(5)))];
    let mut engine = Engine::new(Setup { rules, record: true, ..Setup::default() });
    let head = RequestHead { method: "POST".into(), target: "/mcp".into(), headers: vec![] };
    let exchange = ExchangeId(1);
    engine.on(Moment::default(), Event::RequestHead { exchange, conn: ConnId(1), reused: false, head });
    let commands = engine.on(Moment::default(), Event::Request { exchange, body: RequestBody::BeyondPeek(4) });
    assert!(commands.iter().any(|command| matches!(command, Command::Forward { .. })));
    assert!(
        commands.iter().any(|command| matches!(command, Command::Record(entry) if matches!(**entry, Entry::Note(_))))
    );
}

#[test]
fn secrets_are_stand_ins_in_the_journal() {
    let mut play = Play::new(vec![]);
    let headers = [
        ("mcp-session-id", "S3CRET"),
        ("authorization", "Bearer S3CRET"),
        ("cookie", "x=S3CRET"),
        ("last-event-id", "e-7"),
        ("x-plain", "shown"),
        (":target", "/mcp?token=S3CRET"),
    ];
    play.sends("a", "GET", &headers, "").head("a", 200, &[("set-cookie", "S3CRET")]).ends("a");
    let text = format!("{:?}", play.entries);
    assert!(!text.contains("S3CRET") && text.contains("shown") && text.contains("e-7"));
    let hashes: Vec<_> = play.point("s1/resume:1(?)/request#1").headers.clone();
    assert!(hashes.iter().any(|(name, value)| name == "authorization" && value.starts_with('#')));
    assert_eq!(play.point("s1/resume:1(?)/end#1").fate, PointFate::Passed);
}

/// Beyond what is kept of one event: it passes in parts, and nothing may come between them.
fn large(play: &mut Play, name: &str) -> String {
    let begun = format!("data: {}", "x".repeat(BLOCK_LIMIT));
    play.data(name, &begun);
    begun
}

#[test]
fn what_moves_to_a_stream_waits_for_a_block_that_passes_in_parts() {
    let moving = Move { to: MoveTo::Get, copy: false, closed: Closed::Wait, limit: ms(1_000) };
    let asked = Selector { stream: glob("post"), ..message("request") };
    let rules = || vec![rule("to-get", asked.clone(), Fault::Move(moving.clone()))];
    let mut play = Play::new(rules());
    play.gets("get").streams("get").calls("a", 1).streams("a");
    let begun = large(&mut play, "get");
    play.data("a", &[question(7), question(8)].concat()).data("get", "more");
    assert_eq!((play.body("get").len(), play.body("a")), (begun.len() + 4, ""));
    play.data("get", &["\n\n", &notification(1)].concat());
    let rest = ["more\n\n", &question(7), &question(8), &notification(1)].concat();
    assert_eq!(&play.body("get")[begun.len()..], rest);
    assert_eq!(play.point("s1/post:1/block#1").by, Some(play.point("s1/get:1/block.unparsable#1").seq));
    play.data("a", &question(9));
    assert!(play.body("get").ends_with(&question(9)), "nothing is begun any more");

    let mut broken = Play::new(rules());
    broken.gets("get").streams("get").calls("a", 1).streams("a");
    let begun = large(&mut broken, "get");
    broken.data("a", &question(7)).ends("get");
    assert_eq!((broken.body("get").len(), broken.of("get").ending), (begun.len(), Some(Ending::Eof)));
    assert_eq!(broken.point("s1/post:1/block#1").fate, PointFate::Gone);
    assert!(broken.engine.busy.is_empty());
}

#[test]
fn what_lets_a_block_pass_that_goes_in_parts_waits_for_all_of_it() {
    for (ready, overtaken) in [(5, true), (5, false)] {
        let slow = Fault::Delay(Delay { time: Time::Fixed(ms(ready)), overtake: overtaken });
        let mut play = Play::new(vec![rule("slow", message("notification"), slow)]);
        play.calls("a", 1).streams("a").data("a", &notification(1));
        let begun = large(&mut play, "a");
        play.waits(5).data("a", "more\n\n").data("a", &answer(1));
        let large = [&begun, "more\n\n"].concat();
        let order = if overtaken { [large, notification(1)] } else { [notification(1), large] };
        assert!(play.body("a") == [&order.concat(), &*answer(1)].concat(), "overtaken: {overtaken}");
    }
}

#[test]
fn the_last_part_of_a_block_leaves_where_the_first_did() {
    let unparsable = Selector { block: glob("unparsable"), ..Selector::any(At::Block) };
    let away = Move { to: MoveTo::Get, copy: false, closed: Closed::Drop, limit: ms(1_000) };
    let window = Reorder { window: 2, order: Order::Reverse, across: false, limit: ms(1_000) };
    for fault in [Fault::Move(away), Fault::Reorder(window)] {
        let mut play = Play::new(vec![rule("r", unparsable.clone(), fault)]);
        play.calls("a", 1).streams("a");
        let begun = large(&mut play, "a");
        play.data("a", "\n\n").data("a", &answer(1));
        assert!(play.body("a") == [&begun, "\n\n", &answer(1)].concat());
        assert_eq!(play.counts("r"), (1, 1, 0));
    }
}
