//! What a peer has received, in words: heads, blocks, bodies.
//!
//! The one rule it keeps: it reads bytes as a peer would and knows nothing of the engine's own parsers.

use serde_json::Value;

use crate::engine::event::{AnswerHead, Ending};

/// Headers of answers that are worth a word.
const TOLD: [&str; 7] = [
    "mcp-session-id",
    "location",
    "retry-after",
    "www-authenticate",
    "allow",
    "access-control-allow-headers",
    "x-accel-buffering",
];
/// Headers of requests that are worth a word.
const ASKED: [&str; 5] = ["last-event-id", "mcp-protocol-version", "authorization", "mcp-session-id", "origin"];

/// What every request of the session carries says nothing.
const USUAL: (&str, &str) = ("mcp-session-id", "S");

/// What a client has of an exchange.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) status: Option<u16>,
    /// Whether an answer has come, in an answer that HTTP does not call an error.
    pub(super) answered: bool,
    /// The ids of the answers on it, until they are taken.
    pub(super) answers: Vec<String>,
    /// The ids of the server's requests on it, until they are taken.
    pub(super) questions: Vec<String>,
    pub(super) over: Option<Ending>,
    /// The last SSE id.
    pub(super) id: Option<String>,
    /// Whether a byte of the body has come.
    pub(super) begun: bool,
    sse: bool,
    buffer: Vec<u8>,
    /// How many writes the bytes in the buffer came in.
    writes: usize,
}

impl Received {
    pub(super) fn head(&mut self, head: &AnswerHead) -> String {
        self.status = Some(head.status);
        let media = media(&head.headers);
        self.sse = media == Some("sse");
        let media = media.map(|media| format!(" {media}")).unwrap_or_default();
        format!("head {}{media}{}", head.status, told(&head.headers, &TOLD, None))
    }

    /// More of the body: what is complete by now.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.begun |= !bytes.is_empty();
        self.buffer.extend_from_slice(bytes);
        self.writes += 1;
        let mut found = Vec::new();
        if self.sse {
            while let Some(end) = block_end(&self.buffer) {
                let block: Vec<u8> = self.buffer.drain(..end).collect();
                found.push(self.block(&String::from_utf8_lossy(&block)) + &self.pieces());
                self.writes = usize::from(!self.buffer.is_empty());
            }
        } else if let Ok(message) = serde_json::from_slice::<Value>(&self.buffer) {
            found.push(format!("body {}{}", self.message(&message, self.buffer.len()), self.pieces()));
            self.buffer.clear();
            self.writes = 0;
        }
        found
    }

    /// What has come and is not complete.
    pub(super) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.buffer);
        let text = String::from_utf8_lossy(&rest).into_owned();
        (!rest.is_empty())
            .then(|| if self.sse { format!("{} bytes of a block", rest.len()) } else { format!("body {text}") })
    }

    fn pieces(&self) -> String {
        if self.writes > 1 { format!(", in {} writes", self.writes) } else { String::new() }
    }

    /// One SSE block.
    fn block(&mut self, block: &str) -> String {
        let (bom, block) = block.strip_prefix('\u{feff}').map_or((false, block), |block| (true, block));
        let newline = [("\r\n", ", crlf"), ("\r", ", cr"), ("\n", "")].into_iter().find(|(end, _)| block.contains(end));
        let (end, newline) = newline.unwrap_or(("\n", ""));
        let field = |name: &str| {
            let mut values = block.split(end).filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            values.next().map(|value| value.strip_prefix(' ').unwrap_or(value).to_owned())
        };
        let (data, id, event, retry) = (field("data"), field("id"), field("event"), field("retry"));
        self.id = id.clone().or(self.id.take());
        let mut text = match data.as_deref().map(|data| (data, serde_json::from_str::<Value>(data))) {
            Some(("", _)) => if id.is_some() { "priming" } else { "empty" }.to_owned(),
            Some((data, Ok(message))) => self.message(&message, data.len()),
            Some((data, Err(_))) => format!("data {data}"),
            None => field("").map_or_else(|| "no data".to_owned(), |comment| format!("comment {comment}")),
        };
        let is_message = data.is_some_and(|data| data.starts_with(['{', '[']));
        match event.as_deref() {
            Some("message") => {}
            Some(event) => text.push_str(&format!(", event {event}")),
            None if is_message => text.push_str(", no event"),
            None => {}
        }
        for (name, value) in [("id", id), ("retry", retry)] {
            text.push_str(&value.map(|value| format!(", {name} {value}")).unwrap_or_default());
        }
        text + newline + if bom { ", after a byte order mark" } else { "" }
    }

    fn message(&mut self, message: &Value, size: usize) -> String {
        for one in message.as_array().map_or(std::slice::from_ref(message), Vec::as_slice) {
            if one.get("result").is_some() || one.get("error").is_some() {
                self.answered |= self.status.is_some_and(|status| status < 400);
                self.answers.extend(one.get("id").map(ToString::to_string));
            }
            if one.get("method").is_some() {
                self.questions.extend(one.get("id").map(ToString::to_string));
            }
        }
        let long = if size > 1_000 { format!(" of {size} bytes") } else { String::new() };
        name(message) + &long
    }
}

