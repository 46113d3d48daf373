//! Stories told to the engine and watched: the points are the engine's own, so that what is tested is what crosses.

mod expected;
mod machines;
mod outcomes;
mod quiet;

use std::time::Duration;

use super::{Request, Watcher};
use crate::engine::playbook::Play;
use crate::engine::record::{Entry, FindingEntry};
use crate::engine::rpc::Id;
use crate::engine::rule::Rule;

/// The version of a session that [`Story::opens`] has agreed on.
const VERSION: &str = "2025-11-25";
const SESSION: (&str, &str) = ("mcp-session-id", "S");

/// A story, and whoever watches it.
struct Story {
    play: Play,
    watcher: Watcher,
    watched: usize,
}

impl Story {
    fn with(rules: Vec<Rule>) -> Self {
        Self { play: Play::new(rules), watcher: Watcher::new(Some(Duration::from_secs(30))), watched: 0 }
    }

    /// With these rules and session `S`, opened by initialize id 0.
    fn opened(rules: Vec<Rule>) -> Self {
        let mut story = Self::with(rules);
        story.opens();
        story
    }

    /// Opens session `S`.
    fn opens(&mut self) {
        let params = format!(r#"{{"protocolVersion":"{VERSION}","capabilities":{{}}}}"#);
        let begin = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
        let result = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{VERSION}"}}}}"#);
        let json = [("content-type", "application/json"), SESSION];
        self.play.sends("init", "POST", &[], &begin).head("init", 200, &json).data("init", &result).ends("init");
    }

    /// Resumes a stream after an event.
    fn resumes(&mut self, name: &str, id: &str) -> &mut Play {
        let headers = [SESSION, ("accept", "text/event-stream"), ("last-event-id", id)];
        self.play.sends(name, "GET", &headers, "")
    }

    /// The client cancels a request.
    fn cancels(&mut self, name: &str, id: u64) {
        self.play.posts(name, &cancel(id)).head(name, 202, &[]).ends(name);
    }

    /// Hands on what was recorded since the last time.
    fn watch(&mut self) -> Vec<FindingEntry> {
        let entries: Vec<Entry> = self.play.entries[self.watched..].to_vec();
        self.watched = self.play.entries.len();
        entries.iter().flat_map(|entry| self.watcher.take(entry)).collect()
    }

    fn finish(mut self) -> Watcher {
        self.play.finishes();
        self.watch();
        self.watcher.finish(self.play.now.0);
        self.watcher
    }

    /// What is found when all is told: monitor and words.
    fn findings(self) -> Vec<(String, String)> {
        let watcher = self.finish();
        watcher.findings().iter().map(|found| (found.monitor.clone(), found.words.clone())).collect()
    }
}

fn request(watcher: &Watcher, id: u64) -> &Request {
    let id = Id::Number(id.to_string());
    watcher.requests().rev().find(|request| request.id == id).expect("the request crossed")
}

fn cancel(id: u64) -> String {
    let params = format!(r#"{{"requestId":{id}}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
}

/// A message as an event, with an event id.
fn event(id: &str, message: &str) -> String {
    format!("id: {id}\ndata: {message}\n\n")
}
