//! What a rule cuts: the client sees exactly the ending that was meant, after everything that had passed, and the server
//! sees what the rule says of the other leg.

use std::io::{Read, Write};

use crate::common::peer::{End, Peer};
use crate::common::upstream::Upstream;
use crate::common::wire::Closed;
use crate::rim::Rim;

const SSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const NOTE: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n";
const ANSWER: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";

/// Sends a tools/call.
fn call(rim: &Rim) -> Peer {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    let mut client = rim.client();
    let head = "POST /mcp HTTP/1.1\r\nHost: @\r\nContent-Type: application/json\r\nAccept: text/event-stream";
    client.send(rim.request(&format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())));
    client
}

/// Takes the call, at the server.
fn called(upstream: &Upstream) -> Peer {
    let mut server = upstream.next();
    server.whole_request();
    server
}

const ENDINGS: [(&str, End); 3] = [("eof", End::Eof), ("fin", End::Fin), ("reset", End::Reset)];

fn cut_answer(ending: &str, more: &str) -> String {
    format!("match = {{ stream = \"post\", message = \"answer\" }}\ncut = {{ ending = \"{ending}\"{more} }}")
}

// The control: without the rule the answer crosses and the stream ends well.
#[test]
fn without_a_cut_the_answer_crosses() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
        server.send_last_chunk();
        assert_eq!(client.whole_answer().1, [NOTE, ANSWER].concat().into_bytes());
    }
}

fn chunks(blocks: &[&str]) -> String {
    blocks.iter().map(|block| format!("{:x}\r\n{block}\r\n", block.len())).collect()
}

#[test]
fn a_cut_before_the_answer_ends_the_stream_after_all_that_came_before() {
    let upstream = Upstream::listen();
    for (ending, seen) in ENDINGS {
        let rim = Rim::ruled(&upstream, &cut_answer(ending, ""));
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
        let (head, _) = (client.answer(), ());
        assert_eq!(head.status(), 200);
        client.sees(NOTE);
        assert_eq!(client.end(), seen, "{ending}");
        assert_eq!(server.closed(), Closed::Fin, "the other leg is closed as by a client that leaves");
    }
}

#[test]
fn a_cut_after_a_block_lets_it_pass() {
    let upstream = Upstream::listen();
    for (ending, seen) in ENDINGS {
        let rule = format!(
            "match = {{ stream = \"post\", block = \"message\", index = 1 }}\ncut = {{ ending = \"{ending}\", where = \"after\" }}"
        );
        let rim = Rim::ruled(&upstream, &rule);
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, NOTE, ANSWER])));
        client.answer();
        client.sees(NOTE);
        assert_eq!(client.end(), seen, "{ending}");
    }
}

#[test]
fn a_cut_inside_a_block_lets_a_part_pass_and_leaves_its_chunk_unfinished() {
    let upstream = Upstream::listen();
    for (ending, seen) in ENDINGS {
        let rim = Rim::ruled(&upstream, &cut_answer(ending, ", where = \"inside\", byte = 10"));
        let mut client = rim.wire();
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
        client
            .send(rim.request(&format!("POST / HTTP/1.1\r\nHost: @\r\nContent-Length: {}\r\n\r\n{body}", body.len())));
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
        let whole = match seen {
            End::Eof => format!(
                "{SSE}{}{}0\r\n\r\n",
                chunks(&[NOTE]).to_uppercase_size(),
                chunks(&[&ANSWER[..10]]).to_uppercase_size()
            ),
            End::Fin | End::Reset => {
                format!("{SSE}{}{:X}\r\n{}", chunks(&[NOTE]).to_uppercase_size(), ANSWER.len(), &ANSWER[..10])
            }
        };
        let closed = loop {
            if seen == End::Eof && client.unread().len() >= whole.len() {
                break None;
            }
            if let Err(closed) = client.read_more(&|| format!("{ending} inside a block")) {
                break Some(closed);
            }
        };
        assert_eq!(String::from_utf8_lossy(client.unread()), whole);
        let expected = match seen {
            End::Eof => None,
            End::Fin => Some(Closed::Fin),
            End::Reset => Some(Closed::Reset),
        };
        assert_eq!(closed, expected, "{ending}");
    }
}

