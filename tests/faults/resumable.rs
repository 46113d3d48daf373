//! `resumable`: in front of a server that knows no event ids, a call's answer is fetched by a resume.

use mishap::engine::record::PointFate;

use crate::common::messages::{answer, call, event, progress};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;

/// The rule, and one that ends the stream behind the priming event.
const EARLY: &str = r#"
[[rule]]
name = "own"
match = { stream = "post", method = "tools/call", at = "head", media = "sse" }
resumable = { retry = 500, ids = "p-" }
[[rule]]
name = "end"
match = { stream = "post", method = "tools/call", block = "priming" }
nth = 1
cut = { ending = "eof", where = "after" }
"#;

fn early(more: &str) -> Scene {
    Scene::with(&format!("{EARLY}{more}"))
}

/// The id of an event, and the event without it.
#[track_caller]
fn named(event: &str) -> (String, String) {
    let (line, rest) = event.split_once('\n').expect("an event has lines");
    (line.strip_prefix("id: ").expect("it begins with an id").to_owned(), rest.to_owned())
}

/// A call whose stream has ended behind its priming event: the id, and the server's end.
#[track_caller]
fn cut_early(scene: &Scene) -> (String, Peer) {
    let (mut client, server) = scene.call(1);
    let (id, priming) = named(&client.event());
    assert_eq!(priming, "retry: 500\ndata: \n\n");
    assert_eq!(client.end(), End::Eof);
    (id, server)
}

/// A resume that is answered with an event stream, although no server was asked.
#[track_caller]
fn resumed(scene: &Scene, id: &str) -> Peer {
    let mut resume = scene.resume(id);
    let head = resume.answer();
    assert_eq!((head.status(), head.value("content-type").as_deref()), (200, Some("text/event-stream")));
    resume
}

#[test]
fn the_answer_comes_on_the_resume_and_the_server_is_not_asked_for_it() {
    let scene = early("");
    let (id, mut server) = cut_early(&scene);
    server.send_chunk(progress(1));
    let mut resume = resumed(&scene, &id);
    let (first, seen) = named(&resume.event());
    assert_eq!(seen, progress(1));
    server.send_chunk(event(&answer(1)));
    let (last, seen) = named(&resume.event());
    assert_eq!(seen, event(&answer(1)));
    server.send_last_chunk();
    assert_eq!(resume.end(), End::Eof);
    scene.ping(2);
    assert!(scene.is_idle(), "the server was asked");
    assert!([&id, &first, &last].iter().all(|id| id.starts_with("p-")) && id != first && first != last);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let block = ended.journal.point("s1/resume:1(post:1)/block#2");
    assert_eq!(block.owner.map(|owner| owner.method).as_deref(), Some("tools/call"));
    assert_eq!((block.maker.as_deref(), block.event_id.as_deref()), (Some("test/own"), Some(&*last)));
    assert_eq!(ended.journal.point("s1/post:1/block#2").fate, PointFate::Cut);
}

