//! What a rule holds, moves or delays: it leaves when its condition is true and not before, and a peer that leaves in the
//! meantime is seen.

use std::sync::mpsc::Receiver;

use mishap::engine::record::{Entry, PointFate};

use crate::common::peer::{End, Peer};
use crate::common::upstream::Upstream;
use crate::common::wire::{Closed, PATIENCE};
use crate::rim::{Rim, point, rules};

const SSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const ASK: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\",\"params\":{}}\n\n";
const ANSWER: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";

/// Sends a request of a session, with a body unless it is a GET.
fn send(rim: &Rim, client: &mut Peer, body: Option<&str>) {
    let head = "/mcp HTTP/1.1\r\nHost: @\r\nMcp-Session-Id: s\r\nAccept: text/event-stream\r\n";
    client.send(rim.request(&match body {
        None => format!("GET {head}\r\n"),
        Some(body) => format!("POST {head}Content-Length: {}\r\n\r\n{body}", body.len()),
    }));
}

fn sent(rim: &Rim, body: Option<&str>) -> Peer {
    let mut client = rim.client();
    send(rim, &mut client, body);
    client
}

fn call(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x"}}}}"#)
}

/// Takes a request, at the server, and begins a stream.
fn streams(upstream: &Upstream, method: &str) -> Peer {
    let mut server = upstream.next();
    let (head, _) = server.whole_request();
    assert!(head.start().starts_with(method), "{}", head.start());
    server.send(SSE);
    server
}

/// Waits until a rule has acted.
fn held(entries: &Receiver<Entry>) {
    let fired = |entry: &Entry| matches!(entry, Entry::Decision(decision) if decision.fired);
    while !fired(&entries.recv_timeout(PATIENCE).expect("the rule acts")) {}
}

const LATE: &str =
    "match = { stream = \"get\", at = \"request\" }\nhold.until = { at = \"end\", method = \"tools/call\" }";

#[test]
fn a_held_request_reaches_the_server_when_its_condition_is_true_and_not_before() {
    let upstream = Upstream::listen();
    let rim = Rim::ruled(&upstream, LATE);
    let mut get = sent(&rim, None);
    let mut post = sent(&rim, Some(&call(1)));
    let mut server = streams(&upstream, "POST");
    server.send_chunk(ANSWER);
    post.answer();
    post.sees(ANSWER);
    assert!(upstream.is_idle());
    server.send_last_chunk();
    assert_eq!(post.end(), End::Eof);
    let mut server = streams(&upstream, "GET");
    get.answer();
    server.send_chunk(ASK);
    get.sees(ASK);
}

// The control: without the rule the GET is there first.
#[test]
fn without_the_hold_the_server_sees_the_first_first() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let _get = sent(&rim, None);
        streams(&upstream, "GET");
        let _post = sent(&rim, Some(&call(1)));
        streams(&upstream, "POST");
    }
}

#[test]
fn a_client_that_leaves_while_its_request_is_held_is_never_forwarded() {
    let upstream = Upstream::listen();
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":"{}"}}"#, "x".repeat(1 << 20));
    for (at, body) in
        [("request-head", None), ("request-head", Some(&*large)), ("request", None), ("request", Some(&large))]
    {
        for (reset, ending) in [(false, "fin"), (true, "reset")] {
            let rule = format!("[[rule]]\nname = \"r\"\nmatch = {{ at = \"{at}\", exchange = 1 }}\nhold = \"never\"");
            let (rim, entries) = Rim::recorded(&upstream, &rule);
            let client = sent(&rim, body);
            // A reset throws away what the proxy has not read yet.
            held(&entries);
            if reset {
                client.reset();
            } else {
                client.leave();
            };
            assert_eq!(point(&entries, "leave#1").ending.as_deref(), Some(ending), "{at}");
            let _post = sent(&rim, Some(&call(1)));
            streams(&upstream, "POST");
            assert!(upstream.is_idle());
        }
    }
}

#[test]
fn a_client_that_leaves_while_the_answer_is_held_is_seen_by_the_server() {
    let upstream = Upstream::listen();
    for at in ["head", "block"] {
        for (reset, seen) in [(false, Closed::Fin), (true, Closed::Reset)] {
            let rim =
                Rim::ruled(&upstream, &format!("match = {{ stream = \"get\", at = \"{at}\" }}\nhold = \"never\""));
            let mut get = sent(&rim, None);
            let mut server = streams(&upstream, "GET");
            if at == "block" {
                get.answer();
            }
            server.send_chunk(ASK);
            if reset {
                get.reset();
            } else {
                get.leave();
            };
            assert_eq!(server.closed(), seen, "{at}");
        }
    }
}

// The server must be read on: it may not write at all while nobody reads.
#[test]
fn a_held_stream_is_read_on() {
    let upstream = Upstream::listen();
    let rule =
        "match = { stream = \"get\", at = \"head\" }\nhold.until = { at = \"request\", method = \"tools/call\" }";
    let rim = Rim::ruled(&upstream, rule);
    let mut get = sent(&rim, None);
    let mut server = streams(&upstream, "GET");
    let event = format!("data: {}\n\n", "x".repeat(1 << 20));
    for _ in 0..8 {
        server.send_chunk(&event);
    }
    assert!(get.is_silent());
    let _post = sent(&rim, Some(&call(1)));
    streams(&upstream, "POST");
    assert_eq!(get.answer().status(), 200);
    get.sees(event.repeat(8));
}

