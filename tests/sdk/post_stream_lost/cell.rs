//! One cell: one client, one session, one request, and what came of it, in words.

use serde_json::{Value, json};

use super::rows::{Request, Row, Sight};
use crate::harness::{Client, Driver, PATIENCE};

/// One row for one client.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) row: &'a Row,
    pub(super) client: &'a Client,
    pub(super) server: &'a Driver,
}

/// The session of a cell; also its tag and its client's id.
struct Session<'a> {
    cell: Cell<'a>,
    id: String,
}

impl<'a> Cell<'a> {
    /// Plays it against `url` and says how it came out.
    pub(super) fn play(self, url: &str) -> String {
        let session = self.session("fault");
        session.open(url, self.row.timeout);
        if let Request::NotifyUntil(_, sight) = self.row.request {
            session.see(sight);
            session.release();
        }
        session.outcome()
    }

    /// Plays it without a fault: nothing has to be outlived, and nothing may be lost.
    pub(super) fn control(self, url: &str) -> String {
        let session = self.session("control");
        session.open(url, PATIENCE);
        session.release();
        session.outcome()
    }

    fn session(self, kind: &str) -> Session<'a> {
        Session { cell: self, id: format!("{} / {} / {kind}", self.row.what, self.client.name) }
    }
}

impl Session<'_> {
    fn open(&self, url: &str, timeout: u64) {
        let notify = |count, wait| json!({ "tag": self.id, "count": count, "wait": wait });
        let tool = |args| json!({ "cmd": "call", "call": "request", "tool": "notify", "args": args });
        let request = match self.cell.row.request {
            Request::Ping => json!({ "cmd": "ping", "call": "request" }),
            Request::Notify(count) => tool(notify(count, false)),
            Request::NotifyUntil(count, _) => tool(notify(count, true)),
        };
        let connect = json!({ "cmd": "connect", "id": self.id, "url": url, "timeout": timeout, "then": [request] });
        self.cell.client.driver.send(&connect);
    }

    fn release(&self) {
        self.cell.server.send(&json!({ "cmd": "release", "tag": self.id }));
    }

    fn see(&self, sight: Sight) {
        match sight {
            Sight::Closed => {
                let closed = |event: &Value| event["event"] == "post-closed" && event["tag"] == self.id;
                self.cell.server.wait("response closed", closed);
            }
            Sight::Refused => {
                let session = self.server_session();
                let refused = |event: &Value| event["status"] == 409 && event["session"] == session;
                self.cell.server.wait("resume refused", refused);
            }
        }
    }

    fn server_session(&self) -> Value {
        let notified = |event: &Value| event["event"] == "notified" && event["tag"] == self.id;
        self.cell.server.wait("notified", notified)["session"].clone()
    }

    /// How the request came out; then whether the session still works.
    fn outcome(&self) -> String {
        let settled = self.settled("request");
        let echo = json!({ "tag": format!("{} / next", self.id), "text": "still here" });
        let next = json!({ "cmd": "call", "id": self.id, "call": "next", "tool": "echo", "args": echo });
        self.cell.client.driver.send(&next);
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
        let fits = |event: &Value| event["event"] == "settled" && event["id"] == self.id && event["call"] == call;
        self.cell.client.driver.wait(&format!("{call} of {} settled", self.id), fits)
    }

    /// The resumes of this session that the server saw: the place in its stream of the event each went on from.
    fn resumes(&self) -> Option<String> {
        if self.cell.row.request == Request::Ping {
            return None;
        }
        let session = self.server_session();
        let log = self.cell.server.log();
        let resumes = log.iter().filter(|event| event["event"] == "get-open" && event["session"] == session);
        let resumes: Vec<String> = resumes.filter_map(resume).collect();
        (!resumes.is_empty()).then(|| format!("resumed after {}", resumes.join(", ")))
    }

    /// Whether the SDK's error callback spoke before the request settled.
    fn told(&self) -> bool {
        let driver = &self.cell.client.driver;
        let settled = driver.places(|event| event["id"] == self.id && event["call"] == "request");
        let told = driver.places(|event| event["event"] == "onerror" && event["id"] == self.id);
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
