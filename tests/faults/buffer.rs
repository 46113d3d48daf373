//! `buffer`: a gateway that keeps an answer's body back, and what a client then has in hand.

use mishap::engine::record::Opened;

use crate::common::messages::{SSE_HEAD, answer, call, event, json_head, progress};
use crate::common::peer::End;
use crate::common::scene::Scene;

fn buffer(how: &str) -> String {
    format!(
        "[[rule]]\nname = \"keep\"\nmatch = {{ at = \"head\", method = \"tools/call\", status = 200 }}\nbuffer = {how}\n"
    )
}

#[test]
fn a_body_comes_whole_at_its_end_and_its_head_at_once() {
    for (rules, kept) in [(Some(buffer("\"end\"")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        // The head has come when this returns.
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(progress(1));
        if kept {
            scene.ping(2);
            assert!(client.is_silent(), "the answer has not ended");
        } else {
            client.sees(progress(1));
        }
        server.send_chunk(event(&answer(1)));
        server.send_last_chunk();
        let rest = if kept { progress(1) } else { String::new() } + &event(&answer(1));
        client.sees(rest);
        assert_eq!(client.end(), End::Eof);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let opened: Vec<Opened> = ended.journal.gates("test/keep").into_iter().map(|gate| gate.opened).collect();
        assert_eq!(opened.len(), usize::from(kept), "{opened:?}");
    }
}

#[test]
fn a_head_is_kept_until_the_first_byte_leaves() {
    for (head, kept) in [("true", true), ("false", false)] {
        let scene = Scene::with(&buffer(&format!("{{ until = \"end\", head = {head} }}")));
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(SSE_HEAD);
        server.send_chunk(progress(1));
        if kept {
            scene.ping(2);
            assert!(client.is_silent());
        } else {
            assert_eq!(client.answer().status(), 200);
        }
        server.send_last_chunk();
        if kept {
            assert_eq!(client.answer().status(), 200);
        }
        client.sees(progress(1));
        assert_eq!(client.end(), End::Eof);
    }
}

#[test]
fn a_body_comes_in_blocks_of_a_size() {
    let body = "0123456789".repeat(10);
    for (rules, kept) in [(Some(buffer("64")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(json_head(body.len(), ""));
        server.send(&body[..63]);
        assert_eq!(client.answer().status(), 200);
        if kept {
            scene.ping(2);
            assert!(client.is_silent(), "a byte is missing");
            server.send(&body[63..70]);
            client.sees(&body[..64]);
            scene.ping(3);
            assert!(client.is_silent(), "the next block is not full");
            server.send(&body[70..]);
            client.sees(&body[64..]);
        } else {
            client.sees(&body[..63]);
            server.send(&body[63..]);
            client.sees(&body[63..]);
        }
        assert_eq!(client.end(), End::Eof);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
}

#[test]
fn a_body_is_kept_until_its_answer_has_come() {
    let until = "{ until = { message = \"answer\", same = \"exchange\", leg = \"server\" } }";
    let scene = Scene::with(&buffer(until));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    scene.ping(2);
    assert!(client.is_silent());
    server.send_chunk(event(&answer(1)));
    client.sees(progress(1) + &event(&answer(1)));
    server.send_chunk(progress(2));
    client.sees(progress(2));
}

/// Deadlock as behind a real gateway: the server waits for the client, the client for the server. The limit breaks it,
/// and says so.
#[test]
fn a_body_whose_end_does_not_come_is_let_go_at_the_limit_and_fails_the_run() {
    let scene = Scene::with(&buffer("{ until = \"end\", limit = \"100ms\" }"));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    client.sees(progress(1));
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    client.sees(event(&answer(1)));
    let ended = scene.finish();
    assert_eq!(ended.status, 5, "{}", ended.stderr);
    let gates = ended.journal.gates("test/keep");
    assert!(matches!(gates.as_slice(), [gate] if gate.opened == Opened::Limit && gate.held >= 100_000), "{gates:?}");
}

/// More than what is kept of an answer: what waits for its end would wait for what is not read.
#[test]
fn a_body_too_large_to_be_kept_is_let_go_at_once_and_fails_the_run() {
    const LARGE: usize = 20 << 20;
    for (rules, status) in [(Some(buffer("{ until = \"end\", limit = \"1h\" }")), 5), (None, 0)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {LARGE}\r\n\r\n"));
        let sending = server.send_beside(vec![b'-'; LARGE]);
        assert_eq!(client.whole_answer().1.len(), LARGE);
        sending.join().expect("the writer does not panic").expect("all of it is taken");
        let ended = scene.finish();
        assert_eq!(ended.status, status, "{}", ended.stderr);
        let said = "its hold was let go, because no more of the answer could be kept";
        assert_eq!(ended.stderr.contains(said), status == 5, "{}", ended.stderr);
        assert!(ended.journal.gates("test/keep").iter().all(|gate| gate.opened == Opened::Full));
    }
}

#[test]
fn a_client_that_leaves_a_buffered_answer_is_seen_by_the_server() {
    let scene = Scene::with(&buffer("\"end\""));
    let (client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    client.leave();
    server.closed();
}
