//! `delay`: a unit leaves so long after it arrived.

use std::time::Duration;

use crate::engine::condition::Time;
use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::fault::{Act, Fault, FaultTable, Turn, unchecked};
use crate::engine::language::params::Params;
use crate::engine::language::{Kind, Need, OVERTAKE, field, words};
use crate::engine::selector::At;

/// `delay`: request, head, block, end, leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Delay {
    /// How long, counted from arrival (rule R20).
    pub time: Time,
    /// Whether later units of the stream may pass it.
    pub overtake: bool,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "delay",
    at: &[At::Request, At::Head, At::Block, At::End, At::Leave],
    main: Some("time"),
    doc: "lets a unit leave so long after it arrived",
    params: &[field("time", Kind::Time, Need::Required, "how long, counted from arrival"), OVERTAKE],
    make: |params, _| make(params).map(Fault::Delay),
    check: unchecked,
};

fn make(params: &Params) -> Option<Delay> {
    Some(Delay { time: params.time("time")?, overtake: params.flag("overtake") })
}

impl Act for Delay {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, parcel, .. } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        let time = engine.drawn(rule, Some(&point.key), "delay", Some(&self.time));
        let point = point.clone();
        engine.log_firing(now, rule, &point);
        if time == Duration::ZERO {
            return;
        }
        engine.effective_at(rule, &point);
        let due = point.arrived + time;
        if due > parcel.ready {
            engine.remove_timer(parcel.timer);
            engine.add_timer(Some(due));
            (parcel.ready, parcel.timer) = (due, Some(due));
        }
        parcel.overtake |= self.overtake;
    }

    fn drawn(&self) -> Option<(&'static str, Time)> {
        Some(("delay", self.time))
    }

    // An answer of a known length has ended for its client with its last byte, whatever is kept behind it.
    fn changes(&self, at: At) -> bool {
        at == At::End
    }

    fn told(&self, _: &Engine, outcome: &Outcome<'_>, _: usize) -> Option<Did> {
        outcome.delayed()
    }

    fn explain(&self) -> String {
        format!("delay by {}", words::time(&self.time))
    }
}
