//! The demo's client and server are real: each talks to its counterpart of rmcp, from `initialize` to the close.
//!
//! rmcp runs as the driver of this package, a process of its own; the demo's peers run in the test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Stdio;
use std::time::Duration;

use mishap::demo::client::{Attribution, Client, Options};
use mishap::demo::server::{self, Note, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Nothing here may take as long; what does has hung.
const HUNG: Duration = Duration::from_secs(30);

/// A driver; it ends with the test.
struct Driver {
    _child: Child,
    commands: ChildStdin,
    events: Lines<BufReader<ChildStdout>>,
}

impl Driver {
    fn start(program: &str) -> Self {
        let options = json!({ "timeout": 20_000 }).to_string();
        let mut command = Command::new(program);
        command.arg(options).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let events = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { commands: child.stdin.take().unwrap(), events, _child: child }
    }

    async fn tell(&mut self, command: &Value) {
        self.commands.write_all(format!("{command}\n").as_bytes()).await.unwrap();
    }

    /// The next event of that name.
    async fn event(&mut self, name: &str) -> Value {
        let found = async {
            loop {
                let line = self.events.next_line().await.unwrap().expect("the driver lives");
                let event: Value = serde_json::from_str(&line).unwrap();
                if event["event"] == name {
                    return event;
                }
            }
        };
        tokio::time::timeout(HUNG, found).await.unwrap_or_else(|_| panic!("no event {name}"))
    }

    async fn settled(&mut self, command: &Value) -> Value {
        self.tell(command).await;
        let event = self.event("settled").await;
        assert_eq!(event["outcome"], "ok", "{event}");
        event["result"].clone()
    }
}

async fn until(notes: &mut UnboundedReceiver<Note>, wanted: &Note) {
    let found = async { while notes.recv().await.expect("the server lives") != *wanted {} };
    tokio::time::timeout(HUNG, found).await.unwrap_or_else(|_| panic!("the server never noted {wanted:?}"));
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// rmcp says of each question which request's stream it came on: the demo's routing is what it claims to be.
#[tokio::test]
async fn the_client_of_rmcp_works_with_the_demo_server() {
    let (sender, mut notes) = unbounded_channel();
    let options = server::Options { timeout: HUNG, notes: Some(sender), ..Default::default() };
    let server = Server::bind(options).await.unwrap();
    let mut rmcp = Driver::start(env!("CARGO_BIN_EXE_mishap-rmcp-client"));
    rmcp.tell(&json!({ "cmd": "connect", "id": "c", "url": server.url(), "timeout": 20_000 })).await;
    rmcp.event("connected").await;
    let list = rmcp.settled(&json!({ "cmd": "list", "id": "c", "call": "l" })).await;
    assert_eq!(names(&list), ["echo", "ask", "notify"]);
    let echo = json!({ "cmd": "call", "id": "c", "call": "e", "tool": "echo", "args": { "text": "hello" } });
    assert_eq!(rmcp.settled(&echo).await["content"][0]["text"], "hello");
    until(&mut notes, &Note::GetOpened).await;
    for (related, kind) in [(true, "elicitation"), (false, "elicitation"), (true, "sampling"), (false, "sampling")] {
        let tag = format!("{kind} {related}");
        let args = json!({ "tag": tag, "kind": kind, "related": related });
        rmcp.tell(&json!({ "cmd": "call", "id": "c", "call": "a", "tool": "ask", "args": args })).await;
        let asked = rmcp.event("server-request").await;
        assert_eq!(asked["tag"], tag.as_str());
        assert_eq!(asked["origin"] == "unassociated", !related, "{asked}");
        let settled = rmcp.event("settled").await;
        assert_eq!(settled["result"]["content"][0]["text"], format!("for {tag}"), "{settled}");
    }
    rmcp.tell(&json!({ "cmd": "close", "id": "c" })).await;
    rmcp.event("closed").await;
    until(&mut notes, &Note::SessionEnded).await;
}

#[tokio::test]
async fn the_demo_client_works_with_the_server_of_rmcp() {
    let mut rmcp = Driver::start(env!("CARGO_BIN_EXE_mishap-rmcp-server"));
    let listening = rmcp.event("listening").await;
    let options = Options { timeout: HUNG, attribution: Attribution::ByStream, ..Options::default() };
    let client = Client::connect(listening["url"].as_str().unwrap(), options).await.unwrap();
    let list = client.request("tools/list", &json!({})).answer().await.unwrap();
    assert_eq!(names(&list), ["echo", "ask", "notify", "slow"]);
    let echo = client.call("echo", &json!({ "tag": "E", "text": "hello" })).answer().await.unwrap();
    assert_eq!(echo["content"][0]["text"], "hello");
    for (kind, tag) in [("elicitation", "A"), ("sampling", "B")] {
        let args = json!({ "tag": tag, "kind": kind, "related": true, "wait": false });
        client.call("ask", &args).answer().await.unwrap();
        let answered = rmcp.event("answered").await;
        assert_eq!((&answered["tag"], &answered["answer"]), (&json!(tag), &json!(tag)), "{answered}");
    }
    client.close().await.unwrap();
}
