//! `move`: a block leaves on another stream of its session, and its owner stays who it was.

use mishap::engine::record::PointFate;
use mishap::engine::rpc::Id;

use crate::common::messages::{answer, event, progress, question};
use crate::common::peer::End;
use crate::common::scene::Scene;

fn moving(stream: &str, to: &str) -> String {
    format!("[[rule]]\nname = \"away\"\nmatch = {{ stream = \"{stream}\", message = \"request\" }}\nmove = {to}\n")
}

#[test]
fn a_question_moved_from_its_call_travels_on_the_get_and_keeps_its_owner() {
    let scene = Scene::with(&moving("post", "\"get\""));
    let (mut get, _get_server) = scene.open_get();
    let (mut client, mut server) = scene.call(7);
    server.send_chunk(question(51));
    get.sees(question(51));
    server.send_chunk(event(&answer(7)));
    server.send_last_chunk();
    client.sees(event(&answer(7)));
    assert_eq!(client.end(), End::Eof);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let block = ended.journal.point("s1/post:7/block#1");
    assert_eq!((block.fate, block.left_on.as_deref()), (PointFate::Moved, Some("s1/get:1")));
    let owner = block.owner.expect("the call owns it");
    assert_eq!((owner.id, owner.method.as_str(), owner.name.as_deref()), (number(7), "tools/call", Some("tool-7")));
}

fn number(id: u32) -> Id {
    Id::Number(id.to_string())
}

#[test]
fn without_the_rule_it_travels_on_its_call() {
    let scene = Scene::without();
    let (get, _get_server) = scene.open_get();
    let (mut client, mut server) = scene.call(7);
    server.send_chunk(question(51));
    client.sees(question(51));
    assert!(get.is_silent());
    let block = scene.finish().journal.point("s1/post:7/block#1");
    assert_eq!(
        (block.fate, block.left_on, block.owner.map(|owner| owner.id)),
        (PointFate::Passed, None, Some(number(7)))
    );
}

#[test]
fn a_question_moved_from_the_get_travels_on_the_oldest_open_call() {
    for (rules, moved) in [(Some(moving("get", "\"post\"")), true), (None, false)] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut get, mut get_server) = scene.open_get();
        let (mut oldest, _oldest_server) = scene.call(1);
        let (_second, _second_server) = scene.call(2);
        get_server.send_chunk(question(51));
        get_server.send_chunk(progress(1));
        if moved {
            oldest.sees(question(51));
        } else {
            get.sees(question(51));
        }
        get.sees(progress(1));
        let block = scene.finish().journal.point("s1/get:1/block#1");
        assert_eq!(block.left_on.as_deref(), moved.then_some("s1/post:1"));
        assert_eq!(block.owner, None, "the standalone stream owns nothing");
    }
}

/// A block may not land inside another.
#[test]
fn a_moved_block_waits_until_the_other_stream_stands_between_blocks() {
    let scene = Scene::with(&moving("post", "\"get\""));
    let (mut get, mut get_server) = scene.open_get();
    let (_client, mut server) = scene.call(1);
    let whole = progress(1);
    let (front, back) = whole.split_at(30);
    get_server.send_chunk(front);
    server.send_chunk(question(51));
    scene.fired("away");
    get_server.send_chunk(back);
    let seen = [get.event(), get.event()];
    assert!(seen.contains(&progress(1)) && seen.contains(&question(51)), "one inside the other: {seen:?}");
}

#[test]
fn a_moved_block_waits_for_its_stream_or_is_lost() {
    let scene = Scene::with(&moving("post", "\"get\""));
    let (client, mut server) = scene.call(1);
    server.send_chunk(question(51));
    scene.fired("away");
    let (mut get, _get_server) = scene.open_get();
    get.sees(question(51));
    assert!(client.is_silent());
    drop(scene);

    let scene = Scene::with(&moving("post", "{ to = \"get\", closed = \"drop\" }"));
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(question(51) + &progress(1));
    client.sees(progress(1));
    assert_eq!(scene.finish().journal.point("s1/post:1/block#1").fate, PointFate::Dropped);
}

#[test]
fn a_copied_block_travels_on_both() {
    let scene = Scene::with(&moving("post", "{ to = \"get\", copy = true }"));
    let (mut get, _get_server) = scene.open_get();
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(question(51));
    client.sees(question(51));
    get.sees(question(51));
}