#[test]
fn a_block_moves_to_another_stream_and_only_there() {
    let upstream = Upstream::listen();
    let rim = Rim::ruled(&upstream, "match = { stream = \"post\", message = \"request\" }\nmove.to = \"get\"");
    let mut get = sent(&rim, None);
    let mut streaming = streams(&upstream, "GET");
    get.answer();
    let mut post = sent(&rim, Some(&call(1)));
    let mut server = streams(&upstream, "POST");
    server.send_chunk(ASK);
    get.sees(ASK);
    server.send_chunk(ANSWER);
    server.send_last_chunk();
    post.answer();
    post.sees(ANSWER);
    assert_eq!(post.end(), End::Eof);
    streaming.send_last_chunk();
    assert_eq!(get.end(), End::Eof);
}

#[test]
fn a_leave_that_is_held_leaves_the_server_unaware() {
    let upstream = Upstream::listen();
    let rule =
        "match = { stream = \"get\", at = \"leave\" }\nhold.until = { at = \"request\", method = \"tools/call\" }";
    for (reset, seen) in [(false, Closed::Fin), (true, Closed::Reset)] {
        let (rim, entries) = Rim::recorded(&upstream, &format!("[[rule]]\nname = \"r\"\n{rule}"));
        let mut get = sent(&rim, None);
        let mut server = streams(&upstream, "GET");
        get.answer();
        if reset {
            get.reset();
        } else {
            get.leave();
        };
        // The server can still write, and nobody minds.
        server.send_chunk(ASK);
        point(&entries, "block#1");
        assert!(server.is_silent());
        let _post = sent(&rim, Some(&call(1)));
        streams(&upstream, "POST");
        assert_eq!(server.closed(), seen);
        assert_eq!(point(&entries, "leave#1").fate, PointFate::Passed);
    }
}

#[test]
fn a_connection_is_cut_before_anything_is_read_from_it() {
    let upstream = Upstream::listen();
    for (ending, seen) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
        let rim = Rim::ruled(&upstream, &format!("match.at = \"connect\"\ncut = \"{ending}\""));
        let mut client = rim.client();
        assert_eq!(client.closed(), seen);
    }
    assert_eq!(upstream.accepted(), 0);
}

// A point has passed when its last byte is written: what is recorded must be what the client got.
#[test]
fn what_is_recorded_as_passed_is_what_left() {
    let upstream = Upstream::listen();
    let (rim, entries) = Rim::recorded(&upstream, "");
    let mut post = sent(&rim, Some(&call(1)));
    let mut server = streams(&upstream, "POST");
    let request = point(&entries, "request#1");
    assert_eq!((request.fate, request.bytes), (PointFate::Passed, call(1).len() as u64));
    post.answer();
    assert_eq!(point(&entries, "head#1").fate, PointFate::Passed);
    server.send_chunk(ANSWER);
    post.sees(ANSWER);
    let block = point(&entries, "block#1");
    assert_eq!((block.fate, block.bytes), (PointFate::Passed, ANSWER.len() as u64));
    server.send_last_chunk();
    assert_eq!(post.end(), End::Eof);
    let end = point(&entries, "end#1");
    assert_eq!((end.fate, end.ending.as_deref()), (PointFate::Passed, Some("eof")));
    assert!(rules("").is_empty());
}

#[test]
fn who_ended_a_stream_and_how_is_recorded() {
    let upstream = Upstream::listen();
    for reset in [false, true] {
        let (rim, entries) = Rim::recorded(&upstream, "");
        let mut post = sent(&rim, Some(&call(1)));
        let server = streams(&upstream, "POST");
        post.answer();
        if reset {
            server.reset();
        } else {
            server.leave();
        }
        let end = point(&entries, "end#1");
        assert_eq!(end.ending.as_deref(), Some(if reset { "reset" } else { "fin" }));
        assert_eq!((end.fate, post.end()), (PointFate::Passed, if reset { End::Reset } else { End::Fin }));

        let mut get = sent(&rim, None);
        let mut server = streams(&upstream, "GET");
        get.answer();
        if reset {
            get.reset();
        } else {
            get.leave();
        }
        let leave = point(&entries, "leave#1");
        assert_eq!(leave.ending.as_deref(), Some(if reset { "reset" } else { "fin" }));
        assert_eq!((leave.fate, server.closed()), (PointFate::Passed, if reset { Closed::Reset } else { Closed::Fin }));
    }
}

// A server closes a connection on which nothing comes for some seconds: a kept one would die under a held request, and
// the client would see a reset that no rule made.
#[test]
fn a_held_request_goes_to_the_server_on_a_fresh_connection() {
    let upstream = Upstream::listen();
    let rim = Rim::ruled(&upstream, LATE);
    let mut client = sent(&rim, Some(&initialized()));
    let mut idle = upstream.next();
    idle.whole_request();
    idle.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    client.whole_answer();
    send(&rim, &mut client, None);
    assert_eq!(idle.closed(), Closed::Fin);
    let mut post = sent(&rim, Some(&call(1)));
    let mut server = streams(&upstream, "POST");
    post.answer();
    server.send_last_chunk();
    assert_eq!(post.end(), End::Eof);
    streams(&upstream, "GET");
    client.answer();
}

fn initialized() -> String {
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()
}
