//! `hold`: a unit leaves only after something else has happened.

use std::time::Duration;

use crate::engine::condition::{Condition, Time};
use crate::engine::engine::Engine;
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::Params;
use crate::engine::language::{Asked, Complaints, Kind, Need, OVERTAKE, Spot, field, limit, words};
use crate::engine::rule::Rule;
use crate::engine::selector::At;

/// `hold`: every point.
#[derive(Debug, Clone, PartialEq)]
pub struct Hold {
    /// What opens it.
    pub until: Condition,
    /// When it is let go anyway, which is a failure (rule R21); `None` with [`Condition::Never`] only.
    pub limit: Option<Duration>,
    /// Whether later units of the stream may pass it.
    pub overtake: bool,
    /// Whether the server's leg is read on meanwhile, bounded; `false`: back-pressure.
    pub reading: bool,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "hold",
    at: &[At::Connect, At::RequestHead, At::Request, At::Head, At::Block, At::End, At::Leave],
    main: Some("until"),
    doc: "lets a unit leave only after something else has happened",
    params: &[
        field("until", Kind::Condition(Asked::Unit), Need::Required, "what opens it"),
        limit("\"30s\"", "when it is let go anyway, which is a failure"),
        OVERTAKE,
        field("reading", Kind::Bool, Need::Default("true"), "whether the server's leg is read on meanwhile, bounded"),
    ],
    make: |params, _| make(params).map(Fault::Hold),
    check: endless,
};

fn make(params: &Params) -> Option<Hold> {
    let until = params.condition("until")?;
    let limit = if until == Condition::Never { None } else { params.duration("limit") };
    Some(Hold { until, limit, overtake: params.flag("overtake"), reading: params.flag("reading") })
}

/// A hold for good has no limit (R21): one that is written would be ignored.
fn endless(params: &Params, _: At, _: &Spot, slips: &mut Complaints) {
    let never = params.condition("until") == Some(Condition::Never);
    if let Some(spot) = params.written("limit").filter(|_| never) {
        slips.wrong(spot, "`limit` beside \"never\": a hold for good has none", "remove it, or say `delay`");
    }
}

impl Act for Hold {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, parcel, .. } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        let Some(wait) = engine.await_gate(now, rule, &point, self.limit) else { return };
        if self.until == Condition::Never {
            engine.effective_at(rule, &point);
        }
        parcel.waits.push(wait);
        parcel.overtake |= self.overtake;
    }

    fn waits_for(&self) -> Option<&Condition> {
        Some(&self.until)
    }

    // An answer of a known length has ended for its client with its last byte, whatever is kept behind it.
    fn changes(&self, at: At) -> bool {
        at == At::End
    }

    fn presses(&self) -> bool {
        !self.reading
    }

    /// A limit is a failure, not a plan (rule R21): a time that never comes true before it is a slip.
    fn check(&self, _: &Rule, spot: &Spot, slips: &mut Complaints) {
        let (Condition::After(Time::Fixed(time)), Some(limit)) = (&self.until, self.limit) else { return };
        if *time >= limit {
            slips.wrong(
                spot,
                "the hold's time is not shorter than its `limit`",
                "write a longer limit, or say `delay`",
            );
        }
    }

    fn explain(&self) -> String {
        let limit = self.limit.map(words::show_duration);
        let limit = limit.map(|limit| format!(", at most {limit} (then exit 5)")).unwrap_or_default();
        match &self.until {
            Condition::Never => "hold for good".to_owned(),
            until => format!("hold until {}{limit}", words::condition(until)),
        }
    }
}
