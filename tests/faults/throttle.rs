//! `throttle`: a body that passes only so fast, towards the client and towards the server, never faster.

use crate::common::messages::{answer, call, json_head};
use crate::common::scene::Scene;

fn throttle(at: &str) -> String {
    format!(
        "[[rule]]\nname = \"slow\"\nmatch = {{ at = \"{at}\", method = \"tools/call\" }}\n\
         throttle = {{ rate = \"1000B/s\", burst = 20 }}\n"
    )
}

/// The call with this id, answered in JSON; what each point took, in microseconds.
fn times(rules: Option<&str>, point: &str) -> (u64, i32) {
    let scene = Scene::run(rules, &[]);
    let (mut client, mut server) = scene.exchange(&call(1));
    let body = format!("{}{}", answer(1), " ".repeat(100));
    server.send(json_head(body.len(), "") + &body);
    assert_eq!(client.whole_answer().1, body.as_bytes());
    let ended = scene.finish();
    let head = ended.journal.point("s1/post:1/head#1");
    let point = ended.journal.point(point);
    let since = if point.point == "block" { head.arrived } else { point.arrived };
    (point.left.expect("it has left") - since, ended.status)
}

#[test]
fn an_answer_reaches_the_client_no_faster_than_the_rate() {
    let (took, status) = times(Some(&throttle("head")), "s1/post:1/block#1");
    let bytes = answer(1).len() as u64 + 100;
    assert!(took >= (bytes - 20) * 1_000, "early: {took}");
    assert_eq!(status, 0);
}

#[test]
fn a_request_reaches_the_server_no_faster_than_the_rate() {
    let (took, status) = times(Some(&throttle("request")), "s1/post:1/request#1");
    assert!(took >= (call(1).len() as u64 - 20) * 1_000, "early: {took}");
    assert_eq!(status, 0);
}

/// The first bytes are there before the last: nothing is kept until all may pass.
#[test]
fn the_burst_is_there_at_once() {
    let scene = Scene::with(&throttle("head").replace("1000B/s", "1B/s"));
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(json_head(answer(1).len(), "") + &answer(1));
    assert_eq!(client.answer().status(), 200);
    client.sees(&answer(1)[..20]);
}

/// Where nobody had to wait there was no fault, and the run says so.
#[test]
fn a_rate_that_nothing_exceeds_is_not_effective() {
    let fast = throttle("head").replace("1000B/s", "100MiB/s").replace("20", "\"1MiB\"");
    assert_eq!(times(Some(&fast), "s1/post:1/head#1").1, 4);
    assert_eq!(times(None, "s1/post:1/head#1").1, 0);
}
