//! `hold`: a unit leaves when something else has happened, at every point; and what comes of it when it does not.

use mishap::engine::record::{Opened, PointFate};

use crate::common::messages::{SSE_HEAD, answer, call, event, progress, request};
use crate::common::peer::End;
use crate::common::scene::Scene;

/// The rule of the built-in profile get-opens-late, with a limit that no passing test reaches.
const GET_OPENS_LATE: &str = r#"
[[rule]]
name = "hold"
match = { stream = "get", at = "request" }
times = 1
hold = { until = { at = "end", method = "tools/call" }, limit = "60s" }
"#;

#[test]
fn a_get_held_until_a_call_has_ended_reaches_the_server_after_that() {
    let scene = Scene::with(GET_OPENS_LATE);
    let get = scene.get();
    scene.fired("hold");
    let (mut client, mut server) = scene.call(1);
    server.send_chunk(event(&answer(1)));
    client.sees(event(&answer(1)));
    scene.ping(2);
    assert!(scene.is_idle(), "the GET came before the call had ended");
    server.send_last_chunk();
    assert_eq!(client.end(), End::Eof);
    let (_get, _server) = scene.streaming(get, "");
    let ended = scene.finish();
    let gates = ended.journal.gates("test/hold");
    assert_eq!(gates[0].opened, Opened::By("s1/post:1/end#1".to_owned()));
    let (get, end) = (ended.journal.point("s1/get:1/request#1"), ended.journal.point("s1/post:1/end#1"));
    assert_eq!(get.by, end.left_seq, "it leaves in the step that opens the gate");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

#[test]
fn without_the_rule_the_get_reaches_the_server_before_a_call_is_made() {
    let scene = Scene::without();
    let (_get, _get_server) = scene.open_get();
    let (_call, _call_server) = scene.call(1);
    let journal = scene.finish().journal;
    let (get, call) = (journal.point("s1/get:1/request#1"), journal.point("s1/post:1/request#1"));
    assert!(get.by == Some(get.seq) && get.left_seq < Some(call.seq), "{get:#?} {call:#?}");
}

#[test]
fn every_session_meets_the_rule_anew() {
    let scene = Scene::with(GET_OPENS_LATE);
    for session in 1..=2 {
        scene.in_session(session - 1);
        if session == 2 {
            scene.open_session();
        }
        scene.in_session(session);
        let get = scene.get();
        scene.journalled("the GET of the session to be held", |line| {
            crate::common::journal::fired("test/hold")(line).filter(|it| it.key.starts_with(&format!("s{session}/")))
        });
        let (mut client, mut server) = scene.call(1);
        server.send_last_chunk();
        client.end();
        scene.streaming(get, "");
    }
    let gates = scene.finish().journal.gates("test/hold");
    let openers: Vec<_> = gates.iter().map(|gate| gate.opened.clone()).collect();
    assert_eq!(openers, [1, 2].map(|session| Opened::By(format!("s{session}/post:1/end#1"))));
}

/// Holds what this selects on a call's stream until a ping has ended. Before that the client sees so many of the head,
/// the notification and the answer; the rest after it.
fn holds_on_a_stream(selector: &str, before: usize) {
    let until = "{ at = \"end\", method = \"ping\" }";
    let rule = format!("match = {{ {selector} }}\nhold = {{ until = {until}, limit = \"60s\" }}");
    let scene = Scene::with(&format!("[[rule]]\nname = \"hold\"\n{rule}\n"));
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(SSE_HEAD);
    server.send_chunk(progress(1) + &event(&answer(1)));
    server.send_last_chunk();
    scene.fired("hold");
    let parts = [None, Some(progress(1)), Some(event(&answer(1)))];
    let (early, late) = parts.split_at(before);
    let mut see = |part: &Option<String>| match part {
        None => assert_eq!(client.answer().status(), 200),
        Some(block) => client.sees(block),
    };
    early.iter().for_each(&mut see);
    scene.ping(2);
    late.iter().for_each(&mut see);
    assert_eq!(client.end(), End::Eof);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.gates("test/hold")[0].opened, Opened::By("s1/post:2/end#1".to_owned()));
    let opener = ended.journal.point("s1/post:2/end#1").left_seq;
    let after = ended.journal.points(|point| point.key.starts_with("s1/post:1/") && point.left_seq > opener);
    assert_eq!(after.len(), late.len() + 1, "what stands behind it waits with it, and nothing before: {after:#?}");
}

