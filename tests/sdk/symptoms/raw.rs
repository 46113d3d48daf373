//! A client written by hand, for what no SDK of the test set falls for: it shows the wire as it is.
//!
//! It speaks just enough HTTP/1.1: one request a connection, answers read as bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::scene::Scene;
use crate::harness::BOUND;

/// A call whose stream is watched after its answer has come, until a second call has come and gone.
pub(super) fn end_after_the_answer(scene: Scene) -> String {
    let session = Session::open(&scene);
    let mut first = session.post(&scene, "first");
    first.read_until("\"result\"");
    let mut second = session.post(&scene, "second");
    second.read_until("\"result\"");
    let ended = if scene.is_on() { first.has_ended() } else { first.ends() };
    drop((first, second));
    scene.finish();
    if ended { "answered".to_owned() } else { "answered, withheld".to_owned() }
}

/// A standalone GET whose head is watched until a call has come and gone.
pub(super) fn head_of_a_quiet_get(scene: Scene) -> String {
    let session = Session::open(&scene);
    let mut get = Exchange::begin(&scene, "GET", &session.id, "");
    scene.server.wait("GET open", |event| event["event"] == "get-open" && event["session"] == session.id);
    session.post(&scene, "call").read_until("\"result\"");
    let came = if scene.is_on() { get.has_begun() } else { get.read_until("\r\n\r\n") };
    drop(get);
    scene.finish();
    if came { "answered".to_owned() } else { "withheld".to_owned() }
}

/// A call that is sent right after `initialized`: which of the two the server sees first.
pub(super) fn initialized(scene: Scene) -> String {
    let session = Session::initialize(&scene);
    let mut initialized = session.initialized(&scene);
    if !scene.is_on() {
        initialized.read_until("\r\n\r\n");
    }
    session.post(&scene, "call").read_until("\"result\"");
    initialized.read_until("\r\n\r\n");
    let log = scene.server.log_until_now();
    let place = |fits: &dyn Fn(&Value) -> bool| log.iter().position(fits).unwrap();
    let in_order = place(&|event| event["event"] == "initialized" && event["session"] == session.id)
        < place(&|event| event["event"] == "call-end" && event["tag"] == scene.tag("call"));
    scene.finish();
    if in_order { "answered".to_owned() } else { "answered, reordered".to_owned() }
}

struct Session {
    id: String,
}

impl Session {
    fn open(scene: &Scene) -> Self {
        let session = Self::initialize(scene);
        session.initialized(scene).read_until("\r\n\r\n");
        session
    }

    fn initialize(scene: &Scene) -> Self {
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let mut exchange = Exchange::begin(scene, "POST", "", &initialize.to_string());
        exchange.read_until("\"result\"");
        let head = exchange.text().to_ascii_lowercase();
        let id = head.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
        Self { id }
    }

    fn initialized(&self, scene: &Scene) -> Exchange {
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        Exchange::begin(scene, "POST", &self.id, &initialized.to_string())
    }

    fn post(&self, scene: &Scene, call: &str) -> Exchange {
        let arguments = json!({ "tag": scene.tag(call), "text": "hello" });
        let params = json!({ "name": "echo", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params });
        Exchange::begin(scene, "POST", &self.id, &call.to_string())
    }
}

/// One request on a connection of its own, and what has come back.
struct Exchange {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Exchange {
    fn begin(scene: &Scene, method: &str, session: &str, body: &str) -> Self {
        let authority = scene.url().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let session = if session.is_empty() { String::new() } else { format!("mcp-session-id: {session}\r\n") };
        let mut stream = TcpStream::connect(authority).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: {authority}\r\naccept: application/json, text/event-stream\r\n{session}\
             mcp-protocol-version: 2025-11-25\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        Self { stream, read: Vec::new() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }

    /// Reads until this has come; always true, or it fails.
    fn read_until(&mut self, what: &str) -> bool {
        while !self.text().contains(what) {
            assert!(self.read_some().unwrap() > 0, "ended before {what}: {}", self.text());
        }
        true
    }

    /// Reads to the end; always true, or it fails.
    fn ends(&mut self) -> bool {
        while self.read_some().unwrap() > 0 {}
        true
    }

    /// Whether the end has come by now.
    fn has_ended(&mut self) -> bool {
        self.now(|_, ended| ended)
    }

    /// Whether anything has come by now.
    fn has_begun(&mut self) -> bool {
        self.now(|read, _| !read.is_empty())
    }

    fn now(&mut self, ask: impl Fn(&[u8], bool) -> bool) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        loop {
            match self.read_some() {
                Ok(0) => return ask(&self.read, true),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return ask(&self.read, false),
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn read_some(&mut self) -> std::io::Result<usize> {
        let mut buffer = [0; 4096];
        let count = self.stream.read(&mut buffer)?;
        self.read.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
