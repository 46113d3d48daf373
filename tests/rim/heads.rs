//! Heads cross as they are, but for what belongs to one hop and for the names of the two hosts.

use mishap::engine::record::Entry;
use mishap::proxy::{Config, HostPolicy};

use crate::common::peer::{End, Peer};
use crate::common::upstream::Upstream;
use crate::common::wire::Closed;
use crate::rim::{Rim, config};

/// Sends a request through and returns the head that the server saw, and the server.
fn through(upstream: &Upstream, client: &mut Peer, request: Vec<u8>) -> (String, Peer) {
    client.send(request);
    let mut server = upstream.next();
    let head = server.request();
    (String::from_utf8(head.raw).unwrap(), server)
}

#[test]
fn case_order_repeats_and_target_are_kept_both_ways() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        let text = "M+E! //x/a%2fb?q=%zz HTTP/1.1\r\nzulu: 1\r\nHOST: @\r\nAccept: a\r\naccept: b\r\nX-Tab: a\tb\r\nConnection: keep-alive\r\nAlpha:  2\r\n\r\n";
        let (seen, mut server) = through(&upstream, &mut client, rim.request(text));
        let expected = text.replace("@", &upstream.address().to_string()).replace("Alpha:  2", "Alpha: 2");
        assert_eq!(seen, expected);
        let answer = "HTTP/1.1 299 Odd Enough\r\nzulu: 1\r\nSET-COOKIE: a\r\nSet-Cookie: b\r\nContent-LENGTH: 2\r\nalpha: 2\r\n\r\n";
        server.send(format!("{answer}ok"));
        let (head, body) = client.whole_answer();
        assert_eq!(String::from_utf8(head.raw).unwrap(), answer);
        assert_eq!(body, b"ok");
    }
}

#[test]
fn what_belongs_to_one_hop_stays_there_and_the_rest_keeps_its_order() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        let text = "GET / HTTP/1.1\r\nHost: @\r\nA: 1\r\nX-Hop: 1\r\nConnection: X-Hop, close\r\nKeep-Alive: 5\r\nB: 2\r\nTE: gzip\r\nUpgrade: h2c\r\nC: 3\r\n\r\n";
        let (seen, mut server) = through(&upstream, &mut client, rim.request(text));
        let host = upstream.address();
        assert_eq!(
            seen,
            format!("GET / HTTP/1.1\r\nHost: {host}\r\nA: 1\r\nConnection: close\r\nB: 2\r\nC: 3\r\n\r\n")
        );
        server.send(
            "HTTP/1.1 200 OK\r\nA: 1\r\nKeep-Alive: timeout=5\r\nB: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
        let head = client.answer();
        assert_eq!(
            String::from_utf8(head.raw).unwrap(),
            "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
}

/// An answer that leaves the connection open.
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn a_host_of_ours_becomes_the_servers_and_a_foreign_one_still_shows() {
    let upstream = Upstream::listen();
    let rim = Rim::start(Config { public_hosts: vec!["mcp.example".to_owned()], ..config(upstream.address()) });
    let port = rim.request("@").iter().map(|byte| char::from(*byte)).collect::<String>();
    let port = port.rsplit(':').next().unwrap().to_owned();
    let ours = upstream.address().to_string();
    for (host, seen) in [
        ("@".to_owned(), ours.clone()),
        (format!("LOCALHOST:{port}"), ours.clone()),
        (format!("[::1]:{port}"), ours.clone()),
        ("mcp.example".to_owned(), ours.clone()),
        ("127.0.0.1".to_owned(), "127.0.0.1".to_owned()),
        ("evil.example".to_owned(), "evil.example".to_owned()),
    ] {
        let mut client = rim.client();
        client.send(rim.request(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")));
        let mut server = upstream.next();
        assert_eq!(server.request().value("host"), Some(seen), "{host}");
        server.send(OK);
        client.answer();
    }
}

#[test]
fn a_host_policy_keeps_or_replaces_every_host() {
    let upstream = Upstream::listen();
    for (host, seen) in
        [(HostPolicy::Keep, "evil.example".to_owned()), (HostPolicy::Upstream, upstream.address().to_string())]
    {
        let rim = Rim::start(Config { host, ..config(upstream.address()) });
        let mut client = rim.client();
        client.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        assert_eq!(upstream.next().request().value("host"), Some(seen));
    }
}

#[test]
fn a_url_that_names_the_server_is_made_to_name_the_proxy() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let server_at = upstream.address();
        let loopback = format!("localhost:{}", server_at.port());
        for (sent, got) in [
            (format!("Location: http://{server_at}/mcp?a=b"), "Location: http://@/mcp?a=b"),
            (format!("Location: http://{loopback}/mcp"), "Location: http://@/mcp"),
            ("Location: http://other.example/mcp".to_owned(), "Location: http://other.example/mcp"),
            ("Location: /mcp".to_owned(), "Location: /mcp"),
            (
                format!("WWW-Authenticate: Bearer a=\"b\", resource_metadata=\"http://{server_at}/.well-known/x\""),
                "WWW-Authenticate: Bearer a=\"b\", resource_metadata=\"http://@/.well-known/x\"",
            ),
            (format!("X-Other: http://{server_at}/"), &format!("X-Other: http://{server_at}/")),
        ] {
            let mut client = rim.getting();
            let mut server = upstream.next();
            server.request();
            server.send(format!("HTTP/1.1 307 Temporary Redirect\r\n{sent}\r\nContent-Length: 0\r\n\r\n"));
            assert_eq!(client.answer().lines()[1].replace("\\\"", "\""), String::from_utf8(rim.request(got)).unwrap());
        }
    }
}

#[test]
fn a_request_that_is_not_for_a_server_is_refused_with_the_marker() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        for request in [
            "GET http://@/mcp HTTP/1.1\r\nHost: @\r\n\r\n",
            "CONNECT @ HTTP/1.1\r\nHost: @\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: @\r\nHost: other\r\n\r\n",
            "GET / HTTP/1.1\r\nAccept: */*\r\n\r\n",
        ] {
            let mut client = rim.client();
            client.send(rim.request(request));
            let head = client.answer();
            assert_eq!((head.status(), head.value("mishap-error").as_deref()), (400, Some("bad-request")), "{request}");
        }
        assert_eq!(upstream.accepted(), 0);
    }
}

