//! The two findings that fail a run, on real SDKs: what a proxy cannot see, told from what it can; and no finding where the
//! peer is fixed.

use serde_json::{Value, json};

use crate::harness::{Driver, LOSS, Mishap, PATIENCE, Run};

/// The findings of a run: monitor and words.
fn findings(run: &Run) -> Vec<(&str, &str)> {
    let found = run.journal.iter().filter(|line| line["kind"] == "finding");
    found.map(|line| (line["monitor"].as_str().unwrap(), line["words"].as_str().unwrap())).collect()
}

/// A tool asks the client while the GET is held: on its own stream, or where the server would send it else. Returns the run.
fn asks_before_the_get_is_open(related: bool) -> Run {
    let server = Driver::node("server", "1.32.2", &json!({ "timeout": PATIENCE }));
    let client = Driver::node("client", "1.32.2", &json!({}));
    let mishap = Mishap::judging(&server.url(), &["get-opens-late,limit=60s"]);
    let timeout = if related { PATIENCE } else { LOSS };
    let asks = json!({ "tag": "t", "kind": "elicitation", "related": related, "wait": false, "timeout": timeout });
    let call = json!({ "cmd": "call", "call": "ask", "tool": "ask", "args": asks });
    client.send(&json!({ "cmd": "connect", "id": "c", "url": mishap.url(), "timeout": PATIENCE, "then": [call] }));
    let settled = |event: &Value| event["event"] == "settled" && event["call"] == "ask";
    let outcome = client.wait("the call settled", settled);
    assert_eq!(outcome["outcome"], if related { "ok" } else { "tool-error" });
    server.wait("the GET open", |event| event["event"] == "get-open");
    mishap.finish()
}

#[test]
fn a_server_that_asks_outside_its_call_is_found_to_have_lost_the_request() {
    let run = asks_before_the_get_is_open(false);
    let [(monitor, words)] = findings(&run)[..] else { panic!("{}", run.verdict) };
    assert_eq!(monitor, "lost-request");
    let known = "no server request crossed any stream, it ended with isError; the GET reached the server ";
    assert!(words.starts_with("tools/call id 1 was open ") && words.contains(known), "{words}");
    run.assert_exit(3);
}

#[test]
fn a_server_that_asks_inside_its_call_is_green_behind_the_same_profile() {
    let run = asks_before_the_get_is_open(true);
    assert_eq!(findings(&run), []);
    run.assert_exit(0);
}

/// A ping whose stream ends before the answer, with a short timeout. Returns the run and how the ping settled.
fn loses_a_stream(client: &Driver, profile: &str) -> (Run, String) {
    let server = Driver::node("server", "1.32.2", &json!({ "timeout": PATIENCE }));
    let mishap = Mishap::judging(&server.url(), &[profile]);
    let ping = json!({ "cmd": "ping", "call": "ping" });
    client.send(&json!({ "cmd": "connect", "id": profile, "url": mishap.url(), "timeout": LOSS, "then": [ping] }));
    let settled = |call: &'static str| {
        move |event: &Value| event["event"] == "settled" && event["id"] == profile && event["call"] == call
    };
    let outcome = client.wait("the ping settled", settled("ping"))["outcome"].as_str().unwrap().to_owned();
    // A client that closes at once takes back what it has only begun to send, its cancel: so there is one exchange more.
    client.send(&json!({ "cmd": "ping", "id": profile, "call": "again", "timeout": PATIENCE }));
    client.wait("the session alive", settled("again"));
    client.send(&json!({ "cmd": "close", "id": profile }));
    client.wait("closed", |event| event["event"] == "closed" && event["id"] == profile);
    (mishap.finish(), outcome)
}

const LOST: &str = "post-stream-lost,method=ping";

#[test]
fn a_typescript_1_32_2_client_is_found_to_have_waited_for_a_stream_that_had_ended() {
    let client = Driver::node("client", "1.32.2", &json!({}));
    let (run, outcome) = loses_a_stream(&client, LOST);
    assert_eq!(outcome, "timeout");
    let [(monitor, words)] = findings(&run)[..] else { panic!("{}", run.verdict) };
    assert_eq!(monitor, "late-cancel");
    assert!(words.contains(": its stream ended without an answer (closed by post-stream-lost/"), "{words}");
    run.assert_exit(3);
    let (run, outcome) = loses_a_stream(&client, "transparent");
    assert_eq!((outcome.as_str(), findings(&run)), ("ok", vec![]));
    run.assert_exit(0);
}

#[test]
fn clients_that_fail_the_request_when_its_stream_ends_are_green() {
    for client in [Driver::python("client", "2.3.0", &json!({})), Driver::rmcp("client", &json!({}))] {
        let (run, outcome) = loses_a_stream(&client, LOST);
        assert_eq!((outcome == "timeout", findings(&run)), (false, vec![]), "{}", run.verdict);
        assert!(run.verdict.contains(": told after "), "{}", run.verdict);
        run.assert_exit(0);
    }
}
