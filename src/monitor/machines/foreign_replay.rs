//! `foreign-replay`: a resume delivers what belongs to another stream.

use super::{REMEMBERED, is_servers, session};
use crate::engine::bounded::Bounded;
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::key;
use crate::monitor::monitors::{Found, Machine, Monitor, World};

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "foreign-replay",
    weight: Weight::Notice,
    finds: "an event on a resumed stream whose id another stream had given out",
    means: "The client gets a message twice, or one that belongs to another of its calls.",
    clause: "transports, Resumability and Redelivery 2: \"The server MUST NOT replay messages that would have been delivered \
             on a different stream\" (2025-11-25)",
    versions: "2025-03-26 to 2025-11-25",
    make: || Box::new(ForeignReplay(Bounded::new(8 * REMEMBERED))),
};

/// The stream that gave out each event id, by session.
#[derive(Debug)]
struct ForeignReplay(Bounded<(u64, String), String>);

impl Machine for ForeignReplay {
    fn see(&mut self, point: &PointEntry, _: &World) -> Vec<Found> {
        let Some(id) = point.event_id.as_ref().filter(|_| is_servers(point)) else { return Vec::new() };
        let Some(origin) = key::origin(key::exchange(&point.key)) else { return Vec::new() };
        let named = (session(point), id.clone());
        let Some(issuer) = self.0.get(&named) else {
            self.0.insert(named, origin);
            return Vec::new();
        };
        if *issuer == origin || point.stream.as_deref() != Some("resume") {
            return Vec::new();
        }
        vec![Found::at(point, format!("the resume of {origin} replayed event id {id}, which is of {issuer}"))]
    }
}
