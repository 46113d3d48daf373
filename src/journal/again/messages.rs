//! Messages with the keys that a journal has of them: method, id, name, token, and as many bytes.
//!
//! The one rule: what is not in the journal is not in them; they are never longer than what came.

use crate::engine::record::{PartyEntry, PointEntry, RpcEntry, SessionEntry};
use bytes::Bytes;
use serde_json::{Map, Value, json};

/// The messages of a point as JSON, without padding. A session's entry has what its initialize said.
pub(super) fn text(point: &PointEntry, session: Option<&SessionEntry>) -> String {
    let mut all: Vec<Value> = point.rpc.iter().map(|rpc| message(rpc, session)).collect();
    match (all.len(), all.pop()) {
        (0, _) | (_, None) => String::new(),
        (1, Some(only)) => only.to_string(),
        (_, Some(last)) => Value::Array(all.into_iter().chain([last]).collect()).to_string(),
    }
}

fn message(rpc: &RpcEntry, session: Option<&SessionEntry>) -> Value {
    let initialize = rpc.method.as_deref() == Some("initialize");
    let session = session.filter(|_| initialize);
    let mut message = Map::new();
    message.extend(rpc.id.as_ref().map(|id| ("id".to_owned(), id.to_json())));
    match rpc.kind.as_str() {
        "response" => {
            let result = session.map_or(
                json!({}),
                |session| json!({ "protocolVersion": session.protocol, "serverInfo": party(session.server.as_ref()) }),
            );
            message.insert("result".to_owned(), result);
        }
        "error" => _ = message.insert("error".to_owned(), json!({})),
        _ => {
            message.insert("method".to_owned(), json!(rpc.method));
            message.insert("params".to_owned(), params(rpc, session));
        }
    }
    Value::Object(message)
}

fn params(rpc: &RpcEntry, session: Option<&SessionEntry>) -> Value {
    let cancels = rpc.method.as_deref() == Some("notifications/cancelled");
    let about = if cancels { "requestId" } else { "progressToken" };
    let mut params = Map::new();
    params.extend(rpc.name.as_ref().map(|name| ("name".to_owned(), json!(name))));
    params.extend(rpc.about.as_ref().map(|id| (about.to_owned(), id.to_json())));
    let mut meta = Map::new();
    meta.extend(rpc.token.as_ref().map(|id| ("progressToken".to_owned(), id.to_json())));
    meta.extend(rpc.trace.as_ref().map(|trace| ("traceparent".to_owned(), json!(trace))));
    if !meta.is_empty() {
        params.insert("_meta".to_owned(), meta.into());
    }
    params.extend(session.map(|session| ("clientInfo".to_owned(), party(session.client.as_ref()))));
    Value::Object(params)
}

fn party(party: Option<&PartyEntry>) -> Value {
    party.map_or(Value::Null, |party| json!({ "name": party.name, "version": party.version }))
}

/// What is not a message that is looked into is no longer than this: a journal must not make us use up the memory.
const LONGEST: usize = 16 * 1024 * 1024;

/// How many bytes the point came with.
fn size(point: &PointEntry) -> usize {
    usize::try_from(point.size.unwrap_or(point.bytes)).map_or(LONGEST, |size| size.min(LONGEST))
}

/// A body of these messages, as long as the one that came.
pub(super) fn body(point: &PointEntry, text: &str) -> Bytes {
    format!("{text:size$}", size = size(point)).into()
}

/// An SSE block of these messages, as long as the one that came.
pub(super) fn block(point: &PointEntry, text: &str) -> Bytes {
    let id = point.event_id.as_ref().map(|id| format!("id:{id}\n")).unwrap_or_default();
    let fields = match point.block.as_deref() {
        Some("message") => format!("{id}data:{text}"),
        Some("priming") => format!("{id}data:"),
        Some("retry") => format!("{id}retry:1"),
        Some("endpoint") => "event:endpoint\ndata:/".to_owned(),
        Some("other") => format!("event:other\n{id}data:{{}}"),
        Some("unparsable") => format!("{id}data:-"),
        _ => ":".to_owned(),
    };
    format!("{fields:size$}\n\n", size = size(point).saturating_sub(2)).into()
}
