//! `rewrite` at the wire: heads as they leave after the proxy's own mapping, ids that come back, answers in another form.

use mishap::engine::rpc::Id;

use crate::common::body::Head;
use crate::common::messages::{ACCEPTED, INITIALIZED, SSE_HEAD, answer, call, event, initialize, json_head, progress};
use crate::common::peer::{End, Peer};
use crate::common::scene::Scene;

/// A rule of this selector and these parameters.
fn rule(selector: &str, parameters: &str) -> String {
    format!("[[rule]]\nname = \"other\"\nmatch = {selector}\nrewrite = {parameters}\n")
}

/// The same script with the rule and without.
fn both(rules: &str, script: impl Fn(&Scene, bool)) {
    for rules in [Some(rules), None] {
        let scene = Scene::run(rules, &[]);
        script(&scene, rules.is_some());
        let ended = scene.finish();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
}

/// A request that has reached the server with another body than it left with: its head, its body and the server's end.
fn served_otherwise(scene: &Scene) -> (Head, String, Peer) {
    let mut server = scene.upstream.next();
    let (head, body) = server.whole_request();
    (head, String::from_utf8(body).expect("the proxy writes JSON"), server)
}

fn renamed(message: &str, id: &str) -> String {
    message.replacen(r#""id":1,"#, &format!(r#""id":{id},"#), 1)
}

// === heads ===

#[test]
fn a_status_is_another_and_the_body_stays() {
    both(&rule(r#"{ at = "head", method = "tools/call" }"#, "401"), |scene, ruled| {
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(json_head(answer(1).len(), "").replace("200 OK", "404 Nobody Here") + &answer(1));
        let (head, body) = client.whole_answer();
        assert_eq!(head.start(), if ruled { "HTTP/1.1 401 Unauthorized" } else { "HTTP/1.1 404 Nobody Here" });
        assert_eq!(body, answer(1).as_bytes());
        let head = scene.crossed("s1/post:1/head#1");
        assert_eq!((head.status, head.made_status), (Some(404), ruled.then_some(401)));
    });
}

/// E32: the relay keeps the session id for itself. What the client does without it is still its session's.
#[test]
fn an_answer_loses_its_session_id_and_the_client_stays_in_its_session() {
    let selector = r#"{ at = "head", method = "initialize", session = 2 }"#;
    let rules = rule(selector, "{ headers = { mcp-session-id = false } }");
    for rules in [Some(rules.as_str()), None] {
        let scene = Scene::run(rules, &[]);
        scene.in_session(0);
        let (mut client, mut server) = scene.exchange(&initialize());
        server.send(json_head(INITIALIZED.len(), "Mcp-Session-Id: kept\r\nX-Other: stays\r\n") + INITIALIZED);
        let (head, body) = client.whole_answer();
        assert_eq!(head.value("mcp-session-id").as_deref(), if rules.is_some() { None } else { Some("kept") });
        assert_eq!(head.value("x-other").as_deref(), Some("stays"));
        assert_eq!(body, INITIALIZED.as_bytes());
        let (_, _server) = scene.exchange(&call(5));
        let session = if rules.is_some() { 2 } else { 3 };
        scene.crossed(&format!("s{session}/post:5/request#1"));
    }
}

/// E31, E34: a relay drops the version, or says another.
#[test]
fn a_request_goes_on_without_a_header_or_with_another_value() {
    for (value, told) in [("false", None), ("\"1900-01-01\"", Some("1900-01-01"))] {
        let headers = format!("{{ headers = {{ mcp-protocol-version = {value}, X-New = \"${{owner.method}} 1\" }} }}");
        both(&rule(r#"{ at = "request", method = "tools/call" }"#, &headers), |scene, ruled| {
            let client = scene.post(&call(1));
            let (head, body, server) = served_otherwise(scene);
            assert_eq!(head.value("mcp-protocol-version").as_deref(), if ruled { told } else { Some("2025-11-25") });
            assert_eq!(head.value("x-new").as_deref(), ruled.then_some("tools/call 1"));
            assert_eq!(head.value("mcp-session-id").as_deref(), Some("session-1"), "the others stay");
            assert_eq!(body, call(1));
            scene.answered(client, server, 1);
        });
    }
}

/// A value replaces every field of its name, at the place of the first.
#[test]
fn all_fields_of_a_name_give_way_to_one() {
    both(&rule(r#"{ at = "head", method = "tools/call" }"#, "{ headers = { vary = \"one\" } }"), |scene, ruled| {
        let (mut client, mut server) = scene.exchange(&call(1));
        let fields = "Vary: a\r\nX-Between: y\r\nVary: b\r\n";
        server.send(json_head(answer(1).len(), fields) + &answer(1));
        let (head, _) = client.whole_answer();
        assert_eq!(head.values("vary"), if ruled { vec!["one"] } else { vec!["a", "b"] });
        let lines = head.lines();
        let place = |text: &str| lines.iter().position(|line| line.starts_with(text));
        assert!(place("Vary") < place("X-Between"), "{lines:?}");
    });
}

/// R27: the proxy maps the server's names to its own, and the rule has the last word.
#[test]
fn a_rule_has_the_last_word_over_the_mapping_of_heads() {
    let rules = rule(r#"{ at = "request", method = "tools/call" }"#, "{ headers = { host = \"evil.example\" } }")
        + &rule(r#"{ at = "head", method = "tools/call" }"#, "{ headers = { location = \"http://elsewhere/\" } }")
            .replace("other", "back");
    both(&rules, |scene, ruled| {
        let mut client = scene.post(&call(1));
        let (head, _, mut server) = served_otherwise(scene);
        let upstream = scene.upstream.address().to_string();
        assert_eq!(head.value("host"), Some(if ruled { "evil.example".to_owned() } else { upstream.clone() }));
        server.send(json_head(answer(1).len(), &format!("Location: http://{upstream}/there\r\n")) + &answer(1));
        let location = client.whole_answer().0.value("location").expect("it has one");
        assert_eq!(location == "http://elsewhere/", ruled, "{location}");
        assert!(!location.contains(&upstream));
    });
}

/// E35: browsers ask first, and the answer does not allow the header.
#[test]
fn a_preflight_is_answered_without_a_header_in_the_list() {
    let rules = rule(
        r#"{ stream = "other", at = "head", http-method = "OPTIONS" }"#,
        r#"{ headers = { access-control-allow-headers = "content-type, mcp-session-id" } }"#,
    );
    both(&rules, |scene, ruled| {
        let mut client = scene.connect();
        client.send(format!("OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: http://a\r\n\r\n", scene.upstream.address()));
        let mut server = scene.upstream.next();
        server.request();
        let allowed = "content-type, mcp-session-id, mcp-protocol-version";
        server.send(format!("HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Headers: {allowed}\r\n\r\n"));
        let (head, _) = client.whole_answer();
        let told = if ruled { "content-type, mcp-session-id" } else { allowed };
        assert_eq!((head.status(), head.value("access-control-allow-headers").as_deref()), (204, Some(told)));
    });
}

/// E16: an acknowledgement with a content type.
#[test]
fn an_acknowledgement_gets_a_content_type() {
    let rules = rule(
        r#"{ at = "head", method = "notifications/roots/*", status = 202 }"#,
        r#"{ headers = { content-type = "text/plain" } }"#,
    );
    both(&rules, |scene, ruled| {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
        let (mut client, mut server) = scene.exchange(note);
        server.send(ACCEPTED);
        let (head, body) = client.whole_answer();
        assert_eq!(head.value("content-type").as_deref(), ruled.then_some("text/plain"));
        assert_eq!((head.status(), body.len()), (202, 0));
    });
}

// === ids ===

#[test]
fn a_request_id_is_another_for_the_server_and_the_same_for_the_client() {
    for (id, sent) in [("\"string\"", r#""1""#), ("\"null\"", "null"), ("{ value = \"x-${owner.id}\" }", r#""x-1""#)] {
        both(&rule(r#"{ at = "request", method = "tools/call" }"#, &format!("{{ id = {id} }}")), |scene, ruled| {
            let sent = if ruled { sent } else { "1" };
            let mut client = scene.post(&call(1));
            let (head, body, mut server) = served_otherwise(scene);
            assert_eq!(body, renamed(&call(1), sent));
            assert_eq!(head.value("content-length"), Some(body.len().to_string()));
            server.send(SSE_HEAD);
            server.send_chunk(event(&renamed(&answer(1), sent)));
            server.send_last_chunk();
            client.answer();
            client.sees(event(&answer(1)));
            assert_eq!(client.end(), End::Eof);
            for key in ["s1/post:1/request#1", "s1/post:1/block#1"] {
                assert_eq!(scene.crossed(key).rpc[0].id, Some(Id::Number("1".to_owned())), "{key}");
            }
        });
    }
}

#[test]
fn an_answer_in_json_comes_back_under_its_own_id_with_a_length_that_is_true() {
    both(
        &rule(r#"{ at = "request", method = "tools/call" }"#, "{ id = { value = \"a-long-name\" } }"),
        |scene, ruled| {
            let sent = if ruled { r#""a-long-name""# } else { "1" };
            let mut client = scene.post(&call(1));
            let (_, _, mut server) = served_otherwise(scene);
            let reply = renamed(&answer(1), sent);
            server.send(json_head(reply.len(), "") + &reply);
            assert_eq!(client.whole_answer().1, answer(1).as_bytes());
        },
    );
}

/// F01, F02, F03: the id of an answer has another type, or is none, or another's.
#[test]
fn an_id_mangled_in_an_answer_reaches_the_client_so() {
    for (id, told) in [("\"string\"", r#""1""#), ("\"null\"", "null"), ("{ value = 7 }", "7")] {
        both(&rule(r#"{ method = "tools/call", message = "answer" }"#, &format!("{{ id = {id} }}")), |scene, ruled| {
            let told = if ruled { told } else { "1" };
            let (mut client, mut server) = scene.exchange(&call(1));
            server.send(json_head(answer(1).len(), "") + &answer(1));
            assert_eq!(client.whole_answer().1, renamed(&answer(1), told).as_bytes());
            let block = scene.crossed("s1/post:1/block#1");
            assert_eq!(block.owner.expect("it answers the call all the same").id, Id::Number("1".to_owned()));
        });
    }
}

// === messages, events, forms ===

/// A10: an error with the same id, on a stream that has an event id.
#[test]
fn an_answer_is_an_error_and_its_event_keeps_its_id() {
    let error = r#"{ error = { code = -32603, message = "broken on ${exchange.stream}" } }"#;
    both(&rule(r#"{ message = "answer", method = "tools/call" }"#, error), |scene, ruled| {
        let (mut client, mut server) = scene.call(1);
        server.send_chunk(format!("id: e1\ndata: {}\n\n", answer(1)));
        server.send_last_chunk();
        let error = answer(1).replace(r#""result":{}"#, r#""error":{"code":-32603,"message":"broken on post"}"#);
        client.sees(format!("id: e1\ndata: {}\n\n", if ruled { error } else { answer(1) }));
        assert_eq!(client.end(), End::Eof);
    });
}

/// D10, B20: no `event` line, no id.
#[test]
fn an_event_loses_its_type_and_its_id() {
    both(
        &rule(r#"{ stream = "post", block = "message" }"#, "{ event = { event = false, id = false, retry = 7 } }"),
        |scene, ruled| {
            let (mut client, mut server) = scene.call(1);
            server.send_chunk(format!("event: message\r\nid: e1\r\ndata: {}\r\n\r\n", answer(1)));
            server.send_last_chunk();
            let fields = if ruled { "retry: 7" } else { "event: message\r\nid: e1" };
            client.sees(format!("{fields}\r\ndata: {}\r\n\r\n", answer(1)));
            assert_eq!(client.end(), End::Eof);
        },
    );
}

/// D26: the server answers in JSON, the client gets events.
#[test]
fn a_json_answer_arrives_as_one_event() {
    both(&rule(r#"{ at = "head", method = "tools/call", media = "json" }"#, "{ as = \"sse\" }"), |scene, ruled| {
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(json_head(answer(1).len(), "X-Other: stays\r\n") + &answer(1));
        let (head, body) = client.whole_answer();
        let (media, told) =
            if ruled { ("text/event-stream", event(&answer(1))) } else { ("application/json", answer(1)) };
        assert_eq!(
            (head.value("content-type").as_deref(), head.value("x-other").as_deref()),
            (Some(media), Some("stays"))
        );
        assert_eq!(head.value("content-length").is_none(), ruled, "the length was that of the JSON");
        assert_eq!(body, told.as_bytes());
    });
}

#[test]
fn an_event_stream_arrives_as_one_json_body() {
    both(&rule(r#"{ at = "head", method = "tools/call", media = "sse" }"#, "{ as = \"json\" }"), |scene, ruled| {
        let (mut client, mut server) = scene.exchange(&call(1));
        server.send(SSE_HEAD);
        let head = client.answer();
        assert_eq!(
            head.value("content-type").as_deref(),
            Some(if ruled { "application/json" } else { "text/event-stream" })
        );
        server.send_chunk(progress(1));
        server.send_chunk(event(&answer(1)));
        if ruled {
            client.sees(answer(1));
        } else {
            client.sees(progress(1) + &event(&answer(1)));
        }
        server.send_last_chunk();
        assert_eq!(client.end(), End::Eof);
    });
}

/// F23: batches, which have left the protocol.
#[test]
fn a_request_and_its_answer_travel_as_batches_of_one() {
    let rules = rule(r#"{ at = "request", method = "tools/call" }"#, "{ as = \"array\" }")
        + &rule(r#"{ message = "answer", method = "tools/call" }"#, "{ as = \"array\" }").replace("other", "back");
    both(&rules, |scene, ruled| {
        let batch = |message: String| if ruled { format!("[{message}]") } else { message };
        let mut client = scene.post(&call(1));
        let (_, body, mut server) = served_otherwise(scene);
        assert_eq!(body, batch(call(1)));
        server.send(json_head(answer(1).len(), "") + &answer(1));
        assert_eq!(client.whole_answer().1, batch(answer(1)).as_bytes());
    });
}
