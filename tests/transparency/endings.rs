//! Who closed, and how, is the same on both legs: an end stays an end, a FIN a FIN, a RST a RST.

use crate::common::peer::{End, Peer};
use crate::common::route::Route;
use crate::common::wire::Closed;

crate::claims! {
    a_client_that_leaves_a_quiet_stream_is_seen_leaving
    a_client_that_leaves_before_the_head_is_seen_leaving
    a_client_that_leaves_amid_its_request_is_seen_leaving
    an_upstream_that_closes_before_the_head_is_seen_closing
    an_upstream_that_closes_amid_its_head_is_seen_closing
    the_end_of_an_answer_is_an_end
    an_upstream_that_closes_between_chunks_is_seen_closing
    an_upstream_that_closes_inside_a_chunk_is_seen_closing
    an_upstream_that_closes_short_of_its_length_is_seen_closing
}

/// The two ways to close a connection, and how the other side sees each.
const WAYS: [(fn(Peer), Closed); 2] = [(Peer::leave, Closed::Fin), (Peer::reset, Closed::Reset)];

fn ending(closed: Closed) -> End {
    match closed {
        Closed::Fin => End::Fin,
        Closed::Reset => End::Reset,
    }
}

pub(crate) fn a_client_that_leaves_a_quiet_stream_is_seen_leaving(route: &Route) {
    for (close, seen) in WAYS {
        let (mut client, mut server) = route.stream();
        server.send_chunk("data: 1\n\n");
        client.sees("data: 1\n\n");
        close(client);
        assert_eq!(server.closed(), seen);
    }
}

fn a_client_that_leaves_before_the_head_is_seen_leaving(route: &Route) {
    for (close, seen) in WAYS {
        let (client, mut server) = route.exchange("POST /mcp");
        close(client);
        assert_eq!(server.closed(), seen);
    }
}

fn a_client_that_leaves_amid_its_request_is_seen_leaving(route: &Route) {
    for (close, seen) in WAYS {
        let (client, mut server) = route.half_a_request();
        close(client);
        assert_eq!(server.end(), ending(seen));
    }
}

fn an_upstream_that_closes_before_the_head_is_seen_closing(route: &Route) {
    for (close, seen) in WAYS {
        let (mut client, server) = route.exchange("POST /mcp");
        close(server);
        assert_eq!(client.closed(), seen);
    }
}

fn an_upstream_that_closes_amid_its_head_is_seen_closing(route: &Route) {
    let (mut client, mut server) = route.exchange("POST /mcp");
    server.send("HTTP/1.1 200 OK\r\nContent-");
    server.leave();
    // What part of a head crosses is the proxy's affair: no client acts on half a head.
    client.closes_after_part_of("HTTP/1.1 200 OK\r\nContent-");
}

fn the_end_of_an_answer_is_an_end(route: &Route) {
    let (mut client, mut server) = route.stream();
    server.send_chunk("data: 1\n\n");
    server.send_last_chunk();
    client.sees("data: 1\n\n");
    assert_eq!(client.end(), End::Eof);
    assert!(client.is_silent(), "the connection stays open");
}

fn an_upstream_that_closes_between_chunks_is_seen_closing(route: &Route) {
    for (close, seen) in WAYS {
        let (mut client, mut server) = route.stream();
        server.send_chunk("data: 1\n\n");
        client.sees("data: 1\n\n");
        close(server);
        assert_eq!(client.end(), ending(seen));
    }
}

/// What came of the chunk is the client's, and the rest is not made up.
fn an_upstream_that_closes_inside_a_chunk_is_seen_closing(route: &Route) {
    for (close, seen) in WAYS {
        let (mut client, mut server) = route.stream();
        server.send("40\r\ndata: half");
        close(server);
        assert_eq!(client.rest(), (b"data: half".to_vec(), ending(seen)));
    }
}

fn an_upstream_that_closes_short_of_its_length_is_seen_closing(route: &Route) {
    for (close, seen) in WAYS {
        let (mut client, mut server) = route.exchange("POST /mcp");
        server.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{\"half\":");
        client.answer();
        close(server);
        assert_eq!(client.rest(), (b"{\"half\":".to_vec(), ending(seen)));
    }
}
