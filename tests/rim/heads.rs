//! Heads cross as they are, but for what belongs to one hop and for the names of the two hosts.

use crate::common::peer::Peer;
use crate::common::upstream::Upstream;
use crate::rim::Rim;

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
    let rim = Rim::transparent(&upstream);
    let mut client = rim.client();
    let text = "M+E! //x/a%2fb?q=%zz HTTP/1.1\r\nzulu: 1\r\nHOST: @\r\nAccept: a\r\naccept: b\r\nX-Tab: a\tb\r\nConnection: keep-alive\r\nAlpha:  2\r\n\r\n";
    let (seen, mut server) = through(&upstream, &mut client, rim.request(text));
    let expected = text.replace("@", &upstream.address().to_string()).replace("Alpha:  2", "Alpha: 2");
    assert_eq!(seen, expected);
    let answer =
        "HTTP/1.1 299 Odd Enough\r\nzulu: 1\r\nSET-COOKIE: a\r\nSet-Cookie: b\r\nContent-LENGTH: 2\r\nalpha: 2\r\n\r\n";
    server.send(format!("{answer}ok"));
    let (head, body) = client.whole_answer();
    assert_eq!(String::from_utf8(head.raw).unwrap(), answer);
    assert_eq!(body, b"ok");
}

#[test]
fn what_belongs_to_one_hop_stays_there_and_the_rest_keeps_its_order() {
    let upstream = Upstream::listen();
    let rim = Rim::transparent(&upstream);
    let mut client = rim.client();
    let text = "GET / HTTP/1.1\r\nHost: @\r\nA: 1\r\nX-Hop: 1\r\nConnection: X-Hop, close\r\nKeep-Alive: 5\r\nB: 2\r\nTE: gzip\r\nUpgrade: h2c\r\nC: 3\r\n\r\n";
    let (seen, mut server) = through(&upstream, &mut client, rim.request(text));
    let host = upstream.address();
    assert_eq!(seen, format!("GET / HTTP/1.1\r\nHost: {host}\r\nA: 1\r\nConnection: close\r\nB: 2\r\nC: 3\r\n\r\n"));
    server.send(
        "HTTP/1.1 200 OK\r\nA: 1\r\nKeep-Alive: timeout=5\r\nB: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    let head = client.answer();
    assert_eq!(
        String::from_utf8(head.raw).unwrap(),
        "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
}
