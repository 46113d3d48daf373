//! `late-cancel`: the client cancels a request whose stream had ended without the answer: it had been waiting for it
//! (modelcontextprotocol/typescript-sdk#2739).
//!
//! A proxy sees no promise reject. A client that fails the request when its stream ends has nothing left to cancel.

use super::{is_clients, session};
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::monitor::request::{Outcome, Request};
use crate::monitor::requests::is_cancel;
use crate::report::words::span;

/// A client that says at once that it is no longer interested has not waited, in microseconds: what rejects at once does so
/// within 20 ms, and no client's timeout is as short as this.
const PROMPT: u64 = 100_000;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "late-cancel",
    weight: Weight::Failure,
    finds: "a client's `notifications/cancelled` for a request whose stream had ended, broken or been refused without the \
            answer, 100 ms before or more",
    means: "The client had been waiting for what could not come any more. One that fails the request when its stream ends \
            sends nothing and is green. A stream whose events had ids counts only when a resume of it has failed too: until \
            then the client may be about to resume it.",
    clause: "cancellation, Behavior Requirements 1: \"believed to still be in-progress\" (2025-11-25)",
    versions: "2025-03-26 to 2025-11-25",
    make: || Box::new(LateCancel),
};

#[derive(Debug)]
struct LateCancel;

impl Machine for LateCancel {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        if !is_clients(point) {
            return Vec::new();
        }
        let cancelled = point.rpc.iter().filter(|rpc| is_cancel(rpc)).filter_map(|rpc| rpc.about.as_ref());
        let requests = cancelled.filter_map(|id| world.requests.with_id(session(point), id));
        requests.filter_map(|request| found(point, request)).collect()
    }
}

fn found(point: &PointEntry, request: &Request) -> Option<Found> {
    let told = request.settled.filter(|_| request.outcome == Outcome::Told)?;
    let waited = point.arrived.checked_sub(told).filter(|waited| *waited >= PROMPT)?;
    let resumes = request.resumable && request.resumes == 0;
    let (call, waited) = (request.words(), span(waited));
    let how = match (request.refused, &request.closed) {
        (Some(status), _) => format!("it was refused with {status}"),
        (None, Some(close)) => format!("its stream ended without an answer ({close})"),
        (None, None) => "its stream ended without an answer".to_owned(),
    };
    let words = format!("{call}: {how}, and the client cancelled it {waited} later: it had been waiting");
    (!resumes).then(|| Found { key: request.key.clone(), after: Vec::new(), ..Found::at(point, words) })
}
