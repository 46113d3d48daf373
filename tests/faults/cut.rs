//! `cut`: the client's leg ends in each of the four ways, before, after and inside a block, and the server's leg is
//! closed, kept or drained.

use mishap::engine::record::PointFate;

use crate::common::body::chunk;
use crate::common::messages::{SSE_HEAD, answer, call, event, progress, request};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn cut(selector: &str, how: &str) -> String {
    format!("[[rule]]\nname = \"cut\"\nmatch = {{ {selector} }}\ncut = {{ {how} }}\n")
}

const ANSWER: &str = "stream = \"post\", method = \"tools/call\", message = \"answer\"";

/// A call that is answered after one notification; both ends.
fn answered_call(scene: &Scene) -> (Peer, Peer) {
    let (client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    server.send_chunk(event(&answer(1)));
    (client, server)
}

/// How the client's leg ends, seen from the client. A stall has no end: there is silence until the client leaves.
#[track_caller]
fn ends(scene: &Scene, mut client: Peer, ending: &str) {
    match ending {
        "eof" => assert_eq!(client.end(), End::Eof),
        "fin" => assert_eq!(client.end(), End::Fin),
        "reset" => assert_eq!(client.end(), End::Reset),
        _ => {
            scene.fired("cut");
            scene.ping(90);
            assert!(client.is_silent(), "a stalled leg says nothing");
            client.leave();
        }
    }
}

/// What of the answer still arrives.
fn arriving(place: &str) -> String {
    let whole = event(&answer(1));
    match place {
        "before" => String::new(),
        "after" => whole,
        _ => whole[..20].to_owned(),
    }
}

/// How the rule says the place; inside falls after 20 bytes.
fn placed(place: &str) -> String {
    let byte = if place == "inside" { ", byte = 20" } else { "" };
    format!("where = \"{place}\"{byte}")
}

const ENDINGS: [&str; 4] = ["eof", "fin", "reset", "stall"];

/// Makes a test of each ending at each place.
macro_rules! endings {
    ($($ending:ident)*) => {
        $(mod $ending {
            #[test]
            fn before_the_answer() { super::cut_at(stringify!($ending), "before"); }
            #[test]
            fn inside_the_answer() { super::cut_at(stringify!($ending), "inside"); }
            #[test]
            fn after_the_answer() { super::cut_at(stringify!($ending), "after"); }
        })*
    };
}
endings!(eof fin reset stall);

/// What passed before the cut arrives, then the end comes; and the server, whose leg is closed, sees its client leave.
fn cut_at(ending: &str, place: &str) {
    let scene = Scene::with(&cut(ANSWER, &format!("ending = \"{ending}\", {}", placed(place))));
    let (mut client, mut server) = answered_call(&scene);
    client.sees(progress(1) + &arriving(place));
    ends(&scene, client, ending);
    assert_eq!(server.closed(), Closed::Fin);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let fate = ended.journal.point("s1/post:1/block#2").fate;
    assert_eq!(fate == PointFate::Passed, place == "after", "{fate:?}");
}

#[test]
fn without_the_rule_the_answer_arrives_and_the_server_ends_the_stream() {
    let scene = Scene::without();
    let (mut client, mut server) = answered_call(&scene);
    client.sees(progress(1) + &event(&answer(1)));
    scene.ping(90);
    assert!(client.is_silent() && server.is_silent(), "neither leg has ended");
    server.send_last_chunk();
    assert_eq!(client.end(), End::Eof);
}

/// A chunk that is more than the buffers between the server and a proxy that does not read can take.
fn flood() -> Vec<u8> {
    chunk(vec![b'-'; 16 << 20])
}

/// The server's leg lives on and is read to its end.
#[test]
fn a_drained_server_may_say_all_it_has_to_say() {
    for ending in ENDINGS {
        let scene = Scene::with(&cut(ANSWER, &format!("ending = \"{ending}\", other-leg = \"drain\"")));
        let (mut client, mut server) = answered_call(&scene);
        client.sees(progress(1));
        ends(&scene, client, ending);
        let writing = server.send_beside(flood());
        writing.join().expect("the writer does not panic").expect("all of it is taken");
        assert!(server.is_silent(), "{ending}: the server's leg was not closed");
        server.send_last_chunk();
        assert_eq!(scene.finish().status, 0);
    }
}

/// The server's leg lives on but nobody reads it: a chunk without an end fills the buffers in between, and then no more
/// is taken, however many turns the proxy gets.
#[test]
fn a_kept_server_is_not_read() {
    let scene = Scene::with(&cut(ANSWER, "ending = \"eof\", other-leg = \"keep\""));
    let (mut client, mut server) = answered_call(&scene);
    client.sees(progress(1));
    ends(&scene, client, "eof");
    server.send(format!("{:x}\r\n", 1 << 30));
    let mut id = 100;
    while server.fill() > 0 {
        id += 1;
        assert!(id < 300, "what nobody should read is read");
        scene.ping(id);
    }
    assert!(server.is_silent(), "it takes no more because it is closed");
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn a_kept_server_is_closed_when_its_time_is_over() {
    let scene = Scene::with(&cut(ANSWER, "ending = \"eof\", other-leg = \"keep\", for = \"100ms\""));
    let (mut client, mut server) = answered_call(&scene);
    client.sees(progress(1));
    ends(&scene, client, "eof");
    assert_eq!(server.closed(), Closed::Fin);
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn a_kept_server_is_still_there_after_the_clients_end() {
    let scene = Scene::with(&cut(ANSWER, "ending = \"fin\", other-leg = \"keep\""));
    let (mut client, mut server) = answered_call(&scene);
    client.sees(progress(1));
    ends(&scene, client, "fin");
    scene.ping(2);
    assert!(server.is_silent());
    server.send_chunk(progress(2));
}

/// The client's connection serves its next request, on a new upstream connection, although the old one is still busy.
#[test]
fn after_a_clean_end_with_the_server_drained_the_connection_goes_on() {
    let scene = Scene::with(&cut(ANSWER, "ending = \"eof\", other-leg = \"drain\""));
    let (mut client, _server) = answered_call(&scene);
    client.sees(progress(1));
    assert_eq!(client.end(), End::Eof);
    let next = request(2, "ping", "{}");
    client.send(format!(
        "POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: session-1\r\nContent-Length: {}\r\n\r\n{next}",
        next.len()
    ));
    let server = scene.served(&next);
    scene.answered(client, server, 2);
}

#[test]
fn a_json_answer_with_a_length_ends_properly_or_not_at_all() {
    let body = answer(1);
    let json =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for (rules, expected, end) in [
        (Some("ending = \"eof\", where = \"inside\", byte = 10"), &body[..10], End::Eof),
        (Some("ending = \"fin\", where = \"inside\", byte = 10"), &body[..10], End::Fin),
        (Some("ending = \"reset\""), "", End::Reset),
        (None, body.as_str(), End::Eof),
    ] {
        let scene = Scene::run(rules.map(|how| cut(ANSWER, how)).as_deref(), &[]);
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(&json);
        client.answer();
        client.sees(expected);
        assert_eq!(client.end(), end, "{rules:?}");
    }
}

/// SDK servers send short event streams with a length: with it a clean end would look like silence.
#[test]
fn an_event_stream_with_a_length_is_ended_properly_too() {
    let scene = Scene::with(&cut(ANSWER, "ending = \"eof\""));
    let body = progress(1) + &event(&answer(1));
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let head = client.answer();
    assert_eq!(head.value("content-length"), None, "a length that no longer holds");
    client.sees(progress(1));
    assert_eq!(client.end(), End::Eof);
}

#[test]
fn a_leg_ends_at_the_request_before_the_server_gets_it_or_after() {
    for (ending, closed) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
        let at_request = "at = \"request\", method = \"tools/call\"";
        let scene = Scene::with(&cut(at_request, &format!("ending = \"{ending}\"")));
        assert_eq!(scene.post(&call(1)).closed(), closed);
        scene.ping(2);
        assert!(scene.is_idle(), "the server never gets it");

        let scene =
            Scene::with(&cut(at_request, &format!("ending = \"{ending}\", where = \"after\", other-leg = \"keep\"")));
        let mut client = scene.post(&call(1));
        let _server = scene.served(&call(1));
        assert_eq!(client.closed(), closed);
    }
}

/// The server has worked; the client learns nothing, or the head alone.
#[test]
fn a_leg_ends_at_the_head_after_it_or_before() {
    for (ending, closed, end) in [("fin", Closed::Fin, End::Fin), ("reset", Closed::Reset, End::Reset)] {
        let at_head = "at = \"head\", method = \"tools/call\"";
        let scene = Scene::with(&cut(at_head, &format!("ending = \"{ending}\", where = \"before\"")));
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(SSE_HEAD);
        assert_eq!(client.closed(), closed);

        let scene = Scene::with(&cut(at_head, &format!("ending = \"{ending}\"")));
        let (mut client, _server) = scene.call(1);
        assert_eq!(client.end(), end);
    }
}

/// `reset` before the head when the server has finished: the work is done and the client never learns.
#[test]
fn a_cut_waits_for_its_when() {
    let scene = Scene::with(&cut(
        "at = \"head\", method = \"tools/call\"",
        "where = \"before\", when = \"end\", ending = \"reset\"",
    ));
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(SSE_HEAD);
    server.send_chunk(event(&answer(1)));
    scene.fired("cut");
    scene.ping(2);
    assert!(client.is_silent());
    server.send_last_chunk();
    assert_eq!(client.closed(), Closed::Reset);
}

#[test]
fn the_servers_leg_can_be_the_one_that_ends() {
    let scene = Scene::with(&cut(
        "method = \"tools/call\", message = \"notification\"",
        "ending = \"reset\", leg = \"server\", other-leg = \"keep\"",
    ));
    let (client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    assert_eq!(server.closed(), Closed::Reset);
    scene.ping(2);
    assert!(client.is_silent());
}
