//! `get-opens-late` against every server version: what it loses, what it must not lose, and that nothing is lost
//! without it (modelcontextprotocol/conformance#407).
//!
//! No cell depends on a race: a tool asks the client when the test lets it, after the session has made a further round
//! trip, and in the control only when the server has opened the GET.

use serde_json::{Value, json};

use crate::harness::{Driver, LOSS, Mishap, PATIENCE, Run};

/// How many sessions each cell has, all at once.
const SESSIONS: usize = 20;

/// The way a tool asks the client.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// On the stream of its own call: `extra.sendRequest`, `ctx.mcpReq.send`.
    Related,
    /// On the standalone GET: `server.createMessage`, `server.elicitInput`.
    Unrelated,
    /// With the 2.x helper in the call's own context: `ctx.mcpReq.elicitInput`.
    Helper,
}

/// One kind of question, asked in one way, through one proxy.
struct Cell {
    kind: &'static str,
    way: Way,
    faulty: bool,
}

/// What became of the questions of one cell.
#[derive(PartialEq, Debug, Default)]
struct Fates {
    answered: usize,
    lost: usize,
}

const ANSWERED: Fates = Fates { answered: SESSIONS, lost: 0 };
const LOST: Fates = Fates { answered: 0, lost: SESSIONS };

#[test]
fn server_1_26_0_loses_what_it_asks_outside_its_call() {
    one_x_loses_the_unrelated_and_answers_the_related("1.26.0");
}

#[test]
fn server_1_29_0_loses_what_it_asks_outside_its_call() {
    one_x_loses_the_unrelated_and_answers_the_related("1.29.0");
}

#[test]
fn server_1_32_2_loses_what_it_asks_outside_its_call() {
    one_x_loses_the_unrelated_and_answers_the_related("1.32.2");
}

#[test]
fn server_2_0_0_loses_what_the_helper_of_its_own_context_asks() {
    two_x_loses_the_helper_and_answers_send("2.0.0");
}

#[test]
fn server_2_4_0_loses_what_the_helper_of_its_own_context_asks() {
    two_x_loses_the_helper_and_answers_send("2.4.0");
}

#[test]
fn a_python_1_26_0_client_is_no_remedy() {
    the_same_with(&Driver::python("client", "1.26.0", &json!({})));
}

#[test]
fn a_python_2_3_0_client_is_no_remedy() {
    the_same_with(&Driver::python("client", "2.3.0", &json!({})));
}

#[test]
fn an_rmcp_client_is_no_remedy() {
    the_same_with(&Driver::rmcp("client", &json!({})));
}

#[test]
fn python_servers_lose_what_they_ask_outside_their_call_too() {
    for version in ["1.26.0", "2.3.0"] {
        let server = Driver::python("server", version, &json!({ "store": true, "timeout": PATIENCE }));
        let client = Driver::rmcp("client", &json!({}));
        let asked = [("elicitation", Way::Unrelated), ("elicitation", Way::Related)];
        only_the_unrelated_is_lost(&format!("python {version}"), &asked, &server, &client);
    }
}

fn one_x_loses_the_unrelated_and_answers_the_related(version: &str) {
    let asked = [
        ("sampling", Way::Unrelated),
        ("sampling", Way::Related),
        ("elicitation", Way::Unrelated),
        ("elicitation", Way::Related),
    ];
    with_and_without_event_store(version, &asked);
}

fn two_x_loses_the_helper_and_answers_send(version: &str) {
    with_and_without_event_store(version, &[("elicitation", Way::Helper), ("elicitation", Way::Related)]);
}

