//! A standalone GET that comes late by time, not by order: enough against a server that asks at once, and undone by
//! `get-opens-first`, which is its control (without any profile the race is open, and a session in four may lose); and
//! against the published server-everything, which asks 350 ms after `initialized`.

use serde_json::{Value, json};

use crate::harness::{Driver, LOSS, Mishap, PATIENCE, Run};

/// How many sessions, all open together.
const SESSIONS: usize = 20;

#[test]
fn a_get_delayed_300_ms_loses_what_the_server_asks_at_once() {
    let asked = ask_at_once(&["get-late-by,time=300ms"], LOSS);
    assert_eq!(asked.outcomes, ["tool-error"; SESSIONS]);
    assert_eq!(asked.seen, 0);
}

#[test]
fn with_get_opens_first_the_delayed_get_loses_nothing() {
    let asked = ask_at_once(&["get-late-by,time=300ms", "get-opens-first"], PATIENCE);
    assert_eq!(asked.outcomes, ["ok"; SESSIONS]);
    assert_eq!(asked.seen, SESSIONS);
}

/// What became of the questions.
struct Asked {
    /// How the calls came out.
    outcomes: Vec<String>,
    /// How many questions reached a client's handler.
    seen: usize,
}

/// Each session calls in the same breath as it opens its GET, and the tool asks as soon as it is called. Who is late is
/// a matter of time here, so that the sessions begin one by one: they are not to delay each other.
fn ask_at_once(profiles: &[&str], timeout: u64) -> Asked {
    let server = Driver::node("server", "1.29.0", &json!({ "store": true, "timeout": timeout }));
    let client = Driver::node("client", "1.29.0", &json!({}));
    let mishap = Mishap::start(&server.url(), profiles);
    for session in 0..SESSIONS {
        let tag = format!("s{session}");
        let question = json!({ "tag": tag, "kind": "sampling", "related": false, "wait": false });
        let call = json!({ "cmd": "call", "call": "ask", "tool": "ask", "args": question });
        client.send(&json!({ "cmd": "connect", "id": tag, "url": mishap.url(), "timeout": PATIENCE, "then": [call] }));
        server.wait("asked", |event| event["event"] == "asked" && event["tag"] == tag);
    }
    let settled = client.wait_for(SESSIONS, "calls settled", |event| event["event"] == "settled");
    mishap.finish().assert_exit(0);
    Asked {
        outcomes: settled.iter().map(|event| event["outcome"].as_str().unwrap().to_owned()).collect(),
        seen: client.places(|event| event["event"] == "server-request").len(),
    }
}

// === server-everything ===

/// Its first `roots/list`, 350 ms after `initialized`, has the id 0.
const FIRST_ROOTS_REQUEST: u64 = 0;

#[test]
fn server_everything_never_gets_its_roots_when_the_get_opens_600_ms_late() {
    let server = Driver::server_everything();
    let client = Driver::node("client", "1.32.2", &json!({}));
    let mishap = Mishap::start(&server.url(), &["get-opens-late,plus=600ms,limit=60s"]);
    connect_and_echo(&client, &mishap);
    server.wait_for(SESSIONS, "GETs", |event| event["event"] == "get");

    // The GETs are open now. A question asked again gets through; the first is still missing, and stays so.
    for session in 0..SESSIONS {
        let call = json!({ "cmd": "call", "call": "roots", "tool": "get-roots-list", "args": {} });
        client.send(&with_id(call, session));
    }
    client.wait_for(SESSIONS, "root lists", |event| event["call"] == "roots" && event["outcome"] == "ok");

    assert_eq!(roots_requests(&client), [FIRST_ROOTS_REQUEST + 1; SESSIONS]);
    gates_opened(&mishap.finish(), SESSIONS);
}

#[test]
fn server_everything_gets_its_roots_without_the_profile() {
    let server = Driver::server_everything();
    let client = Driver::node("client", "1.32.2", &json!({}));
    let mishap = Mishap::start(&server.url(), &[]);
    connect_and_echo(&client, &mishap);
    client.wait_for(SESSIONS, "roots requests", |event| event["kind"] == "roots");

    assert_eq!(roots_requests(&client), [FIRST_ROOTS_REQUEST; SESSIONS]);
    mishap.finish().assert_exit(0);
}

/// One by one, for the same reason: a GET that is 350 ms late by itself loses the roots without any profile.
fn connect_and_echo(client: &Driver, mishap: &Mishap) {
    for session in 0..SESSIONS {
        let echo = json!({ "cmd": "call", "call": "echo", "tool": "echo", "args": { "message": "hello" } });
        let connect = json!({ "cmd": "connect", "url": mishap.url(), "timeout": PATIENCE, "then": [echo] });
        client.send(&with_id(connect, session));
        client.wait_for(session + 1, "echoes", |event| event["call"] == "echo" && event["outcome"] == "ok");
    }
}

fn with_id(mut command: Value, session: usize) -> Value {
    command["id"] = json!(format!("s{session}"));
    command
}

/// The JSON-RPC ids of the `roots/list` requests that reached a client, in the order they came.
fn roots_requests(client: &Driver) -> Vec<u64> {
    let seen = client.log().into_iter().filter(|event| event["kind"] == "roots");
    seen.map(|event| event["request"].as_u64().unwrap()).collect()
}

fn gates_opened(run: &Run, sessions: usize) {
    run.assert_exit(0);
    let gates = run.journal.iter().filter(|line| line["kind"] == "gate");
    assert_eq!(gates.count(), sessions, "{}", run.verdict);
}
