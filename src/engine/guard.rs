//! What must be known to have passed before more may leave its stream (rule R5).
//!
//! A unit that is let go has not passed yet. If somewhere a wait looks out for it on the client's leg, what stands behind
//! it stays until it is reported, so that what it releases goes first, however the server's bytes were cut into pieces.
//! The one rule it keeps: where nothing looks out for a unit, nothing stays behind it.

use std::time::Duration;

use super::condition::{Leg, Same};
use super::engine::Engine;
use super::event::{ExchangeId, Moment, UnitId};
use super::leave::Job;
use super::plan::Cond;
use super::unit::{LaneId, Point, Until};

impl Engine {
    /// Whether some wait or armed cut looks out for a unit that is about to leave on this stream.
    pub(super) fn is_looked_for(&self, on: ExchangeId, point: &Point) -> bool {
        let adding = !self.additions.is_empty();
        if self.busy.is_empty() && self.cutting.is_empty() && !adding && !self.plan.cuts_connections {
            return false;
        }
        let watches = self.plan.watches.iter().enumerate();
        let mut seeing = watches.filter(|(_, watch)| watch.leg == Leg::Client);
        seeing.any(|(number, watch)| self.selects(&watch.ahead, point, Some(on)) && self.is_waited_for(number, point))
    }

    /// A rule begins to wait with this unit in hand: what it looks out for may be on its way already.
    pub(super) fn look_out(&mut self, rule: usize, waiting: &Point) {
        let Some(cond) = &self.plan.rules[rule].gate else { return };
        let writes = self.flights.iter().filter(|(_, flight)| matches!(flight.job, Job::Write));
        let awaited = writes.filter(|(_, flight)| {
            let on = Some(flight.exchange);
            let watches = self.plan.watches.iter().enumerate().filter(|(_, watch)| watch.leg == Leg::Client);
            watches.into_iter().any(|(number, watch)| {
                let mut points = flight.points.iter().map(|(_, point)| point);
                points.any(|point| cond.asks(number, waiting, point) && self.selects(&watch.ahead, point, on))
            })
        });
        let awaited: Vec<_> = awaited.map(|(unit, flight)| (flight.exchange, *unit)).collect();
        for (on, unit) in awaited {
            self.guard(on, unit);
        }
    }

    /// Nothing more leaves this stream before the unit has passed.
    pub(super) fn guard(&mut self, on: ExchangeId, unit: UnitId) {
        self.guard_lane(LaneId::Down(on), unit, Duration::ZERO);
    }

    /// The same, and no byte leaves before so long has gone by since. A later unit stands for those before it.
    pub(super) fn guard_lane(&mut self, id: LaneId, unit: UnitId, gap: Duration) {
        if let Some(lane) = self.lane(id) {
            lane.guard = lane.guard.max(Some(unit));
            if gap > Duration::ZERO {
                lane.outlet.get_or_insert_default().gap = gap;
            }
        }
    }

    /// A unit has passed, or never will: what stood behind it leaves no earlier than what it released.
    pub(super) fn unguard(&mut self, now: Moment, on: ExchangeId, unit: UnitId) {
        for id in [LaneId::Up(on), LaneId::Down(on)] {
            if let Some(lane) = self.lane(id).filter(|lane| lane.guard == Some(unit)) {
                lane.guard = None;
                lane.floor = now;
                if let Some(outlet) = &mut lane.outlet {
                    outlet.closed = now + std::mem::take(&mut outlet.gap);
                }
                self.stirred = true;
            }
        }
    }

    fn is_waited_for(&self, number: usize, point: &Point) -> bool {
        let asks = |rule: usize, waiting: &Point| {
            self.plan.rules[rule].gate.as_ref().is_some_and(|cond| cond.asks(number, waiting, point))
        };
        let armed = |cuts: &[super::unit::ArmedCut]| cuts.iter().any(|cut| asks(cut.rule, &cut.point));
        let lanes = self.busy.iter().filter_map(|id| self.lane_of(*id)).filter(|lane| lane.gated);
        let mut parcels = lanes.flat_map(|lane| &lane.parcels);
        let mut cutting = self.cutting.iter().filter_map(|id| self.exchanges.get(id));
        parcels.any(|parcel| {
            let mut waits = parcel.waits.iter().filter(|wait| matches!(wait.until, Until::Hold | Until::Cut));
            let first = parcel.points.first();
            first.is_some_and(|(_, waiting)| waits.any(|wait| asks(wait.rule, waiting)))
        }) || self.additions.values().any(|addition| asks(addition.rule, &addition.point))
            || cutting.any(|exchange| armed(&exchange.cuts))
            || self.plan.cuts_connections && self.conns.values().any(|conn| armed(&conn.cuts))
    }
}

impl Cond {
    /// Whether it looks, for the unit in hand, at this point with this watch.
    fn asks(&self, number: usize, waiting: &Point, point: &Point) -> bool {
        match self {
            Self::Seen { watch, same, .. } => {
                *watch == number && (*same == Same::Run || waiting.session == point.session)
            }
            Self::Any(conds) => conds.iter().any(|cond| cond.asks(number, waiting, point)),
            Self::After(_)
            | Self::End
            | Self::Never
            | Self::Fired { .. }
            | Self::Gathered(_)
            | Self::Idle { .. }
            | Self::Bytes { .. } => false,
        }
    }
}
