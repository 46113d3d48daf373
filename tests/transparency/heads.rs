//! A head arrives as it was written: lines, case, order, repeats, status, reason; `Host` alone is mapped.

use crate::common::route::Route;

crate::claims! {
    a_requests_header_lines_arrive_as_they_were_written
    an_answers_header_lines_arrive_as_they_were_written
    a_request_line_arrives_as_it_was_written
    a_status_line_arrives_as_it_was_written
    answers_without_a_body_keep_their_heads
    a_host_that_names_the_proxy_becomes_the_upstreams
    a_foreign_host_reaches_the_server
    a_location_that_names_the_upstream_names_the_proxy
    a_client_that_waits_for_100_continue_gets_it
}

/// Odd ones: a name in capitals, one repeated, an empty value, a value with bytes above 127 and a tab.
const ODD_HEADERS: [&str; 8] = [
    "X-UPPER: A",
    "x-lower: b",
    "Mcp-Session-Id: 5f\u{e9}",
    "accept: application/json",
    "accept: text/event-stream",
    "X-Tab: a\tb",
    "Mcp-Name: =?base64?w6k=?=",
    "Authorization: Bearer abc.def",
];

fn a_requests_header_lines_arrive_as_they_were_written(route: &Route) {
    let mut client = route.client();
    client.send(route.head("POST /mcp", &ODD_HEADERS));
    let seen = route.upstream.next().request();
    let host = format!("Host: {}", route.upstream.address());
    let expected = [vec!["POST /mcp HTTP/1.1", &host], ODD_HEADERS.to_vec()].concat();
    assert_eq!(seen.lines(), escaped(&expected));
}

fn an_answers_header_lines_arrive_as_they_were_written(route: &Route) {
    let (mut client, mut server) = route.exchange("GET /mcp");
    let lines =
        [&["HTTP/1.1 200 OK"], &ODD_HEADERS[..], &["content-LENGTH: 0", "Set-Cookie: a=1", "Set-Cookie: b=2"]].concat();
    server.send(lines.join("\r\n") + "\r\n\r\n");
    assert_eq!(client.answer().lines(), escaped(&lines));
}

fn a_request_line_arrives_as_it_was_written(route: &Route) {
    for line in [
        "GET /mcp?a=1&b=%2f%zz&&",
        "GET //double//slash/../dots/.",
        "DELETE /%e2%82%ac/a%2fb?",
        "OPTIONS *",
        "QUERY /mcp",
        "M+E! /odd-method",
        "get /lower-case-method",
        "POST /\u{fc}",
    ] {
        let mut client = route.client();
        client.send(route.head(line, &[]));
        let seen = route.upstream.next().request();
        assert_eq!(seen.start(), escaped(&[&format!("{line} HTTP/1.1")])[0]);
    }
}

fn a_status_line_arrives_as_it_was_written(route: &Route) {
    for line in
        ["200 Fine By Me", "202 Accepted", "299 ", "404 not found", "405 Method Not Allowed", "503 Later", "599 X"]
    {
        let (mut client, mut server) = route.exchange("GET /mcp");
        server.send(format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(client.answer().start(), format!("HTTP/1.1 {line}"));
    }
}

fn answers_without_a_body_keep_their_heads(route: &Route) {
    for (method, answer) in [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 512\r\n\r\n"),
        ("POST", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
        ("POST", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"),
    ] {
        let (mut client, mut server) = route.exchange(&format!("{method} /mcp"));
        server.send(answer);
        let seen = client.answer_to(method);
        assert_eq!(seen.raw.escape_ascii().to_string(), answer.as_bytes().escape_ascii().to_string());
        client.end();
        assert!(client.is_silent(), "no byte of a body follows a {}", seen.start());
    }
}

fn a_host_that_names_the_proxy_becomes_the_upstreams(route: &Route) {
    let seen = host_seen_for(route, &route.authority());
    assert_eq!(seen, route.upstream.address().to_string());
}

/// Directly there is nothing to map.
#[test]
fn loopback_names_with_the_proxys_port_become_the_upstreams() {
    let route = Route::through_mishap();
    let port = route.address().port();
    for name in [format!("localhost:{port}"), format!("LocalHost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(host_seen_for(&route, &name), route.upstream.address().to_string());
    }
}

/// The server's own check for DNS rebinding must see the attack.
fn a_foreign_host_reaches_the_server(route: &Route) {
    for foreign in ["evil.example", "evil.example:3000", "127.0.0.1.nip.io"] {
        assert_eq!(host_seen_for(route, foreign), foreign);
    }
}

fn host_seen_for(route: &Route, host: &str) -> String {
    let mut client = route.client();
    client.send(format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\r\n"));
    let head = route.upstream.next().request();
    assert_eq!(head.value("origin"), Some(format!("http://{host}")), "an origin is nobody's to change");
    head.value("host").expect("a request has a Host")
}

fn a_location_that_names_the_upstream_names_the_proxy(route: &Route) {
    let (mut client, mut server) = route.exchange("GET /mcp/");
    let location = format!("Location: http://{}/mcp?x=1", route.upstream.address());
    server.send(format!("HTTP/1.1 307 Temporary Redirect\r\n{location}\r\nContent-Length: 0\r\n\r\n"));
    assert_eq!(client.answer().value("location"), Some(format!("http://{}/mcp?x=1", route.authority())));
}

/// From the server, or from a proxy that looks into the body before the server sees the request.
fn a_client_that_waits_for_100_continue_gets_it(route: &Route) {
    let mut client = route.client();
    client.send(route.head("POST /mcp", &["Content-Length: 4", "Expect: 100-continue"]));
    let waiting = std::thread::spawn(move || {
        assert_eq!(client.answer().status(), 100);
        client.send("body");
        client.whole_answer().0.status()
    });
    let mut server = route.upstream.next();
    if server.request().value("expect").is_some() {
        server.send("HTTP/1.1 100 Continue\r\n\r\n");
    }
    server.sees("body");
    server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(waiting.join().expect("the client got its 100"), 202);
}

/// Lines as a head shows them.
fn escaped(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| line.as_bytes().escape_ascii().to_string()).collect()
}
