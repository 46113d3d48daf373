//! What the proxy says when there is no answer to pass on, and what it does with what is no HTTP.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use mishap::engine::engine::{Engine, Setup};
use mishap::engine::record::Entry;
use mishap::proxy::{Config, MARKER, Proxy};

use crate::common::peer::End;
use crate::common::upstream::Upstream;
use crate::common::wire::Closed;
use crate::rim::{Rim, config};

/// An address at which nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

#[test]
fn a_json_rpc_request_to_a_server_that_is_down_gets_a_json_rpc_error() {
    for rim in Rim::both_before(nobody()) {
        let body = r#"{"jsonrpc":"2.0","id":"a\u0062","method":"ping"}"#;
        let mut client = rim.client();
        let request = format!("POST /mcp HTTP/1.1\r\nHost: @\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        client.send(rim.request(&request));
        let (head, body) = client.whole_answer();
        let seen = (head.status(), head.value(MARKER.as_str()), head.value("content-type"));
        assert_eq!(seen, (502, Some("upstream-refused".to_owned()), Some("application/json".to_owned())));
        let body = String::from_utf8(body).unwrap();
        assert!(
            body.starts_with(r#"{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32000,"message":"mishap: upstream "#),
            "{body}"
        );
        assert!(body.contains("refused the connection"), "{body}");

        // And the connection goes on.
        client.send(rim.request("GET /mcp HTTP/1.1\r\nHost: @\r\n\r\n"));
        let (head, body) = client.whole_answer();
        assert_eq!((head.status(), head.value("content-type").as_deref()), (502, Some("text/plain; charset=utf-8")));
        assert!(String::from_utf8(body).unwrap().contains("is the server running?"));
    }
}

#[test]
fn what_is_no_http_is_a_bad_gateway() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for answer in ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"] {
            let mut client = rim.getting();
            let mut server = upstream.next();
            server.request();
            server.send(answer);
            let head = client.answer();
            assert_eq!((head.status(), head.value(MARKER.as_str()).as_deref()), (502, Some("upstream-bad-answer")));
        }
    }
}

#[test]
fn a_broken_chunk_is_whose_it_is() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        client.send(rim.request("POST / HTTP/1.1\r\nHost: @\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
        let head = client.answer();
        assert_eq!((head.status(), head.value(MARKER.as_str()).as_deref()), (400, Some("bad-request")));

        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n");
        client.answer();
        client.sees("ok");
        assert_eq!(client.end(), End::Fin);
    }
}

/// So many header lines.
fn lines(count: usize) -> String {
    (0..count).map(|n| format!("X-{n}: {n}\r\n")).collect()
}

// HTTP's parser answers by itself: nobody else could say whose error it was.
#[test]
fn a_request_that_is_no_request_is_in_the_journal_as_the_clients_error() {
    let upstream = Upstream::listen();
    for (request, status, why) in [
        ("NO HTTP\r\n\r\n".to_owned(), 400, "400, invalid URI"),
        ("GET / HTTP/1.1\r\nHost: @\r\nA b\r\n\r\n".to_owned(), 400, "400, invalid HTTP header parsed"),
        (format!("GET /{} HTTP/1.1\r\nHost: @\r\n\r\n", "x".repeat(66_000)), 414, "414, URI too long"),
        (format!("GET / HTTP/1.1\r\nHost: @\r\n{}\r\n", lines(1024)), 431, "431, message head is too large"),
    ] {
        let (rim, entries) = Rim::recorded(&upstream, "");
        let mut client = rim.client();
        client.send(rim.request(&request));
        assert_eq!(client.answer().status(), status, "{why}");
        drop(rim);
        let notes: Vec<_> = entries
            .iter()
            .filter_map(|entry| if let Entry::Note(note) = entry { Some(note.text) } else { None })
            .collect();
        assert_eq!(notes, [format!("connection 0: a broken request of the client's was refused: {why}")]);
    }
}

#[test]
fn a_thousand_header_lines_cross_and_more_are_refused_for_what_they_are() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        client.send(rim.request(&format!("GET / HTTP/1.1\r\nHost: @\r\n{}\r\n", lines(1000))));
        let mut server = upstream.next();
        assert!(server.request().raw.ends_with(format!("{}\r\n", lines(1000)).as_bytes()));
        server.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", lines(1000)));
        assert!(client.answer().raw.ends_with(format!("{}\r\n", lines(1000)).as_bytes()));

        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        server.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", lines(1024)));
        let (head, body) = client.whole_answer();
        let word = head.value(MARKER.as_str());
        assert_eq!((head.status(), word.as_deref()), (502, Some("upstream-head-too-large")));
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains("is too large: more than 1024 header lines"), "{body}");
    }
}

#[test]
fn stopping_the_proxy_closes_what_is_open() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        drop(rim);
        assert_eq!(client.closed(), Closed::Fin);
        assert_eq!(server.closed(), Closed::Fin);
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let taken = listener.local_addr().unwrap();
    let error = Proxy::bind(Config { listen: taken, ..config(taken) }).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{taken} is in use; choose another port, or 0 for a free one"));
}

// A proxy that goes on with an engine that has failed does the wrong thing and calls it a run.
#[test]
fn a_panic_under_the_engine_ends_the_proxy() {
    let upstream = Upstream::listen();
    let engine = || Engine::new(Setup { record: true, ..Setup::default() });
    let records = Box::new(|_| panic!("a record that cannot be written"));
    let rim = Rim::start(Config { engine: engine(), records, ..config(upstream.address()) });
    drop(rim.getting());
    assert!(rim.ends_by_itself().is_err());

    let rim = Rim::start(Config { engine: engine(), ..config(upstream.address()) });
    let mut client = rim.getting();
    let mut server = upstream.next();
    server.request();
    server.send("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(client.answer().status(), 204);
}
