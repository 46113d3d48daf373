//! What a row is played on: one client, one server, a proxy of its own between them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Profile;
use super::rows::Row;
use crate::cells::WINDOW;
use crate::harness::{Client, Driver, LOSS, Mishap, PATIENCE, Run};

pub(super) struct Scene<'a> {
    pub(super) client: &'a Client,
    pub(super) server: &'a Driver,
    /// Unique among all scenes: the name of its first session, and the beginning of each tag.
    pub(super) name: String,
    profile: Profile,
    /// What its run ends with.
    exit: i32,
    mishap: Mishap,
}

impl<'a> Scene<'a> {
    pub(super) fn set(
        row: &Row,
        clients: &'a BTreeMap<&str, Client>,
        servers: &'a BTreeMap<&str, Driver>,
        profile: Profile,
    ) -> Self {
        let (client, server) = (&clients[row.client], &servers[row.server]);
        let separator = if row.with.is_empty() { "" } else { "," };
        let own = format!("{}{separator}{}", row.profile, row.with);
        let mut profiles = row.beside.to_vec();
        if profile == Profile::On {
            profiles.push(&own);
        }
        let upstreams = [Some(row.server), row.replica].into_iter().flatten().map(|name| servers[name].url());
        let upstreams: Vec<String> = upstreams.collect();
        let upstreams: Vec<&str> = upstreams.iter().map(String::as_str).collect();
        let mishap = Mishap::in_front_of(&upstreams, &profiles);
        let exit = if row.breaks && profile == Profile::On { 3 } else { 0 };
        Self { exit, client, server, name: format!("{own} {} {profile:?}", client.name), profile, mishap }
    }

    pub(super) fn url(&self) -> &str {
        self.mishap.url()
    }

    /// Whether the profile acts.
    pub(super) fn is_on(&self) -> bool {
        self.profile == Profile::On
    }

    /// The timeout of a request that is lost with the profile, in milliseconds.
    pub(super) fn window(&self) -> u64 {
        if self.is_on() { WINDOW } else { PATIENCE }
    }

    /// The timeout of a question that is lost with the profile, in milliseconds.
    pub(super) fn loss(&self) -> u64 {
        if self.is_on() { LOSS } else { PATIENCE }
    }

    /// Stops the proxy. Every rule has done something and every expectation was met that the client can meet, or the run
    /// fails otherwise than it should.
    pub(super) fn finish(self) -> Run {
        let run = self.mishap.finish();
        assert_eq!(run.exit, self.exit, "{}\n{}", self.name, run.verdict);
        run
    }

    // === The client ===

    pub(super) fn connect(&self, session: &str) {
        self.client.driver.send(&json!({ "cmd": "connect", "id": session, "url": self.url(), "timeout": PATIENCE }));
        self.client.driver.wait("connected", |event| event["event"] == "connected" && event["id"] == session);
    }

    /// Calls a tool; the call's tag is its name, and both begin with the scene's.
    pub(super) fn call(&self, call: &str, tool: &str, mut args: Value, timeout: u64) {
        args["tag"] = json!(self.tag(call));
        let mut command = json!({ "cmd": "call", "id": self.name, "call": call, "tool": tool, "args": args });
        command["timeout"] = json!(timeout);
        self.client.driver.send(&command);
    }

    pub(super) fn tag(&self, call: &str) -> String {
        format!("{} {call}", self.name)
    }

    pub(super) fn settled(&self, call: &str) -> Value {
        let fits = |event: &Value| event["event"] == "settled" && event["id"] == self.name && event["call"] == call;
        self.client.driver.wait(&format!("{call} of {} settled", self.name), fits)
    }

    /// A further round trip: what the client was sent before has reached it.
    pub(super) fn ping(&self) {
        self.client.driver.send(&json!({ "cmd": "ping", "id": self.name, "call": "ping" }));
        self.settled("ping");
    }

    /// The question of this call, as the client's handler saw it.
    pub(super) fn question(&self, call: &str) -> Value {
        let tag = self.tag(call);
        self.client.driver.wait("a question", |event| event["event"] == "server-request" && event["tag"] == tag)
    }

    /// Whether the client's handler saw the question of this call by now.
    pub(super) fn was_asked(&self, call: &str) -> bool {
        let tag = self.tag(call);
        !self.client.driver.places(|event| event["event"] == "server-request" && event["tag"] == tag).is_empty()
    }

    // === The server ===

    /// Waits until the server says this of a call.
    pub(super) fn server_says(&self, what: &str, call: &str) -> Value {
        let tag = self.tag(call);
        self.server.wait(what, |event| event["event"] == what && event["tag"] == tag)
    }

    /// Whether the server has said this of a call by now.
    pub(super) fn server_said(&self, what: &str, call: &str) -> bool {
        let tag = self.tag(call);
        self.server.log_until_now().iter().any(|event| event["event"] == what && event["tag"] == tag)
    }

    pub(super) fn release(&self, call: &str) {
        self.server.send(&json!({ "cmd": "release", "tag": self.tag(call) }));
    }
}
