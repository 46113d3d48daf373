//! `answers-cross` with every client: two calls in flight, each asks the user; the questions arrive in the opposite order,
//! the journal knows whose each is, and the client does not (modelcontextprotocol/typescript-sdk#2659), unless it is rmcp.
//!
//! The client answers when the test lets it: the first call's question has been asked, the client has made a further round
//! trip, and yet it sees nothing before it has answered the second call's.

use serde_json::{Value, json};

use crate::harness::{Client, Driver, Mishap, Owner, PATIENCE, Run, clients};

/// The calls are told apart by an argument, so that no arrival order matters.
const CROSS: &str =
    "answers-cross,first={ '/arguments/role' = 'first' },second={ '/arguments/role' = 'second' },limit=60s";

/// The key under which `owner-marked` writes the owner into a question.
const MARK: &str = "mishap/owner";

#[test]
fn the_first_calls_question_comes_after_the_client_answered_the_seconds() {
    let scene = Scene::set(&[CROSS, "owner-marked"]);
    for client in &scene.clients {
        scene.call(client, "first");
        scene.call(client, "second");
        scene.ask(client, "first");
        scene.ping(client);
        assert_eq!(scene.questions(client), [""; 0], "{}: asked, and a round trip later still held", client.name);

        scene.ask(client, "second");
        scene.question(client, "second");
        assert_eq!(scene.questions(client), ["second"], "{}: not before an answer", client.name);

        scene.answer(client, "second");
        scene.question(client, "first");
        scene.answer(client, "first");
        scene.both_calls_got_their_own_answer(client);
        scene.the_owner_is_told_by_the_mark_and_by_what_the_client_has(client);
    }
    scene.the_journal_names_every_owner();
}

#[test]
fn without_the_profile_the_first_calls_question_does_not_wait_for_an_answer() {
    let scene = Scene::set(&[]);
    for client in &scene.clients {
        scene.call(client, "first");
        scene.call(client, "second");
        scene.ask(client, "first");
        scene.question(client, "first");
        scene.ask(client, "second");
        // Python's session sees nothing more while a handler of it is at work.
        scene.answer(client, "first");
        scene.question(client, "second");
        scene.answer(client, "second");
        assert_eq!(scene.questions(client), ["first", "second"], "{}", client.name);
        scene.both_calls_got_their_own_answer(client);
    }
    scene.mishap.finish().assert_exit(0);
}

/// One server, one proxy, a session for each client.
struct Scene {
    server: Driver,
    mishap: Mishap,
    clients: Vec<Client>,
}

impl Scene {
    fn set(profiles: &[&str]) -> Self {
        let server = Driver::node("server", "1.32.2", &json!({ "store": false, "timeout": PATIENCE }));
        let mishap = Mishap::start(&server.url(), profiles);
        let clients = clients();
        for client in &clients {
            client.driver.send(&json!({
                "cmd": "connect", "id": "c", "url": mishap.url(), "timeout": PATIENCE,
                "hold_answers": true, "fetch_wrapped": true,
            }));
        }
        for client in &clients {
            client.driver.wait("connected", |event| event["event"] == "connected");
        }
        Self { server, mishap, clients }
    }

    // === What the test does ===

    fn call(&self, client: &Client, role: &str) {
        let tag = tag(client, role);
        let args = json!({ "tag": tag, "role": role, "kind": "elicitation", "related": true, "wait": true });
        client.driver.send(&json!({ "cmd": "call", "id": "c", "call": role, "tool": "ask", "args": args }));
        self.entered(&tag);
    }

    fn ask(&self, client: &Client, role: &str) {
        let tag = tag(client, role);
        self.server.send(&json!({ "cmd": "release", "tag": tag }));
        self.server.wait("asked", |event| event["event"] == "asked" && event["tag"] == tag);
    }

