//! `inject`: what no server sent, as its client gets it.

use std::time::Duration;

use mishap::engine::record::{Entry, PointFate};
use mishap::journal::Line;

use crate::common::messages::{ACCEPTED, SSE_HEAD, answer, call, event, json_head, progress};
use crate::common::peer::End;
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn inject(selector: &str, what: &str) -> String {
    format!("[[rule]]\nname = \"add\"\nmatch = {{ {selector} }}\ninject = {what}\n")
}

const HEAD: &str = "at = \"head\", method = \"tools/call\"";
const ANSWER: &str = "method = \"tools/call\", message = \"answer\"";

/// A call with one notification and its answer: what the client gets of it.
fn body(scene: &Scene) -> Vec<u8> {
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(SSE_HEAD);
    server.send_chunk(progress(1) + &event(&answer(1)));
    server.send_last_chunk();
    assert_eq!(client.answer().status(), 200);
    let (body, end) = client.rest();
    assert_eq!(end, End::Eof);
    body
}

#[test]
fn what_a_rule_adds_is_on_the_wire_where_it_says_and_nowhere_without_it() {
    let (note, answer) = (progress(1), event(&answer(1)));
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    for (rule, expected) in [
        (Some(inject(HEAD, "{ comment = \"x\" }")), [": x\n\n", &note, &answer].concat()),
        (
            Some(inject(HEAD, "{ event = { id = \"p1\", data = \"\" } }")),
            ["id: p1\ndata: \n\n", &note, &answer].concat(),
        ),
        (
            Some(inject(ANSWER, "{ event = { event = \"foo\", data = \"bar\" } }")),
            [&note, "event: foo\ndata: bar\n\n", &answer].concat(),
        ),
        (
            Some(inject(ANSWER, "{ message = { jsonrpc = \"2.0\", method = \"notifications/message\" } }")),
            [&note, &*event(log).replace("event: message\n", ""), &answer].concat(),
        ),
        (
            Some(inject(ANSWER, "{ event = { retry = 100 }, place = \"after\" }")),
            [&note, &*answer, "retry: 100\n\n"].concat(),
        ),
        (
            Some(inject("at = \"end\", method = \"tools/call\"", "{ comment = \"x\" }")),
            [&note, &*answer, ": x\n\n"].concat(),
        ),
        (None, [&*note, &answer].concat()),
    ] {
        let scene = Scene::run(rule.as_deref(), &[]);
        assert_eq!(String::from_utf8_lossy(&body(&scene)), expected);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let made = ended.journal.points(|point| point.maker.as_deref() == Some("test/add"));
        assert_eq!(made.len(), usize::from(rule.is_some()));
        assert_eq!(ended.stderr.contains("test/add: added "), rule.is_some(), "{}", ended.stderr);
    }
}

/// The first three bytes of the body, in front of an event and in front of nothing.
#[test]
fn a_byte_order_mark_is_the_first_thing_of_a_stream() {
    for selector in [HEAD, "method = \"tools/call\", message = \"notification\", index = 1"] {
        let scene = Scene::with(&inject(selector, "{ raw = \"\\uFEFF\" }"));
        let body = body(&scene);
        assert_eq!(body, [&[0xEF, 0xBB, 0xBF], progress(1).as_bytes(), event(&answer(1)).as_bytes()].concat());
        assert_eq!(scene.finish().status, 0);
    }
}

