//! The server's tools, and what each does.
//!
//! A failing tool answers with `isError`, never with a protocol error: that is kept for a tool that does not exist.

use serde_json::{Value, json};
use tokio::sync::watch;

use super::Routing;
use super::events::Events;
use super::note::Note;
use super::session::Session;

/// A call that is being worked on.
#[derive(Debug)]
pub(super) struct Call {
    /// The call's own SSE stream.
    pub(super) stream: Events,
    /// Turns true with the first ping after the call arrived: what the argument `wait` waits for.
    pub(super) ping: watch::Receiver<u64>,
}

/// What `tools/list` answers.
pub(super) fn list() -> Value {
    let tag = json!({ "type": "string", "description": "names the call, so that two can be told apart" });
    let wait = json!({ "type": "boolean", "description": "go on only after the client's next ping" });
    let kind = json!({ "type": "string", "enum": ["elicitation", "sampling", "roots"] });
    let related = json!({ "type": "boolean", "description": "ask on the call's own stream, not on the GET stream" });
    json!({ "tools": [
        tool("echo", "Answers with the text.", &json!({ "text": { "type": "string" } })),
        tool(
            "ask",
            "Asks the client and answers with what it said.",
            &json!({ "tag": tag, "kind": kind, "related": related, "wait": wait }),
        ),
        tool(
            "notify",
            "Sends log messages on the call's own stream, then answers.",
            &json!({ "count": { "type": "integer", "minimum": 0 }, "wait": wait }),
        ),
    ] })
}

/// The tools, a line for each: its name, its arguments, what it does.
#[must_use]
pub fn described() -> String {
    let list = list();
    let lines = list["tools"].as_array().into_iter().flatten().map(|tool| {
        let arguments = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        let arguments: Vec<&str> = arguments.map(|(name, _)| name.as_str()).collect();
        let called = format!("{} {{{}}}", text_of(tool, "name"), arguments.join(", "));
        format!("  {called:<32} {}", text_of(tool, "description"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn tool(name: &str, description: &str, properties: &Value) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": properties } })
}

/// Runs a tool; `None` when there is none of that name.
pub(super) async fn call(session: &Session, call: Call, name: &str, arguments: &Value) -> Option<Value> {
    session.note(Note::Entered(name.to_owned()));
    let outcome = match name {
        "echo" => Ok(text_of(arguments, "text").to_owned()),
        "ask" => ask(session, call, arguments).await,
        "notify" => Ok(notify(call, arguments).await),
        _ => return None,
    };
    let (text, is_error) = match outcome {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    Some(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
}

async fn ask(session: &Session, mut call: Call, arguments: &Value) -> Result<String, String> {
    wait(&mut call, arguments).await;
    let routing = match arguments["related"].as_bool() {
        Some(true) => Routing::Related,
        Some(false) => Routing::Unrelated,
        None => session.routing(),
    };
    let question = format!("tag:{}", text_of(arguments, "tag"));
    let (capability, method, params) = match arguments["kind"].as_str() {
        None | Some("elicitation") => ("elicitation", "elicitation/create", elicitation(&question)),
        Some("sampling") => ("sampling", "sampling/createMessage", sampling(&question)),
        Some("roots") => ("roots", "roots/list", json!({})),
        Some(other) => return Err(format!("unknown kind {other:?}; write elicitation, sampling or roots")),
    };
    let answer = session.ask(&call.stream, routing, capability, method, params).await;
    answer.map(|answer| said(&answer)).map_err(|why| why.to_string())
}

fn elicitation(question: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "answer": { "type": "string" } }, "required": ["answer"] });
    json!({ "mode": "form", "message": question, "requestedSchema": schema })
}

fn sampling(question: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": question } });
    json!({ "messages": [message], "maxTokens": 100 })
}

/// The text in an answer, whatever was asked: an elicitation's field, a sampled message, the first root's name.
fn said(answer: &Value) -> String {
    let places = ["/content/answer", "/content/text", "/roots/0/name", "/action"];
    places.iter().find_map(|place| answer.pointer(place)?.as_str()).unwrap_or("nothing").to_owned()
}

async fn notify(mut call: Call, arguments: &Value) -> String {
    for number in 1..=arguments["count"].as_u64().unwrap_or(1) {
        let params = json!({ "level": "info", "data": format!("note {number}") });
        call.stream.send(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }));
    }
    wait(&mut call, arguments).await;
    "done".to_owned()
}

/// Waits for the client's next ping if the call asks for it. The session outlives the call, so the wait cannot fail.
async fn wait(call: &mut Call, arguments: &Value) {
    if arguments["wait"].as_bool() == Some(true) {
        let _ = call.ping.changed().await;
    }
}

fn text_of<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}
