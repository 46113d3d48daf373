//! `idle`, `bytes`, and the ways a kept connection dies: while nothing is on it, or as the next request arrives.

use mishap::engine::record::PointEntry;
use mishap::journal::Line;

use crate::common::messages::{answer, event, json_head, progress, request};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;
use crate::common::wire::Closed;

fn ping(id: u32) -> String {
    request(id, "ping", "{}")
}

/// A ping on a connection that goes on after it.
fn send(client: &mut Peer, id: u32) {
    let body = ping(id);
    client.send(format!(
        "POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: session-1\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
}

#[track_caller]
fn answered(client: &mut Peer, server: &mut Peer, id: u32) {
    let body = answer(id);
    server.send(json_head(body.len(), "") + &body);
    assert_eq!(client.whole_answer().1, body.as_bytes());
}

/// A connection that has served one request: both its ends.
#[track_caller]
fn kept(scene: &Scene) -> (Peer, Peer) {
    let mut client = scene.connect();
    send(&mut client, 1);
    let mut server = scene.served(&ping(1));
    answered(&mut client, &mut server, 1);
    (client, server)
}

fn dies(ending: &str) -> String {
    format!(
        "[[rule]]\nname = \"dies\"\nmatch = {{ at = \"connect\" }}\nscope = \"connection\"\n\
         cut = {{ when = {{ idle = \"60ms\" }}, ending = \"{ending}\" }}\n"
    )
}

// === While nothing is on it (C11, C12) ===

#[test]
fn an_idle_connection_is_closed_or_reset_and_the_servers_with_it() {
    for (ending, closed) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
        let scene = Scene::with(&dies(ending));
        let (mut client, mut server) = kept(&scene);
        assert_eq!(client.closed(), closed);
        assert_eq!(server.closed(), Closed::Fin);
        scene.ping(2);
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
}

/// A middlebox forgets the flow: what is sent on it is taken and never answered; new connections work.
#[test]
fn an_idle_connection_becomes_a_black_hole() {
    let scene = Scene::with(&dies("stall"));
    let (mut client, mut server) = kept(&scene);
    assert_eq!(server.closed(), Closed::Fin);
    send(&mut client, 2);
    scene.ping(3);
    assert!(client.is_silent() && scene.is_idle(), "the server never gets it, the client hears nothing");
    client.leave();
    assert_eq!(scene.finish().status, 0);
}

/// Something that is open on it is no silence, however long it takes.
#[test]
fn a_connection_with_a_request_under_way_is_not_idle() {
    let scene = Scene::with(&dies("reset"));
    let mut client = scene.connect();
    send(&mut client, 1);
    let mut server = scene.served(&ping(1));
    // Another connection is cut for its idleness meanwhile.
    let mut other = scene.connect();
    send(&mut other, 2);
    let mut served = scene.served(&ping(2));
    answered(&mut other, &mut served, 2);
    assert_eq!(other.closed(), Closed::Reset);
    assert!(client.is_silent());
    answered(&mut client, &mut server, 1);
    assert_eq!(client.closed(), Closed::Reset);
}

/// The control.
#[test]
fn without_the_rule_the_connection_serves_the_next_request() {
    let scene = Scene::without();
    let (mut client, mut server) = kept(&scene);
    send(&mut client, 2);
    server.whole_request();
    answered(&mut client, &mut server, 2);
}

// === As the next request arrives (C11, C12, C13) ===

fn race(ending: &str, more: &str) -> String {
    format!(
        "[[rule]]\nname = \"race\"\nmatch = {{ stream = \"post\", at = \"request-head\", reused = true }}\n\
         scope = \"connection\"\n{more}cut = \"{ending}\"\n"
    )
}

#[test]
fn a_connection_dies_as_the_next_request_arrives() {
    for (ending, closed) in [("fin", Closed::Fin), ("reset", Closed::Reset)] {
        let scene = Scene::with(&race(ending, ""));
        let (mut client, mut server) = kept(&scene);
        send(&mut client, 2);
        assert_eq!(client.closed(), closed, "{ending}");
        assert_eq!(server.closed(), Closed::Fin);
        scene.ping(3);
        assert!(scene.is_idle(), "the server never gets it");
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
}

#[test]
fn a_pooled_connection_is_a_black_hole_from_the_next_request_on_and_new_ones_work() {
    let scene = Scene::with(&race("stall", ""));
    let (mut client, _server) = kept(&scene);
    send(&mut client, 2);
    scene.fired("race");
    send(&mut client, 3);
    scene.ping(4);
    assert!(client.is_silent() && scene.is_idle());
    client.leave();
    assert_eq!(scene.finish().status, 0);
}

/// Only where the connection had been idle for so long: the balancer's timer and the client's request cross.
#[test]
fn it_dies_as_the_next_request_arrives_only_after_so_long() {
    let scene = Scene::with(&race("reset", "from = { idle = \"1h\" }\noptional = true\n"));
    let (mut client, mut server) = kept(&scene);
    send(&mut client, 2);
    server.whole_request();
    answered(&mut client, &mut server, 2);
    let ended = scene.finish();
    assert_eq!(ended.journal.decisions("test/race")[0].what, "off");

    let scene = Scene::with(&race("reset", "from = { idle = \"1us\" }\n"));
    let (mut client, _server) = kept(&scene);
    send(&mut client, 2);
    assert_eq!(client.closed(), Closed::Reset);
}

// === Streams ===

fn on_head(how: &str) -> String {
    format!("[[rule]]\nname = \"cut\"\nmatch = {{ stream = \"get\", at = \"head\" }}\ncut = {{ {how} }}\n")
}

#[test]
fn a_silent_stream_is_cut_not_before_its_time_and_a_comment_is_no_silence() {
    let scene = Scene::with(&on_head("ending = \"eof\", when = { idle = \"80ms\" }"));
    let (mut client, mut server) = scene.open_get();
    server.send_chunk(": ping\n\n");
    client.sees(": ping\n\n");
    assert_eq!(client.end(), End::Eof);
    assert_eq!(server.closed(), Closed::Fin);
    let journal = scene.finish().journal;
    let left = |point: PointEntry| point.left.expect("it left");
    let comment = left(journal.point("s1/get:1/block.comment#1"));
    let end = journal.points(|point| point.key == "s1/get:1/end#1").remove(0).arrived;
    assert!(end >= comment + 80_000, "the comment left at {comment}, the end was made at {end}");
}

#[test]
fn a_cut_after_so_many_bytes_falls_exactly_there_also_inside_a_block() {
    let body = [progress(1), event(&answer(9)), progress(2)].concat();
    let first = progress(1).len();
    for size in [0, 1, first - 1, first, first + 1, body.len() - 1, body.len()] {
        for (ending, end) in [("eof", End::Eof), ("fin", End::Fin), ("reset", End::Reset)] {
            let scene = Scene::with(&on_head(&format!("ending = \"{ending}\", when = {{ bytes = {size} }}")));
            let (mut client, mut server) = scene.open_get();
            server.send_chunk(&body);
            client.sees(&body[..size]);
            assert_eq!(client.end(), end, "{ending} after {size} bytes");
            assert_eq!(server.closed(), Closed::Fin);
            assert_eq!(scene.finish().status, 0);
        }
    }
}

/// The control: nothing is cut by a size that the body does not reach, and the run says so.
#[test]
fn a_body_that_is_shorter_is_whole_and_the_run_fails() {
    let scene = Scene::with(&on_head("ending = \"reset\", when = { bytes = 1000 }"));
    let (mut client, mut server) = scene.open_get();
    server.send_chunk(progress(1));
    server.send_last_chunk();
    client.sees(progress(1));
    assert_eq!(client.end(), End::Eof);
    assert_eq!(scene.finish().status, 4);
}

/// Random uptime: how long a stream lives is drawn, the same for the same seed, and is never shorter than that.
#[test]
fn an_uptime_is_drawn_with_the_seed() {
    let how = "ending = \"reset\", other-leg = \"drain\", when = { plus = { min = \"10ms\", max = \"90ms\" } }";
    let drawn = |seed: &str| {
        let scene = Scene::run(Some(&on_head(how)), &["--seed", seed]);
        let (mut client, _server) = scene.open_get();
        assert_eq!(client.end(), End::Reset);
        let journal = scene.finish().journal;
        let value = journal.decisions("test/cut")[0].draws[0].value;
        let (head, end) = (journal.point("s1/get:1/head#1").arrived, journal.points(|it| it.key == "s1/get:1/end#1"));
        assert!((10_000.0..=90_000.0).contains(&value));
        #[expect(clippy::cast_precision_loss, reason = "microseconds of a test")]
        let lived = (end[0].arrived - head) as f64;
        assert!(lived >= value, "drawn {value}, lived {lived}");
        value
    };
    let values = [drawn("1"), drawn("1"), drawn("2")];
    assert!(values[0].to_bits() == values[1].to_bits() && values[0].to_bits() != values[2].to_bits(), "{values:?}");
}

// === Time scale (R36) ===

/// The server is silent for a while by itself and then speaks again: at full scale the rule would have waited on.
#[test]
fn a_scaled_idle_says_whether_it_would_have_come_true_at_full_scale() {
    let rules = on_head("ending = \"eof\", other-leg = \"drain\", when = { idle = \"60s\" }");
    let scene = Scene::run(Some(&rules), &["--time-scale", "0.001"]);
    let (mut client, mut server) = scene.open_get();
    assert_eq!(client.end(), End::Eof);
    server.send_chunk(": still here\n\n");
    scene.crossed("s1/get:1/block.comment#1");
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let says = "rule \"test/cut\" acted after 60 ms of silence, 1 m 0 s at full scale: it would not have acted there, its peer \
                was never silent for more than ";
    assert!(ended.stderr.contains(says) && ended.stderr.contains(", time scale 0.001\n"), "{}", ended.stderr);
    assert!(ended.stderr.lines().any(|line| line.contains("again: ") && line.contains("--time-scale 0.001")));
    let header =
        ended.journal.lines().iter().find_map(|line| if let Line::Run(run) = line { run.time_scale } else { None });
    assert_eq!(header, Some(0.001));
    let notes = |line: &Line| if let Line::Verdict(verdict) = line { Some(verdict.notes.clone()) } else { None };
    assert!(ended.journal.lines().iter().find_map(notes).expect("a verdict")[0].starts_with(says));
}

/// The control: at full scale nothing is said, nothing is in the header, and the stream is not cut.
#[test]
fn at_full_scale_nothing_is_said_of_it() {
    let scene = Scene::with(&on_head("ending = \"eof\", when = { idle = \"60s\" }"));
    let (client, _server) = scene.open_get();
    scene.ping(2);
    assert!(client.is_silent());
    let ended = scene.finish();
    assert!(ended.status == 4 && !ended.stderr.contains("scale"), "{}", ended.stderr);
}

/// A rule of another era fails the run with that reason.
#[test]
fn a_rule_that_can_match_nothing_in_the_era_seen_says_so() {
    let rule = "[[rule]]\nname = \"it\"\nmatch = { stream = \"listen\", at = \"head\" }\ndelay = \"1ms\"\n";
    let of = |era: &str| {
        let scene = Scene::with(&format!("era = [\"{era}\"]\n{rule}"));
        scene.ping(1);
        scene.finish()
    };
    let seen = "and what crossed was the session era (2025-11-25)";
    let ended = of("modern");
    assert_eq!(ended.status, 4);
    assert!(ended.stderr.contains(&format!("rule \"test/it\" is for the modern era, {seen}")), "{}", ended.stderr);
    let ended = of("session");
    let says = format!("rule \"test/it\" can match nothing here: its stream is of the modern era only, {seen}");
    assert!(ended.stderr.contains(&says), "{}", ended.stderr);
}