// A chunk's size would stand in the middle of a body that has no chunks.
#[test]
fn a_cut_inside_a_block_begins_no_chunk_for_a_client_of_http_1_0() {
    let upstream = Upstream::listen();
    for (ending, seen) in [("eof", End::Eof), ("fin", End::Eof), ("reset", End::Reset)] {
        let rim = Rim::ruled(&upstream, &cut_answer(ending, ", where = \"inside\", byte = 10"));
        let mut client = rim.client();
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
        client
            .send(rim.request(&format!("POST / HTTP/1.0\r\nHost: @\r\nContent-Length: {}\r\n\r\n{body}", body.len())));
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
        assert_eq!(client.answer().value("transfer-encoding"), None);
        let (got, end) = client.rest();
        assert_eq!(String::from_utf8_lossy(&got), format!("{NOTE}{}", &ANSWER[..10]), "{ending}");
        assert_eq!(end, seen, "{ending}");
    }
}

/// hyper writes the size of a chunk in capitals.
trait Capitals {
    fn to_uppercase_size(&self) -> String;
}

impl Capitals for String {
    fn to_uppercase_size(&self) -> String {
        let (size, rest) = self.split_once("\r\n").unwrap();
        format!("{}\r\n{rest}", size.to_uppercase())
    }
}

#[test]
fn a_stall_leaves_the_client_waiting() {
    let upstream = Upstream::listen();
    for other in ["close", "keep"] {
        let rim = Rim::ruled(&upstream, &cut_answer("stall", &format!(", other-leg = \"{other}\"")));
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
        client.answer();
        client.sees(NOTE);
        if other == "close" {
            assert_eq!(server.closed(), Closed::Fin);
        } else {
            assert!(server.is_silent());
        }
        assert!(client.is_silent());
        client.leave();
    }
}

#[test]
fn a_cut_before_the_head_leaves_not_one_byte() {
    let upstream = Upstream::listen();
    for (ending, seen) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
        let rule = format!(
            "match = {{ stream = \"post\", at = \"head\" }}\ncut = {{ ending = \"{ending}\", where = \"before\" }}"
        );
        let rim = Rim::ruled(&upstream, &rule);
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[ANSWER])));
        assert_eq!(client.closed(), seen);
        assert_eq!(server.closed(), Closed::Fin);
    }
}

#[test]
fn a_cut_after_the_head_leaves_the_head() {
    let upstream = Upstream::listen();
    for (ending, seen) in ENDINGS {
        let rule = format!("match = {{ stream = \"post\", at = \"head\" }}\ncut = \"{ending}\"");
        let rim = Rim::ruled(&upstream, &rule);
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(SSE);
        assert_eq!(client.answer().status(), 200);
        assert_eq!(client.end(), seen);
        assert_eq!(server.closed(), Closed::Fin);
    }
}

// With its length kept a clean end would be no end at all: the client would wait for the missing bytes.
#[test]
fn an_answer_with_a_length_that_may_be_cut_is_sent_in_chunks() {
    let upstream = Upstream::listen();
    for (ending, seen) in ENDINGS {
        let rim = Rim::ruled(&upstream, &cut_answer(ending, ""));
        let mut client = call(&rim);
        let mut server = called(&upstream);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
        let length = NOTE.len() + ANSWER.len();
        server.send(format!("{head}Content-Length: {length}\r\n\r\n{NOTE}{ANSWER}"));
        let answer = client.answer();
        assert_eq!(
            (answer.value("content-length"), answer.value("transfer-encoding").as_deref()),
            (None, Some("chunked"))
        );
        client.sees(NOTE);
        assert_eq!(client.end(), seen);
    }
}

