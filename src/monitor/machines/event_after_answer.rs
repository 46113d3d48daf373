//! `event-after-answer`: a message on a call's stream after the answer that should have ended it.

use super::{REMEMBERED, is_servers};
use crate::engine::bounded::Bounded;
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::key;
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::monitor::request::Request;
use crate::monitor::requests::is_reply;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "event-after-answer",
    weight: Weight::Notice,
    finds: "a request or a notification that the server sent on a POST's stream after the answer",
    means: "Clients stop reading at the answer: what comes after it is lost on most of them.",
    clause: "transports, Sending Messages 6: \"After the JSON-RPC response has been sent, the server SHOULD terminate the SSE \
             stream\" (2025-11-25)",
    versions: "2025-03-26 and later",
    make: || Box::new(EventAfterAnswer(Bounded::new(REMEMBERED))),
};

/// What came last on a stream, by arrival: what a rule held is written down later.
#[derive(Debug, Default)]
struct Stream {
    answer: Option<u64>,
    told: bool,
    last: Option<Found>,
}

#[derive(Debug)]
struct EventAfterAnswer(Bounded<String, Stream>);

impl Machine for EventAfterAnswer {
    fn see(&mut self, point: &PointEntry, world: &World) -> Vec<Found> {
        if !is_servers(point) || point.stream.as_deref() != Some("post") || point.rpc.is_empty() {
            return Vec::new();
        }
        let exchange = key::exchange(&point.key);
        // Of a batch, all must have been answered.
        let batch = world.requests.of_exchange(exchange).any(|request| request.answer.is_none());
        let stream = self.0.entry(&exchange.to_owned(), Stream::default);
        match point.rpc.iter().find(|rpc| !is_reply(rpc)) {
            None if batch => return Vec::new(),
            None => stream.answer = Some(stream.answer.unwrap_or(0).max(point.seq)),
            Some(rpc) => {
                let method = rpc.method.as_deref().unwrap_or("a message");
                let call = world.requests.of_exchange(exchange).next();
                let call = call.map_or_else(|| "its call".to_owned(), Request::words);
                let words = format!("{method} came on the stream of {call} after the answer");
                let later = stream.last.as_ref().is_none_or(|last| last.seq < point.seq);
                stream.last = stream.last.take().filter(|_| !later).or_else(|| Some(Found::at(point, words)));
            }
        }
        let after = stream.last.as_ref().filter(|last| stream.answer.is_some_and(|answer| last.seq > answer));
        let found = after.filter(|_| !stream.told).cloned();
        stream.told |= found.is_some();
        found.into_iter().collect()
    }
}
