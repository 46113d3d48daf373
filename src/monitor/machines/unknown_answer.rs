//! `unknown-answer`: an answer with an id that no request had.

use super::{is_clients, is_servers, session};
use crate::engine::record::{PointEntry, RpcEntry, Weight};
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::monitor::requests::is_reply;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "unknown-answer",
    weight: Weight::Notice,
    finds: "an answer, of either side, whose id is that of no request that it could answer: a number for a string, an id of \
            another stream's request, one that was never asked",
    means: "Whoever asked will wait for ever, or take one answer for another.",
    clause: "basic, Responses: \"MUST include the same ID as the request they correspond to\" (2025-11-25)",
    versions: "all",
    make: || Box::new(UnknownAnswer),
};

#[derive(Debug)]
struct UnknownAnswer;

impl Machine for UnknownAnswer {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        if !is_servers(point) && !is_clients(point) {
            return Vec::new();
        }
        let unknown = point.rpc.iter().filter(|rpc| is_reply(rpc) && rpc.unknown);
        unknown.filter_map(|rpc| words(point, rpc, world)).map(|words| Found::at(point, words)).collect()
    }
}

fn words(point: &PointEntry, rpc: &RpcEntry, world: &World) -> Option<String> {
    let id = rpc.id.as_ref()?;
    if point.dir == "c2s" {
        let made = world.made.get(&(session(point), id.clone())).is_some();
        return (!made).then(|| format!("the client answered id {id}, and no request of the server's had that"));
    }
    match world.requests.with_id(session(point), id) {
        // One that had its answer before is the business of another monitor.
        Some(request) if request.answer.as_ref().is_some_and(|answer| answer.seq < point.seq) => None,
        Some(request) => Some(format!("an answer to {} came on another request's stream", request.words())),
        None => Some(format!("the server answered id {id}, and no request of the client's had that")),
    }
}