#[test]
fn a_held_head_holds_the_whole_answer() {
    holds_on_a_stream("at = \"head\", method = \"tools/call\"", 0);
}

#[test]
fn a_held_block_holds_what_stands_behind_it_and_nothing_before() {
    holds_on_a_stream("message = \"notification\", method = \"tools/call\"", 1);
    holds_on_a_stream("message = \"answer\", method = \"tools/call\"", 2);
}

#[test]
fn a_held_end_holds_nothing_but_itself() {
    holds_on_a_stream("at = \"end\", method = \"tools/call\"", 3);
}

#[test]
fn a_held_leave_keeps_the_server_in_the_dark() {
    let scene = Scene::with(
        "[[rule]]\nname = \"hold\"\nmatch = { at = \"leave\", method = \"tools/call\" }\nhold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }\n",
    );
    let (client, mut server) = scene.call(1);
    client.leave();
    scene.fired("hold");
    server.send_chunk(progress(1));
    scene.ping(2);
    server.closed();
    let journal = scene.finish().journal;
    assert_eq!(journal.point("s1/post:1/leave#1").by, journal.point("s1/post:2/end#1").left_seq);
}

/// The server's answer, given while the head is held, is read on; the client's leaving still reaches the server.
#[test]
fn what_waits_for_a_client_that_left_is_discarded() {
    let scene = Scene::with(
        "[[rule]]\nname = \"hold\"\nmatch = { at = \"head\", method = \"tools/call\" }\nhold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }\n",
    );
    let (client, mut server) = scene.exchange(&call(1));
    server.send(SSE_HEAD);
    scene.fired("hold");
    client.leave();
    server.closed();
    let journal = scene.finish().journal;
    assert_eq!(journal.point("s1/post:1/head#1").fate, PointFate::Gone);
    assert_eq!(journal.gates("test/hold")[0].opened, Opened::Left);
}

fn limited(until: &str) -> String {
    format!(
        "[[rule]]\nname = \"hold\"\nmatch = {{ at = \"request\", method = \"tools/list\" }}\nhold = {{ until = {until}, limit = \"50ms\" }}\n"
    )
}

#[test]
fn a_hold_at_its_limit_lets_go_and_fails_the_run() {
    let scene = Scene::with(&limited("{ at = \"end\", method = \"tools/call\" }"));
    let (_client, _server) = scene.call(1);
    let list = request(2, "tools/list", "{}");
    let (client, server) = scene.exchange(&list);
    scene.answered(client, server, 2);
    let ended = scene.finish();
    let gate = &ended.journal.gates("test/hold")[0];
    assert_eq!(gate.opened, Opened::Limit);
    assert!(gate.held >= 50_000, "early: {gate:?}");
    assert_eq!(ended.status, 5, "{}", ended.stderr);
}

#[test]
fn a_hold_whose_condition_was_never_under_way_is_vacuous() {
    let scene = Scene::with(&limited("{ at = \"end\", method = \"tools/call\" }"));
    let list = request(2, "tools/list", "{}");
    let (client, server) = scene.exchange(&list);
    scene.answered(client, server, 2);
    let ended = scene.finish();
    assert_eq!(ended.journal.gates("test/hold")[0].opened, Opened::Vacuous);
    assert_eq!(ended.status, 4, "{}", ended.stderr);
}

#[test]
fn a_rule_that_meets_nothing_fails_the_run_unless_it_may() {
    let rule = limited("{ at = \"end\", method = \"tools/call\" }");
    assert_eq!(Scene::with(&rule).finish().status, 4);
    assert_eq!(Scene::with(&rule.replace("hold = ", "optional = true\nhold = ")).finish().status, 0);
    assert_eq!(Scene::without().finish().status, 0);
}

#[test]
fn what_is_held_for_ever_is_withheld_and_no_failure() {
    let scene = Scene::with(
        "[[rule]]\nname = \"hold\"\nmatch = { at = \"request\", method = \"tools/list\" }\nhold = \"never\"\n",
    );
    let _client = scene.post(&request(1, "tools/list", "{}"));
    scene.fired("hold");
    scene.ping(2);
    assert!(scene.is_idle());
    let ended = scene.finish();
    assert_eq!(ended.journal.point("s1/post:1/request#1").fate, PointFate::Withheld);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}
