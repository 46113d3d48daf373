//! Server driver of rmcp: one server, many sessions, its tools released by lines (`lib.rs`).
//!
//! Not a server of its own making: sessions and streams are rmcp's; only sockets are opened here. rmcp keeps events for
//! every session, so the option `store` has nothing to say. The one rule: what rmcp was given is logged before rmcp acts
//! on it, so that the log is evidence of order.

mod sockets;

use std::time::Duration;

use http::request::Parts;
use mishap_rmcp_driver::{Commands, Gates, emit, options, text, wire};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerConfig, ServerNotification, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};
use rmcp::{Peer, RoleServer, ServerHandler};
use serde_json::{Value, json};

/// The tools, with the leave that the test gives them.
#[derive(Clone)]
struct Tools {
    releases: Gates,
    timeout: Duration,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let given = options();
    let timeout = Duration::from_millis(given["timeout"].as_u64().unwrap_or(60_000));
    let tools = Tools { releases: Gates::default(), timeout };
    let releases = tools.releases.clone();
    let address = sockets::serve(tools, given["json"] == true).await;
    emit(&json!({"event": "listening", "url": format!("http://{address}/mcp")}));
    let mut commands = Commands::new();
    while let Some(command) = commands.next().await {
        releases.open(text(&command, "tag"));
    }
}

// === Tools ===

impl Tools {
    async fn run(&self, tool: &str, args: &Value, context: &RequestContext<RoleServer>) -> Value {
        let tag = text(args, "tag");
        let result = match tool {
            "echo" => said(args["text"].as_str().unwrap_or_default(), false),
            "ask" => self.ask(tag, args, context).await,
            "notify" => self.notify(tag, args, context).await,
            "slow" => self.slow(tag, context).await,
            other => said(&format!("no tool {other}"), true),
        };
        emit(&json!({"event": "call-end", "tag": tag}));
        result
    }

    /// Asks the client something: on the call's own stream when `related`, else on the standalone GET.
    async fn ask(&self, tag: &str, args: &Value, context: &RequestContext<RoleServer>) -> Value {
        entered(tag, context);
        if args["wait"] == true {
            self.releases.pass(tag).await;
        }
        emit(&json!({"event": "asked", "tag": tag}));
        let (request, words) = question(text(args, "kind"), tag);
        let timeout = args["timeout"].as_u64().map_or(self.timeout, Duration::from_millis);
        let asking = ask(context.peer.clone(), request, timeout);
        let answer = if args["related"] == true {
            asking.await
        } else {
            // rmcp ties what a handler sends to the handler's request by a task-local: another task is unrelated.
            tokio::spawn(asking).await.expect("asking does not panic")
        };
        match answer {
            Ok(answer) => {
                emit(&json!({"event": "answered", "tag": tag, "answer": answer.pointer(words)}));
                said("answered", false)
            }
            Err(error) => {
                emit(&json!({"event": "ask-failed", "tag": tag, "message": error.to_string()}));
                said(&error.to_string(), true)
            }
        }
    }

    /// Sends progress when the call has a token for it, which rides its own stream; rmcp sends log messages on the GET.
    async fn notify(&self, tag: &str, args: &Value, context: &RequestContext<RoleServer>) -> Value {
        for number in 1..=args["count"].as_u64().unwrap_or(1) {
            let words = format!("tag:{tag} {number}");
            let message = match context.meta.get_progress_token() {
                Some(token) => {
                    let params = ProgressNotificationParam::new(token, number as f64).with_message(words);
                    json!({"method": "notifications/progress", "params": params})
                }
                None => json!({"method": "notifications/message", "params": {"level": "info", "data": words}}),
            };
            let notification: ServerNotification = wire(message);
            context.peer.send_notification(notification).await.expect("the session is open");
        }
        emit(&json!({"event": "notified", "tag": tag, "session": session_of(context)}));
        if args["wait"] == true {
            self.releases.pass(tag).await;
        }
        said("done", false)
    }

    async fn slow(&self, tag: &str, context: &RequestContext<RoleServer>) -> Value {
        entered(tag, context);
        self.releases.pass(tag).await;
        said("done", false)
    }
}

fn entered(tag: &str, context: &RequestContext<RoleServer>) {
    let session = session_of(context);
    emit(&json!({"event": "entered", "tag": tag, "session": session, "request": context.id}));
}

async fn ask(peer: Peer<RoleServer>, request: ServerRequest, timeout: Duration) -> Result<Value, ServiceError> {
    let handle = peer.send_request_with_option(request, PeerRequestOptions::with_timeout(timeout)).await?;
    let answer = handle.await_response().await?;
    Ok(serde_json::to_value(answer).expect("an answer is JSON"))
}

/// The request of that kind with the tag in it, and where in the answer its words are.
fn question(kind: &str, tag: &str) -> (ServerRequest, &'static str) {
    let words = format!("tag:{tag}");
    let (request, answer) = match kind {
        "sampling" => {
            let messages = json!([{"role": "user", "content": {"type": "text", "text": words}}]);
            let params = json!({"messages": messages, "maxTokens": 16});
            (json!({"method": "sampling/createMessage", "params": params}), "/content/text")
        }
        "elicitation" => {
            let schema =
                json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
            let params = json!({"mode": "form", "message": words, "requestedSchema": schema});
            (json!({"method": "elicitation/create", "params": params}), "/content/answer")
        }
        _ => (json!({"method": "roots/list", "params": {"_meta": {"tag": tag}}}), "/roots/0/name"),
    };
    (wire(request), answer)
}

/// The id of the session that a call came in.
fn session_of(context: &RequestContext<RoleServer>) -> Option<&str> {
    context.extensions.get::<Parts>()?.headers.get("mcp-session-id")?.to_str().ok()
}

fn said(words: &str, failed: bool) -> Value {
    json!({"content": [{"type": "text", "text": words}], "isError": failed})
}

// === What rmcp calls ===

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        wire(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "mishap-rmcp-driver", "version": "0"},
        }))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"tag": {"type": "string"}}, "required": ["tag"]});
        let tools = ["echo", "ask", "notify", "slow"].map(|name| json!({"name": name, "inputSchema": schema}));
        Ok(wire(json!({"tools": tools})))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = Value::Object(request.arguments.unwrap_or_default());
        let result = self.run(&request.name, &args, &context).await;
        Ok(wire::<CallToolResult>(result).into())
    }
}
