//! The fences: everything released before a cut arrives, a `fin` is a real FIN, a `reset` a real RST.

use crate::common::body::{LAST_CHUNK, chunk};
use crate::common::messages::{SSE_HEAD, answer, call, event, progress};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn cut_before_the_answer(ending: &str) -> String {
    let answer = "{ stream = \"post\", method = \"tools/call\", message = \"answer\" }";
    format!("[[rule]]\nname = \"cut\"\nmatch = {answer}\ncut = \"{ending}\"\n")
}

const ENDINGS: [(&str, End); 3] = [("eof", End::Eof), ("fin", End::Fin), ("reset", End::Reset)];

/// Everything and the answer leave the server in one write: the cut follows the last block at once.
#[test]
fn many_small_blocks_before_a_cut_all_arrive() {
    for (ending, end) in ENDINGS {
        for count in [0, 1, 2, 17, 200] {
            let scene = Scene::with(&cut_before_the_answer(ending));
            let (mut client, mut server) = scene.exchange(&call(1));
            let blocks: String = (0..count).map(progress).collect();
            let all: Vec<u8> = (0..count).flat_map(|number| chunk(progress(number))).collect();
            server.send([SSE_HEAD.as_bytes(), &all, &chunk(event(&answer(1)))].concat());
            client.answer();
            let (body, seen) = client.rest();
            assert_eq!((body.len(), seen), (blocks.len(), end), "{ending} after {count} blocks");
        }
    }
}

/// The client reads nothing before the server has sent all that the buffers in between take.
#[test]
fn forty_large_blocks_before_a_cut_all_reach_a_slow_reader() {
    for (ending, end) in ENDINGS {
        let scene = Scene::with(&cut_before_the_answer(ending));
        let (client, server) = scene.call(1);
        let mut client = client.with_small_buffer();
        let large = event(&format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{}"}}"#, "-".repeat(64 << 10)));
        let blocks: Vec<u8> = (0..40).flat_map(|_| chunk(&large)).collect();
        let writing = server.send_beside([blocks, chunk(event(&answer(1)))].concat());
        scene.fired("cut");
        writing.join().expect("the writer does not panic").expect("all of it is taken");
        let (body, seen) = client.rest();
        assert_eq!((body.len(), seen), (40 * large.len(), end), "{ending}");
    }
}

/// Without the rule the same bytes end as the server ends them.
#[test]
fn without_a_cut_the_answer_follows_the_blocks() {
    let scene = Scene::without();
    let (mut client, mut server) = scene.exchange(&call(1));
    let all: Vec<u8> = (0..200).flat_map(|number| chunk(progress(number))).collect();
    server.send([SSE_HEAD.as_bytes(), &all, &chunk(event(&answer(1))), LAST_CHUNK].concat());
    client.answer();
    client.sees((0..200).map(progress).collect::<String>() + &event(&answer(1)));
    assert_eq!(client.end(), End::Eof);
}

/// Closing a socket with unread input is a RST: the proxy has to read on.
#[test]
fn a_fin_is_a_fin_although_most_of_the_request_is_unread() {
    for (ending, end) in [("fin", End::Fin), ("reset", End::Reset)] {
        let rules =
            format!("[[rule]]\nname = \"cut\"\nmatch = {{ at = \"head\", path = \"/upload\" }}\ncut = \"{ending}\"\n");
        let scene = Scene::with(&rules);
        let (mut client, _server) = upload(&scene);
        client.answer();
        assert_eq!(client.end(), end);
    }
}

/// A client that has sent more than the proxy looks into and more than the server, which answers with a head, has read.
/// It does not write while it reads: a writer would be told of a reset in the reader's place.
fn upload(scene: &Scene) -> (Peer, Peer) {
    let mut client = scene.connect();
    client.send(format!("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", 1 << 30));
    let mut sent = 0;
    while sent < 8 << 20 {
        sent += client.fill();
    }
    let mut server = scene.upstream.next();
    server.request();
    client.fill();
    server.send(SSE_HEAD);
    (client, server)
}

/// The reader gets to read everything before the reset throws away what it has not read.
#[test]
fn a_reset_comes_after_everything_was_read() {
    let scene = Scene::with(&cut_before_the_answer("reset"));
    let (mut client, mut server) = scene.call(1);
    for number in 1..=20 {
        server.send_chunk(progress(number));
    }
    server.send_chunk(event(&answer(1)));
    (1..=20).for_each(|number| client.sees(progress(number)));
    assert_eq!(client.end(), End::Reset);
    assert_eq!(server.closed(), Closed::Fin, "towards the server it is a client that left");
}
