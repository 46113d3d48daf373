//! `second-answer`: a request is answered twice. What a resume replays is no second answer.

use super::{is_servers, session};
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::key;
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::monitor::requests::is_reply;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "second-answer",
    weight: Weight::Notice,
    finds: "a second answer to a request that has been answered; what a resume replays is none",
    means: "A client that takes an answer for the next request of that id is misled.",
    clause: "transports, Multiple Connections 2: \"on only one of the connected streams\" (2025-11-25); JSON-RPC 2.0, 5",
    versions: "all",
    make: || Box::new(SecondAnswer),
};

#[derive(Debug)]
struct SecondAnswer;

impl Machine for SecondAnswer {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        if !is_servers(point) || point.stream.as_deref() == Some("resume") {
            return Vec::new();
        }
        let own = key::exchange(&point.key);
        let answered = point.rpc.iter().filter(|rpc| is_reply(rpc)).filter_map(|rpc| {
            let id = rpc.id.as_ref()?;
            let on_own = world.requests.of_exchange(own).find(|request| request.id == *id);
            let request = on_own.or_else(|| world.requests.with_id(session(point), id))?;
            // The first to have arrived is the answer, whichever left first.
            let first = request.answer.as_ref().map(|answer| answer.seq)?;
            (first != point.seq && request.answers + u64::from(rpc.unknown) > 1).then_some(request)
        });
        let words = answered.map(|request| format!("{} was answered again", request.words()));
        words.map(|words| Found::at(point, words)).collect()
    }
}
