//! `delay`: a unit leaves so long after it arrived, at every point, and never earlier.

use mishap::engine::record::PointEntry;

use crate::common::messages::{answer, call, event, progress};
use crate::common::peer::End;
use crate::common::scene::{Ended, Scene};

/// A call whose answer is a notification and a response, both seen by the client in that order.
fn one_call(scene: Scene) -> Ended {
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(progress(1));
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    client.sees(progress(1) + &event(&answer(1)));
    assert_eq!(client.end(), End::Eof);
    scene.finish()
}

fn late(selector: &str, time: &str) -> String {
    format!("[[rule]]\nname = \"late\"\nmatch = {{ {selector} }}\ndelay = {time}\n")
}

/// Microseconds between a point's arrival and its leaving.
fn waited(point: &PointEntry) -> u64 {
    point.left.expect("it has left") - point.arrived
}

/// A point that left as soon as it came.
fn left_by_itself(point: &PointEntry) -> bool {
    point.by == Some(point.seq) && point.rules.is_empty()
}

fn delays(selector: &str, key: &str) {
    let ended = one_call(Scene::with(&late(selector, "\"120ms\"")));
    let point = ended.journal.point(key);
    assert!(waited(&point) >= 120_000, "early: {point:#?}");
    assert_eq!(point.rules, ["test/late"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);

    let point = one_call(Scene::without()).journal.point(key);
    assert!(left_by_itself(&point), "{point:#?}");
}

#[test]
fn a_delayed_request_reaches_the_server_late() {
    delays("at = \"request\", method = \"tools/call\"", "s1/post:1/request#1");
}

#[test]
fn a_delayed_head_reaches_the_client_late() {
    delays("at = \"head\", method = \"tools/call\"", "s1/post:1/head#1");
}

#[test]
fn a_delayed_block_reaches_the_client_late() {
    delays("method = \"tools/call\", message = \"notification\"", "s1/post:1/block#1");
}

#[test]
fn a_delayed_end_reaches_the_client_late() {
    delays("at = \"end\", method = \"tools/call\"", "s1/post:1/end#1");
}

#[test]
fn a_delayed_leave_reaches_the_server_late() {
    let leaving = |scene: Scene| {
        let (client, mut server) = scene.call(1);
        client.leave();
        server.closed();
        scene.finish().journal.point("s1/post:1/leave#1")
    };
    let point = leaving(Scene::with(&late("at = \"leave\", method = \"tools/call\"", "\"120ms\"")));
    assert!(waited(&point) >= 120_000, "early: {point:#?}");
    assert!(left_by_itself(&leaving(Scene::without())));
}

/// A delay that slept between units would add up: 60, 120, 180.
#[test]
fn units_that_come_together_leave_together() {
    let scene = Scene::with(&late("method = \"tools/call\", block = \"message\"", "\"60ms\""));
    let (mut client, mut server) = scene.call(1);
    let three = progress(1) + &progress(2) + &progress(3);
    server.send_chunk(&three);
    client.sees(&three);
    let journal = scene.finish().journal;
    let blocks = [1, 2, 3].map(|number| journal.point(&format!("s1/post:1/block#{number}")));
    assert!(blocks.iter().all(|block| waited(block) >= 60_000), "early: {blocks:#?}");
    let (let_go, left) = (blocks.iter().map(|block| block.by), blocks.iter().map(|block| block.left_seq));
    assert!(let_go.max() < left.min(), "one had left before another was let go: {blocks:#?}");
}

#[test]
fn what_follows_a_delayed_block_waits_behind_it_unless_it_may_overtake() {
    let first = "method = \"tools/call\", index = 1";
    for (rules, seen) in [
        (Some(late(first, "\"120ms\"")), progress(1) + &progress(2)),
        (Some(late(first, "{ time = \"120ms\", overtake = true }")), progress(2) + &progress(1)),
        (None, progress(1) + &progress(2)),
    ] {
        let scene = Scene::run(rules.as_deref(), &[]);
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(progress(1) + &progress(2));
        client.sees(seen);
    }
}

#[test]
fn a_range_is_drawn_with_the_seed_and_kept() {
    let run = |seed: &str| {
        let rules = late("at = \"request\", method = \"tools/call\"", "{ min = \"5ms\", max = \"200ms\" }");
        let journal = one_call(Scene::run(Some(&rules), &["--seed", seed])).journal;
        let drawn = journal.decisions("test/late").iter().flat_map(|it| it.draws.clone()).next().expect("a draw").value;
        let waited = waited(&journal.point("s1/post:1/request#1"));
        assert!((5_000.0..=200_000.0).contains(&drawn), "{drawn} is not in the range");
        assert!(f64::from(u32::try_from(waited).expect("below an hour")) >= drawn, "{waited} is early for {drawn}");
        drawn.to_bits()
    };
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

/// An exchange of its own is not held up by another's delay.
#[test]
fn a_delay_holds_up_nothing_else() {
    let scene = Scene::with(&late("at = \"request\", method = \"tools/call\"", "\"300ms\""));
    let delayed = scene.post(&call(1));
    scene.fired("late");
    scene.ping(2);
    let (_client, _server) = scene.streaming(delayed, &call(1));
    let journal = scene.finish().journal;
    let (call, ping) = (journal.point("s1/post:1/request#1"), journal.point("s1/post:2/end#1"));
    assert!(call.seq < ping.seq && ping.left_seq < call.left_seq, "{call:#?} {ping:#?}");
}
