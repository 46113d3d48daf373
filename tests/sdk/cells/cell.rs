//! One cell: a session of a client under a path of its own, and its requests.

use serde_json::{Value, json};

use super::seen::Seen;
use super::{WINDOW, words};
use crate::harness::{Client, PATIENCE};

/// What a cell asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ask {
    /// A tool that answers at once.
    Echo,
    /// A tool that sends so many notifications and then answers.
    Notify(u64),
    /// A tool that answers at once, beside one that is never answered: the subject is the standalone GET meanwhile.
    Meanwhile,
    /// Connecting itself, then a tool that answers at once.
    Connect,
}

/// A session.
pub(crate) struct Cell<'a> {
    pub(crate) client: &'a Client,
    /// Its name among all sessions of its driver, and the last part of its path.
    pub(crate) slug: String,
    ask: Ask,
    /// How long it waits for what it asks, in milliseconds.
    timeout: u64,
}

impl<'a> Cell<'a> {
    /// A cell of `situation`, which is to be unique in its test. It waits for `timeout` milliseconds.
    pub(crate) fn new(client: &'a Client, situation: &str, ask: Ask, timeout: u64) -> Self {
        let slug = format!("{situation}/{}", client.name).replace([' ', ','], "-");
        Self { client, slug, ask, timeout }
    }

    /// Begins to connect through the proxy at `url`, in the era of 2026-07-28 if `modern`.
    pub(crate) fn connect(&self, url: &str, modern: bool, timeout: u64) {
        let url = format!("{url}/{}", self.slug);
        let mut connect = json!({ "cmd": "connect", "id": self.slug, "url": url, "timeout": timeout });
        connect["modern"] = json!(modern);
        self.client.driver.send(&connect);
    }

    /// Waits until `connect` has come to an end; whether the session is there.
    pub(crate) fn connected(&self) -> bool {
        let ended = |event: &Value| {
            event["id"] == self.slug && (event["event"] == "connected" || event["event"] == "connect-failed")
        };
        self.client.driver.wait(&format!("{} connected or not", self.slug), ended)["event"] == "connected"
    }

    /// Sends what the cell is about.
    pub(crate) fn ask(&self) {
        match self.ask {
            Ask::Echo | Ask::Connect => self.call("request", "echo", json!({ "text": "hello" }), self.timeout),
            Ask::Notify(count) => {
                self.call("request", "notify", json!({ "count": count, "wait": false }), self.timeout);
            }
            Ask::Meanwhile => {
                self.call("meanwhile", "slow", json!({}), WINDOW);
                self.call("request", "echo", json!({ "text": "hello" }), self.timeout);
            }
        }
    }

    /// Waits until the SDK's error callback has spoken.
    pub(crate) fn is_told_an_error(&self) {
        let told = |event: &Value| event["event"] == "onerror" && event["id"] == self.slug;
        self.client.driver.wait(&format!("an error told to {}", self.slug), told);
    }

    /// Waits until that has come to an end, and one request more, which shows whether the session still works; then
    /// closes the session.
    pub(crate) fn end(&self) {
        self.settled("request");
        if self.ask == Ask::Meanwhile {
            self.settled("meanwhile");
        } else {
            self.call("next", "echo", json!({ "text": "still here" }), PATIENCE);
            self.settled("next");
        }
        self.client.driver.send(&json!({ "cmd": "close", "id": self.slug }));
    }

    /// How it all came out; `seen` is what crossed the proxy for it.
    pub(crate) fn outcome(&self, seen: &Seen) -> String {
        let mut parts = vec![words::main(&self.settled("request"), seen)];
        parts.extend(seen.resumes(&parts[0]));
        parts.extend(if self.ask == Ask::Meanwhile { Some(seen.gets()) } else { seen.more_gets() });
        if self.heard_an_error() {
            parts.push("`onerror`".to_owned());
        }
        if self.ask != Ask::Meanwhile {
            let next = words::word(&self.settled("next"));
            // Where the session crashed, nothing else is to be expected.
            if next != "answered" && parts[0] != "crashed" {
                parts.push(if next == "crashed" { next } else { format!("then {next}") });
            }
        }
        parts.join(", ")
    }

    fn call(&self, call: &str, tool: &str, mut args: Value, timeout: u64) {
        args["tag"] = json!(format!("{}/{call}", self.slug));
        let mut command = json!({ "cmd": "call", "id": self.slug, "call": call, "tool": tool, "args": args });
        command["timeout"] = json!(timeout);
        self.client.driver.send(&command);
    }

    fn settled(&self, call: &str) -> Value {
        let fits = |event: &Value| event["event"] == "settled" && event["id"] == self.slug && event["call"] == call;
        self.client.driver.wait(&format!("{call} of {} settled", self.slug), fits)
    }

    /// Whether the SDK's error callback spoke before the session's last request settled.
    fn heard_an_error(&self) -> bool {
        let driver = &self.client.driver;
        let last = if self.ask == Ask::Meanwhile { "meanwhile" } else { "next" };
        let settled = driver.places(|event| event["id"] == self.slug && event["call"] == last);
        let told = driver.places(|event| event["event"] == "onerror" && event["id"] == self.slug);
        told.iter().any(|place| *place < settled[0])
    }
}
