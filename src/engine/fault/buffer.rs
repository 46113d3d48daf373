//! `buffer`: a bad gateway keeps an answer's body back.

use std::time::Duration;

use crate::engine::condition::{Condition, Time};
use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::{Engine, LANE_LIMIT};
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::{Datum, Params};
use crate::engine::language::{Asked, Complaints, Kind, Need, Spot, field, limit, words};
use crate::engine::outlet::{Keep, Of};
use crate::engine::rule::Rule;
use crate::engine::selector::At;
use crate::engine::unit::{LaneId, Parcel};

/// `buffer`: heads, for the bodies behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Buffer {
    /// What lets the body go.
    pub until: Until,
    /// Whether the head waits too, until the first byte leaves.
    pub head: bool,
    /// When what is kept is let go anyway, which is a failure (rule R21); the rest of the body then passes as it comes.
    pub limit: Duration,
}

/// What lets a buffered body go.
#[derive(Debug, Clone, PartialEq)]
pub enum Until {
    /// Something has happened: all goes, and what follows passes as it comes.
    Condition(Condition),
    /// So many bytes have come: they go, and the next are collected.
    Size(usize),
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "buffer",
    at: &[At::Head],
    main: Some("until"),
    doc: "keeps an answer's body back, as a gateway does that buffers",
    params: &[
        field(
            "until",
            Kind::Either(&[Kind::Size, Kind::Condition(Asked::Unit)]),
            Need::Default("\"end\""),
            "what lets it go, once; a size: in blocks of that size, the rest at its end",
        ),
        field("head", Kind::Bool, Need::Default("false"), "whether the head waits too, until the first byte leaves"),
        limit("\"30s\"", "when what is kept is let go anyway, which is a failure"),
    ],
    make: |params, _| make(params).map(Fault::Buffer),
    check: sizes,
};

fn make(params: &Params) -> Option<Buffer> {
    let until = match params.datum("until")? {
        Datum::Condition(condition) => Until::Condition(condition),
        Datum::Size(size) => Until::Size(usize::try_from(size).ok().filter(|size| *size > 0)?),
        other => unreachable!("the schema gives `until` the kind of {other:?}"),
    };
    Some(Buffer { until, head: params.flag("head"), limit: params.duration("limit")? })
}

/// A block that no byte fills, or that never can be full, lets nothing go.
fn sizes(params: &Params, _: At, spot: &Spot, slips: &mut Complaints) {
    let spot = params.written("until").unwrap_or(spot);
    match params.datum("until") {
        Some(Datum::Size(0)) => slips.wrong(spot, "a block of no bytes", "write a size such as \"8KiB\", or \"end\""),
        // Half of what a queue holds: each event in it takes room beside its bytes.
        Some(Datum::Size(size)) if size > (LANE_LIMIT / 2) as u64 => {
            slips.wrong(spot, "no more than 8 MiB are kept", "write a smaller size");
        }
        Some(Datum::Condition(Condition::Never)) => {
            let instead = "say cut = { ending = \"stall\", other-leg = \"drain\" }";
            slips.wrong(spot, "a buffer that never lets go", instead);
        }
        _ => {}
    }
}

impl Act for Buffer {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, parcel, .. } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        let Some(id) = point.exchange else { return };
        let empty = engine.exchanges.get(&id).is_some_and(|exchange| exchange.is_empty());
        if empty && !self.head {
            return engine.log_firing(now, rule, &point);
        }
        if let Until::Size(size) = self.until {
            engine.log_firing(now, rule, &point);
            return engine.collect_at(
                LaneId::Down(id),
                Keep::new(rule, point, Of::Bytes { size, limit: self.limit }, self.head),
            );
        }
        let Some(wait) = engine.await_gate(now, rule, &point, Some(self.limit)) else { return };
        if self.head {
            // What stands behind the head waits with it.
            parcel.waits.push(wait);
        } else {
            let seq = engine.next_seq();
            parcel.behind.push(Parcel::gate(seq, rule, &point, wait));
        }
    }

    fn waits_for(&self) -> Option<&Condition> {
        match &self.until {
            Until::Condition(condition) => Some(condition),
            Until::Size(_) => None,
        }
    }

    fn reaches_the_body(&self) -> bool {
        true
    }

    /// How long a head waited with its body; what the body did is summed up.
    fn told(&self, _: &Engine, outcome: &Outcome<'_>, _: usize) -> Option<Did> {
        outcome.delayed().filter(|_| self.head)
    }

    fn check(&self, _: &Rule, spot: &Spot, slips: &mut Complaints) {
        let Until::Condition(Condition::After(Time::Fixed(time))) = self.until else { return };
        if time >= self.limit {
            slips.wrong(spot, "the buffer's time is not shorter than its `limit`", "write a longer limit");
        }
    }

    fn explain(&self) -> String {
        let limit = words::show_duration(self.limit);
        let what = if self.head { "the head and the body" } else { "the body" };
        match &self.until {
            Until::Condition(until) => {
                format!("keep {what} until {}, at most {limit} (then exit 5)", words::condition(until))
            }
            Until::Size(size) => {
                format!("keep {what} and let it go in blocks of {size} bytes, each after {limit} at most (then exit 5)")
            }
        }
    }
}