fn with_and_without_event_store(version: &str, asked: &[(&'static str, Way)]) {
    for store in [false, true] {
        let server = Driver::node("server", version, &json!({ "store": store, "timeout": PATIENCE }));
        let client = Driver::node("client", version, &json!({}));
        only_the_unrelated_is_lost(&format!("{version}, event store {store}"), asked, &server, &client);
    }
}

fn the_same_with(client: &Driver) {
    let server = Driver::node("server", "1.32.2", &json!({ "store": true, "timeout": PATIENCE }));
    let asked = [("elicitation", Way::Unrelated), ("elicitation", Way::Related)];
    only_the_unrelated_is_lost("server 1.32.2", &asked, &server, client);
}

fn only_the_unrelated_is_lost(name: &str, asked: &[(&'static str, Way)], server: &Driver, client: &Driver) {
    let faulty = Mishap::start(&server.url(), &["get-opens-late,limit=60s"]);
    let plain = Mishap::start(&server.url(), &[]);
    let cells: Vec<Cell> = [true, false]
        .into_iter()
        .flat_map(|faulty| asked.iter().map(move |&(kind, way)| Cell { kind, way, faulty }))
        .collect();

    ask_in_all(&cells, server, client, &faulty, &plain);

    for cell in &cells {
        let lost = cell.faulty && cell.way != Way::Related;
        let fates = cell.fates(server, client);
        assert_eq!(fates, if lost { LOST } else { ANSWERED }, "{name}: {}", cell.name());
    }
    every_session_met_the_fault(&faulty.finish(), SESSIONS * asked.len());
    plain.finish().assert_exit(0);
}

// === Cells ===

impl Cell {
    fn name(&self) -> String {
        let proxy = if self.faulty { "with the profile" } else { "without" };
        format!("{} {:?} {proxy}", self.kind, self.way)
    }

    /// The tags of its calls, which are also its clients' ids.
    fn tags(&self) -> Vec<String> {
        (0..SESSIONS).map(|session| format!("{} #{session}", self.name())).collect()
    }

    fn question(&self, tag: &str) -> Value {
        let lost = self.faulty && self.way != Way::Related;
        let via = if self.way == Way::Helper { "elicitInput" } else { "" };
        json!({
            "tag": tag, "kind": self.kind, "related": self.way == Way::Related, "via": via, "wait": true,
            "timeout": if lost { LOSS } else { PATIENCE },
        })
    }

    fn fates(&self, server: &Driver, client: &Driver) -> Fates {
        let mut fates = Fates::default();
        for tag in self.tags() {
            match (seen_by_client(client, &tag), self.outcome(client, &tag).as_str()) {
                (1, "ok") => fates.answered += 1,
                (0, "tool-error") => fates.lost += 1,
                (seen, outcome) => panic!("{tag}: the client saw {seen} questions and its call came to {outcome}"),
            }
            if self.faulty {
                get_came_after_the_call(server, &tag);
            }
        }
        fates
    }

    fn outcome(&self, client: &Driver, tag: &str) -> String {
        let settled =
            client.wait("settled", |event| event["event"] == "settled" && event["id"] == tag && event["call"] == "ask");
        settled["outcome"].as_str().unwrap().to_owned()
    }
}

/// Every session connects, calls, pings; then every question is released.
fn ask_in_all(cells: &[Cell], server: &Driver, client: &Driver, faulty: &Mishap, plain: &Mishap) {
    let sessions = SESSIONS * cells.len();
    for cell in cells {
        let url = if cell.faulty { faulty.url() } else { plain.url() };
        for tag in cell.tags() {
            let call = json!({ "cmd": "call", "call": "ask", "tool": "ask", "args": cell.question(&tag) });
            client.send(&json!({ "cmd": "connect", "id": tag, "url": url, "timeout": PATIENCE, "then": [call] }));
        }
    }
    server.wait_for(sessions, "calls under way", |event| event["event"] == "entered");
    for tag in cells.iter().flat_map(Cell::tags) {
        client.send(&json!({ "cmd": "ping", "id": tag, "call": "ping" }));
    }
    client.wait_for(sessions, "pings", |event| event["call"] == "ping" && event["outcome"] == "ok");
    for cell in cells {
        for tag in cell.tags() {
            if !cell.faulty {
                get_is_open(server, &session_of(server, &tag));
            }
            server.send(&json!({ "cmd": "release", "tag": tag }));
        }
    }
    client.wait_for(sessions, "calls settled", |event| event["event"] == "settled" && event["call"] == "ask");
}

// === What the drivers saw ===

fn session_of(server: &Driver, tag: &str) -> Value {
    server.wait("entered", |event| event["event"] == "entered" && event["tag"] == tag)["session"].clone()
}

fn get_is_open(server: &Driver, session: &Value) {
    server.wait("GET open", |event| event["event"] == "get-open" && event["session"] == *session);
}

fn get_came_after_the_call(server: &Driver, tag: &str) {
    let session = session_of(server, tag);
    get_is_open(server, &session);
    let call_end = server.places(|event| event["event"] == "call-end" && event["tag"] == tag);
    let get = server.places(|event| event["event"] == "get" && event["session"] == session);
    assert!(get.iter().all(|place| *place > call_end[0]), "{tag}: GET at {get:?}, the call's end at {call_end:?}");
}

fn seen_by_client(client: &Driver, tag: &str) -> usize {
    client.places(|event| event["event"] == "server-request" && event["tag"] == tag).len()
}

fn every_session_met_the_fault(run: &Run, sessions: usize) {
    run.assert_exit(0);
    let opened = run.journal.iter().filter(|line| line["kind"] == "gate" && line["rule"] == "get-opens-late/hold-get");
    assert_eq!(opened.count(), sessions, "{}", run.verdict);
}
