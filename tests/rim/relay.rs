//! What crosses when nothing is asked of the proxy: byte for byte, at once, framed as it was.

use crate::common::peer::End;
use crate::common::upstream::Upstream;
use crate::rim::{Rim, SSE};

// A proxy that waits for the first event, or for more of it, deadlocks here.
#[test]
fn head_and_every_byte_are_on_their_way_at_once() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        server.send(SSE);
        assert_eq!(client.answer().status(), 200);
        for byte in b"id: 1\ndata: x\n\n" {
            server.send_chunk([*byte]);
            client.sees([*byte]);
        }
        server.send_last_chunk();
        assert_eq!(client.end(), End::Eof);
    }
}

// Only past the engine: it judges whole requests. A proxy that reads a body before it forwards the head, or the whole before the first byte, deadlocks here.
#[test]
fn a_request_streams_too() {
    let upstream = Upstream::listen();
    let rim = Rim::transparent(&upstream);
    let mut client = rim.client();
    client.send(rim.request("POST /mcp HTTP/1.1\r\nHost: @\r\nTransfer-Encoding: chunked\r\n\r\n"));
    let mut server = upstream.next();
    server.request();
    for part in ["{", "\"a\"", ":1}"] {
        client.send_chunk(part);
        server.sees(part);
    }
    client.send_last_chunk();
    assert_eq!(server.end(), End::Eof);
    server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(client.whole_answer().0.status(), 202);
}

#[test]
fn a_length_stays_a_length_and_chunks_stay_chunks() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: 1\n\n";
        server.send(answer);
        let (head, body) = client.whole_answer();
        assert_eq!([head.raw, body].concat(), answer.as_bytes());

        client.send(rim.request("GET /mcp HTTP/1.1\r\nHost: @\r\n\r\n"));
        server.request();
        let answer = format!("{SSE}9\r\ndata: 1\n\n\r\n0\r\n\r\n");
        server.send(&answer);
        let (head, body) = client.whole_answer();
        assert_eq!(String::from_utf8(head.raw).unwrap(), SSE);
        assert_eq!(body, b"data: 1\n\n");
    }
}

// A pooling proxy, or one that opens a connection for each request, would show another number.
#[test]
fn one_client_connection_has_one_server_connection() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut clients = [rim.getting(), rim.getting()];
        let mut servers = [upstream.next(), upstream.next()];
        for _ in 0..3 {
            for server in &mut servers {
                server.request();
                server.send("HTTP/1.1 204 No Content\r\n\r\n");
            }
            for client in &mut clients {
                assert_eq!(client.answer().status(), 204);
                client.send(rim.request("GET /mcp HTTP/1.1\r\nHost: @\r\n\r\n"));
            }
        }
        assert!(upstream.is_idle());
    }
}

#[test]
fn sixty_streams_run_side_by_side() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut pairs: Vec<_> = (0..60)
            .map(|_| {
                let client = rim.getting();
                let mut server = upstream.next();
                server.request();
                server.send(SSE);
                (client, server)
            })
            .collect();
        for (client, _) in &mut pairs {
            assert_eq!(client.answer().status(), 200);
        }
        for (n, (client, server)) in pairs.iter_mut().enumerate().rev() {
            let event = format!("data: {n}\n\n");
            server.send_chunk(&event);
            client.sees(&event);
        }
    }
}

// A proxy that keeps what it reads in its own memory would take all of it.
#[test]
fn a_client_that_does_not_read_stops_the_server() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let (mut client, server) = rim.streaming(&upstream);
        let body = vec![b'x'; 32 << 20];
        let sent = server.send_beside([format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat());
        // Nothing to wait for here: it must still be writing when the client begins to read.
        assert!(!sent.is_finished());
        let (got, end) = client.rest();
        assert!(got == body);
        assert_eq!(end, End::Eof);
        sent.join().unwrap().unwrap();
    }
}

// Only its head can be matched, but it must cross; more than the cap would hang a proxy that waits for the whole.
#[test]
fn a_request_beyond_the_peek_cap_streams_on() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        let body = vec![b'x'; 32 << 20];
        client.send(rim.request(&format!("POST /mcp HTTP/1.1\r\nHost: @\r\nContent-Length: {}\r\n\r\n", body.len())));
        let sent = client.send_beside(body.clone());
        let mut server = upstream.next();
        let (head, got) = server.whole_request();
        assert_eq!(head.value("content-length"), Some(body.len().to_string()));
        assert!(got == body);
        sent.join().unwrap().unwrap();
        server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(client.answer().status(), 202);
    }
}

