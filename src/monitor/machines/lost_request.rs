//! `lost-request`: the server asked the client something that crossed no stream (modelcontextprotocol/conformance#407).
//!
//! The question itself cannot be seen. What can be: the server's cancellation of it; or that a call failed after a while
//! with no question on any stream, while a rule kept from the server the GET on which it would have asked.

use std::collections::{BTreeMap, BTreeSet};

use super::{REMEMBERED, is_servers, session};
use crate::engine::record::{PointEntry, PointFate, RpcEntry, Weight};
use crate::monitor::key;
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::monitor::request::Request;
use crate::monitor::requests::{is_cancel, is_reply};
use crate::report::words::span;

/// A call that fails sooner did not wait for an answer, in microseconds: no server's timeout is as short.
const WAITED: u64 = 500_000;
/// How many failed calls wait for the run's end to be judged, and how many GETs of a session are remembered.
const CALLS: usize = 256;
const GETS: usize = 64;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "lost-request",
    weight: Weight::Failure,
    finds: "a server's `notifications/cancelled` for a request id that crossed no stream; or a call that failed after half a \
            second or more, with no server request on any stream meanwhile, while a rule kept the session's GET from the server",
    means: "The server asked where nobody listened, and waited for an answer that could not come. One that asks on the \
            stream of the call is green.",
    clause: "cancellation, Behavior Requirements 1: only \"requests that were previously issued\"; transports, Sending Messages \
             6: requests \"SHOULD relate to the originating client request\" (2025-11-25)",
    versions: "2025-03-26 to 2025-11-25",
    make: || Box::new(LostRequest::default()),
};

#[derive(Debug, Default)]
struct LostRequest {
    sessions: BTreeMap<u64, Session>,
    failed: Vec<Failed>,
}

/// What is known of a session.
#[derive(Debug, Default)]
struct Session {
    /// The standalone GETs, by exchange.
    gets: BTreeMap<String, Get>,
    /// When the server's requests arrived, in the sequence.
    asked: BTreeSet<u64>,
}

/// A standalone GET. Times are microseconds.
#[derive(Debug, Default, Clone)]
struct Get {
    seq: u64,
    /// When it reached the server.
    reached: Option<u64>,
    /// When the server opened its stream.
    opened: Option<u64>,
    /// When that was over.
    over: Option<u64>,
    /// The rule that acted on it.
    rule: Option<String>,
}

/// A call that failed after a while, and on whose way nothing was asked.
#[derive(Debug)]
struct Failed {
    call: Request,
    session: u64,
    seq: u64,
    at: u64,
    error: String,
}

impl Machine for LostRequest {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        if point.session.is_none() || !world.has_handshake(session(point)) {
            return Vec::new();
        }
        self.session(point).see(point);
        let blocks = point.rpc.iter().filter(|_| is_servers(point));
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for rpc in blocks {
            if is_cancel(rpc) && rpc.unknown {
                found.extend(self.cancelled(point, rpc, world));
            } else if is_reply(rpc) {
                failed.extend(failure(point, rpc, world));
            }
        }
        failed.truncate(CALLS.saturating_sub(self.failed.len()));
        self.failed.extend(failed);
        found
    }

    fn finish(&mut self, _: &World) -> Vec<Found> {
        self.failed.iter().filter_map(|failed| self.unheard(failed)).collect()
    }
}

impl LostRequest {
    fn session(&mut self, point: &PointEntry) -> &mut Session {
        if self.sessions.len() == REMEMBERED {
            self.sessions.pop_first();
        }
        self.sessions.entry(session(point)).or_default()
    }

    /// The server gives up a request that was never seen.
    fn cancelled(&self, point: &PointEntry, rpc: &RpcEntry, world: &World) -> Option<Found> {
        let id = rpc.about.as_ref()?;
        if world.made.get(&(session(point), id.clone())).is_some() {
            return None;
        }
        let around = world.requests.all().filter(|request| {
            let idle = matches!(request.method.as_str(), "initialize" | "ping");
            request.session == session(point) && request.seq < point.seq && !idle
        });
        let call = around.max_by_key(|request| (request.settled.unwrap_or(u64::MAX), request.seq));
        let meanwhile = call.map(|call| self.meanwhile(call, point.arrived)).unwrap_or_default();
        let words = format!("the server cancelled its request id {id}, which had crossed no stream{meanwhile}");
        let key = call.map_or_else(|| key::exchange(&point.key).to_owned(), |call| call.key.clone());
        Some(Found { key, after: Vec::new(), ..Found::at(point, words) })
    }

