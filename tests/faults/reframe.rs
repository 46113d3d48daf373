//! `reframe`: the same content in other pieces, as the socket shows them: a chunk of its own for each, in both directions.

use crate::common::messages::{SSE_HEAD, answer, call, event, json_head, progress};
use crate::common::peer::{End, Peer};
use crate::common::scene::{Ended, Scene};

fn reframe(selector: &str, how: &str) -> String {
    format!("[[rule]]\nname = \"form\"\nmatch = {{ {selector}, method = \"tools/call\" }}\nreframe = {how}\n")
}

const HEAD: &str = "at = \"head\"";

/// The chunks in which a body came, as text.
fn chunks(peer: &mut Peer) -> Vec<String> {
    peer.chunks().iter().map(|chunk| chunk.escape_ascii().to_string()).collect()
}

/// A call answered with this body in one chunk; the chunks that reach the client.
fn answered(scene: &Scene, body: &str) -> Vec<String> {
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(body);
    server.send_last_chunk();
    chunks(&mut client)
}

fn exits(scene: Scene, status: i32) -> Ended {
    let ended = scene.finish();
    assert_eq!(ended.status, status, "{}", ended.stderr);
    ended
}

#[test]
fn each_piece_of_a_body_is_a_chunk_of_its_own() {
    let body = progress(1);
    for (rules, pieces) in [(Some(reframe(HEAD, "1")), body.len()), (Some(reframe(HEAD, "50")), 3), (None, 1)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let seen = answered(&scene, &body);
        assert_eq!(seen.len(), pieces, "{seen:?}");
        assert_eq!(seen.concat(), body.as_bytes().escape_ascii().to_string());
        exits(scene, 0);
    }
}

#[test]
fn a_character_and_a_line_end_are_torn_between_two_chunks() {
    let body = "data: {\"method\":\"ä\"}\r\n\r\n";
    for (how, parts) in [
        ("\"utf8\"", vec![r#"data: {"method":"\xc3"#, r#"\xa4"}\r\n\r\n"#]),
        ("\"crlf\"", vec![r#"data: {"method":"\xc3\xa4"}\r"#, r"\n\r", r"\n"]),
    ] {
        let scene = Scene::with(&reframe(HEAD, how));
        let parts: Vec<String> = parts.into_iter().map(|part| part.replace('"', "\\\"")).collect();
        assert_eq!(answered(&scene, body), parts);
        exits(scene, 0);
    }
}

#[test]
fn one_block_is_split_and_others_are_not() {
    let scene = Scene::with(&reframe("message = \"answer\"", "[5, 6]"));
    let seen = answered(&scene, &(progress(1) + &event(&answer(1))));
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!(seen[1..3], ["event", ": mess"]);
    exits(scene, 0);
}

/// Nothing of the request's body is there when its head is; it follows when the gap is over, never earlier.
#[test]
fn a_request_reaches_the_server_in_pieces_with_a_gap() {
    let whole = call(1);
    let pieces = whole.len().div_ceil(40) as u64;
    for (rules, gaps) in [(Some(reframe("at = \"request\"", "{ split = 40, gap = \"30ms\" }")), pieces), (None, 0)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.exchange(&whole);
        server.send(json_head(answer(1).len(), "") + &answer(1));
        assert_eq!(client.whole_answer().1, answer(1).as_bytes());
        let point = exits(scene, 0).journal.point("s1/post:1/request#1");
        let waited = point.left.expect("it has left") - point.arrived;
        assert!(waited >= gaps * 30_000, "early: {waited}");
        assert_eq!(point.rules.len(), usize::from(gaps > 0));
    }
}

#[test]
fn each_piece_of_a_chunked_request_is_a_chunk_of_its_own() {
    let whole = call(1);
    for (rules, pieces) in [(Some(reframe("at = \"request\"", "\"byte\"")), whole.len()), (None, 1)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let mut client = scene.post_chunked(&whole);
        let mut server = scene.upstream.next();
        server.request();
        let seen = chunks(&mut server);
        assert_eq!((seen.len(), seen.concat()), (pieces, whole.as_bytes().escape_ascii().to_string()));
        server.send(json_head(answer(1).len(), "") + &answer(1));
        assert_eq!(client.whole_answer().1, answer(1).as_bytes());
        exits(scene, 0);
    }
}

#[test]
fn line_ends_are_others_and_a_length_that_was_announced_is_not_kept() {
    let body = progress(1) + &event(&answer(1));
    for (newline, end) in [("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")] {
        let scene = Scene::with(&reframe(HEAD, &format!("{{ newline = \"{newline}\" }}")));
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let (head, seen) = client.whole_answer();
        assert_eq!(String::from_utf8(seen).expect("it is text"), body.replace('\n', end));
        assert_eq!(head.value("content-length"), None);
        // With LF nothing has changed, and that is said.
        exits(scene, if newline == "lf" { 4 } else { 0 });
    }
}

#[test]
fn an_answer_without_its_blank_line_leaves_the_stream_open() {
    for (rules, left_out) in [(Some(reframe("message = \"answer\"", "{ final-blank = false }")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(event(&answer(1)));
        let whole = event(&answer(1));
        client.sees(&whole[..whole.len() - usize::from(left_out)]);
        scene.ping(2);
        assert!(client.is_silent());
        server.send_last_chunk();
        assert_eq!(client.end(), End::Eof);
    }
}

#[test]
fn a_message_is_padded_with_spaces() {
    let scene = Scene::with(&reframe("message = \"answer\"", "{ pad = \"64KiB\" }"));
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(json_head(answer(1).len(), "") + &answer(1));
    let (_, seen) = client.whole_answer();
    assert_eq!((seen.len(), seen.trim_ascii_end()), (64 * 1024, answer(1).as_bytes()));
    exits(scene, 0);
}

#[test]
fn events_leave_in_one_chunk() {
    for (rules, together) in [(Some(reframe(HEAD, "{ coalesce = 3 }")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(SSE_HEAD);
        assert_eq!(client.answer().status(), 200);
        for number in 1..=3 {
            server.send_chunk(progress(number));
            scene.ping(number + 1);
        }
        server.send_last_chunk();
        let seen = chunks(&mut client);
        assert_eq!(seen.len(), if together { 1 } else { 3 }, "{seen:?}");
        exits(scene, 0);
    }
}

/// A client that leaves while its request is still being sent.
#[test]
fn a_client_that_leaves_a_half_sent_request_is_seen_by_the_server() {
    let scene = Scene::with(&reframe("at = \"request\"", "{ split = 10, gap = \"10s\" }"));
    let client = scene.post(&call(1));
    let mut server = scene.upstream.next();
    server.request();
    client.leave();
    server.closed();
}
