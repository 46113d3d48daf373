//! A body arrives as the bytes that were sent, however it is framed, cut up or shaped.

use crate::common::body::{LAST_CHUNK, chunk};
use crate::common::messages::SSE_HEAD;
use crate::common::peer::{End, Peer};
use crate::common::route::Route;

crate::claims! {
    odd_event_streams_keep_every_byte_in_one_chunk
    odd_event_streams_keep_every_byte_in_chunks_of_one
    odd_event_streams_keep_every_byte_under_a_length
    an_event_of_two_mebibytes_arrives_whole
    a_slow_reader_gets_everything
    a_request_body_of_eight_mebibytes_arrives_whole
    a_chunked_request_body_arrives_whole
    a_json_answer_keeps_its_bytes_and_its_length
    ; unlooked a_compressed_body_is_left_alone
}

/// Event streams as servers have been seen to write them, and as the standard allows them.
const ODD_STREAMS: [&[u8]; 16] = [
    b"event: message\ndata: {\"a\":1}\n\n",
    b"event: message\r\ndata: {\"a\":1}\r\n\r\n",
    b"event: message\rdata: {\"a\":1}\r\r",
    b"data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\ndata: 4\n\r",
    b"\xef\xbb\xbfdata: after a byte order mark\n\n",
    b": a comment\n\n: another\ndata: 1\n: inside\n\n",
    b"data: {\ndata:   \"a\": 1\ndata: }\n\n",
    b"data\ndata:\ndata: \n\n",
    b"id: 7\nretry: 500\ndata:\n\n",
    b"id: nul\0here\ndata: 1\n\n",
    b"nonsense\nfield: unknown\n\n",
    b"\n\n\n\r\n\r\r",
    b"data: no blank line at the end\n",
    b"data: not even a line end",
    b"data: \xff\xfe is not UTF-8\n\n",
    b"",
];

fn odd_event_streams_keep_every_byte_in_one_chunk(route: &Route) {
    for stream in ODD_STREAMS {
        let framed = if stream.is_empty() { Vec::new() } else { chunk(stream) };
        crosses(route, SSE_HEAD, &[framed.as_slice(), LAST_CHUNK], stream);
    }
}

fn odd_event_streams_keep_every_byte_in_chunks_of_one(route: &Route) {
    for stream in ODD_STREAMS {
        let chunks: Vec<_> = stream.chunks(1).map(chunk).collect();
        let mut writes: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
        writes.push(LAST_CHUNK);
        crosses(route, SSE_HEAD, &writes, stream);
    }
}

/// SDK servers answer a quick request with an event stream that has a length.
fn odd_event_streams_keep_every_byte_under_a_length(route: &Route) {
    for stream in ODD_STREAMS {
        let length = stream.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n");
        crosses(route, &head, &stream.chunks(3).collect::<Vec<_>>(), stream);
    }
}

/// An answer written in these pieces has the head it was given and this body.
fn crosses(route: &Route, head: &str, writes: &[&[u8]], body: &[u8]) {
    let (mut client, mut server) = route.exchange("POST /mcp");
    server.send(head);
    writes.iter().for_each(|write| server.send(write));
    let (seen, content) = client.whole_answer();
    assert_eq!(seen.raw.escape_ascii().to_string(), head.as_bytes().escape_ascii().to_string());
    assert_eq!(content.escape_ascii().to_string(), body.escape_ascii().to_string());
}

fn an_event_of_two_mebibytes_arrives_whole(route: &Route) {
    let event = [b"data: ".as_slice(), &pattern(2 << 20), b"\n\n"].concat();
    let (mut client, server) = route.stream();
    let writing = server.send_beside([chunk(&event).as_slice(), LAST_CHUNK].concat());
    let (body, end) = client.rest();
    assert_eq!(end, End::Eof);
    assert!(body == event, "{} bytes came of {}, or others", body.len(), event.len());
    finished(writing);
}

/// The upstream has sent all of it, as far as the buffers go, before the client reads a byte.
fn a_slow_reader_gets_everything(route: &Route) {
    let (client, server) = route.stream();
    let mut client = client.with_small_buffer();
    let blocks: Vec<_> = (0..40_u8)
        .map(|number| [b"data: ".as_slice(), &vec![b'a' + number % 26; 64 << 10], b"\n\n"].concat())
        .collect();
    let writing = server.send_beside([blocks.iter().flat_map(chunk).collect(), LAST_CHUNK.to_vec()].concat());
    blocks.iter().for_each(|block| client.sees(block));
    assert_eq!(client.end(), End::Eof);
    finished(writing);
}

fn a_request_body_of_eight_mebibytes_arrives_whole(route: &Route) {
    let body = pattern(8 << 20);
    let mut client = route.client();
    client.send(route.head("POST /mcp", &[&format!("Content-Length: {}", body.len())]));
    let writing = client.send_beside(body.clone());
    answered(route, &mut client, &body);
    finished(writing);
}

fn a_chunked_request_body_arrives_whole(route: &Route) {
    let body = pattern(300_000);
    let mut client = route.client();
    client.send(route.head("POST /mcp", &["Transfer-Encoding: chunked"]));
    let writing = client.send_beside([body.chunks(999).flat_map(chunk).collect(), LAST_CHUNK.to_vec()].concat());
    answered(route, &mut client, &body);
    finished(writing);
}

/// The upstream gets this body and answers, and the client gets the answer.
fn answered(route: &Route, client: &mut Peer, body: &[u8]) {
    let mut server = route.upstream.next();
    let (_, received) = server.whole_request();
    assert!(received == body, "{} bytes came of {}, or others", received.len(), body.len());
    server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(client.whole_answer().0.status(), 202);
}

fn a_json_answer_keeps_its_bytes_and_its_length(route: &Route) {
    let body = b"{\"jsonrpc\":\"2.0\", \"id\":1.0,\"result\":{\"b\":1,\"a\":\"\\u00fc\"}} \n";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    crosses(route, &head, &[body], body);
}

/// Nothing looks inside, so the client's wish for compression reaches the server, and what it sends comes back.
fn a_compressed_body_is_left_alone(route: &Route) {
    let mut client = route.client();
    client.send(route.head("POST /mcp", &["Accept-Encoding: gzip, deflate"]));
    let mut server = route.upstream.next();
    assert_eq!(server.request().value("accept-encoding").as_deref(), Some("gzip, deflate"));
    let body = pattern(5000);
    server.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n",
    );
    server.send(&body);
    let (head, received) = client.whole_answer();
    assert_eq!(head.value("content-encoding").as_deref(), Some("gzip"));
    assert!(received == body);
}

/// So many bytes without line ends, no two neighbourhoods alike.
fn pattern(count: u32) -> Vec<u8> {
    (0..count).map(|number| b'!' + u8::try_from((number ^ (number >> 7)) % 90).expect("below 90")).collect()
}

fn finished(writing: std::thread::JoinHandle<std::io::Result<()>>) {
    writing.join().expect("the writer does not panic").expect("the other side takes all of it");
}
