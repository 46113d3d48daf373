//! `respond`: an answer in the server's place, before or after the server did the work, and what the server saw of it.

use mishap::engine::record::PointFate;

use crate::common::messages::{SSE_HEAD, answer, call, event, json_head, request};
use crate::common::peer::End;
use crate::common::scene::Scene;

/// More bytes than are kept of an answer.
const LARGE: usize = 20 << 20;

fn with(rule: &str) -> Scene {
    Scene::with(&format!("[[rule]]\nname = \"respond\"\n{rule}\n"))
}

#[test]
fn a_request_is_answered_here_and_never_reaches_the_server() {
    let scene = with(
        "match = { at = \"request\", method = \"tools/call\" }\nrespond = { status = 503, headers = { retry-after = 1, \
         content-type = \"text/html\" }, body = \"<h1>busy</h1>\" }",
    );
    let mut client = scene.post(&call(1));
    let (head, body) = client.whole_answer();
    assert_eq!((head.status(), body.as_slice()), (503, &b"<h1>busy</h1>"[..]));
    assert_eq!(
        (head.value("retry-after").as_deref(), head.value("content-type").as_deref()),
        (Some("1"), Some("text/html"))
    );
    scene.ping(2);
    assert!(scene.is_idle(), "the call went to the server all the same");
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/request#1").fate, PointFate::Ended);
    let made = ended.journal.point("s1/post:1/head#1");
    assert_eq!((made.maker.as_deref(), made.status), (Some("test/respond"), Some(503)));
}

#[test]
fn without_the_rule_the_server_answers() {
    let scene = Scene::without();
    let (client, server) = scene.exchange(&call(1));
    scene.answered(client, server, 1);
    assert_eq!(scene.finish().journal.point("s1/post:1/head#1").maker, None);
}

#[test]
fn a_result_and_an_error_carry_the_id_of_the_request_in_its_own_type() {
    for (content, expected) in [
        ("result = { ok = true }", r#"{"jsonrpc":"2.0","id":7,"result":{"ok":true}}"#),
        (
            "error = { code = -32001, message = \"gone\" }",
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"gone"}}"#,
        ),
    ] {
        let scene =
            with(&format!("match = {{ at = \"request\", method = \"tools/call\" }}\nrespond = {{ {content} }}"));
        let (head, body) = scene.post(&call(7)).whole_answer();
        let json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("it is JSON");
        assert_eq!((head.status(), json(&body)), (200, json(expected.as_bytes())));
        assert_eq!(head.value("content-type").as_deref(), Some("application/json"));
        scene.finish();
    }
}

