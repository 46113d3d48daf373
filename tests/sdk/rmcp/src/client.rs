//! Client driver of rmcp: many sessions in one process, driven by lines (`lib.rs`).
//!
//! Not a client of its own making: every request goes through rmcp's peer the way an application would send it. The one
//! rule: a session that ends without having been told to is reported as that session's crash, and the driver goes on.

#![expect(
    deprecated,
    reason = "sampling and roots are on their way out of the protocol, and still what servers ask for"
)]

use std::collections::HashMap;
use std::time::{Duration, Instant};

use mishap_rmcp_driver::{Commands, Gates, emit, text, wire};
use rmcp::model::{
    ClientConfig, ClientRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ErrorData, Extensions, ListRootsResult, ProtocolVersion, RequestId,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, InboundStreamOrigin, Peer, PeerRequestOptions, QuitReason, RequestContext,
    RunningServiceCancellationToken, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Answers the server's requests, and tells the test what it can see of each.
struct Handler {
    id: String,
    hold_answers: bool,
    answers: Gates,
}

/// One MCP session: its commands go to the task that owns it.
struct Session {
    commands: mpsc::UnboundedSender<Value>,
    answers: Gates,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut commands = Commands::new();
    let mut sessions = HashMap::new();
    while let Some(command) = commands.next().await {
        let id = text(&command, "id").to_owned();
        match text(&command, "cmd") {
            "connect" => {
                sessions.insert(id, connect(command));
            }
            "answer" => sessions[&id].answers.open(text(&command, "tag")),
            // A session that is gone has settled its calls; what comes later has no one to go to.
            _ => sessions[&id].commands.send(command).unwrap_or_else(|refused| dead(&refused.0)),
        }
    }
}

// === Session ===

fn connect(command: Value) -> Session {
    let (sender, commands) = mpsc::unbounded_channel();
    let answers = Gates::default();
    tokio::spawn(run(command, commands, answers.clone()));
    Session { commands: sender, answers }
}

/// Connects, serves calls until it is closed, and tells how it ended.
async fn run(command: Value, mut commands: mpsc::UnboundedReceiver<Value>, answers: Gates) {
    let id = text(&command, "id").to_owned();
    let hold_answers = command["hold_answers"] == true;
    let handler = Handler { id: id.clone(), hold_answers, answers };
    let transport = StreamableHttpClientTransport::from_uri(text(&command, "url"));
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match command["modern"] == true {
        true => ClientLifecycleMode::Discover { preferred_versions },
        false => ClientLifecycleMode::Initialize,
    };
    let service = match handler.serve_with_lifecycle(transport, lifecycle).await {
        Ok(service) => service,
        Err(error) => return emit(&json!({"event": "connect-failed", "id": id, "message": error.to_string()})),
    };
    emit(&json!({"event": "connected", "id": id}));
    let peer = service.peer().clone();
    let timeout = command["timeout"].as_u64().map(Duration::from_millis);
    for then in command["then"].as_array().into_iter().flatten() {
        let mut then = then.clone();
        then["id"] = json!(id);
        tokio::spawn(request(then, peer.clone(), timeout));
    }
    let mut stop = Some(service.cancellation_token());
    let end = service.waiting();
    tokio::pin!(end);
    loop {
        tokio::select! {
            quit = &mut end => return ended(&id, quit.ok()),
            Some(command) = commands.recv() => serve(command, &peer, timeout, &mut stop),
        }
    }
}

fn serve(
    command: Value,
    peer: &Peer<RoleClient>,
    timeout: Option<Duration>,
    stop: &mut Option<RunningServiceCancellationToken>,
) {
    if text(&command, "cmd") == "close" {
        if let Some(stop) = stop.take() {
            stop.cancel();
        }
    } else {
        tokio::spawn(request(command, peer.clone(), timeout));
    }
}

fn ended(id: &str, quit: Option<QuitReason>) {
    emit(&match quit {
        Some(QuitReason::Cancelled) => json!({"event": "closed", "id": id}),
        other => json!({"event": "crashed", "id": id, "message": format!("{other:?}")}),
    });
}

// === Calls ===

/// One request and its outcome.
async fn request(command: Value, peer: Peer<RoleClient>, timeout: Option<Duration>) {
    let started = Instant::now();
    let mut options = PeerRequestOptions::no_options();
    options.timeout = command["timeout"].as_u64().map(Duration::from_millis).or(timeout);
    let outcome = match peer.send_request_with_option(message(&command), options).await {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(result) => {
            let result = serde_json::to_value(result).expect("a result is JSON");
            let outcome = if result["isError"] == true { "tool-error" } else { "ok" };
            settled(&command, started, outcome, None, None, result);
        }
        Err(error) => {
            let (outcome, code) = kind(&error);
            settled(&command, started, outcome, code, Some(error.to_string()), Value::Null);
        }
    }
}

fn message(command: &Value) -> ClientRequest {
    let wire = match text(command, "cmd") {
        "ping" => json!({"method": "ping"}),
        "list" => json!({"method": "tools/list"}),
        "call" => {
            json!({"method": "tools/call", "params": {"name": text(command, "tool"), "arguments": command["args"]}})
        }
        other => panic!("unknown command {other}"),
    };
    serde_json::from_value(wire).expect("a request of the protocol")
}

fn kind(error: &ServiceError) -> (&'static str, Option<i32>) {
    match error {
        ServiceError::Timeout { .. } => ("timeout", None),
        ServiceError::TransportClosed => ("closed", None),
        ServiceError::McpError(error) => ("error", Some(error.code.0)),
        _ => ("error", None),
    }
}

fn settled(
    command: &Value,
    started: Instant,
    outcome: &str,
    code: Option<i32>,
    message: Option<String>,
    result: Value,
) {
    let milliseconds = u64::try_from(started.elapsed().as_millis()).expect("calls are short");
    emit(&json!({
        "event": "settled", "id": command["id"], "call": command["call"], "outcome": outcome,
        "code": code, "message": message, "ms": milliseconds, "result": result,
    }));
}

/// Settles what was sent to a session that is gone.
fn dead(command: &Value) {
    settled(command, Instant::now(), "closed", None, Some("the session is gone".into()), Value::Null);
}

// === What the server asks ===

impl Handler {
    /// Reports a server's request and, when answers are held, waits for leave to answer it; its tag.
    async fn asked(&self, kind: &str, words: &str, context: &RequestContext<RoleClient>) -> String {
        let tag = words.strip_prefix("tag:").unwrap_or(words);
        emit(&json!({
            "event": "server-request", "id": self.id, "kind": kind, "tag": tag, "request": context.id,
            "fields": ["ct", "id", "meta", "extensions", "peer"],
            "origin": origin(&context.extensions), "wrapped": null, "meta": context.meta,
        }));
        if self.hold_answers {
            self.answers.pass(tag).await;
        }
        emit(&json!({"event": "answering", "id": self.id, "tag": tag}));
        tag.to_owned()
    }
}

/// The originating request's id, `"unassociated"` when rmcp says that there is none, null when it says nothing.
fn origin(extensions: &Extensions) -> Value {
    match extensions.get::<InboundStreamOrigin>() {
        Some(InboundStreamOrigin::OutboundRequest(RequestId::Number(id))) => json!(id),
        Some(InboundStreamOrigin::OutboundRequest(RequestId::String(id))) => json!(id),
        Some(InboundStreamOrigin::Unassociated) => json!("unassociated"),
        None => Value::Null,
    }
}

impl ClientHandler for Handler {
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let params = serde_json::to_value(params).expect("params are JSON");
        let words = params.pointer("/messages/0/content/text").and_then(Value::as_str).unwrap_or_default();
        let tag = self.asked("sampling", words, &context).await;
        let content = json!({"type": "text", "text": format!("for {tag}")});
        Ok(wire(json!({"role": "assistant", "model": "none", "content": content})))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(params).expect("params are JSON");
        let tag = self.asked("elicitation", params["message"].as_str().unwrap_or_default(), &context).await;
        Ok(wire(json!({"action": "accept", "content": {"answer": format!("for {tag}")}})))
    }

    async fn list_roots(&self, context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        // A roots/list has no text of its own, so its tag travels as metadata.
        let meta = serde_json::to_value(&context.meta).expect("metadata is JSON");
        let tag = self.asked("roots", meta["tag"].as_str().unwrap_or_default(), &context).await;
        Ok(wire(json!({"roots": [{"uri": "file:///nowhere", "name": format!("for {tag}")}]})))
    }

    fn get_info(&self) -> ClientConfig {
        wire(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"sampling": {}, "elicitation": {}, "roots": {}},
            "clientInfo": {"name": "mishap-rmcp-driver", "version": "0"},
        }))
    }
}