#[test]
fn bytes_that_end_no_event_are_sent_as_they_are_and_the_stream_stays_open() {
    let raw = "data: {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{}}\\n";
    let scene = Scene::with(&inject(HEAD, &format!("{{ raw = \"{raw}\" }}")));
    let (mut client, _server) = scene.call(1);
    client.sees("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    scene.ping(2);
    assert!(client.is_silent());
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/block#1").rpc[0].kind, "response");
}

#[test]
fn a_json_answer_is_left_alone_and_the_run_says_that_nothing_happened() {
    let scene = Scene::with(&inject(ANSWER, "{ comment = \"x\" }"));
    let (client, server) = scene.exchange(&call(1));
    scene.answered(client, server, 1);
    assert_eq!(scene.finish().status, 4);
}

#[test]
fn heartbeats_that_are_no_json_rpc_come_after_each_silence_and_never_early() {
    let beat = "{ event = { data = '{\"type\":\"heartbeat\"}' }, when = { idle = \"60ms\" }, repeat = true }";
    let scene = Scene::with(&inject("stream = \"get\", at = \"head\", media = \"sse\"", beat));
    let (mut get, mut server) = scene.open_get();
    get.sees("data: {\"type\":\"heartbeat\"}\n\n");
    server.send_chunk(progress(1));
    get.sees(progress(1));
    get.sees("data: {\"type\":\"heartbeat\"}\n\n".repeat(2));
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let beats = ended.journal.points(|point| point.maker.is_some() && point.fate == PointFate::Passed);
    let others = [ended.journal.point("s1/get:1/head#1"), ended.journal.point("s1/get:1/block#1")];
    let heard: Vec<u64> = others.iter().chain(&beats).filter_map(|point| point.left).collect();
    for beat in &beats {
        let before = heard.iter().filter(|left| **left < beat.arrived).max().expect("the head left first");
        let silence = Duration::from_micros(beat.arrived - before);
        assert!(silence >= Duration::from_millis(60), "{silence:?} before {beat:#?}");
    }
}

#[test]
fn a_burst_comes_in_one_piece() {
    let burst = "{ message = { jsonrpc = \"2.0\", method = \"x\" }, repeat = 200 }";
    let scene = Scene::with(&inject("stream = \"get\", at = \"head\"", burst));
    let (mut get, _server) = scene.open_get();
    get.sees("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n".repeat(200));
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn an_answer_of_a_known_length_grows_by_what_is_added() {
    let scene = Scene::with(&inject(HEAD, "{ comment = \"x\" }"));
    let (mut client, mut server) = scene.exchange(&call(1));
    let body = event(&answer(1));
    server.send(json_head(body.len(), "").replace("application/json", "text/event-stream") + &body);
    assert_eq!(client.answer().value("content-length"), None);
    client.sees(": x\n\n".to_owned() + &body);
    assert_eq!(client.end(), End::Eof);
    assert_eq!(scene.finish().status, 0);
}

// --- to the server ---

const CANCEL: &str = "{ message = { jsonrpc = \"2.0\", method = \"notifications/cancelled\", params = { requestId = \"${owner.id}\" } } }";

#[test]
fn the_server_gets_a_cancel_for_an_id_before_the_request_of_that_id() {
    for (rules, injected) in [(Some(inject("at = \"request\", method = \"tools/call\"", CANCEL)), true), (None, false)]
    {
        let scene = Scene::run(rules.as_deref(), &[]);
        let client = scene.post(&call(7));
        if injected {
            let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
            let mut server = scene.served(cancel);
            server.send(ACCEPTED);
            // The answer was read to its end; the connection is not used again.
            assert_eq!(server.closed(), Closed::Fin);
        }
        let server = scene.served(&call(7));
        scene.answered(client, server, 7);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let request = ended.journal.point("s1/post:7/request#1");
        for sent in ended.journal.points(|point| point.maker.is_some()) {
            assert!(sent.left_seq < request.left_seq, "{sent:#?}");
            assert_eq!(
                (sent.fate, sent.rpc[0].method.as_deref()),
                (PointFate::Passed, Some("notifications/cancelled"))
            );
        }
        let told = "test/add: sent notifications/cancelled to the server, beside POST tools/call id 7";
        assert_eq!(ended.stderr.contains(told), injected, "{}", ended.stderr);
    }
}

#[test]
fn a_second_initialize_goes_out_in_the_live_session() {
    let what = "{ to = \"server\", place = \"after\", message = { jsonrpc = \"2.0\", id = \"again\", method = \"initialize\" } }";
    let scene = Scene::with(&inject("at = \"request\", method = \"tools/call\"", what));
    let (client, server) = scene.exchange(&call(1));
    let (head, _second) = scene.served_with(r#"{"jsonrpc":"2.0","id":"again","method":"initialize"}"#);
    let value = |name| head.value(name);
    assert_eq!(
        (value("mcp-session-id").as_deref(), value("content-type").as_deref(), value("host")),
        (Some("session-1"), Some("application/json"), Some(scene.upstream.address().to_string()))
    );
    scene.answered(client, server, 1);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let (sent, request) = (ended.journal.point("s1/post:1/sent#1"), ended.journal.point("s1/post:1/request#1"));
    assert!(request.left_seq < sent.left_seq, "{sent:#?}");
}

#[test]
fn what_cannot_be_sent_is_noted_and_the_run_says_that_nothing_happened() {
    let what = "{ to = \"server\", message = { jsonrpc = \"2.0\", method = \"x\" } }";
    let scene = Scene::with(&inject("at = \"end\", method = \"tools/call\"", what));
    let (mut client, mut server) = scene.call(1);
    scene.upstream.refuse();
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    client.sees(event(&answer(1)));
    assert_eq!(client.end(), End::Eof);
    let ended = scene.finish();
    assert_eq!(ended.status, 4, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/sent#1").fate, PointFate::Gone);
    let noted = |line: &&Line| matches!(line, Line::Entry(entry) if matches!(&**entry, Entry::Note(note) if note.text.contains("could not be sent")));
    assert_eq!(ended.journal.lines().iter().filter(noted).count(), 1);
}