    /// What a call near the loss came to, as far as that is known.
    fn meanwhile(&self, call: &Request, now: u64) -> String {
        let ended = call.answer.as_ref().map(|answer| (answer.at, answer.error.as_deref()));
        let open = span(ended.map_or(now, |(at, _)| at).saturating_sub(call.arrived));
        let how = match ended {
            None => "and has no answer".to_owned(),
            Some((at, error)) => {
                let with = error.map_or("an answer", |error| if error == "isError" { error } else { "an error" });
                format!("and ended with {with} {} before that", span(now.saturating_sub(at)))
            }
        };
        let get = self.first_get_after(call).map(|get| reached(&get, call.arrived, "it began")).unwrap_or_default();
        format!("; {} was open {open} {how}{get}", call.words())
    }

    /// The GET of the call's session that reached the server while the call was open, or later.
    fn first_get_after(&self, call: &Request) -> Option<Get> {
        let gets = self.sessions.get(&call.session)?.gets.values();
        gets.filter(|get| get.reached.is_some_and(|at| at > call.arrived)).min_by_key(|get| get.reached).cloned()
    }

    /// A call that failed: whether the server can have asked where a rule had closed its way.
    fn unheard(&self, failed: &Failed) -> Option<Found> {
        let Failed { call, session, seq, at, error } = failed;
        let session = self.sessions.get(session)?;
        let asked = session.asked.range(call.seq..*seq).next().is_some();
        let forgotten = session.asked.len() == REMEMBERED && session.asked.first().is_some_and(|it| *it > call.seq);
        let open =
            |get: &Get| get.opened.is_some_and(|opened| opened < *at) && get.over.is_none_or(|it| it > call.arrived);
        let heard = asked || forgotten || session.gets.values().any(open);
        let kept = session.gets.values().filter(|get| get.rule.is_some() && get.seq < *seq);
        let get = kept.max_by_key(|get| get.seq).filter(|_| !heard)?;
        let open = span(at.saturating_sub(call.arrived));
        let later = match get.reached {
            Some(reached) if reached >= *at => format!("the GET reached the server {} after that", span(reached - at)),
            _ => "no GET was open at the server".to_owned(),
        };
        let rule = get.rule.as_deref().unwrap_or_default();
        let words = format!(
            "{} was open {open}, no server request crossed any stream, it ended with {error}; {later} ({rule} acted on \
             it): a request the server sent meanwhile had no stream",
            call.words()
        );
        Some(Found { seq: *seq, at: *at, key: call.key.clone(), words, after: Vec::new() })
    }
}

/// `; the GET reached the server 3.0 ms after it began`.
fn reached(get: &Get, since: u64, what: &str) -> String {
    let after = get.reached.map(|at| span(at.saturating_sub(since)));
    after.map(|after| format!("; the GET reached the server {after} after {what}")).unwrap_or_default()
}

/// A call that failed late enough to have waited for an answer of the client's.
fn failure(point: &PointEntry, rpc: &RpcEntry, world: &World) -> Option<Failed> {
    let error = rpc.error.as_deref()?;
    let exchange = key::exchange(&point.key);
    let call = world.requests.of_exchange(exchange).find(|request| Some(&request.id) == rpc.id.as_ref())?;
    let waited = point.arrived.saturating_sub(call.arrived) >= WAITED;
    let works = !matches!(call.method.as_str(), "initialize" | "ping");
    let error = if error == "isError" { error.to_owned() } else { format!("error {error}") };
    let session = session(point);
    (waited && works).then(|| Failed { call: call.clone(), session, seq: point.seq, at: point.arrived, error })
}

impl Session {
    fn see(&mut self, point: &PointEntry) {
        if is_servers(point) && point.rpc.iter().any(|rpc| rpc.kind == "request") {
            self.asked.insert(point.seq);
            if self.asked.len() > REMEMBERED {
                self.asked.pop_first();
            }
        }
        let exchange = key::exchange(&point.key);
        if key::origin(exchange).is_some_and(|origin| origin.contains("/get:")) {
            if self.gets.len() == GETS && !self.gets.contains_key(exchange) {
                let oldest = self.gets.iter().min_by_key(|(_, get)| get.seq).map(|(key, _)| key.clone());
                oldest.and_then(|key| self.gets.remove(&key));
            }
            self.gets.entry(exchange.to_owned()).or_default().see(point);
        }
    }
}

impl Get {
    fn see(&mut self, point: &PointEntry) {
        if point.point != "block" {
            self.rule = self.rule.take().or_else(|| point.rules.first().or(point.maker.as_ref()).cloned());
        }
        match point.point.as_str() {
            "request" => {
                self.seq = point.seq;
                self.reached = point.left.filter(|_| point.fate == PointFate::Passed);
            }
            "head" if point.maker.is_none() && point.status.is_some_and(|status| (200..300).contains(&status)) => {
                self.opened = Some(point.arrived);
            }
            "end" | "leave" => self.over = Some(self.over.unwrap_or(u64::MAX).min(point.arrived)),
            _ => {}
        }
    }
}
