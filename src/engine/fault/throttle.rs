//! `throttle`: a body passes only so fast.

use crate::engine::engine::Engine;
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, Kind, Need, Spot, field};
use crate::engine::outlet::Throttle as Bucket;
use crate::engine::selector::At;

/// `throttle`: requests, and heads for the bodies behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Throttle {
    /// Bytes a second.
    pub rate: u64,
    /// How many bytes may pass at once.
    pub burst: u64,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "throttle",
    at: &[At::Request, At::Head],
    main: Some("rate"),
    doc: "lets a body pass only so fast; of an answer, no more than 256 KiB are read ahead",
    params: &[
        field("rate", Kind::Rate, Need::Required, "how fast"),
        field("burst", Kind::Size, Need::Optional, "how much may pass at once (one second's worth)"),
    ],
    make: |params, _| make(params).map(Fault::Throttle),
    check: nothing,
};

fn make(params: &Params) -> Option<Throttle> {
    let rate = params.rate("rate").filter(|rate| *rate > 0)?;
    Some(Throttle { rate, burst: params.size("burst").unwrap_or(rate) })
}

fn nothing(params: &Params, _: At, spot: &Spot, slips: &mut Complaints) {
    if params.rate("rate") == Some(0) {
        let instead = "say cut = { ending = \"stall\" }, or write a rate";
        slips.wrong(params.written("rate").unwrap_or(spot), "at this rate nothing ever passes", instead);
    }
    if let Some(burst) = params.written("burst").filter(|_| params.size("burst") == Some(0)) {
        slips.wrong(burst, "a burst of no bytes lets nothing pass", "write a size from 1");
    }
}

impl Act for Throttle {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, lane, parcel } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        engine.log_firing(now, rule, &point);
        let bucket = Bucket::new(rule, self.rate, self.burst, point.arrived);
        if let Some(outlet) = engine.outlet(*lane) {
            outlet.throttles.push(bucket);
        }
    }

    fn reaches_the_body(&self) -> bool {
        true
    }

    fn explain(&self) -> String {
        format!("let it pass at {} bytes a second, {} at once", self.rate, self.burst)
    }
}
