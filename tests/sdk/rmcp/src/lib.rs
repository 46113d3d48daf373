//! The drivers' wire to the test: commands in on stdin, events out on stdout, one JSON object a line.
//!
//! Not MCP: nothing here knows what a session or a tool is. The one rule: stdout carries nothing but whole event lines.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::sync::Semaphore;

/// Leave to go on, given by the test for a tag, whichever of giving and asking comes first.
#[derive(Clone, Default)]
pub struct Gates(Arc<Mutex<HashMap<String, Arc<Semaphore>>>>);

impl Gates {
    /// Opens the gate of `tag`, for good.
    pub fn open(&self, tag: &str) {
        self.gate(tag).close();
    }

    /// Waits until the gate of `tag` is open.
    pub async fn pass(&self, tag: &str) {
        // A closed semaphore refuses at once and one without permits waits: that is a gate which, once open, stays so.
        let _refused = self.gate(tag).acquire().await.map(drop);
    }

    fn gate(&self, tag: &str) -> Arc<Semaphore> {
        let mut gates = self.0.lock().expect("no holder of this lock panics");
        gates.entry(tag.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))).clone()
    }
}

/// The commands of stdin.
pub struct Commands(Lines<BufReader<Stdin>>);

impl Commands {
    /// Begins to read stdin; to be called once.
    pub fn new() -> Self {
        Self(BufReader::new(tokio::io::stdin()).lines())
    }

    /// The next command, or none when stdin has ended.
    pub async fn next(&mut self) -> Option<Value> {
        let line = self.0.next_line().await.expect("stdin is UTF-8")?;
        Some(serde_json::from_str(&line).expect("a command is JSON"))
    }
}

impl Default for Commands {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes one event; flushed at once, because the test decides by it what to do next.
pub fn emit(event: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{event}").and_then(|()| out.flush()).expect("the test reads stdout");
}

/// The JSON object that is the driver's last argument, null when there is none.
pub fn options() -> Value {
    std::env::args().skip(1).last().map_or(Value::Null, |text| serde_json::from_str(&text).expect("options are JSON"))
}

/// A field of a command that must be a string.
pub fn text<'a>(command: &'a Value, field: &str) -> &'a str {
    command[field].as_str().unwrap_or_else(|| panic!("{field} missing in {command}"))
}

/// A part of the protocol from its JSON form.
pub fn wire<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a part of the protocol")
}