#[test]
fn the_other_leg_can_run_to_its_end_or_be_kept() {
    let upstream = Upstream::listen();
    for other in ["drain", "keep"] {
        let rim = Rim::ruled(&upstream, &cut_answer("eof", &format!(", other-leg = \"{other}\"")));
        let mut client = call(&rim);
        let mut server = called(&upstream);
        server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
        client.answer();
        client.sees(NOTE);
        assert_eq!(client.end(), End::Eof);
        // The client's connection goes on, on another one to the server.
        client.send(rim.request("GET /mcp HTTP/1.1\r\nHost: @\r\n\r\n"));
        let mut next = upstream.next();
        next.request();
        next.send("HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(client.answer().status(), 204);
        assert!(server.is_silent());
        if other == "drain" {
            // More than the buffers between could hold if nobody read.
            let event = format!("data: {}\n\n", "x".repeat(1 << 20));
            for _ in 0..24 {
                server.send_chunk(&event);
            }
            server.send_last_chunk();
            assert_eq!(server.closed(), Closed::Fin);
        }
    }
}

// Without the third fence, and without a look at what the reader has read, a reset throws away what passed before it.
#[test]
fn nothing_that_passed_is_lost_before_a_cut() {
    let upstream = Upstream::listen();
    for (count, size) in [(1, 20), (60, 20), (200, 20), (1, 65536), (40, 65536)] {
        for (ending, seen) in ENDINGS {
            let rule = format!(
                "match = {{ stream = \"post\", block = \"message\", index = {count} }}\ncut = {{ ending = \"{ending}\", where = \"after\" }}"
            );
            let rim = Rim::ruled(&upstream, &rule);
            let mut client = call(&rim).with_small_buffer();
            let server = called(&upstream);
            let text = "x".repeat(size);
            let event =
                format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":\"{text}\"}}\n\n");
            let sent = server.send_beside([SSE, &chunks(&[&event]).repeat(count + 1)].concat());
            client.answer();
            let (got, end) = client.rest();
            assert!(got == event.repeat(count).into_bytes(), "{ending} after {count} of {size}: {} bytes", got.len());
            assert_eq!(end, seen, "{ending} after {count} of {size}");
            drop(sent.join());
        }
    }
}

// A reader that finds data and a reset at once takes it for a FIN, as Node does: the reset must come after the reading.
#[cfg(target_os = "linux")]
#[test]
fn a_reset_waits_until_its_reader_has_read() {
    let upstream = Upstream::listen();
    let rim = Rim::ruled(&upstream, &cut_answer("reset", ""));
    let mut client = rim.socket();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    client
        .write_all(&rim.request(&format!("POST / HTTP/1.1\r\nHost: @\r\nContent-Length: {}\r\n\r\n{body}", body.len())))
        .unwrap();
    let mut server = called(&upstream);
    server.send(format!("{SSE}{}", chunks(&[NOTE, ANSWER])));
    assert_eq!(server.closed(), Closed::Fin);
    // The cut has been commanded; whatever the proxy does at once is done when it has served somebody else.
    let mut other = rim.getting();
    upstream.next().send("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(other.answer().status(), 204);
    assert!(client.take_error().unwrap().is_none());
    let error = client.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

// The server got the request, the client never learns: its leg ends as the rule says, not as the server's then does.
#[test]
fn a_cut_after_a_request_ends_the_clients_leg_whether_or_not_the_run_is_recorded() {
    let upstream = Upstream::listen();
    for (ending, seen) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
        for other in ["close", "drain"] {
            let cut = format!("cut = {{ ending = \"{ending}\", where = \"after\", other-leg = \"{other}\" }}");
            let rule = format!("match = {{ stream = \"post\", at = \"request\" }}\n{cut}");
            let (recorded, _entries) = Rim::recorded(&upstream, &format!("[[rule]]\nname = \"r\"\n{rule}"));
            for rim in [Rim::ruled(&upstream, &rule), recorded] {
                let mut client = call(&rim);
                let _server = called(&upstream);
                assert_eq!(client.closed(), seen, "{ending}, {other}");
            }
        }
    }
}