#[test]
fn without_the_rule_events_have_no_ids_and_a_resume_is_the_servers() {
    let scene = Scene::without();
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(event(&answer(1)));
    client.sees(event(&answer(1)));
    let _resume = scene.resume("p-1");
    let _server = scene.served("");
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn a_resume_after_the_servers_end_gets_the_rest_and_another_gets_nothing() {
    let scene = early("");
    let (id, mut server) = cut_early(&scene);
    server.send_chunk(progress(1) + &event(&answer(1)));
    server.send_last_chunk();
    scene.crossed("s1/post:1/end#2");
    let mut resume = resumed(&scene, &id);
    let (_, seen) = named(&resume.event());
    assert_eq!(seen, progress(1));
    let (last, seen) = named(&resume.event());
    assert_eq!(seen, event(&answer(1)));
    assert_eq!(resume.end(), End::Eof);
    assert_eq!(resumed(&scene, &last).end(), End::Eof);
    assert_eq!(scene.finish().status, 0);
}

/// Nothing but the client's connection is lost: the server goes on, as one with an event store would.
#[test]
fn a_client_whose_connection_broke_fetches_what_it_missed() {
    let scene = Scene::with(&EARLY[..EARLY.find("[[rule]]\nname = \"end\"").expect("it is there")]);
    let (mut client, mut server) = scene.call(1);
    let (id, _) = named(&client.event());
    client.reset();
    scene.crossed("s1/post:1/leave#1");
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    let mut resume = resumed(&scene, &id);
    assert_eq!(named(&resume.event()).1, event(&answer(1)));
    assert_eq!(resume.end(), End::Eof);
    assert_eq!(scene.finish().status, 0);
}

/// What acts on a resume acts on these.
#[test]
fn a_resume_is_cut_and_the_next_one_goes_on() {
    let scene = early(
        "[[rule]]\nname = \"lose\"\nmatch = { stream = \"resume\", message = \"answer\" }\ntimes = 1\ncut = \"reset\"\n",
    );
    let (id, mut server) = cut_early(&scene);
    let mut resume = resumed(&scene, &id);
    server.send_chunk(progress(1));
    let (id, seen) = named(&resume.event());
    assert_eq!(seen, progress(1));
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    assert_eq!(resume.end(), End::Reset);
    let mut resume = resumed(&scene, &id);
    assert_eq!(named(&resume.event()).1, event(&answer(1)));
    assert_eq!(resume.end(), End::Eof);
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn every_resume_can_be_refused() {
    let scene =
        early("[[rule]]\nname = \"refuse\"\nmatch = { stream = \"resume\", at = \"request\" }\nrespond = 404\n");
    let (id, _server) = cut_early(&scene);
    for _ in 0..2 {
        assert_eq!(scene.resume(&id).whole_answer().0.status(), 404);
    }
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn resumes_stay_empty_until_the_call_is_cancelled_and_the_next_brings_the_answer() {
    let scene = early(
        "[[rule]]\nname = \"empty\"\nmatch = { stream = \"resume\", at = \"request\" }\nuntil = { at = \"request\", \
         method = \"notifications/cancelled\", same = \"owner\" }\nrespond = { status = 200, sse = [] }\n",
    );
    let (id, mut server) = cut_early(&scene);
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    scene.crossed("s1/post:1/end#2");
    assert_eq!(resumed(&scene, &id).end(), End::Eof);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    scene.accepted(scene.post(cancel), cancel);
    let mut resume = resumed(&scene, &id);
    assert_eq!(named(&resume.event()).1, event(&answer(1)));
    assert_eq!(resume.end(), End::Eof);
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn a_resume_is_held_until_the_server_has_ended_the_call() {
    let scene = early(
        "[[rule]]\nname = \"done\"\nmatch = { stream = \"resume\", at = \"request\" }\nhold = { until = { at = \"end\", \
         stream = \"post\", same = \"owner\", leg = \"server\" }, limit = \"60s\" }\n",
    );
    let (id, mut server) = cut_early(&scene);
    let mut resume = scene.resume(&id);
    scene.fired("done");
    scene.ping(2);
    assert!(resume.is_silent());
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    assert_eq!(resume.answer().status(), 200);
    assert_eq!(named(&resume.event()).1, event(&answer(1)));
    assert_eq!(resume.end(), End::Eof);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

/// Two streams at once: each resume gets its own stream's events and no other's.
#[test]
fn a_resume_gets_no_other_streams_events() {
    let scene = early("");
    let (first, mut server) = cut_early(&scene);
    let (mut client, mut other) = scene.streaming(scene.post(&call(2)), &call(2));
    let (second, _) = named(&client.event());
    // The first of the session was cut; this one goes on.
    other.send_chunk(event(&answer(2)));
    assert_eq!(named(&client.event()).1, event(&answer(2)));
    server.send_chunk(event(&answer(1)));
    for (id, number) in [(&first, 1), (&second, 2)] {
        assert_eq!(named(&resumed(&scene, id).event()).1, event(&answer(number)));
    }
    assert_eq!(client.end(), End::Eof, "a resume took it over");
    assert_eq!(scene.finish().status, 0);
}
