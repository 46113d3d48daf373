//! What the upstream has sent is with the client before the upstream sends more.

use crate::common::messages::SSE_HEAD;
use crate::common::route::Route;

crate::claims! {
    the_head_comes_before_the_first_byte_of_the_body
    an_event_comes_before_the_next_is_sent
    events_of_two_streams_come_in_the_order_they_were_sent
    sixty_streams_run_at_once
    the_answer_may_begin_before_the_request_has_ended
    ; unlooked a_byte_comes_before_the_next_is_sent
}

pub(crate) fn the_head_comes_before_the_first_byte_of_the_body(route: &Route) {
    let (mut client, mut server) = route.exchange("GET /mcp");
    server.send(SSE_HEAD);
    assert_eq!(client.answer().status(), 200);
    server.send_chunk(": first\n\n");
    client.sees(": first\n\n");
}

pub(crate) fn an_event_comes_before_the_next_is_sent(route: &Route) {
    let (mut client, mut server) = route.stream();
    for number in 1..=50 {
        let event = format!("event: message\ndata: {{\"number\":{number}}}\n\n");
        server.send_chunk(&event);
        client.sees(&event);
    }
    server.send_last_chunk();
    client.end();
}

/// Also in the middle of a line, of a CRLF, and of a character.
pub(crate) fn a_byte_comes_before_the_next_is_sent(route: &Route) {
    let (mut client, mut server) = route.stream();
    for byte in "id: 1\r\ndata: \u{fc}\u{1f9e8}\r\ndata\r\r: note\n\ndata: unfinished".bytes() {
        server.send_chunk([byte]);
        client.sees([byte]);
    }
    server.send_last_chunk();
    client.end();
}

fn events_of_two_streams_come_in_the_order_they_were_sent(route: &Route) {
    let (mut first, mut second) = (route.stream(), route.stream());
    for number in 1..=20 {
        for (client, server) in [&mut second, &mut first] {
            let event = format!("data: {number}\n\n");
            server.send_chunk(&event);
            client.sees(&event);
        }
    }
}

fn sixty_streams_run_at_once(route: &Route) {
    let mut streams: Vec<_> = (0..60).map(|_| route.stream()).collect();
    for round in 1..=3 {
        for (number, (_, server)) in streams.iter_mut().enumerate() {
            server.send_chunk(format!("data: {round} of {number}\n\n"));
        }
        for (number, (client, _)) in streams.iter_mut().enumerate().rev() {
            client.sees(format!("data: {round} of {number}\n\n"));
        }
    }
    for (client, server) in &mut streams {
        server.send_last_chunk();
        client.end();
    }
}

/// Part of the body is on its way already, and it is more than a proxy would look into.
fn the_answer_may_begin_before_the_request_has_ended(route: &Route) {
    let (mut client, mut server) = route.half_a_request();
    server.send("HTTP/1.1 413 Payload Too Large\r\nContent-Length: 4\r\n\r\nfull");
    assert_eq!(client.answer().status(), 413);
    client.sees("full");
}
