//! Parcels that will never leave, and what the rules that kept them have kept from the client for good.
//!
//! The one rule it keeps: what stood behind a hold when its leg went away counts as kept by that hold.

use super::condition::Leg;
use super::engine::Engine;
use super::event::Moment;
use super::fault::Fault;
use super::plan::Cond;
use super::record::{Opened, PointFate};
use super::selector::At;
use super::unit::{LaneId, Out, Parcel, Point, Until, Wait};

/// What a gate that never opened has kept.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    /// Blocks that were never delivered: its own, and those behind it.
    pub(super) undelivered: u64,
    /// Whether what it waited for stood behind it, and would have passed with `overtake`.
    pub(super) overtake: bool,
}

impl Engine {
    /// Nothing that stands in a queue will ever leave it.
    pub(super) fn discard_all(&mut self, now: Moment, id: LaneId, fate: PointFate) {
        let parcels: Vec<Parcel> = self.lane(id).map(|lane| lane.drain().collect()).unwrap_or_default();
        self.close_outlet(id);
        for (place, parcel) in parcels.iter().enumerate() {
            // What waits for a stream stands behind nobody.
            let behind = if id == LaneId::Astray { &[] } else { &parcels[place + 1..] };
            self.discard_before(now, parcel, behind, fate);
        }
    }

    /// A parcel will never leave.
    pub(super) fn discard(&mut self, now: Moment, parcel: &Parcel, fate: PointFate) {
        self.discard_before(now, parcel, &[], fate);
    }

    fn discard_before(&mut self, now: Moment, parcel: &Parcel, behind: &[Parcel], fate: PointFate) {
        let ended = if fate == PointFate::Withheld { Opened::RunEnded } else { Opened::Left };
        self.stirred = true;
        self.remove_timer(parcel.timer);
        for wait in &parcel.waits {
            self.clear_timer(wait);
            if let Some((_, point)) = parcel.points.first() {
                if matches!(wait.until, Until::Hold) {
                    self.ungather(wait.rule, point);
                    let keeps = !matches!(parcel.out, Out::Gate(_)) || behind.iter().any(|parcel| parcel.bytes() > 0);
                    if keeps && fate != PointFate::Dropped {
                        self.kept_for_good(wait.rule, point, &ended);
                    }
                }
                if matches!(wait.until, Until::Hold | Until::Cut | Until::Stream) {
                    let kept = self.kept(now, wait, parcel, behind);
                    self.end_gate(now, wait.rule, point, ended.clone(), kept);
                }
            }
        }
        // A gate is no point of its own: it stands there in the name of the head.
        for (_, point) in parcel.points.iter().filter(|_| !matches!(parcel.out, Out::Gate(_))) {
            self.write_point(point, fate, None, None);
        }
    }

    /// The peer of a unit that a hold kept has gone: what was to reach the client never did. A request that was never
    /// forwarded counts only where what it waited for could still have come (rule R35).
    fn kept_for_good(&mut self, rule: usize, point: &Point, ended: &Opened) {
        let awaited = || self.plan.rules[rule].gate.as_ref().is_some_and(|cond| self.under_way(cond, rule, point));
        let never = self.plan.rules[rule].rule.fault.is_for_good();
        if *ended == Opened::Left && !never && (!point.at.is_towards_server() || awaited()) {
            self.effective_at(rule, point);
        }
    }

    fn kept(&self, now: Moment, wait: &Wait, parcel: &Parcel, behind: &[Parcel]) -> Kept {
        let behind = if parcel.overtake { &[] } else { behind };
        let undelivered = blocks(parcel) + behind.iter().map(blocks).sum::<u64>();
        let holds = matches!(self.plan.rules[wait.rule].rule.fault, Fault::Hold(_)) && wait.until == Until::Hold;
        let overtake =
            holds && matches!(parcel.out, Out::Bytes(_)) && self.is_opened_by(now, wait.rule, parcel, behind);
        Kept { undelivered, overtake }
    }

    /// Whether what stands behind a held block and waits for nothing else would open its gate, could it pass.
    fn is_opened_by(&self, now: Moment, rule: usize, parcel: &Parcel, behind: &[Parcel]) -> bool {
        let (Some(cond), Some((_, point))) = (&self.plan.rules[rule].gate, parcel.points.first()) else { return false };
        let free = behind.iter().take_while(|parcel| parcel.waits.is_empty() && parcel.ready <= now);
        let free = free.take_while(|parcel| matches!(parcel.out, Out::Bytes(_)));
        let points: Vec<&Point> = free.flat_map(|parcel| &parcel.points).map(|(_, point)| point).collect();
        self.would_open(cond, point, &points)
    }

    fn would_open(&self, cond: &Cond, held: &Point, passing: &[&Point]) -> bool {
        match cond {
            Cond::Any(conds) => conds.iter().any(|cond| self.would_open(cond, held, passing)),
            Cond::Seen { watch, same, nth, next, .. } if self.plan.watches[*watch].leg == Leg::Client => {
                let sel = &self.plan.watches[*watch].ahead;
                let fits = |point: &&&Point| self.selects(sel, point, point.exchange) && same.relates(point, held);
                let seen = self.seen(*watch, *same, held).filter(|sighting| !next || sighting.seq > held.seq).count();
                let coming = passing.iter().filter(fits).count();
                coming > 0 && (seen + coming) as u64 >= *nth
            }
            Cond::Seen { .. }
            | Cond::After(_)
            | Cond::End
            | Cond::Never
            | Cond::Fired { .. }
            | Cond::Gathered(_)
            | Cond::Idle { .. }
            | Cond::Bytes { .. } => false,
        }
    }
}

fn blocks(parcel: &Parcel) -> u64 {
    parcel.points.iter().filter(|(_, point)| point.at == At::Block).count() as u64
}
