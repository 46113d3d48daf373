//! The server's HTTP side: which request is for what, what is refused, and the SSE answers.
//!
//! It follows 2025-11-25: one endpoint, POST, GET and DELETE, `Mcp-Session-Id` from `initialize` on. A JSON-RPC request
//! is always answered by an SSE stream whose head leaves at once; everything else by a status.

use std::convert::Infallible;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::events::{self, Events, EventsBody};
use super::note::Note;
use super::session::Session;
use super::{State, tools};
use crate::demo::PROTOCOL;

/// The path of the MCP endpoint.
pub(super) const PATH: &str = "/mcp";

/// The versions a client may ask for; the first is offered to one that asks for another.
const VERSIONS: [&str; 3] = [PROTOCOL, "2025-06-18", "2025-03-26"];

/// The largest request body: 4 MiB, as the SDKs have it.
const LARGEST_BODY: usize = 4 << 20;

const SESSION_ID: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// What hyper writes.
type Answer = Response<Either<Full<Bytes>, EventsBody>>;

/// A request that is not served.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    code: i32,
    message: &'static str,
}

/// Answers one HTTP request.
pub(super) async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    Ok(route(&state, request).await.unwrap_or_else(Refusal::into_answer))
}

async fn route(state: &State, request: Request<Incoming>) -> Result<Answer, Refusal> {
    if request.uri().path() != PATH {
        return Err(Refusal::new(StatusCode::NOT_FOUND, -32000, "no such path; the endpoint is /mcp"));
    }
    check_origin(request.headers())?;
    match *request.method() {
        Method::POST => post(state, request).await,
        Method::GET => get(state, request.headers()),
        Method::DELETE => delete(state, request.headers()),
        _ => Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, -32000, "method not allowed")),
    }
}

/// A page on the web must not reach a server on loopback: the specification asks for this check.
fn check_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let local = |origin: &HeaderValue| {
        let uri = origin.to_str().ok()?.parse::<hyper::Uri>().ok()?;
        Some(matches!(uri.host()?, "127.0.0.1" | "localhost" | "[::1]"))
    };
    match headers.get(ORIGIN) {
        Some(origin) if local(origin) != Some(true) => {
            Err(Refusal::new(StatusCode::FORBIDDEN, -32000, "foreign origin"))
        }
        _ => Ok(()),
    }
}

fn session(state: &State, headers: &HeaderMap) -> Result<Arc<Session>, Refusal> {
    let Some(id) = headers.get(SESSION_ID) else {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, -32000, "no Mcp-Session-Id; initialize first"));
    };
    if headers.get(VERSION).is_some_and(|version| VERSIONS.iter().all(|known| version != known)) {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, -32000, "unsupported protocol version"));
    }
    let found = id.to_str().ok().and_then(|id| state.sessions().get(id).cloned());
    found.ok_or(Refusal::new(StatusCode::NOT_FOUND, -32001, "session not found"))
}

// === POST ===

async fn post(state: &State, request: Request<Incoming>) -> Result<Answer, Refusal> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, LARGEST_BODY).collect().await;
    let body = body.map_err(|_| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, -32000, "body too large or cut short"))?;
    let message: Value = serde_json::from_slice(&body.to_bytes())
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, -32700, "not JSON"))?;
    let method = message["method"].as_str();
    if method == Some("initialize") {
        return Ok(initialize(state, &message));
    }
    let session = session(state, &head.headers)?;
    match (method, message.get("id")) {
        (Some(_), Some(_)) => return Ok(work(&session, message)),
        (Some("notifications/cancelled"), None) => session.cancel(&message["params"]["requestId"]),
        (Some(_), None) => {}
        (None, Some(_)) => session.answered(message),
        (None, None) => return Err(Refusal::new(StatusCode::BAD_REQUEST, -32600, "not a JSON-RPC message")),
    }
    Ok(plain(StatusCode::ACCEPTED, Bytes::new()))
}

fn initialize(state: &State, message: &Value) -> Answer {
    let params = &message["params"];
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.iter().find(|known| **known == asked).unwrap_or(&PROTOCOL);
    let session = Session::new(state.options.clone(), params["capabilities"].clone());
    let id = unguessable_id();
    state.sessions().insert(id.clone(), Arc::new(session));
    let (events, body) = events::channel();
    events.send(&result(
        &message["id"],
        &json!({
            "protocolVersion": version,
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": { "name": "mishap-demo-server", "version": env!("CARGO_PKG_VERSION") },
        }),
    ));
    let mut answer = stream(body);
    answer.headers_mut().insert(SESSION_ID, HeaderValue::try_from(id).expect("hexadecimal digits"));
    answer
}

/// Two hashes with the random keys that the standard library draws for each: nobody else can name the session.
fn unguessable_id() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// Starts the work on a request. What it waits for is subscribed to here, before the client can see the answer's head.
fn work(session: &Arc<Session>, message: Value) -> Answer {
    let (events, body) = events::channel();
    let call = tools::Call { stream: events.clone(), ping: session.next_ping() };
    let (worker, id) = (Arc::clone(session), message["id"].clone());
    session.work(&id, async move { serve(&worker, call, &events, &message).await });
    stream(body)
}

async fn serve(session: &Session, call: tools::Call, events: &Events, message: &Value) {
    let (id, params) = (&message["id"], &message["params"]);
    let answer = match message["method"].as_str().unwrap_or_default() {
        "ping" => {
            session.ping();
            result(id, &json!({}))
        }
        "tools/list" => result(id, &tools::list()),
        "logging/setLevel" => result(id, &json!({})),
        "tools/call" => {
            let name = params["name"].as_str().unwrap_or_default();
            let outcome = tools::call(session, call, name, &params["arguments"]).await;
            session.note(Note::Ended(name.to_owned()));
            outcome.map_or_else(|| error(id, -32602, "unknown tool"), |outcome| result(id, &outcome))
        }
        _ => error(id, -32601, "method not found"),
    };
    events.send(&answer);
}

fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

// === GET and DELETE ===

fn get(state: &State, headers: &HeaderMap) -> Result<Answer, Refusal> {
    let session = session(state, headers)?;
    let (events, body) = events::channel();
    if !session.open_get(events) {
        session.note(Note::GetRefused);
        return Err(Refusal::new(StatusCode::CONFLICT, -32000, "only one GET stream is allowed a session"));
    }
    session.note(Note::GetOpened);
    Ok(stream(body))
}

fn delete(state: &State, headers: &HeaderMap) -> Result<Answer, Refusal> {
    let session = session(state, headers)?;
    state.sessions().retain(|_, other| !Arc::ptr_eq(other, &session));
    session.close();
    session.note(Note::SessionEnded);
    Ok(plain(StatusCode::OK, Bytes::new()))
}

// === Answers ===

fn stream(body: EventsBody) -> Answer {
    let mut answer = Response::new(Either::Right(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    answer
}

fn plain(status: StatusCode, body: Bytes) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(body)));
    *answer.status_mut() = status;
    answer
}

impl Refusal {
    fn new(status: StatusCode, code: i32, message: &'static str) -> Self {
        Self { status, code, message }
    }

    fn into_answer(self) -> Answer {
        let mut answer = plain(self.status, error(&Value::Null, self.code, self.message).to_string().into());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
        }
        answer
    }
}
