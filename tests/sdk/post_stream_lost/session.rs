//! One cell: one client, one session, one request, and what came of it, in words.

use serde_json::{Value, json};

use super::rows::{Request, Row, Sight};
use crate::harness::{Client, Driver};

/// The session of a cell.
pub(super) struct Session<'a> {
    pub(super) row: &'a Row,
    pub(super) client: &'a Client,
    pub(super) server: &'a Driver,
    /// What tells it from the same client's other sessions of this row.
    pub(super) kind: &'static str,
}

impl Session<'_> {
    pub(super) fn connect(&self, url: &str, timeout: u64) {
        let connect = json!({ "cmd": "connect", "id": self.id(), "url": url, "timeout": timeout });
        self.client.driver.send(&connect);
    }

    pub(super) fn wait_until_connected(&self) {
        let id = self.id();
        self.client.driver.wait(&format!("{id} connected"), |event| event["event"] == "connected" && event["id"] == id);
    }

    /// Plays it with the fault and says how it came out.
    pub(super) fn play(&self) -> String {
        self.request();
        if let Request::NotifyUntil(_, sight) = self.row.request {
            self.see(sight);
            self.release();
        }
        self.outcome()
    }

    /// Plays it without a fault: nothing has to be outlived, and nothing may be lost.
    pub(super) fn control(&self) -> String {
        self.request();
        self.release();
        self.outcome()
    }

    /// Its name among its client's sessions, and its call's tag.
    fn id(&self) -> String {
        format!("{} / {} / {}", self.row.what, self.client.name, self.kind)
    }

    fn request(&self) {
        let notify = |count, wait| json!({ "tag": self.id(), "count": count, "wait": wait });
        let tool = |args| json!({ "cmd": "call", "tool": "notify", "args": args });
        let mut request = match self.row.request {
            Request::Ping => json!({ "cmd": "ping" }),
            Request::Notify(count) => tool(notify(count, false)),
            Request::NotifyUntil(count, _) => tool(notify(count, true)),
        };
        request["id"] = json!(self.id());
        request["call"] = json!("request");
        self.client.driver.send(&request);
    }

    fn release(&self) {
        self.server.send(&json!({ "cmd": "release", "tag": self.id() }));
    }

    fn see(&self, sight: Sight) {
        match sight {
            Sight::Closed => {
                let id = self.id();
                let closed = |event: &Value| event["event"] == "post-closed" && event["tag"] == id;
                self.server.wait("response closed", closed);
            }
            Sight::Refused => {
                let session = self.server_session();
                let refused = |event: &Value| event["status"] == 409 && event["session"] == session;
                self.server.wait("resume refused", refused);
            }
        }
    }

    fn server_session(&self) -> Value {
        let id = self.id();
        let notified = |event: &Value| event["event"] == "notified" && event["tag"] == id;
        self.server.wait("notified", notified)["session"].clone()
    }

    /// How the request came out; then whether the session still works.
    fn outcome(&self) -> String {
        let settled = self.settled("request");
        let echo = json!({ "tag": format!("{} / next", self.id()), "text": "still here" });
        let next = json!({ "cmd": "call", "id": self.id(), "call": "next", "tool": "echo", "args": echo });
        self.client.driver.send(&next);
        let next = self.settled("next");

        let mut words = vec![kind(&settled)];
        words.extend(self.resumes());
        if self.told() {
            words.push("`onerror`".to_owned());
        }
        if next["outcome"] != "ok" {
            words.push(format!("then {}", kind(&next)));
        }
        words.join(", ")
    }

    fn settled(&self, call: &str) -> Value {
        let id = self.id();
        let fits = |event: &Value| event["event"] == "settled" && event["id"] == id && event["call"] == call;
        self.client.driver.wait(&format!("{call} of {id} settled"), fits)
    }

    /// The resumes of this session that the server saw: the place in its stream of the event each went on from.
    fn resumes(&self) -> Option<String> {
        if self.row.request == Request::Ping {
            return None;
        }
        let session = self.server_session();
        let log = self.server.log_until_now();
        let resumes = log.iter().filter(|event| event["event"] == "get-open" && event["session"] == session);
        let resumes: Vec<String> = resumes.filter_map(resume).collect();
        (!resumes.is_empty()).then(|| format!("resumed after {}", resumes.join(", ")))
    }

    /// Whether the SDK's error callback spoke before the request settled.
    fn told(&self) -> bool {
        let id = self.id();
        let driver = &self.client.driver;
        let settled = driver.places(|event| event["id"] == id && event["call"] == "request");
        let told = driver.places(|event| event["event"] == "onerror" && event["id"] == id);
        told.iter().any(|place| *place < settled[0])
    }
}

fn kind(settled: &Value) -> String {
    let outcome = settled["outcome"].as_str().unwrap();
    match &settled["code"] {
        Value::Null => outcome.to_owned(),
        Value::String(code) => format!("{outcome} `{code}`"),
        code => format!("{outcome} `{code}`"),
    }
}

fn resume(opened: &Value) -> Option<String> {
    let (_, place) = opened["last"].as_str()?.split_once('-')?;
    let refused = if opened["status"] == 200 { String::new() } else { format!(" ({})", opened["status"]) };
    Some(format!("event {place}{refused}"))
}
