//! `cut`: whichever leg is named ends as the rule says, and the other as the rule says of that; each seen by both peers,
//! at a half-sent request, behind a request, behind a head and before an answer.

use crate::common::messages::{SSE_HEAD, answer, call, event, json_head};
use crate::common::peer::Peer;
use crate::common::scene::Scene;
use crate::common::wire::Closed;

/// Where a cut falls, as a rule says it.
const PLACES: [(&str, &str, &str); 4] = [
    ("half", "at = \"request\", method = \"tools/call\"", ", where = \"inside\", byte = 20"),
    ("request", "at = \"request\", method = \"tools/call\"", ", where = \"after\""),
    ("head", "at = \"head\", method = \"tools/call\"", ""),
    ("answer", "method = \"tools/call\", message = \"answer\"", ""),
];

fn rules(selector: &str, how: &str) -> String {
    format!("[[rule]]\nname = \"cut\"\nmatch = {{ {selector} }}\ncut = {{ {how} }}\n")
}

/// A call up to where the cut falls: both its ends.
fn cut_at(scene: &Scene, place: &str) -> (Peer, Peer) {
    match place {
        "half" => {
            let client = scene.post(&call(1));
            let mut server = scene.upstream.next();
            server.request();
            server.sees(&call(1)[..20]);
            (client, server)
        }
        "request" => scene.exchange(&call(1)),
        "head" => scene.call(1),
        _ => {
            let (client, mut server) = scene.call(1);
            server.send_chunk(event(&answer(1)));
            (client, server)
        }
    }
}

/// How a peer sees its leg end; nothing: it stays open and silent.
#[track_caller]
fn sees(scene: &Scene, peer: &mut Peer, ending: &str, what: &str) {
    match ending {
        "fin" => assert_eq!(peer.closed(), Closed::Fin, "{what}"),
        "reset" => assert_eq!(peer.closed(), Closed::Reset, "{what}"),
        _ => {
            scene.ping(90);
            assert!(peer.is_silent(), "{what}");
        }
    }
}

/// At each place: what the client sees, what the server sees.
fn both_see(how: &str, client_sees: &str, server_sees: &str) {
    for (place, selector, place_words) in PLACES {
        let what = format!("{how} at {place}");
        let scene = Scene::with(&rules(selector, &format!("{how}{place_words}")));
        let (mut client, mut server) = cut_at(&scene, place);
        scene.fired("cut");
        sees(&scene, &mut client, client_sees, &format!("client: {what}"));
        sees(&scene, &mut server, server_sees, &format!("server: {what}"));
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{what}: {}", ended.stderr);
    }
}

const ENDINGS: [&str; 3] = ["fin", "reset", "stall"];

#[test]
fn the_clients_leg_ends_and_the_servers_is_closed() {
    ENDINGS.iter().for_each(|ending| both_see(&format!("ending = \"{ending}\""), ending, "fin"));
}

#[test]
fn the_clients_leg_ends_and_the_servers_is_kept() {
    ENDINGS
        .iter()
        .for_each(|ending| both_see(&format!("ending = \"{ending}\", other-leg = \"keep\""), ending, "nothing"));
}

#[test]
fn the_clients_leg_ends_and_the_servers_is_drained() {
    ENDINGS
        .iter()
        .for_each(|ending| both_see(&format!("ending = \"{ending}\", other-leg = \"drain\""), ending, "nothing"));
}

#[test]
fn the_servers_leg_lives_on_for_a_time() {
    for other in ["keep", "drain"] {
        both_see(&format!("ending = \"reset\", other-leg = \"{other}\", for = \"40ms\""), "reset", "fin");
    }
}

#[test]
fn the_servers_leg_ends_and_the_clients_is_closed() {
    ENDINGS.iter().for_each(|ending| both_see(&format!("ending = \"{ending}\", leg = \"server\""), "fin", ending));
}

#[test]
fn the_servers_leg_ends_and_the_client_hears_nothing() {
    for (ending, other) in [("fin", "keep"), ("reset", "keep"), ("stall", "keep"), ("reset", "drain")] {
        let how = format!("ending = \"{ending}\", leg = \"server\", other-leg = \"{other}\"");
        both_see(&how, "nothing", ending);
    }
}

