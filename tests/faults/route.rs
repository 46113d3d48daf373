//! `route`: requests of one session reach two servers, each on a connection of its own to it.

use crate::common::messages::{SSE_HEAD, answer, call, event, json_head, request};
use crate::common::mishap::Mishap;
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;
use crate::common::upstream::Upstream;

fn calls(to: &str) -> String {
    format!("[[rule]]\nname = \"route\"\nmatch = {{ at = \"request\", method = \"tools/call\" }}\nroute = {to}\n")
}

/// A session in front of two servers: the second, too.
fn before_two(rules: Option<&str>) -> (Scene, Upstream) {
    let second = Upstream::listen();
    (Scene::run(rules, &["-u", &format!("http://{}", second.address())]), second)
}

/// Lets a server answer the next request on this connection, and the client get the answer.
#[track_caller]
fn answers(server: &mut Peer, client: &mut Peer, id: u32) {
    let (head, body) = server.whole_request();
    assert!(String::from_utf8_lossy(&body).contains(&format!("\"id\":{id}")), "{head:?}");
    let body = answer(id);
    server.send(json_head(body.len(), "") + &body);
    assert_eq!(client.whole_answer().1, body.as_bytes());
}

#[test]
fn calls_go_to_the_second_server_and_nothing_else_does() {
    let (scene, second) = before_two(Some(&calls("2")));
    let mut client = scene.post(&call(1));
    let mut server = second.next();
    let (head, _) = server.whole_request();
    assert_eq!(head.value("host").as_deref(), Some(&*second.address().to_string()), "it knows itself by its own name");
    server.send(SSE_HEAD);
    assert_eq!(client.answer().status(), 200);
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    client.sees(event(&answer(1)));
    assert_eq!(client.end(), End::Eof);
    scene.ping(2);
    assert!(second.is_idle() && scene.is_idle());
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let upstream = |key: &str| ended.journal.point(key).upstream;
    assert_eq!((upstream("s1/post:1/request#1"), upstream("s1/post:2/request#1")), (Some(2), Some(1)));
}

#[test]
fn without_the_rule_the_second_server_gets_nothing() {
    let (scene, second) = before_two(None);
    let (client, server) = scene.exchange(&call(1));
    scene.answered(client, server, 1);
    assert!(second.is_idle());
    assert_eq!(scene.finish().status, 0);
}

/// Calls on a connection that is used again.
fn send(client: &mut Peer, id: u32) {
    let body = call(id);
    let fields = "Host: localhost\r\nMcp-Session-Id: session-1\r\nContent-Type: application/json\r\n";
    client.send(format!("POST /mcp HTTP/1.1\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()));
}

#[test]
fn each_server_in_turn() {
    let (scene, second) = before_two(Some(&calls("\"next\"")));
    for id in [1, 3] {
        let (client, server) = scene.exchange(&call(id));
        scene.answered(client, server, id);
        let mut client = scene.post(&call(id + 1));
        answers(&mut second.next(), &mut client, id + 1);
    }
    assert_eq!(scene.finish().status, 0);
}

/// One connection of the client's, one to each server; each is kept for its next request.
#[test]
fn a_clients_connection_has_one_to_each_server() {
    let (scene, second) = before_two(Some(&calls("\"next\"")));
    let mut client = scene.connect();
    send(&mut client, 1);
    let mut first = scene.upstream.next();
    answers(&mut first, &mut client, 1);
    send(&mut client, 2);
    let mut other = second.next();
    answers(&mut other, &mut client, 2);
    for (server, id) in [(&mut first, 3), (&mut other, 4)] {
        send(&mut client, id);
        answers(server, &mut client, id);
    }
    assert!(scene.is_idle() && second.is_idle(), "a new connection was made");
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn fresh_is_a_connection_of_its_own_and_the_kept_one_stays() {
    let rule = "[[rule]]\nname = \"route\"\nmatch = { at = \"request\", method = \"tools/call\" }\nnth = 2\nroute = { to = 1, fresh = true }\n";
    for rules in [Some(rule), None] {
        let scene = Scene::run(rules, &[]);
        let mut client = scene.connect();
        send(&mut client, 1);
        let mut kept = scene.upstream.next();
        answers(&mut kept, &mut client, 1);
        send(&mut client, 2);
        if rules.is_some() {
            let mut fresh = scene.upstream.next();
            answers(&mut fresh, &mut client, 2);
            fresh.closed();
        } else {
            answers(&mut kept, &mut client, 2);
        }
        send(&mut client, 3);
        answers(&mut kept, &mut client, 3);
        assert_eq!(scene.finish().status, 0);
    }
}

#[test]
fn other_leaves_the_server_that_the_last_request_went_to() {
    let (scene, second) = before_two(Some(&calls("\"other\"")));
    // The session was opened on the first.
    let mut client = scene.post(&call(1));
    answers(&mut second.next(), &mut client, 1);
    let (client, server) = scene.exchange(&call(2));
    scene.answered(client, server, 2);
    let (client, server) = scene.exchange(&request(3, "ping", "{}"));
    scene.answered(client, server, 3);
    let mut client = scene.post(&call(4));
    answers(&mut second.next(), &mut client, 4);
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn a_rule_that_needs_a_second_server_is_refused_in_front_of_one() {
    let scratch = crate::common::scratch::Scratch::new();
    let text = format!("version = 1\nsummary = \"a test's own\"\n{}", calls("\"next\""));
    let file = scratch.file("test.toml", &text);
    let ended = Mishap::run(&["run", "-u", "http://127.0.0.1:1", "-p", &file]);
    assert_eq!(ended.code, 2);
    let says = "rule \"test/route\": `route` needs 2 servers and was given 1; write mishap run -u URL -u URL";
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
}