/// Where the first block ends: behind an empty line, whatever ends the lines.
fn block_end(bytes: &[u8]) -> Option<usize> {
    let at = |pattern: &[u8]| {
        let found = bytes.windows(pattern.len()).position(|window| window == pattern);
        found.map(|start| start + pattern.len())
    };
    [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"].into_iter().filter_map(at).min()
}

/// A JSON-RPC message, short.
pub(super) fn name(message: &Value) -> String {
    if let Some(many) = message.as_array() {
        return format!("[{}]", many.iter().map(name).collect::<Vec<_>>().join(", "));
    }
    let id = message.get("id").map(ToString::to_string).unwrap_or_default();
    let param = |key: &str| message.get("params").and_then(|params| params.get(key)).map(ToString::to_string);
    let text = match (message.get("method").and_then(Value::as_str), message.get("error")) {
        (Some("notifications/message"), _) => format!("note {}", param("n").unwrap_or_default()),
        (Some("notifications/progress"), _) => format!("progress {}", param("progress").unwrap_or_default()),
        (Some(method @ "notifications/cancelled"), _) => format!("{method} {}", param("requestId").unwrap_or_default()),
        (Some(method), _) => format!("{method} {id}"),
        (None, Some(error)) => format!("error {id} {}", error.get("code").map(ToString::to_string).unwrap_or_default()),
        (None, None) if message.get("result").is_some() => format!("answer {id}"),
        (None, None) => message.to_string(),
    };
    text.trim().to_owned()
}

/// A request as the server has it.
pub(super) fn request(method: &str, headers: &[(String, bytes::Bytes)], body: &[u8]) -> String {
    let what = match serde_json::from_slice::<Value>(body) {
        Ok(message) => name(&message),
        Err(_) if body.is_empty() => method.to_owned(),
        Err(_) => format!("{method} {} bytes", body.len()),
    };
    what + &told(headers, &ASKED, Some(USUAL))
}

fn told(headers: &[(String, bytes::Bytes)], which: &[&str], usual: Option<(&str, &str)>) -> String {
    let told = headers.iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value)));
    let told = told.filter(|(name, value)| which.contains(name) && usual != Some((*name, value)));
    told.map(|(name, value)| format!(", {name}: {value}")).collect()
}

fn media(headers: &[(String, bytes::Bytes)]) -> Option<&'static str> {
    let (_, value) = headers.iter().find(|(name, _)| name == "content-type")?;
    let value = String::from_utf8_lossy(value).to_ascii_lowercase();
    let known = [("event-stream", "sse"), ("json", "json"), ("html", "html"), ("plain", "text")];
    Some(known.into_iter().find(|(part, _)| value.contains(part)).map_or("other", |(_, word)| word))
}
