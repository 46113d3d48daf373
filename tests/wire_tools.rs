//! The raw client against the scripted upstream with nothing in between: what the wire tests stand on says the truth.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;
#[cfg(test)]
mod tests {
    use crate::common::body::chunk;
    use crate::common::peer::{End, Peer};
    use crate::common::upstream::Upstream;
    use crate::common::wire::Closed;

    /// A client and the upstream's end of its connection, both past the heads of a chunked answer.
    fn in_mid_answer() -> (Peer, Peer) {
        let upstream = Upstream::listen();
        let mut client = Peer::connect(upstream.address());
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let mut server = upstream.next();
        server.request();
        server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.answer();
        (client, server)
    }

    #[test]
    fn the_three_ends_of_a_body_are_told_apart() {
        let (mut client, mut server) = in_mid_answer();
        server.send_last_chunk();
        assert_eq!(client.end(), End::Eof);
        assert!(client.is_silent(), "the connection stays open after a whole answer");

        let (mut client, server) = in_mid_answer();
        server.leave();
        assert_eq!(client.end(), End::Fin);

        let (mut client, server) = in_mid_answer();
        server.reset();
        assert_eq!(client.end(), End::Reset);
    }

    #[test]
    fn a_fin_inside_a_chunk_keeps_what_came_of_it() {
        let (mut client, mut server) = in_mid_answer();
        server.send("10\r\nhalf");
        server.fin();
        assert_eq!(client.rest(), (b"half".to_vec(), End::Fin));
    }

    #[test]
    fn the_upstream_sees_how_its_client_left() {
        let (client, mut server) = in_mid_answer();
        client.leave();
        assert_eq!(server.closed(), Closed::Fin);

        let (client, mut server) = in_mid_answer();
        client.reset();
        assert_eq!(server.closed(), Closed::Reset);
    }

    #[test]
    fn chunks_are_undone_wherever_the_bytes_are_split() {
        let framed = [
            chunk("data: 1\r\n"),
            chunk("\n"),
            b"1f;x=y\r\n".to_vec(),
            vec![b'-'; 31],
            b"\r\n0\r\nT: x\r\n\r\n".to_vec(),
        ]
        .concat();
        for split in 0..framed.len() {
            let (mut client, mut server) = in_mid_answer();
            server.send(&framed[..split]);
            server.send(&framed[split..]);
            client.sees([b"data: 1\r\n\n".as_slice(), &[b'-'; 31]].concat());
            assert_eq!(client.end(), End::Eof, "split at {split}");
        }
    }

    #[test]
    fn a_length_ends_a_body_and_a_close_ends_one_without() {
        let upstream = Upstream::listen();
        let mut client = Peer::connect(upstream.address());
        client.send("POST /a HTTP/1.1\r\ncontent-length: 4\r\n\r\nbody");
        client.send("POST /b HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        let mut server = upstream.next();
        let (head, body) = server.whole_request();
        assert_eq!((head.start().as_str(), body.as_slice()), ("POST /a HTTP/1.1", b"body".as_slice()));
        assert_eq!(server.whole_request().0.start(), "POST /b HTTP/1.1");
        server.send("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it");
        server.leave();
        assert_eq!(client.whole_answer().0.status(), 204);
        assert_eq!(client.whole_answer().1, b"all of it");
    }

    #[test]
    #[should_panic(expected = "the body has \"data: 2\" where \"data: 1\" was sent")]
    fn a_changed_byte_is_noticed() {
        let (mut client, mut server) = in_mid_answer();
        server.send_chunk("data: 2");
        client.sees("data: 1");
    }

    #[test]
    #[should_panic(expected = "expected the end of the body and got \"more\"")]
    fn a_byte_too_many_is_noticed() {
        let (mut client, mut server) = in_mid_answer();
        server.send_chunk("more");
        server.send_last_chunk();
        client.end();
    }

    #[test]
    fn connections_are_handed_over_in_the_order_of_their_requests() {
        let upstream = Upstream::listen();
        let (mut first, mut second) = (Peer::connect(upstream.address()), Peer::connect(upstream.address()));
        second.send("GET /second HTTP/1.1\r\n\r\n");
        assert_eq!(upstream.next().request().start(), "GET /second HTTP/1.1");
        first.send("GET /first HTTP/1.1\r\n\r\n");
        assert_eq!(upstream.next().request().start(), "GET /first HTTP/1.1");
        assert_eq!(upstream.accepted(), 2);
    }
}
