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

/// When the cut comes, what passed before it is in the kernel's buffers, then in HTTP's, then in the proxy's own, depending
/// on how much it is: with these sizes each of them is the last to be emptied. The client reads nothing before that.
#[test]
fn large_blocks_before_a_cut_all_reach_a_slow_reader() {
    let room = kernels_room();
    for (ending, end) in ENDINGS {
        for count in [room / 2, room + 2, room + 6, room + 12, room + 40] {
            let scene = Scene::with(&cut_before_the_answer(ending));
            let (mut client, server) = scene.call(1);
            let writing = server.send_beside([large_blocks(count), chunk(event(&answer(1)))].concat());
            pings(&scene);
            let (body, seen) = client.rest();
            let expected = (count * large().len(), end);
            assert_eq!((body.len(), seen), expected, "{ending} after {count} blocks, {room} of them in the kernel");
            writing.join().expect("the writer does not panic").expect("all of it is taken");
        }
    }
}

/// An event of 64 KiB.
fn large() -> String {
    event(&format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{}"}}"#, "-".repeat(64 << 10)))
}

/// So many of them, a chunk each.
fn large_blocks(count: usize) -> Vec<u8> {
    chunk(large()).repeat(count)
}

/// How many of them the kernel takes for a client that reads nothing.
fn kernels_room() -> usize {
    let scene = Scene::without();
    let (client, server) = scene.call(1);
    drop(server.send_beside(large_blocks(400)));
    let full = pings(&scene);
    client.reset();
    let passed = scene.finish().journal.points(|point| point.key.starts_with("s1/post:1/block"));
    passed.iter().filter(|block| block.left_seq.is_some_and(|left| left < full)).count()
}

/// Gives the proxy many turns; returns where in its sequence the last of them was.
fn pings(scene: &Scene) -> u64 {
    (10..30).for_each(|id| scene.ping(id));
    scene.crossed("s1/post:29/end#1").seq
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
