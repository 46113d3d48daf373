//! Server's legs whose bytes nobody will want: closed at once, or spared for so long as the rule and its session last.

use crate::common::messages::{SSE_HEAD, answer, call, event, progress};
use crate::common::peer::Peer;
use crate::common::scene::Scene;
use crate::common::wire::Closed;

/// More than what is held of an answer, is read of it after the end, and stands in the sockets' buffers: 16 MiB each.
const BOUND: usize = 64 << 20;

/// A head of an answer that does not end.
const ENDLESS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 999999999999\r\n\r\n";

fn rule(selector: &str, fault: &str) -> String {
    format!("[[rule]]\nname = \"r\"\nmatch = {{ {selector} }}\n{fault}\n")
}

const CALL: &str = "at = \"request\", method = \"tools/call\"";
const HEAD: &str = "at = \"head\", method = \"tools/call\"";

#[test]
fn an_answer_at_the_head_closes_the_servers_leg_unless_it_is_to_be_read_on() {
    for (other, closes) in
        [("", true), (", other-leg = \"drain\"", false), (", other-leg = \"drain\", for = \"1ms\"", true)]
    {
        let scene = Scene::with(&rule(HEAD, &format!("respond = {{ status = 502{other} }}")));
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(SSE_HEAD);
        assert_eq!(client.whole_answer().0.status(), 502);
        if closes {
            assert_eq!(server.closed(), Closed::Fin, "{other}");
        }
        scene.ping(2);
        assert!(closes || server.is_silent(), "{other}");
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let open = "1 leg of the server's, left open by rules, was open still when the run ended: POST tools/call id 1";
        assert_eq!(ended.stderr.contains(open), !closes, "{}", ended.stderr);
    }
}

#[test]
fn a_server_that_never_ends_its_answer_is_not_read_for_ever() {
    let scene = Scene::with(&rule(HEAD, "respond = 502"));
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(ENDLESS);
    let sending = server.send_for_ever();
    assert_eq!(client.whole_answer().0.status(), 502);
    let written = sending.join().expect("the server is told");
    assert!(written < BOUND, "{written} bytes were taken");
    assert_eq!(scene.finish().status, 0);
}

/// What stands in a queue, what a FIN finds on its way, and no more.
#[test]
fn a_server_that_sends_on_learns_soon_that_the_client_of_a_held_head_has_left() {
    let scene = Scene::with(&rule(HEAD, "hold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }"));
    let (client, mut server) = scene.exchange(&call(1));
    server.send(ENDLESS);
    let sending = server.send_for_ever();
    scene.fired("r");
    client.leave();
    let written = sending.join().expect("the server is told");
    assert!(written < BOUND, "{written} bytes were taken");
    scene.finish();
}

/// The control: a server that had sent a lot, and stops, is not reset.
#[test]
fn a_server_whose_bytes_were_on_their_way_when_the_client_left_sees_a_proper_close() {
    let scene = Scene::with(&rule(HEAD, "hold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }"));
    let (client, mut server) = scene.exchange(&call(1));
    server.send(ENDLESS);
    let sending = server.send_beside(vec![b'-'; 4 << 20]);
    scene.fired("r");
    client.leave();
    sending.join().expect("the writer does not panic").expect("all of it is taken");
    assert_eq!(server.closed(), Closed::Fin);
    scene.finish();
}

/// Lets the session be deleted twice: the first time the server refuses. Until then the server's legs stay.
#[track_caller]
fn closed_with_the_session(scene: Scene, mut servers: Vec<Peer>) {
    scene.delete(405);
    assert!(servers.iter().all(Peer::is_silent), "a session that is not deleted goes on");
    scene.delete(200);
    for server in &mut servers {
        assert_eq!(server.closed(), Closed::Fin);
    }
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(!ended.stderr.contains("open still"), "{}", ended.stderr);
}

#[test]
fn a_forwarded_request_is_worked_on_until_its_session_is_deleted() {
    let scene = Scene::with(&rule(CALL, "respond = { status = 504, forward = true }"));
    let (mut client, mut server) = scene.exchange(&call(1));
    assert_eq!(client.whole_answer().0.status(), 504);
    server.send(SSE_HEAD);
    server.send_chunk(progress(1));
    closed_with_the_session(scene, vec![server]);
}

#[test]
fn a_resumable_stream_is_read_on_until_its_session_is_deleted() {
    let scene = Scene::with(&rule(&format!("{HEAD}, media = \"sse\""), "resumable = true"));
    let (client, mut server) = scene.call(1);
    client.reset();
    scene.crossed("s1/post:1/leave#1");
    server.send_chunk(progress(1));
    closed_with_the_session(scene, vec![server]);
}

/// A call and a copy of it: the client's end, and both of the server's.
fn copied(scene: &Scene) -> (Peer, Vec<Peer>) {
    let client = scene.post(&call(1));
    let mut servers = vec![scene.upstream.next(), scene.upstream.next()];
    for server in &mut servers {
        server.whole_request();
        server.send(SSE_HEAD);
    }
    (client, servers)
}

#[test]
fn a_copy_of_a_request_is_worked_on_until_its_session_is_deleted() {
    let scene = Scene::with(&rule(CALL, "duplicate = true"));
    let (mut client, mut servers) = copied(&scene);
    assert_eq!(client.answer().status(), 200);
    // Which of them is the client's own is for the proxy to know.
    for (number, server) in (0..).zip(&mut servers) {
        server.send_chunk(progress(number));
    }
    let own = usize::from(client.event() != progress(0));
    let copy = servers.remove(1 - own);
    servers[0].send_chunk(event(&answer(1)));
    servers[0].send_last_chunk();
    client.rest();
    closed_with_the_session(scene, vec![copy]);
}

#[test]
fn a_copy_of_a_request_ends_with_the_client_that_left() {
    let scene = Scene::with(&rule(CALL, "duplicate = true"));
    let (mut client, mut servers) = copied(&scene);
    assert_eq!(client.answer().status(), 200);
    client.leave();
    for server in &mut servers {
        assert_eq!(server.closed(), Closed::Fin);
    }
    assert_eq!(scene.finish().status, 0);
}

/// The control: without a rule the server's legs end as their clients do, and with nothing else.
#[test]
fn without_a_rule_the_servers_leg_is_closed_when_its_client_leaves() {
    let scene = Scene::without();
    let (client, mut server) = scene.call(1);
    scene.delete(200);
    assert!(server.is_silent(), "its client is there");
    client.leave();
    assert_eq!(server.closed(), Closed::Fin);
}
