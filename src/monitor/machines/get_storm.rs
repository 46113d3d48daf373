//! `get-storm`: a client opens its GET again and again, with hardly a pause and nothing to show for it.

use std::collections::{BTreeMap, VecDeque};

use super::{REMEMBERED, is_clients, session};
use crate::engine::record::{PointEntry, Weight};
use crate::monitor::monitors::{Found, Machine, Monitor, World};
use crate::report::words::span;

/// So many GETs ...
const GETS: usize = 10;
/// ... within so long are a storm, in microseconds: a client that pauses for half a second each time is none.
const WITHIN: u64 = 5_000_000;

pub(in crate::monitor) static MONITOR: Monitor = Monitor {
    name: "get-storm",
    weight: Weight::Notice,
    finds: "10 GETs or resumes of one session within 5 s, and no message on any of them; once until a message comes",
    means: "The client reconnects without a pause. What ended its streams may be a rule; that it does not wait is its own \
            doing.",
    clause: "transports, Sending Messages 6: the client \"MUST respect the retry field\" (2025-11-25); HTML, server-sent \
             events: a reconnection time of a few seconds",
    versions: "2025-03-26 to 2025-11-25",
    make: || Box::new(GetStorm::default()),
};

#[derive(Debug, Default)]
struct GetStorm(BTreeMap<u64, Gets>);

/// When the last GETs of a session came, since the last message on one.
#[derive(Debug, Default)]
struct Gets {
    times: VecDeque<u64>,
    told: bool,
}

impl Machine for GetStorm {
    fn see(&mut self, point: &PointEntry, _: &World) -> Vec<Found> {
        if !matches!(point.stream.as_deref(), Some("get" | "resume")) {
            return Vec::new();
        }
        if point.point == "block" && point.block.as_deref() == Some("message") {
            self.0.remove(&session(point));
        }
        if !is_clients(point) {
            return Vec::new();
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_first();
        }
        let gets = self.0.entry(session(point)).or_default();
        gets.times.push_back(point.arrived);
        if gets.times.len() > GETS {
            gets.times.pop_front();
        }
        let took = point.arrived.saturating_sub(gets.times[0]);
        if gets.times.len() < GETS || took > WITHIN || gets.told {
            return Vec::new();
        }
        gets.told = true;
        let took = span(took);
        vec![Found::at(point, format!("{GETS} GETs within {took}, and no message on any of them"))]
    }
}
