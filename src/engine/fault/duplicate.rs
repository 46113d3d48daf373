//! `duplicate`: a unit leaves again.

use crate::engine::condition::Time;
use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::{Engine, LANE_LIMIT};
use crate::engine::fault::{Act, Fault, FaultTable, Turn, unchecked};
use crate::engine::language::params::Params;
use crate::engine::language::{GAP, Kind, MOST, Need, field, words};
use crate::engine::selector::At;

/// `duplicate`: request, block.
#[derive(Debug, Clone, PartialEq)]
pub struct Duplicate {
    /// How often again, from 1.
    pub times: u64,
    /// The time between two, counted from the arrival of the first.
    pub gap: Time,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "duplicate",
    at: &[At::Request, At::Block],
    main: Some("times"),
    doc: "lets a unit leave again",
    params: &[field("times", Kind::Int(1, MOST), Need::Default("1"), "how often again"), GAP],
    make: |params, _| make(params).map(Fault::Duplicate),
    check: unchecked,
};

fn make(params: &Params) -> Option<Duplicate> {
    Some(Duplicate { times: params.number("times")?, gap: params.time("gap")? })
}

impl Act for Duplicate {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, parcel, .. } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        // A JSON answer is no event among others (rule R32).
        if engine.keeps_its_place(point) {
            return;
        }
        let gap = engine.drawn(rule, Some(&point.key), "gap", Some(&self.gap));
        engine.log_firing(now, rule, point);
        if point.at == At::Request {
            return engine.send_again(now, rule, parcel, (self.times, gap));
        }
        let most = (LANE_LIMIT / parcel.bytes().max(1)).max(1) as u64;
        if self.times > most {
            engine.note(now, format!("{}: {most} copies of it are {LANE_LIMIT} bytes; no more are made", point.key));
        }
        let mut ready = now;
        for _ in 0..self.times.min(most) {
            ready = ready + gap;
            let made = engine.make_copy(now, rule, parcel, ready);
            engine.put_behind(made);
        }
    }

    fn drawn(&self) -> Option<(&'static str, Time)> {
        Some(("gap", self.gap))
    }

    fn made(&self, engine: &Engine, outcome: &Outcome<'_>) -> Option<Did> {
        Some(engine.added(outcome, true))
    }

    fn explain(&self) -> String {
        let times = if self.times == 1 { "once more".to_owned() } else { format!("{} times more", self.times) };
        match &self.gap {
            Time::Fixed(gap) if gap.is_zero() => format!("send it {times}"),
            gap => format!("send it {times}, {} apart", words::time(gap)),
        }
    }
}
