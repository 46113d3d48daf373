//! What does not cross as it came, even without a profile: the list "Limits" of README.md, so that it stays true.

use crate::common::peer::End;
use crate::common::route::Route;

/// The header lines after the request line and `Host` that reach the upstream.
fn lines_for(request: impl AsRef<[u8]>) -> Vec<String> {
    let route = Route::through_mishap();
    let mut client = route.client();
    client.send(request);
    route.upstream.next().request().lines().split_off(2)
}

#[test]
fn header_lines_with_one_name_are_grouped() {
    assert_eq!(lines_for("GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\nA: 3\r\n\r\n"), ["A: 1", "A: 3", "B: 2"]);
}

#[test]
fn spaces_round_a_value_become_one_and_a_lone_lf_becomes_crlf() {
    assert_eq!(lines_for("GET / HTTP/1.1\r\nHost: x\r\nA:1\r\nB: \t 2 \r\n\r\n"), ["A: 1", "B: 2"]);
    let route = Route::through_mishap();
    let mut client = route.client();
    client.send("GET / HTTP/1.1\nHost: x\nA: 1\n\n");
    assert!(route.upstream.next().request().raw.ends_with(b"\r\nA: 1\r\n\r\n"));
}

#[test]
fn a_fragment_in_the_target_is_cut() {
    let route = Route::through_mishap();
    let mut client = route.client();
    client.send(route.head("GET /mcp?a=1#part", &[]));
    assert_eq!(route.upstream.next().request().start(), "GET /mcp?a=1 HTTP/1.1");
}

#[test]
fn what_concerns_one_hop_is_not_passed_on() {
    let request = "GET / HTTP/1.1\r\nHost: x\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nConnection: X-Hop\r\nA: 1\r\n\r\n";
    let lines = lines_for(request);
    assert!(lines.contains(&"A: 1".to_owned()), "{lines:?}");
    assert!(lines.iter().all(|line| !line.starts_with("Keep-Alive") && !line.starts_with("X-Hop")), "{lines:?}");
}

#[test]
fn a_body_that_ends_with_its_connection_becomes_chunked() {
    let route = Route::through_mishap();
    let (mut client, mut server) = route.exchange("GET /");
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it");
    server.leave();
    let head = client.answer();
    assert_eq!(head.value("transfer-encoding").as_deref(), Some("chunked"));
    client.sees("all of it");
    assert_eq!(client.end(), End::Eof);
}

#[test]
fn a_304_loses_its_length() {
    let route = Route::through_mishap();
    let (mut client, mut server) = route.exchange("GET /");
    server.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\nETag: \"1\"\r\n\r\n");
    assert_eq!(client.answer().lines(), ["HTTP/1.1 304 Not Modified", "ETag: \\\"1\\\""]);
}

/// Without a journal the first half would be with the upstream at once (lockstep, half a request).
#[test]
fn with_a_journal_a_request_is_read_whole_before_it_is_sent_on() {
    let route = Route::through_a_journalling_mishap();
    let mut client = route.client();
    client.send(route.head("POST /mcp", &["Content-Length: 8"]));
    client.send("half");
    let (mut other, mut other_server) = route.exchange("GET /other");
    other_server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    other.whole_answer();
    assert!(route.upstream.is_idle(), "half a request was sent on");
    client.send("half");
    assert_eq!(route.upstream.next().whole_request().1, b"halfhalf");
}
