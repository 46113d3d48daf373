//! `drop`: a unit is lost.

use crate::engine::effects::{Did, Outcome};
use crate::engine::engine::Engine;
use crate::engine::exchange::Late;
use crate::engine::fault::{Act, Fault, FaultTable, Turn, unchecked};
use crate::engine::record::PointFate;
use crate::engine::selector::At;

/// `drop`: request, block, leave.
///
/// A request that is lost never reaches the server, and its client waits; a leave that is lost never reaches it either, so
/// that it goes on writing and is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drop;

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "drop",
    at: &[At::Request, At::Block, At::Leave],
    main: None,
    doc: "loses a unit",
    params: &[],
    make: |_, _| Some(Fault::Drop(Drop)),
    check: unchecked,
};

impl Act for Drop {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        let Turn { now, rule, parcel, .. } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        if point.block.as_ref().is_some_and(|block| block.parted) {
            // It has begun to pass.
            return;
        }
        // A LF that belongs to a lost block is lost with it.
        if let (At::Block, Some(exchange)) = (point.at, point.exchange.and_then(|id| engine.exchanges.get_mut(&id))) {
            exchange.late = Late::Swallowed;
        }
        let point = point.clone();
        engine.effective(rule);
        engine.log_firing(now, rule, &point);
        parcel.lost = Some(PointFate::Dropped);
    }

    // Whose leave is lost must be read on and its end be known, or the exchange would be remembered for ever.
    fn reaches_the_body(&self) -> bool {
        true
    }

    fn told(&self, engine: &Engine, outcome: &Outcome<'_>, _: usize) -> Option<Did> {
        engine.dropped(outcome)
    }

    fn explain(&self) -> String {
        "lose it".to_owned()
    }
}
