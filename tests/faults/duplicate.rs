//! `duplicate`: what leaves again, as its receiver gets it.

use mishap::engine::record::PointFate;

use crate::common::messages::{SSE_HEAD, answer, call, event, json_head, progress, question};
use crate::common::peer::End;
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn again(selector: &str, how: &str) -> String {
    format!("[[rule]]\nname = \"again\"\nmatch = {{ {selector} }}\nduplicate = {how}\n")
}

#[test]
fn a_block_arrives_again_behind_itself_and_once_without_the_rule() {
    for (rules, copies) in [(Some(again("method = \"tools/call\", message = \"request\"", "2")), 2), (None, 0)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(question(51) + &progress(1) + &event(&answer(1)));
        server.send_last_chunk();
        client.sees(question(51).repeat(1 + copies) + &progress(1) + &event(&answer(1)));
        assert_eq!(client.end(), End::Eof);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let made = ended.journal.points(|point| point.maker.as_deref() == Some("test/again"));
        assert_eq!(made.len(), copies);
        assert!(made.iter().all(|copy| copy.owner.as_ref().is_some_and(|owner| owner.method == "tools/call")));
        let told = "test/again: repeated elicitation/create on POST tools/call id 1";
        assert_eq!(ended.stderr.contains(told), copies > 0, "{}", ended.stderr);
    }
}

#[test]
fn a_copy_arrives_so_much_later_and_never_early() {
    let scene = Scene::with(&again("method = \"tools/call\", message = \"answer\"", "{ times = 1, gap = \"40ms\" }"));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    client.sees(event(&answer(1)).repeat(2));
    assert_eq!(client.end(), End::Eof);
    let ended = scene.finish();
    let (first, copy) = (ended.journal.point("s1/post:1/block#1"), ended.journal.point("s1/post:1/block#2"));
    assert!(copy.left.expect("it left") - first.arrived >= 40_000, "{first:#?} {copy:#?}");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

#[test]
fn a_json_answer_is_not_repeated_and_the_run_says_that_nothing_happened() {
    let scene = Scene::with(&again("method = \"tools/call\", message = \"answer\"", "true"));
    let (client, server) = scene.exchange(&call(1));
    scene.answered(client, server, 1);
    assert_eq!(scene.finish().status, 4);
}

/// The server's ends of a call and of what was sent again, in whichever order their connections came.
#[test]
fn a_request_reaches_the_server_again_and_its_client_gets_the_first_answer() {
    for (rules, copies) in [(Some(again("at = \"request\", method = \"tools/call\"", "2")), 2), (None, 0)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let mut client = scene.post(&call(1));
        let mut servers: Vec<_> = (0..=copies).map(|_| scene.upstream.next()).collect();
        let requests: Vec<_> = servers.iter_mut().map(|server| server.whole_request()).collect();
        for (head, body) in &requests {
            assert_eq!(String::from_utf8_lossy(body), call(1));
            let fields = ["host", "mcp-session-id", "mcp-protocol-version", "accept", "content-type", "content-length"];
            let all = |name: &str| (head.value(name), requests[0].0.value(name));
            assert!(fields.iter().all(|name| all(name).0 == all(name).1 && all(name).0.is_some()), "{head:?}");
        }
        // Each answers; which of them the client's own is, is for the proxy to know.
        for (number, server) in servers.iter_mut().enumerate() {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"from":{number}}}}}"#);
            server.send(json_head(body.len(), "") + &body);
        }
        let (head, body) = client.whole_answer();
        assert_eq!((head.status(), String::from_utf8_lossy(&body).matches("\"from\":").count()), (200, 1));
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let sent = ended.journal.points(|point| point.maker.as_deref() == Some("test/again"));
        assert_eq!(
            sent.iter().map(|point| &*point.key).collect::<Vec<_>>(),
            &["s1/post:1/sent#1", "s1/post:1/sent#2"][..copies]
        );
        assert!(sent.iter().all(|point| point.fate == PointFate::Passed && point.http.as_deref() == Some("POST /mcp")));
        assert_eq!(
            ended.stderr.contains("test/again: sent POST tools/call id 1 again"),
            copies > 0,
            "{}",
            ended.stderr
        );
    }
}

/// The answer to a copy does not end: the run does not wait for it, and nobody else gets it.
#[test]
fn a_second_get_is_open_beside_the_first_until_the_run_ends() {
    let scene = Scene::with(&again("at = \"request\", stream = \"get\"", "true"));
    let mut client = scene.get();
    let mut servers = [scene.upstream.next(), scene.upstream.next()];
    for server in &mut servers {
        assert_eq!(server.whole_request().1, b"");
        server.send(SSE_HEAD);
    }
    assert_eq!(client.answer().status(), 200);
    for (number, server) in (1..).zip(&mut servers) {
        server.send_chunk(progress(number));
    }
    let got = client.event();
    assert!([progress(1), progress(2)].contains(&got), "{got}");
    scene.ping(2);
    assert!(client.is_silent(), "it got what was sent to the other as well");
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for server in &mut servers {
        assert_eq!(server.closed(), Closed::Fin);
    }
}
