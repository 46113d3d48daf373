//! One upstream connection for each client connection, kept and closed together.

use crate::common::peer::Peer;
use crate::common::route::Route;
use crate::common::wire::Closed;

crate::claims! {
    requests_on_one_connection_reach_the_upstream_on_one
    each_client_connection_has_an_upstream_connection_of_its_own
    pipelined_requests_are_answered_in_order
    an_idle_connection_that_the_upstream_closes_is_closed
    an_idle_connection_that_the_client_closes_is_closed
    a_connection_closes_when_the_client_asked_for_it
    a_connection_closes_when_the_upstream_announced_it
    a_http_1_0_answer_ends_with_its_connection
}

/// One exchange on these ends.
fn exchange(route: &Route, client: &mut Peer, server: &mut Peer, number: u32) {
    client.send(route.head(&format!("POST /{number}"), &["Content-Length: 2"]) + "{}");
    assert_eq!(server.whole_request().0.start(), format!("POST /{number} HTTP/1.1"));
    server.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}"));
    assert_eq!(client.whole_answer().1, number.to_string().as_bytes());
}

fn requests_on_one_connection_reach_the_upstream_on_one(route: &Route) {
    let mut client = route.client();
    client.send(route.head("GET /first", &[]));
    let mut server = route.upstream.next();
    server.request();
    server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    client.whole_answer();
    (1..=5).for_each(|number| exchange(route, &mut client, &mut server, number));
    assert_eq!(route.upstream.accepted(), 1);
}

fn each_client_connection_has_an_upstream_connection_of_its_own(route: &Route) {
    let (mut first, mut second) = (route.exchange("GET /1"), route.exchange("GET /2"));
    assert_eq!(route.upstream.accepted(), 2);
    for (client, server) in [&mut second, &mut first] {
        server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        client.whole_answer();
        exchange(route, client, server, 3);
    }
    assert_eq!(route.upstream.accepted(), 2);
}

fn pipelined_requests_are_answered_in_order(route: &Route) {
    let mut client = route.client();
    client.send(route.head("GET /1", &[]) + &route.head("GET /2", &[]));
    let mut server = route.upstream.next();
    for number in ["1", "2"] {
        assert_eq!(server.request().start(), format!("GET /{number} HTTP/1.1"));
        server.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}"));
        assert_eq!(client.whole_answer().1, number.as_bytes());
    }
}

/// Both ends of a connection that has served one exchange.
fn idle(route: &Route) -> (Peer, Peer) {
    let (mut client, mut server) = route.exchange("GET /");
    server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    client.whole_answer();
    (client, server)
}

fn an_idle_connection_that_the_upstream_closes_is_closed(route: &Route) {
    let (mut client, server) = idle(route);
    server.leave();
    assert_eq!(client.closed(), Closed::Fin);
}

fn an_idle_connection_that_the_client_closes_is_closed(route: &Route) {
    let (client, mut server) = idle(route);
    client.leave();
    assert_eq!(server.closed(), Closed::Fin);
}

fn a_connection_closes_when_the_client_asked_for_it(route: &Route) {
    let mut client = route.client();
    client.send(route.head("GET /", &["Connection: close"]));
    let mut server = route.upstream.next();
    assert_eq!(server.request().value("connection").as_deref(), Some("close"));
    server.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    server.leave();
    assert_eq!(client.whole_answer().1, b"ok");
    assert_eq!(client.closed(), Closed::Fin);
}

fn a_connection_closes_when_the_upstream_announced_it(route: &Route) {
    let (mut client, mut server) = route.exchange("GET /");
    server.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    server.leave();
    let (head, body) = client.whole_answer();
    assert_eq!((head.value("connection").as_deref(), body.as_slice()), (Some("close"), b"ok".as_slice()));
    assert_eq!(client.closed(), Closed::Fin);
}

fn a_http_1_0_answer_ends_with_its_connection(route: &Route) {
    let (mut client, mut server) = route.exchange("GET /");
    server.send("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    client.answer();
    server.send("data: 1\n\n");
    client.sees("data: 1\n\n");
    server.leave();
    client.end();
}
