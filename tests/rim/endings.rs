//! How either leg ends is how the other ends.

use mishap::engine::record::PointFate;

use crate::common::peer::End;
use crate::common::upstream::Upstream;
use crate::common::wire::Closed;
use crate::rim::{Rim, SSE, point};

#[test]
fn what_the_server_does_in_mid_body_the_client_sees() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for (end, seen) in [(End::Fin, End::Fin), (End::Reset, End::Reset)] {
            let (mut client, mut server) = rim.streaming(&upstream);
            server.send_chunk("data: 1\n\n");
            client.sees("data: 1\n\n");
            match end {
                End::Reset => server.reset(),
                _ => server.leave(),
            }
            assert_eq!(client.end(), seen);
        }
    }
}

#[test]
fn what_the_server_does_before_the_head_the_client_sees() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for (end, seen) in [(End::Fin, Closed::Fin), (End::Reset, Closed::Reset)] {
            let mut client = rim.getting();
            let mut server = upstream.next();
            server.request();
            match end {
                End::Reset => server.reset(),
                _ => server.leave(),
            }
            assert_eq!(client.closed(), seen);
        }
    }
}

#[test]
fn a_client_that_leaves_is_seen_by_the_server() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for mid_body in [false, true] {
            for (reset, seen) in [(false, Closed::Fin), (true, Closed::Reset)] {
                let (client, mut server) = if mid_body {
                    rim.streaming(&upstream)
                } else {
                    let client = rim.getting();
                    let mut server = upstream.next();
                    server.request();
                    (client, server)
                };
                if reset {
                    client.reset();
                } else {
                    client.leave();
                }
                assert_eq!(server.closed(), seen, "mid-body: {mid_body}");
            }
        }
    }
}

// Without the fences the last frames, or all of them, are lost with the connection.
#[test]
fn nothing_is_lost_before_the_servers_end() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for (count, size) in [(1, 20), (7, 20), (200, 20), (1, 65536), (40, 65536)] {
            for reset in [false, true] {
                let (mut client, server) = rim.streaming(&upstream);
                let event = [b"data: ".to_vec(), vec![b'x'; size], b"\n\n".to_vec()].concat();
                let chunk = [format!("{:x}\r\n", event.len()).as_bytes(), &event, b"\r\n"].concat();
                let sent = server.send_beside(chunk.repeat(count));
                client.sees(&event);
                // What a reset finds unread in the proxy's kernel is the server's own loss: all must have been read.
                if reset {
                    let mut rest = event.repeat(count - 1);
                    let last = rest.split_off(rest.len().saturating_sub(event.len()));
                    client.sees(rest);
                    sent.join().unwrap().unwrap();
                    client.sees(last);
                    server.reset();
                    assert_eq!(client.end(), End::Reset);
                } else {
                    sent.join().unwrap().unwrap();
                    server.leave();
                    let (got, end) = client.rest();
                    assert!(got == event.repeat(count - 1), "{count} frames of {size}");
                    assert_eq!(end, End::Fin);
                }
            }
        }
    }
}

// Closing a socket with unread input is a RST, whatever was meant.
#[test]
fn a_fin_is_a_fin_although_the_request_is_unread() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        client.send(rim.request("POST /mcp HTTP/1.1\r\nHost: @\r\nContent-Length: 14000000\r\n\r\n"));
        let upload = client.send_beside(vec![b'x'; 14_000_000]);
        let mut server = upstream.next();
        server.request();
        server.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n");
        let (head, body) = client.whole_answer();
        assert_eq!((head.status(), &body[..]), (413, &b"no\n"[..]));
        drop(server);
        drop(upload);
    }
}

// A connection to the server that died in between must not cost the client a request.
#[test]
fn an_idle_connection_that_the_server_closes_is_closed_for_the_client_too() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for (reset, seen) in [(false, Closed::Fin), (true, Closed::Reset)] {
            let mut client = rim.getting();
            let mut server = upstream.next();
            server.request();
            server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            assert_eq!(client.whole_answer().1, b"ok");
            if reset {
                server.reset();
            } else {
                server.leave();
            }
            assert_eq!(client.closed(), seen);
        }
    }
}

// Only past the engine: it judges whole requests.
#[test]
fn a_client_that_leaves_in_mid_request_is_seen_by_the_server() {
    let upstream = Upstream::listen();
    let rim = Rim::transparent(&upstream);
    for (reset, seen) in [(false, End::Fin), (true, End::Reset)] {
        let mut client = rim.client();
        client.send(rim.request("POST /mcp HTTP/1.1\r\nHost: @\r\nContent-Length: 9\r\n\r\nhalf"));
        let mut server = upstream.next();
        server.request();
        server.sees("half");
        if reset {
            client.reset();
        } else {
            client.leave();
        }
        assert_eq!(server.end(), seen);
    }
}

// Bytes in the kernel's queue are thrown away by a reset: it must wait for a reader that is slow.
#[test]
fn what_the_server_sent_before_its_reset_reaches_a_slow_reader() {
    let upstream = Upstream::listen();
    let (rim, entries) = Rim::recorded(&upstream, "");
    let mut client = rim.getting().with_small_buffer();
    let mut server = upstream.next();
    server.request();
    server.send(SSE);
    let event = format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n\n", "x".repeat(65536));
    for _ in 0..16 {
        server.send_chunk(&event);
    }
    point(&entries, "block#16");
    server.reset();
    client.answer();
    let (got, end) = client.rest();
    assert!(got == event.repeat(16).into_bytes(), "{} bytes", got.len());
    assert_eq!(end, End::Reset);
}

// HTTP lets go of a body as soon as its length is handed over, long before a slow reader has all of it.
#[test]
fn the_end_of_an_answer_with_a_length_passes_although_its_reader_is_slow() {
    let upstream = Upstream::listen();
    for size in [20, 12 << 20] {
        let (rim, entries) = Rim::recorded(&upstream, "");
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
        let mut client = rim.client().with_small_buffer();
        client
            .send(rim.request(&format!("POST / HTTP/1.1\r\nHost: @\r\nContent-Length: {}\r\n\r\n{call}", call.len())));
        let mut server = upstream.next();
        server.whole_request();
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}", "x".repeat(size));
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        let sent = server.send_beside([head, body.clone()].concat());
        assert!(client.whole_answer().1 == body.into_bytes(), "{size}");
        sent.join().unwrap().unwrap();
        assert_eq!(point(&entries, "end#1").fate, PointFate::Passed, "{size}");
    }
}