#[test]
fn the_servers_leg_ends_and_the_client_hears_nothing_for_a_time() {
    both_see("ending = \"reset\", leg = \"server\", other-leg = \"keep\", for = \"40ms\"", "fin", "reset");
}

#[test]
fn both_legs_end() {
    ENDINGS.iter().for_each(|ending| both_see(&format!("ending = \"{ending}\", leg = \"both\""), ending, ending));
}

/// The control of all of them: both legs stay as they are, and the answer crosses.
#[test]
fn without_the_rule_the_call_is_answered() {
    let scene = Scene::without();
    let (client, server) = scene.exchange(&call(1));
    scene.answered(client, server, 1);
}

// === Half-sent requests ===

#[test]
fn of_a_half_sent_request_exactly_so_many_bytes_reach_the_server() {
    let len = call(1).len();
    for (byte, part) in [("0", 0), ("1", 1), ("-1", len - 1), ("\"50%\"", len / 2), ("100000", len)] {
        for (ending, closed) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
            let how = format!("ending = \"{ending}\", leg = \"server\", where = \"inside\", byte = {byte}");
            let scene = Scene::with(&rules(PLACES[0].1, &how));
            let mut client = scene.post(&call(1));
            let mut server = scene.upstream.next();
            let head = server.request();
            assert_eq!(head.value("content-length"), Some(len.to_string()), "all of it is announced");
            server.sees(&call(1)[..part]);
            assert_eq!(server.closed(), closed, "after {byte}");
            assert_eq!(client.closed(), Closed::Fin);
            let ended = scene.finish();
            assert_eq!(ended.status, 0, "{}", ended.stderr);
            let told = format!("fin after {part} bytes of the request");
            assert!(ended.stderr.contains(&told), "the client's leg is closed: {}", ended.stderr);
        }
    }
}

/// What does not fit into the buffers on the way is sent all the same, before a reset too.
#[test]
fn a_large_half_sent_request_loses_nothing_before_its_reset() {
    let padding = "x".repeat(3 << 20);
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{padding}"}}}}"#);
    let how = "ending = \"reset\", leg = \"server\", where = \"inside\", byte = -3";
    let scene = Scene::with(&rules(PLACES[0].1, how));
    let mut client = scene.connect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: session-1\r\nContent-Length: {}\r\n\r\n",
        message.len()
    );
    let writing = client.send_beside(head + &message);
    let mut server = scene.upstream.next();
    server.request();
    server.sees(&message[..message.len() - 3]);
    assert_eq!(server.closed(), Closed::Reset);
    writing.join().expect("the writer does not panic").expect("all of it is taken");
    assert_eq!(client.closed(), Closed::Fin);
}

#[test]
fn a_chunked_half_sent_request_is_not_ended() {
    let scene = Scene::with(&rules(PLACES[0].1, "ending = \"fin\", where = \"inside\", byte = 7"));
    let mut client = scene.connect();
    client.send("POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: session-1\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send_chunk(call(1));
    client.send_last_chunk();
    let mut server = scene.upstream.next();
    let head = server.request();
    assert_eq!(head.value("content-length"), None);
    server.sees(&call(1)[..7]);
    assert_eq!(server.end(), crate::common::peer::End::Fin);
    assert_eq!(client.closed(), Closed::Fin);
}

/// A server that answers half a request is heard by nobody.
#[test]
fn a_drained_server_may_answer_half_a_request() {
    let how = "ending = \"stall\", other-leg = \"drain\", where = \"inside\", byte = 20";
    let scene = Scene::with(&rules(PLACES[0].1, how));
    let (client, mut server) = cut_at(&scene, "half");
    scene.fired("cut");
    scene.ping(2);
    server.send(json_head(2, "") + "{}");
    assert_eq!(server.closed(), Closed::Fin, "its leg ends with its answer");
    scene.ping(3);
    assert!(client.is_silent());
    assert_eq!(scene.finish().status, 0);
}

/// The control: the same request is whole without the rule, and so is one that the rule does not mean.
#[test]
fn without_the_rule_the_request_is_whole() {
    for rule in [None, Some(rules("at = \"request\", method = \"tools/list\"", "ending = \"fin\", where = \"inside\""))]
    {
        let scene = Scene::run(rule.as_deref(), &[]);
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(SSE_HEAD);
        assert_eq!(client.answer().status(), 200);
    }
}