#[test]
fn a_request_that_is_refused_is_in_the_journal() {
    let upstream = Upstream::listen();
    for (request, why) in [
        ("GET http://@/mcp HTTP/1.1\r\nHost: @\r\n\r\n", "the target must be a path, not a URL"),
        ("CONNECT @ HTTP/1.1\r\nHost: @\r\n\r\n", "CONNECT is for gateways"),
        ("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n", "it has no Host"),
    ] {
        let (rim, entries) = Rim::recorded(&upstream, "");
        let mut client = rim.client();
        client.send(rim.request(request));
        assert_eq!(client.answer().status(), 400);
        drop(rim);
        let notes: Vec<_> = entries
            .iter()
            .filter_map(|entry| if let Entry::Note(note) = entry { Some(note.text) } else { None })
            .collect();
        let method = request.split(' ').next().unwrap();
        assert_eq!(notes, [format!("connection 0: a {method} was refused: {why}")]);
    }
    let (rim, entries) = Rim::recorded(&upstream, "");
    let mut client = rim.getting();
    let mut server = upstream.next();
    server.request();
    server.send(OK);
    client.answer();
    drop(rim);
    assert!(!entries.iter().any(|entry| matches!(entry, Entry::Note(_))));
}

// hyper refuses such a head: the client would get nothing but a FIN.
#[test]
fn of_two_framings_of_an_answer_the_chunks_count() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        server.send("HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\nB: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n");
        let (head, body) = client.whole_answer();
        assert_eq!(
            String::from_utf8(head.raw).unwrap(),
            "HTTP/1.1 200 OK\r\nA: 1\r\nTransfer-Encoding: chunked\r\nB: 2\r\n\r\n"
        );
        assert_eq!(body, b"ok");
    }
}

#[test]
fn answers_without_a_body_cross_as_they_are_and_leave_the_connection_usable() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.client();
        let mut server = None;
        for (method, answer) in [
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: 1\r\n\r\n"),
            ("GET", "HTTP/1.1 204 No Content\r\nA: 1\r\n\r\n"),
            ("GET", "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"),
            ("POST", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nA: 1\r\n\r\n"),
            ("POST", "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ] {
            client.send(rim.request(&format!("{method} / HTTP/1.1\r\nHost: @\r\n\r\n")));
            let server = server.get_or_insert_with(|| upstream.next());
            server.request();
            server.send(answer);
            let head = client.answer_to(method);
            assert!(answer.starts_with(&*String::from_utf8(head.raw).unwrap()), "{answer}");
            assert_eq!(client.end(), End::Eof);
        }
    }
}

#[test]
fn an_early_hint_goes_before_the_answer() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.getting();
        let mut server = upstream.next();
        server.request();
        let hint = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
        server.send(hint);
        assert_eq!(client.answer().raw, hint.as_bytes());
        server.send(format!("{hint}{OK}"));
        assert_eq!(client.answer().raw, hint.as_bytes());
        assert_eq!(client.answer().status(), 200);
    }
}

// Only past the engine: it judges whole requests. A proxy that says 100 by itself takes an upload that the server would have refused.
#[test]
fn the_server_decides_whether_a_body_is_sent() {
    let upstream = Upstream::listen();
    let rim = Rim::transparent(&upstream);
    let request = "POST / HTTP/1.1\r\nHost: @\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";

    let mut client = rim.client();
    client.send(rim.request(request));
    let mut server = upstream.next();
    assert_eq!(server.request().value("expect").as_deref(), Some("100-continue"));
    assert!(client.is_silent());
    server.send("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.answer().status(), 100);
    client.send("body");
    server.sees("body");
    server.send(OK);
    assert_eq!(client.answer().status(), 200);

    let mut client = rim.client();
    client.send(rim.request(request));
    let mut server = upstream.next();
    server.request();
    server.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(client.answer().status(), 413);
    // What comes next on it could not be told from the body: it must not be used again.
    assert_eq!(client.closed(), Closed::Fin);
}

#[test]
fn trailers_pass_when_they_were_asked_for() {
    let upstream = Upstream::listen();
    for rim in Rim::both(&upstream) {
        let mut client = rim.wire();
        client.send(rim.request("GET / HTTP/1.1\r\nHost: @\r\nTE: trailers\r\nConnection: TE\r\n\r\n"));
        let mut server = upstream.next();
        assert_eq!(server.request().value("te").as_deref(), Some("trailers"));
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n";
        let answer = format!("{head}2\r\nok\r\n0\r\nx-sum: 7\r\n\r\n");
        server.send(&answer);
        while client.unread().len() < answer.len() {
            client.read_more(&|| "the trailers".to_owned()).unwrap();
        }
        assert_eq!(String::from_utf8_lossy(client.unread()), answer);
    }
}
