//! A journal as an HTTP Archive 1.2: one entry for each exchange, as the client saw it, and the events of its stream in the
//! field in which browsers' tools keep them (`_eventSourceMessages`: `time` in seconds, `eventName`, `eventId`, `data`).
//!
//! The one rule: nothing is invented. Bodies are not in a journal, so the data of an event is what the journal has of its
//! messages, and what is not known is what HAR says for that (-1, an empty list).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::parts::Parts;
use super::timeline::labels::exchange_of;
use super::timeline::lanes::NO_BREAK;
use super::timeline::rows::rows;
use crate::engine::record::{PointEntry, RpcEntry};
use crate::journal::{Header, Line, later, since_1970};

/// What a reader must know of all entries.
const COMMENT: &str = "Made by mishap from a journal: one entry an exchange, as the client saw it. Bodies are not recorded; the \
                       data of an event is what the journal has of its messages. Secrets are hashes.";

/// The points of an exchange, as its client saw them.
#[derive(Debug, Default)]
struct Exchange<'a> {
    request: Option<&'a PointEntry>,
    head: Option<&'a PointEntry>,
    /// What left on its stream, in that order.
    blocks: Vec<&'a PointEntry>,
    end: Option<&'a PointEntry>,
    faults: Vec<String>,
}

/// Writes a journal's exchanges as an HTTP Archive.
#[must_use]
pub fn archive(lines: &[Line]) -> String {
    let parts = Parts::of(lines);
    let mut exchanges: Vec<_> = exchanges(&parts).into_values().filter(|it| it.request.is_some()).collect();
    exchanges.sort_by_key(|exchange| exchange.request.map(|request| request.seq));
    let run = parts.run.cloned().unwrap_or_default();
    let entries: Vec<_> = exchanges.iter().filter_map(|exchange| entry(exchange, &run)).collect();
    let creator = json!({ "name": "mishap", "version": run.mishap });
    let log = json!({ "version": "1.2", "creator": creator, "pages": [], "entries": entries, "comment": COMMENT });
    format!("{:#}\n", json!({ "log": log }))
}

fn exchanges<'a>(parts: &Parts<'a>) -> BTreeMap<&'a str, Exchange<'a>> {
    let mut all: BTreeMap<&str, Exchange<'_>> = BTreeMap::new();
    for point in parts.points() {
        // A request that a rule sent to the server is none of the client's.
        let own = all.entry(exchange_of(&point.key)).or_default();
        match point.point.as_str() {
            "request" if point.maker.is_none() => own.request = Some(point),
            "head" => own.head = Some(point),
            "end" => own.end = Some(point),
            "block" if point.left.is_some() => {
                let on = point.left_on.as_deref().unwrap_or_else(|| exchange_of(&point.key));
                all.entry(on).or_default().blocks.push(point);
            }
            _ => {}
        }
    }
    for row in rows(&parts.entries) {
        let exchange = row.stream.as_deref().and_then(|key| all.get_mut(key));
        exchange
            .into_iter()
            .for_each(|it| it.faults.extend(row.faults.iter().map(|fault| fault.replace(NO_BREAK, " "))));
    }
    all.values_mut().for_each(|exchange| exchange.blocks.sort_by_key(|block| block.left_seq));
    all
}

fn entry(exchange: &Exchange<'_>, run: &Header) -> Option<Value> {
    let request = exchange.request?;
    let sent = request.arrived;
    let head = exchange.head.and_then(|head| head.left);
    let ended = exchange.end.and_then(|end| end.left).or_else(|| exchange.blocks.last()?.left).or(head).unwrap_or(sent);
    let span = |from: u64, to: u64| millis(to.saturating_sub(from));
    let answered = head.unwrap_or(ended);
    let streams = is_stream(exchange);
    let mut entry = json!({
        "startedDateTime": later(&run.started, sent).unwrap_or_else(|| run.started.clone()),
        "time": span(sent, ended),
        "request": asked(request, run),
        "response": answer(exchange),
        "cache": {},
        "timings": { "blocked": -1, "dns": -1, "connect": -1, "ssl": -1,
                     "send": 0, "wait": span(sent, answered), "receive": span(answered, ended) },
        "connection": request.conn.to_string(),
        "_resourceType": if streams { "eventsource" } else { "fetch" },
        "_key": exchange_of(&request.key),
    });
    if streams {
        entry["_eventSourceMessages"] = exchange.blocks.iter().map(|block| message(block, run)).collect();
    }
    if !exchange.faults.is_empty() {
        entry["comment"] = json!(exchange.faults.join("; "));
    }
    Some(entry)
}

fn is_stream(exchange: &Exchange<'_>) -> bool {
    exchange.head.is_some_and(|head| media(head).starts_with("text/event-stream"))
}

fn media(head: &PointEntry) -> &str {
    head.headers.iter().find(|(name, _)| name == "content-type").map_or("x-unknown", |(_, value)| value)
}

fn asked(request: &PointEntry, run: &Header) -> Value {
    let (method, target) = request.http.as_deref().and_then(|http| http.split_once(' ')).unwrap_or(("GET", "/"));
    json!({
        "method": method,
        // A query is a hash that begins with `#`: not a fragment.
        "url": format!("http://{}{}", run.listen, target.replace('#', "%23")),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": pairs(&request.headers),
        "queryString": [],
        "headersSize": -1,
        "bodySize": request.size.unwrap_or(request.bytes),
    })
}

/// What the client got: after what rules made of it.
fn answer(exchange: &Exchange<'_>) -> Value {
    let head = exchange.head.filter(|head| head.left.is_some());
    let status = head.and_then(|head| head.made_status.or(head.status)).unwrap_or(0);
    let headers = head.map(changed).unwrap_or_default();
    let size: u64 = exchange.blocks.iter().map(|block| block.bytes).sum();
    let redirect = headers.iter().find(|(name, _)| name == "location").map_or("", |(_, value)| value);
    let mut answer = json!({
        "status": status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": pairs(&headers),
        "content": { "size": size, "mimeType": head.map_or("x-unknown", media) },
        "redirectURL": redirect,
        "headersSize": -1,
        "bodySize": size,
    });
    let ending = exchange.end.and_then(|end| end.made.as_deref().or(end.ending.as_deref()));
    if let Some(broken) = ending.filter(|ending| *ending != "eof") {
        answer["_error"] = json!(broken);
    }
    answer
}

fn changed(head: &PointEntry) -> Vec<(String, String)> {
    let mut headers = head.headers.clone();
    for (name, value) in &head.made_headers {
        headers.retain(|(other, _)| other != name);
        headers.extend(value.iter().map(|value| (name.clone(), value.clone())));
    }
    headers
}

fn pairs(headers: &[(String, String)]) -> Value {
    headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn message(block: &PointEntry, run: &Header) -> Value {
    let at = block.left.unwrap_or(block.arrived);
    let data: Vec<&RpcEntry> = block.rpc.iter().collect();
    let kind = block.block.as_deref().unwrap_or("message");
    json!({
        "time": millis(began(run).saturating_add(at)) / 1_000.0,
        "eventName": if kind == "endpoint" { kind } else { "message" },
        "eventId": block.event_id.as_deref().unwrap_or_default(),
        "data": match &data[..] {
            [] => format!("({kind}, {} bytes)", block.bytes),
            [only] => json!(only).to_string(),
            many => json!(many).to_string(),
        },
    })
}

/// When the run began, in microseconds since 1970.
fn began(run: &Header) -> u64 {
    since_1970(&run.started).and_then(|since| u64::try_from(since.as_micros()).ok()).unwrap_or(0)
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

#[cfg(test)]
mod tests;
