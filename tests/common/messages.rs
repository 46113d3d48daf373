//! What MCP clients and servers say, as text: heads, JSON-RPC messages, events.

/// The head of an event stream in chunks.
pub(crate) const SSE_HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// What a server answers to a notification.
pub(crate) const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

/// What a server answers to [`initialize`].
pub(crate) const INITIALIZED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
    r#""serverInfo":{"name":"scripted","version":"1"}}}"#
);

/// The request that opens a session.
pub(crate) fn initialize() -> String {
    let info = r#""clientInfo":{"name":"raw","version":"1"}"#;
    request(0, "initialize", &format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},{info}}}"#))
}

/// The head of a JSON answer.
pub(crate) fn json_head(length: usize, more: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n")
}

/// A request.
pub(crate) fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A tools/call of the tool `tool-ID`, with the id as its argument `tag`.
pub(crate) fn call(id: u32) -> String {
    request(id, "tools/call", &format!(r#"{{"name":"tool-{id}","arguments":{{"tag":"{id}"}}}}"#))
}

/// A server's request for an elicitation, as an event.
pub(crate) fn question(id: u32) -> String {
    let schema = r#""requestedSchema":{"type":"object","properties":{}}"#;
    event(&request(id, "elicitation/create", &format!(r#"{{"message":"well?",{schema}}}"#)))
}

/// A response with an empty result.
pub(crate) fn answer(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// A notification with a number to tell it by, as an event.
pub(crate) fn progress(number: u32) -> String {
    let params = format!(r#"{{"level":"info","data":{number}}}"#);
    event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#))
}

/// A message as an event.
pub(crate) fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}