    fn ping(&self, client: &Client) {
        client.driver.send(&json!({ "cmd": "ping", "id": "c", "call": "ping" }));
        client.driver.wait("ping", |event| event["call"] == "ping" && event["outcome"] == "ok");
    }

    fn answer(&self, client: &Client, role: &str) {
        client.driver.send(&json!({ "cmd": "answer", "id": "c", "tag": tag(client, role) }));
    }

    // === What is seen ===

    fn entered(&self, tag: &str) -> Value {
        self.server.wait("entered", |event| event["event"] == "entered" && event["tag"] == tag)
    }

    fn question(&self, client: &Client, role: &str) -> Value {
        let tag = tag(client, role);
        client.driver.wait("a question", |event| event["event"] == "server-request" && event["tag"] == tag)
    }

    /// The roles of the calls whose questions the client has seen, in the order it saw them.
    fn questions(&self, client: &Client) -> Vec<String> {
        let seen = client.driver.log().into_iter().filter(|event| event["event"] == "server-request");
        seen.map(|event| event["tag"].as_str().unwrap().split(' ').next().unwrap().to_owned()).collect()
    }

    fn both_calls_got_their_own_answer(&self, client: &Client) {
        for role in ["first", "second"] {
            let settled = |event: &Value| event["event"] == "settled" && event["call"] == role;
            assert_eq!(client.driver.wait("settled", settled)["outcome"], "ok", "{} {role}", client.name);
            let tag = tag(client, role);
            let answered = |event: &Value| event["event"] == "answered" && event["tag"] == tag;
            assert_eq!(self.server.wait("answered", answered)["answer"], format!("for {tag}"));
        }
    }

    fn the_owner_is_told_by_the_mark_and_by_what_the_client_has(&self, client: &Client) {
        for role in ["first", "second"] {
            let tag = tag(client, role);
            let question = self.question(client, role);
            assert_eq!(question["meta"][MARK]["id"], self.entered(&tag)["request"], "{tag}: the mark");
            assert_eq!(question["fields"], json!(client.sees), "{tag}: all that the handler can see");
            let (sdk, bytes) = match client.owner {
                Owner::ByWrappedFetch => (Value::Null, json!(tag)),
                Owner::BySdk => (self.entered(&tag)["request"].clone(), Value::Null),
                Owner::Unknown => (Value::Null, Value::Null),
            };
            assert_eq!(question["origin"], sdk, "{tag}: what the SDK says");
            assert_eq!(question["wrapped"], bytes, "{tag}: what the bytes said");
        }
    }

    /// The journal's owner of each question is the request that called the tool that asks it.
    fn the_journal_names_every_owner(self) {
        let truth = self.clients.iter().flat_map(|client| {
            ["first", "second"].map(|role| {
                let owner = self.entered(&tag(client, role))["request"].clone();
                Owned { question: self.question(client, role)["request"].clone(), owner }
            })
        });
        let truth: Vec<Owned> = truth.collect();
        let run = self.mishap.finish();
        run.assert_exit(0);
        assert_eq!(sorted(owners_of_questions(&run)), sorted(truth));
    }
}

/// The JSON-RPC ids of a question and of the call it belongs to. Sessions use the same ids; a swap within one would show.
#[derive(PartialEq, Debug)]
struct Owned {
    question: Value,
    owner: Value,
}

fn owners_of_questions(run: &Run) -> Vec<Owned> {
    let questions = run.points(|point| point["point"] == "block" && point["rpc"][0]["method"] == "elicitation/create");
    let owned = |point: &&Value| Owned { question: point["rpc"][0]["id"].clone(), owner: point["owner"]["id"].clone() };
    questions.iter().map(owned).collect()
}

fn sorted(mut owned: Vec<Owned>) -> Vec<Owned> {
    owned.sort_by_key(|it| (it.question.to_string(), it.owner.to_string()));
    owned
}

fn tag(client: &Client, role: &str) -> String {
    format!("{role} {}", client.name)
}
