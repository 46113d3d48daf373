//! What a point of a timeline says: its message, status, ending. Pure text; where it is drawn is decided elsewhere.

use super::doing::remade;
use super::labels::exchange_of;
use super::lanes::NO_BREAK;
use crate::engine::record::{OwnerEntry, PointEntry, RpcEntry};
use crate::engine::rpc::Id;
use crate::proxy::MARKER;

/// What a point is, in words.
pub(super) fn describe(point: &PointEntry) -> String {
    let what = match point.point.as_str() {
        "head" => head(point),
        "end" | "leave" => ending(point),
        "block" if point.rpc.is_empty() => block(point),
        _ if point.rpc.is_empty() => point.http.clone().unwrap_or_else(|| point.point.clone()),
        _ => messages(point),
    };
    let what = what + &remade(point);
    if ordinal(point).is_some() { format!("{} {what}", place(point)) } else { what }
}

fn head(point: &PointEntry) -> String {
    let status = point.status.map_or_else(|| "head".to_owned(), |status| status.to_string());
    match (marker(point), point.headers.iter().find(|(name, _)| name == "content-type")) {
        (Some(why), _) => format!("{status} by the proxy, not injected: {why}"),
        (None, Some((_, media))) => format!("{status} {media}"),
        (None, None) => status,
    }
}

fn ending(point: &PointEntry) -> String {
    let what = if point.point == "leave" { "the client leaves" } else { "end" };
    match (point.ending.as_deref(), point.made.as_deref()) {
        (Some(ending), Some(made)) => format!("{what}: {ending}, made {made}"),
        (None, Some(made)) => format!("{what}: {made}, by a rule"),
        (Some(ending), None) => format!("{what}: {ending}"),
        (None, None) => what.to_owned(),
    }
}

fn block(point: &PointEntry) -> String {
    let kind = point.block.as_deref().unwrap_or("block");
    match &point.event_id {
        Some(id) => format!("{kind}, event id {id}"),
        None => kind.to_owned(),
    }
}

fn messages(point: &PointEntry) -> String {
    let messages = point.rpc.iter().map(message).collect::<Vec<_>>().join("; ");
    match &point.owner {
        Some(owner) if !is_own(point) && !on_its_own(point, owner) => format!("{messages}, {}", owned(owner)),
        _ => messages,
    }
}

/// Whether the message is its owner, or its owner's answer: then naming the owner says nothing.
fn is_own(point: &PointEntry) -> bool {
    let from_client = point.dir == "c2s";
    point.rpc.iter().any(|rpc| match rpc.kind.as_str() {
        "request" => from_client,
        "response" | "error" => !from_client,
        _ => false,
    })
}

/// Whether a message goes on the stream of its owner's POST, whose name says the same.
fn on_its_own(point: &PointEntry, owner: &OwnerEntry) -> bool {
    let id = format!("post:{}", text(&owner.id));
    let exchange = exchange_of(&point.key);
    let own = exchange.rsplit('/').next().and_then(|last| last.strip_prefix(&id));
    point.left_on.is_none() && own.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

fn message(rpc: &RpcEntry) -> String {
    let method = rpc.method.as_deref().unwrap_or("(unknown)");
    let id = rpc.id.as_ref().map(|id| format!(" id{NO_BREAK}{}", text(id))).unwrap_or_default();
    let name = rpc.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let kind = match rpc.kind.as_str() {
        "response" => "answer to",
        "error" => "error to",
        kind => kind,
    };
    format!("{kind} {method}{name}{id}")
}

fn owned(owner: &OwnerEntry) -> String {
    unbroken(&format!("owner {} id {}", owner.method, text(&owner.id)))
}

/// In one piece, so that a narrow column does not tear it.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// An id as JSON has it: 1 is not "1".
fn text(id: &Id) -> String {
    match id {
        Id::Number(number) => number.clone(),
        Id::Text(text) => format!("\"{text}\""),
    }
}

/// Why the proxy made this head itself, if it did.
pub(super) fn marker(point: &PointEntry) -> Option<&str> {
    point.headers.iter().find(|(name, _)| name == MARKER.as_str()).map(|(_, word)| word.as_str())
}

/// Where on its stream a point is: `#2` is the second message, anything else is called by its kind.
pub(super) fn place(point: &PointEntry) -> String {
    ordinal(point).map_or_else(|| point.point.clone(), |number| format!("#{number}"))
}

/// A message's place among those of its stream, as its key has it.
fn ordinal(point: &PointEntry) -> Option<&str> {
    let last = point.key.rsplit('/').next()?;
    last.strip_prefix("block#")
}
