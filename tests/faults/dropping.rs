//! `drop`: what is lost reaches nobody, and the side that sent it does not learn of it.

use mishap::engine::record::PointFate;

use crate::common::journal::crossed;
use crate::common::messages::{answer, call, event, json_head, progress, question};
use crate::common::peer::End;
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn lose(selector: &str) -> String {
    format!("[[rule]]\nname = \"lose\"\nmatch = {{ {selector} }}\ndrop = true\n")
}

#[test]
fn a_lost_block_does_not_arrive_and_its_neighbours_do() {
    for (rules, lost) in [(Some(lose("method = \"tools/call\", message = \"request\"")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(progress(1) + &question(51) + &event(&answer(1)));
        server.send_last_chunk();
        client.sees(progress(1));
        if !lost {
            client.sees(question(51));
        }
        client.sees(event(&answer(1)));
        assert_eq!(client.end(), End::Eof);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let fate = ended.journal.point("s1/post:1/block#2").fate;
        assert_eq!(fate == PointFate::Dropped, lost, "{fate:?}");
        let told = "test/lose: lost elicitation/create (owner tools/call id 1) of POST tools/call id 1";
        assert_eq!(ended.stderr.contains(told), lost, "{}", ended.stderr);
    }
}

#[test]
fn a_lost_json_answer_is_an_empty_body_that_ends_well() {
    let scene = Scene::with(&lose("method = \"tools/call\", message = \"answer\""));
    let (mut client, mut server) = scene.exchange(&call(1));
    let body = answer(1);
    server.send(json_head(body.len(), "") + &body);
    let (head, body) = client.whole_answer();
    assert_eq!((head.status(), &*body), (200, &[][..]));
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

#[test]
fn a_lost_request_never_reaches_the_server_and_its_client_hears_nothing() {
    let scene = Scene::with(&lose("at = \"request\", method = \"tools/call\""));
    let client = scene.post(&call(1));
    scene.fired("lose");
    scene.ping(2);
    assert!(scene.is_idle(), "the server got the call all the same");
    assert!(client.is_silent());
    client.leave();
    assert_eq!(scene.crossed("s1/post:1/leave#1").fate, PointFate::Ended);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/request#1").fate, PointFate::Dropped);
}

/// The server's end of a call whose client has left after the first event.
#[test]
fn a_lost_leave_is_not_seen_by_the_server_which_goes_on_to_its_answer() {
    for (rules, lost) in [(Some(lose("at = \"leave\", method = \"tools/call\"")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(progress(1));
        client.sees(progress(1));
        client.leave();
        if lost {
            assert_eq!(scene.crossed("s1/post:1/leave#1").fate, PointFate::Dropped);
            assert!(server.is_silent(), "the server was told");
            server.send_chunk(event(&answer(1)));
            server.send_last_chunk();
            scene.journalled("the end of the server's answer", crossed("s1/post:1/end#1"));
        } else {
            assert_eq!(server.closed(), Closed::Fin);
        }
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let answers = ended.journal.points(|point| point.key == "s1/post:1/block#2");
        assert_eq!(answers.len(), usize::from(lost));
    }
}

/// Before the head, where the answer's owner is another.
#[test]
fn a_leave_that_is_lost_before_the_head_leaves_the_server_to_its_work() {
    let scene = Scene::with(&lose("at = \"leave\", method = \"tools/call\""));
    let (client, mut server) = scene.exchange(&call(1));
    client.leave();
    assert_eq!(scene.crossed("s1/post:1/leave#1").fate, PointFate::Dropped);
    assert!(server.is_silent(), "the server was told");
    let body = answer(1);
    server.send(json_head(body.len(), "") + &body);
    scene.journalled("the end of the server's answer", crossed("s1/post:1/end#1"));
    assert_eq!(scene.finish().status, 0);
}
