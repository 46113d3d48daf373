//! As much of an answer is kept as can be: no more of it is read while that waits, so what only its rest could bring will
//! not come.
//!
//! What a rule is going to throw away whatever happens makes room; other waits for the rest are over, which is a failure
//! (rule R21). The one rule it keeps: nothing waits for what will not be read.

use super::condition::{Leg, Same};
use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::plan::Cond;
use super::record::PointFate;
use super::selector::At;
use super::unit::{LaneId, Parcel, Until, Wait};

impl Engine {
    /// Throws away what stands behind a unit in whose place a rule will act, if that waits for the rest of the answer.
    /// Returns whether there is room again.
    pub(super) fn make_room(&mut self, now: Moment, id: ExchangeId) -> bool {
        let Some(lane) = self.lane_of(LaneId::Down(id)).filter(|lane| lane.gated) else { return false };
        let ends = |wait: &&Wait| wait.until == Until::Cut && self.hangs_on_the_rest(wait.rule);
        let mut parcels = lane.parcels.iter().enumerate();
        let found = parcels.find_map(|(place, parcel)| Some((place, parcel.waits.iter().find(ends)?.rule)));
        let Some((place, rule)) = found else { return false };
        let Some(lane) = self.lane(LaneId::Down(id)) else { return false };
        let mut kept: Vec<Parcel> = lane.drain().collect();
        let behind = kept.split_off(place + 1);
        kept.into_iter().for_each(|parcel| lane.push(parcel));
        for parcel in &behind {
            self.discard(now, parcel, PointFate::Cut);
        }
        if let Some(exchange) = self.exchanges.get_mut(&id).filter(|exchange| !exchange.emptied) {
            exchange.emptied = true;
            let (key, name) = (self.key_of(id), self.plan.rules[rule].name.clone());
            self.note(
                now,
                format!("{key}: too much of it to be kept, and {name} throws it away in any case: gone already"),
            );
        }
        !behind.is_empty()
    }

    /// Whether a wait is for something that will not be read.
    pub(super) fn is_out_of_reach(&self, wait: &Wait, id: Option<ExchangeId>) -> bool {
        let full = id.and_then(|id| self.exchanges.get(&id)).is_some_and(|exchange| exchange.full);
        full && matches!(wait.until, Until::Hold | Until::Cut) && self.hangs_on_the_rest(wait.rule)
    }

    /// Whether what a rule waits for can come only on the rest of the answer in hand.
    fn hangs_on_the_rest(&self, rule: usize) -> bool {
        self.plan.rules[rule].gate.as_ref().is_some_and(|cond| self.comes_with_the_rest(cond))
    }

    fn comes_with_the_rest(&self, cond: &Cond) -> bool {
        match cond {
            Cond::End => true,
            Cond::Any(conds) => conds.iter().all(|cond| self.comes_with_the_rest(cond)),
            Cond::Seen { watch, same: Same::Exchange, .. } => {
                let watch = &self.plan.watches[*watch];
                watch.leg == Leg::Server && matches!(watch.sel.selector.at, At::Block | At::End)
            }
            Cond::Seen { .. }
            | Cond::After(_)
            | Cond::Never
            | Cond::Fired { .. }
            | Cond::Gathered(_)
            | Cond::Idle { .. }
            | Cond::Bytes { .. } => false,
        }
    }
}
