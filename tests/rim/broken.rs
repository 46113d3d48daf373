//! What the proxy says when there is no answer to pass on, and what it does with what is no HTTP.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use mishap::engine::engine::{Engine, Setup};
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