#[test]
fn two_requests_in_one_write_are_answered_in_order() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        client.send(rim.request("GET /1 HTTP/1.1\r\nHost: @\r\n\r\nGET /2 HTTP/1.1\r\nHost: @\r\n\r\n"));
        let mut server = upstream.next();
        for path in ["/1", "/2"] {
            assert!(server.request().start().contains(path));
            server.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{path}"));
            assert_eq!(client.whole_answer().1, path.as_bytes());
        }
    }
}

#[test]
fn a_client_of_http_1_0_gets_no_chunks() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        client.send(rim.request("GET /mcp HTTP/1.0\r\nHost: @\r\n\r\n"));
        let mut server = upstream.next();
        server.request();
        server.send(format!("{SSE}9\r\ndata: 1\n\n\r\n0\r\n\r\n"));
        let head = client.answer();
        assert_eq!((head.start(), head.value("transfer-encoding")), ("HTTP/1.0 200 OK".to_owned(), None));
        assert_eq!(client.rest(), (b"data: 1\n\n".to_vec(), End::Eof));
    }
}

#[test]
fn a_body_that_ends_with_the_connection_ends_so() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for (reset, seen) in [(false, End::Eof), (true, End::Reset)] {
            let mut client = rim.getting();
            let mut server = upstream.next();
            server.request();
            server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
            client.answer();
            client.sees("data: 1\n\n");
            if reset {
                server.reset();
            } else {
                server.leave();
            }
            assert_eq!(client.end(), seen);
        }
    }
}

// Line ends of every kind, a byte order mark, comments, a block without its blank line, in pieces of every size.
#[test]
fn odd_event_streams_cross_byte_for_byte() {
    const ODD: &[u8] = b"\xEF\xBB\xBFdata: 1\n\n: comment\r\rdata:2\r\ndata\r\n\r\nid: 3\rdata: 3\n\r\n\n\n\revent: x\nretry: 5\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n\xFF\x00data: tail";
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for size in [1, 2, 3, 7, ODD.len()] {
            let (mut client, mut server) = rim.streaming(&upstream);
            for piece in ODD.chunks(size) {
                server.send_chunk(piece);
                client.sees(piece);
            }
            server.send_last_chunk();
            assert_eq!(client.end(), End::Eof);
        }
    }
}

// A client of 2024-11-05 posts to the address that its stream gives it: one that names the server leads past the proxy.
#[test]
fn an_address_for_posts_that_names_the_server_is_made_to_name_the_proxy() {
    let upstream = Upstream::listen();
    let [transparent, recorded] = Rim::both(&upstream);
    let ruled = Rim::ruled(&upstream, "match = { at = \"block\", block = \"any\" }\ndelay = \"0ms\"");
    let own = upstream.address().to_string();
    let other = format!("127.0.0.1:{}", upstream.address().port() ^ 1);
    for rim in [transparent, recorded, ruled] {
        for (sent, got) in [
            (format!("event: endpoint\r\ndata: http://{own}/m%20/?s=a&u=http://{own}/\r\n\r\n"), true),
            (format!("event: endpoint\ndata: http://localhost:{}\n\n", upstream.address().port()), true),
            (format!("event: endpoint\ndata: http://{other}/m?s=1\n\n"), false),
            (format!("event: endpoint\ndata: /m?u=http://{own}/\n\n"), false),
            (format!("data: http://{own}/m\n\n"), false),
            (format!(": hello\n\nevent: endpoint\ndata: http://{own}/m\n\n"), false),
        ] {
            let (_, rest) = sent.split_once("://").unwrap();
            let after = rest.find(['/', '\n', '\r']).map(|at| &rest[at..]).unwrap();
            let (before, _) = sent.split_at(sent.find("://").unwrap() + 3);
            let expected = if got { [before, "@", after].concat() } else { sent.clone() };
            let more = format!("event: endpoint\ndata: http://{own}/second\n\n");
            let (mut client, mut server) = rim.streaming(&upstream);
            // In two pieces, so that one ends inside the name.
            let (first, second) = sent.split_at(sent.find("://").unwrap() + 6);
            server.send_chunk(first);
            server.send_chunk(format!("{second}{more}"));
            client.sees(rim.request(&expected));
            client.sees(&more);
            server.send_last_chunk();
            assert_eq!(client.end(), End::Eof);
        }
    }
}

// What waits for the rest of a name must not be lost with it.
#[test]
fn an_address_that_breaks_off_is_passed_on_as_far_as_it_came() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let (mut client, mut server) = rim.streaming(&upstream);
        server.send_chunk("event: endpoint\ndata: http://127.0");
        client.sees("event: endpoint\ndata: ");
        server.leave();
        client.sees("http://127.0");
        assert_eq!(client.end(), End::Fin);
    }
}