#[test]
fn a_made_event_stream_ends_as_the_rule_says() {
    let events = "sse = [{ id = \"e1\", data = \"\" }, { message = { jsonrpc = \"2.0\", method = \"x\" } }]";
    for (ending, end) in [("eof", End::Eof), ("fin", End::Fin), ("reset", End::Reset)] {
        let scene = with(&format!(
            "match = {{ at = \"request\", method = \"tools/call\" }}\nrespond = {{ {events}, ending = \"{ending}\" }}"
        ));
        let mut client = scene.post(&call(1));
        assert_eq!(client.answer().value("content-type").as_deref(), Some("text/event-stream"));
        client.sees("id: e1\ndata: \n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
        assert_eq!(client.end(), end, "{ending}");
        assert_eq!(scene.finish().status, 0);
    }
}

#[test]
fn a_request_head_is_answered_before_its_body_was_sent() {
    let scene = with("match = { at = \"request-head\", path = \"/mcp\", header = { x-early = true } }\nrespond = 401");
    let mut client = scene.connect();
    client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Early: 1\r\nContent-Length: 10\r\n\r\n");
    assert_eq!(client.whole_answer().0.status(), 401);
    scene.ping(2);
    assert!(scene.is_idle(), "the request went to the server");
    assert_eq!(scene.finish().status, 0);
}

#[test]
fn at_the_head_the_server_has_done_the_work_and_its_answer_is_thrown_away() {
    let scene =
        with("match = { at = \"head\", method = \"tools/call\" }\nrespond = { status = 502, other-leg = \"drain\" }");
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(SSE_HEAD);
    assert_eq!(client.whole_answer().0.status(), 502);
    // It is read to its end: the server notices nothing.
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    scene.journalled("the end of the server's own answer", |line| {
        crate::common::journal::crossed("s1/post:1/end#2")(line)
    });
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/end#2").ending.as_deref(), Some("eof"));
}

#[test]
fn with_forward_the_server_gets_the_request_and_the_client_an_answer_of_ours() {
    let scene =
        with("match = { at = \"request\", method = \"tools/call\" }\nrespond = { status = 504, forward = true }");
    let (mut client, mut server) = scene.exchange(&call(1));
    assert_eq!(client.whole_answer().0.status(), 504);
    let body = answer(1);
    server.send(json_head(body.len(), "") + &body);
    scene.journalled("the end of the server's own answer", |line| {
        crate::common::journal::crossed("s1/post:1/end#2")(line)
    });
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/request#1").fate, PointFate::Passed);
    assert_eq!(ended.journal.point("s1/post:1/head#2").fate, PointFate::Cut);
}

#[test]
fn with_forward_too_the_answer_comes_before_its_ending() {
    for (ending, end) in [("fin", End::Fin), ("reset", End::Reset)] {
        let scene = with(&format!(
            "match = {{ at = \"request\", method = \"tools/call\" }}\nrespond = {{ status = 504, sse = [{{ data = \"q\" }}], \
             ending = \"{ending}\", forward = true }}"
        ));
        let (mut client, _server) = scene.exchange(&call(1));
        assert_eq!(client.answer().status(), 504, "{ending}");
        client.sees("data: q\n\n");
        assert_eq!(client.end(), end);
        assert_eq!(scene.finish().status, 0);
    }
}

#[test]
fn with_forward_and_when_an_answer_of_the_server_that_comes_earlier_is_not_passed_on() {
    let scene = with(
        "match = { at = \"request\", method = \"tools/call\" }\nrespond = { status = 504, forward = true, when = { at = \"end\", \
         method = \"tools/list\" }, limit = \"60s\" }",
    );
    let (mut client, mut server) = scene.exchange(&call(1));
    let body = answer(1);
    server.send(json_head(body.len(), "") + &body);
    scene.ping(2);
    assert!(client.is_silent(), "the server's answer waits");
    let (other, its_server) = scene.exchange(&request(3, "tools/list", "{}"));
    scene.answered(other, its_server, 3);
    assert_eq!(client.whole_answer().0.status(), 504);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let heads = ended.journal.points(|point| point.key == "s1/post:1/head#1");
    assert_eq!(heads.iter().map(|head| head.fate).collect::<Vec<_>>(), [PointFate::Cut, PointFate::Passed]);
}

/// More than what is kept of an answer: it is thrown away as it comes, because in any case nobody gets it.
#[test]
fn a_large_answer_that_a_rule_replaces_at_its_end_is_read_to_that_end() {
    let scene = with("match = { at = \"head\", method = \"tools/call\" }\nrespond = { status = 502, when = \"end\" }");
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {LARGE}\r\n\r\n"));
    server.send(vec![b'-'; LARGE]);
    assert_eq!(client.whole_answer().0.status(), 502);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/end#1").ending.as_deref(), Some("eof"));
}

#[test]
fn a_stall_of_a_head_alone_is_said_to_be_none() {
    let scene =
        with("match = { at = \"request\", http-method = \"HEAD\" }\nrespond = { status = 200, ending = \"stall\" }");
    let mut client = scene.connect();
    for _ in 0..2 {
        client.send("HEAD /mcp HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(client.answer_to("HEAD").status(), 200, "its connection is of use");
    }
    let ended = scene.finish();
    assert_eq!(ended.status, 4, "{}", ended.stderr);
    assert!(ended.stderr.contains("has no body, and ended with its head: no stall"), "{}", ended.stderr);
}

#[test]
fn with_when_the_answer_waits_for_something_else() {
    let scene = with(
        "match = { at = \"request\", method = \"tools/call\" }\nrespond = { status = 429, when = { at = \"end\", method = \
         \"ping\" }, limit = \"60s\" }",
    );
    let mut client = scene.post(&call(1));
    scene.fired("respond");
    scene.ping(2);
    assert_eq!(client.whole_answer().0.status(), 429);
    let ended = scene.finish();
    let (head, ping) = (ended.journal.point("s1/post:1/head#1"), ended.journal.point("s1/post:2/end#1"));
    assert!(head.left_seq > ping.left_seq, "{head:#?}");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

#[test]
fn a_later_rule_sees_the_answer_that_an_earlier_one_made() {
    let scene = Scene::with(
        "[[rule]]\nname = \"respond\"\nmatch = { at = \"request\", method = \"tools/call\" }\nrespond = { result = {} }\n\
         [[rule]]\nname = \"cut\"\nmatch = { method = \"tools/call\", message = \"answer\" }\ncut = \"fin\"\n",
    );
    let mut client = scene.post(&call(1));
    assert_eq!((client.answer().status(), client.end()), (200, End::Fin));
    assert_eq!(scene.finish().status, 0);
}

const ANSWERED: &str =
    "match = { at = \"request\", method = \"tools/call\" }\nrespond = { result = {}, forward = true }";

/// What a later rule does to the answer that an earlier one made, while the server's leg is read on.
const LATER: [&str; 8] = [
    "at = \"head\", method = \"tools/call\" }\nhold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }",
    "at = \"block\", method = \"tools/call\" }\nhold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }",
    "at = \"end\", method = \"tools/call\" }\nhold = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }",
    "at = \"head\", method = \"tools/call\" }\nbuffer = { until = { at = \"end\", method = \"ping\" }, limit = \"60s\" }",
    "at = \"head\", method = \"tools/call\" }\ndelay = \"100ms\"",
    "at = \"end\", method = \"tools/call\" }\ndelay = \"100ms\"",
    "at = \"head\", method = \"tools/call\" }\nthrottle = { rate = \"200B/s\", burst = \"10B\" }",
    "at = \"head\", method = \"tools/call\" }\nreframe = { split = 10, gap = \"20ms\" }",
];

/// Two read at the same time: whoever writes the answer, and whoever drains the server's own.
#[test]
fn an_answer_that_a_later_rule_keeps_comes_all_the_same_while_the_servers_own_is_read_on() {
    for later in LATER {
        let scene = with(&format!("{ANSWERED}\n[[rule]]\nname = \"later\"\nmatch = {{ {later}"));
        let (mut client, mut server) = scene.exchange(&call(1));
        let body = answer(1);
        server.send(json_head(body.len(), "") + &body);
        scene.journalled("the end of the server's own answer", |line| {
            crate::common::journal::crossed("s1/post:1/end#2")(line)
        });
        scene.ping(2);
        let (head, body) = client.whole_answer();
        let made = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert_eq!((head.status(), String::from_utf8_lossy(&body).as_ref()), (200, made), "{later}");
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{later}: {}", ended.stderr);
    }
}

#[test]
fn the_end_of_a_made_answer_may_wait_while_the_server_sends_on() {
    let scene = with(
        "match = { at = \"head\", method = \"tools/call\" }\nrespond = { status = 500, body = \"x\", other-leg = \"drain\" }\n\
         [[rule]]\nname = \"later\"\nmatch = { at = \"end\", method = \"tools/call\" }\nhold = { until = { at = \"end\", method = \
         \"ping\" }, limit = \"60s\" }",
    );
    let (mut client, mut server) = scene.exchange(&call(1));
    server.send(SSE_HEAD);
    assert_eq!(client.answer().status(), 500);
    server.send_chunk(event(&answer(1)));
    server.send_last_chunk();
    scene.journalled("the end of the server's own answer", |line| {
        crate::common::journal::crossed("s1/post:1/end#2")(line)
    });
    scene.ping(2);
    let ended = scene.finish();
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.journal.point("s1/post:1/end#1").fate, PointFate::Passed);
}

/// More than may wait for a client is no reason not to read what goes to nobody.
#[test]
fn a_large_made_answer_does_not_keep_the_servers_own_from_being_read() {
    let events = format!("{{ data = \"{}\" }}", "x".repeat(64 << 10));
    let scene = with(&format!(
        "match = {{ at = \"request\", method = \"tools/call\" }}\nrespond = {{ sse = [{}], forward = true }}",
        vec![events; 128].join(", ")
    ));
    let (mut client, mut server) = scene.exchange(&call(1));
    let body = answer(1);
    server.send(json_head(body.len(), "") + &body);
    scene.journalled("the end of the server's own answer", |line| {
        crate::common::journal::crossed("s1/post:1/end#2")(line)
    });
    assert!(client.whole_answer().1.len() > 128 << 16);
    assert_eq!(scene.finish().status, 0);
}
