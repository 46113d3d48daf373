//! The named checks that remember something through the whole run: initializes, delivered ids, requests that were sent.
//!
//! The one rule it keeps: what no expectation asks for is not remembered.

use std::sync::Arc;

use bytes::Bytes;

use crate::engine::bounded::Bounded;
use crate::engine::condition::Leg;
use crate::engine::engine::Engine;
use crate::engine::event::ExchangeId;
use crate::engine::exchange::{ClientLeg, Exchange};
use crate::engine::expectation::Check;
use crate::engine::hash::hash;
use crate::engine::notebook::full_key;
use crate::engine::owner::Spoken;
use crate::engine::rpc::{Id, Kind};
use crate::engine::selector::{At, Stream};
use crate::engine::unit::Point;

/// How many clients, streams or requests are remembered, of each kind; then the oldest are forgotten.
const REMEMBERED: usize = 16 * 1024;
/// How much of an SSE id is quoted, in characters.
const QUOTED: usize = 40;

/// What a check has found.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) check: Check,
    /// Where.
    pub(super) keys: Vec<String>,
    /// What is wrong; `None`: it is right.
    pub(super) wrong: Option<String>,
}

/// What the checks remember.
#[derive(Debug)]
pub(super) struct Checks {
    asked: Vec<Check>,
    /// The session that a client began first, by its address and what it calls itself.
    clients: Bounded<(String, u64), u64>,
    /// The last SSE id delivered on each stream of a session.
    delivered: Bounded<(u64, Arc<str>), Bytes>,
    /// The ids of requests, and of a tools/call its content, with the key of the exchange.
    ids: Bounded<(u64, Id), String>,
    calls: Bounded<(u64, u64), String>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            asked: Vec::new(),
            clients: Bounded::new(REMEMBERED),
            delivered: Bounded::new(REMEMBERED),
            ids: Bounded::new(REMEMBERED),
            calls: Bounded::new(REMEMBERED),
        }
    }
}

impl Checks {
    /// Those that are asked for.
    pub(super) fn of(asked: impl Fn(Check) -> bool) -> Self {
        let all = [Check::OneInitialize, Check::ResumeId, Check::NoRepeat];
        Self { asked: all.into_iter().filter(|check| asked(*check)).collect(), ..Self::default() }
    }
}

impl Engine {
    /// What the checks make of a point that was seen.
    pub(super) fn look_after(
        &self,
        checks: &mut Checks,
        leg: Leg,
        point: &Point,
        on: Option<ExchangeId>,
    ) -> Vec<Finding> {
        let Some(exchange) = on.and_then(|id| self.exchanges.get(&id)) else { return Vec::new() };
        if leg != Leg::Client || checks.asked.is_empty() {
            return Vec::new();
        }
        if let Some(id) = point.block.as_ref().and_then(|block| block.event_id.as_ref()) {
            checks.delivered.insert((exchange.session, Arc::clone(&exchange.trail.key)), id.clone());
        }
        if point.at != At::Request {
            return Vec::new();
        }
        let key = point.key.to_string();
        let finding = |check: Check, wrong: Option<String>| Finding { check, keys: vec![key.clone()], wrong };
        let asked = checks.asked.clone();
        let look = |check: &Check| {
            let wrong = match check {
                Check::OneInitialize => self.begins_again(checks, exchange)?,
                Check::ResumeId if exchange.stream == Stream::Resume => self.resume_id(checks, on).err(),
                Check::NoRepeat => repeats(checks, exchange)?,
                Check::ResumeId | Check::Closed | Check::ConnectionsClosed => return None,
            };
            Some(finding(*check, wrong))
        };
        asked.iter().filter_map(look).collect()
    }

    /// What is wrong with the id from which a resume goes on.
    pub(super) fn resume_id(&self, checks: &Checks, on: Option<ExchangeId>) -> Result<(), String> {
        let Some(exchange) = on.and_then(|id| self.exchanges.get(&id)) else { return Ok(()) };
        let Some(id) = exchange.header("last-event-id") else { return Ok(()) };
        let quoted = quoted(id);
        if !exchange.origin_known {
            return Err(format!("it names the id {quoted}, which no stream of its session had given"));
        }
        match checks.delivered.get(&(exchange.session, Arc::clone(&exchange.trail.key))) {
            Some(last) if last == id => Ok(()),
            Some(last) => {
                Err(format!("it names the id {quoted}, and the last one delivered was {}", self::quoted(last)))
            }
            None => Err(format!("it names the id {quoted}, which was not delivered")),
        }
    }

    /// Whether an initialize begins a second session of its client; `None`: it is none.
    fn begins_again(&self, checks: &mut Checks, exchange: &Exchange) -> Option<Option<String>> {
        let is_initialize = |spoken: &Spoken| spoken.message.method.as_deref() == Some("initialize");
        if !exchange.messages.iter().any(is_initialize) {
            return None;
        }
        let client = self.sessions.client(exchange.session)?;
        let key = (client.address.clone(), client.info.as_ref().map_or(0, |info| hash(info)));
        let first = *checks.clients.entry(&key, || exchange.session);
        let inside = exchange.header("mcp-session-id").is_some();
        Some(match (first == exchange.session, inside) {
            (true, false) => None,
            (true, true) => Some("in a session that had begun".to_owned()),
            (false, _) => Some(format!("session {first} of the same client had begun")),
        })
    }

    /// The exchanges whose answer is awaited or on its way.
    pub(super) fn open_keys(&self) -> Vec<String> {
        let open = self.exchanges.values().filter(|exchange| exchange.client == ClientLeg::Open);
        open.map(|exchange| full_key(exchange)).collect()
    }
}

/// What of a POST's requests was sent before; `None`: it carries none.
fn repeats(checks: &mut Checks, exchange: &Exchange) -> Option<Option<String>> {
    let requests = exchange.messages.iter().filter(|spoken| spoken.message.kind == Kind::Request);
    let mut wrong = None;
    let mut any = false;
    for spoken in requests {
        any = true;
        let again = repeat(checks, exchange, spoken);
        wrong = wrong.or(again);
    }
    any.then_some(wrong)
}

fn repeat(checks: &mut Checks, exchange: &Exchange, spoken: &Spoken) -> Option<String> {
    let (session, here) = (exchange.session, full_key(exchange));
    let id = spoken.message.id.clone()?;
    let mut before = checks.ids.get(&(session, id.clone())).map(|first| format!("its id was used before, by {first}"));
    checks.ids.entry(&(session, id), || here.clone());
    if spoken.message.method.as_deref() == Some("tools/call") {
        let content = (session, content(&spoken.message.params));
        let same = checks.calls.get(&content).filter(|first| **first != here);
        before = before.or_else(|| same.map(|first| format!("the same call had been sent as {first}")));
        checks.calls.entry(&content, || here);
    }
    before
}

/// A hash of params without what differs each time: the token under which progress is asked for stands in `_meta`.
fn content(params: &[u8]) -> u64 {
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(params) else { return hash(params) };
    if let Some(params) = value.as_object_mut() {
        params.remove("_meta");
    }
    hash(value.to_string().as_bytes())
}

fn quoted(id: &Bytes) -> String {
    let text = String::from_utf8_lossy(id);
    let short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() { format!("{short:?}…") } else { format!("{short:?}") }
}
