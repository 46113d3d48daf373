//! The way of a body's bytes out of their queue: what is collected before it leaves, and in which pieces it does.
//!
//! It comes after all waits: only what could leave is collected, so that no time is added to another's (rule R17). The one
//! rule it keeps: no byte is lost, added or changed here, and none passes another.

mod keep;
mod parting;
mod rate;

use std::time::Duration;

use keep::Collected;
pub(super) use keep::{Keep, Of};
pub(super) use parting::Parting;
pub(super) use rate::Throttle;

use super::decide::micros;
use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::leave::Job;
use super::record::Opened;
use super::unit::{Lane, LaneId, Out, Parcel, Point};

/// How the bytes of a body leave their queue.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    /// What collects them.
    pub(super) keeps: Vec<Keep>,
    /// How fast they pass.
    pub(super) throttles: Vec<Throttle>,
    /// Into which pieces all of them part.
    pub(super) partings: Vec<Parting>,
    /// The time between the piece that leaves and the next.
    pub(super) gap: Duration,
    /// Before this moment no byte leaves.
    pub(super) closed: Moment,
    /// Whether something waits to see a unit of those that leave together now.
    looked_for: bool,
    /// Rules that give each event of the body another form, and the places in the sequence of the units at which they fired.
    pub(super) shapes: Vec<(usize, u64)>,
    /// The timer that is set for it.
    timer: Option<Moment>,
}

// === Outlet ===

impl Outlet {
    /// Whether this parcel, the first that could leave, may.
    pub(super) fn lets_go(&self, now: Moment, parcel: &Parcel) -> bool {
        match &parcel.out {
            Out::Bytes(bytes) => self.closed <= now && self.portion(now, bytes.len()) > 0,
            Out::Head => !self.keeps.iter().any(|keep| keep.withholds_head && keep.credit == 0),
            _ => true,
        }
    }

    /// How many of the next bytes may leave now.
    fn portion(&self, now: Moment, len: usize) -> usize {
        let collected = self.collected(len);
        self.throttles.iter().map(|throttle| throttle.allows(now, collected)).fold(collected, usize::min)
    }

    /// How many of the next bytes wait for no more to come.
    fn collected(&self, len: usize) -> usize {
        self.keeps.iter().map(|keep| keep.credit).fold(len, usize::min)
    }

    /// Whether it is a rate that keeps the next bytes back, so that their sender should feel it.
    pub(super) fn slows(&self) -> bool {
        !self.throttles.is_empty() && self.keeps.is_empty()
    }

    /// Whether it waits for more.
    pub(super) fn keeps_back(&self) -> bool {
        self.keeps.iter().any(|keep| keep.credit == 0)
    }

    /// Whether what leaves next belongs to the events that are leaving together.
    fn goes_on(&self) -> bool {
        self.throttles.is_empty() && !self.keeps.is_empty() && self.keeps.iter().all(Keep::goes_on)
    }

    /// The gap behind a head that leaves apart from its body.
    pub(super) fn parts_head(&self) -> Option<Duration> {
        self.partings.iter().map(|parting| parting.gap).max()
    }

    /// When it is to be asked again.
    fn due(&self, now: Moment, lane: &Lane) -> Option<Moment> {
        let closed = Some(self.closed).filter(|closed| *closed > now);
        let slowed = self.slowed(now, lane).into_iter().map(|(_, due)| due);
        self.keeps.iter().filter_map(Keep::due).chain(closed).chain(slowed).min()
    }

    /// The throttle that keeps the next bytes back, and until when.
    fn slowed(&self, now: Moment, lane: &Lane) -> Option<(usize, Moment)> {
        let next = lane.parcels.iter().find(|parcel| parcel.waits.is_empty() && parcel.ready <= now)?;
        let len = self.collected(next.bytes());
        let due = self.throttles.iter().enumerate().map(|(place, throttle)| (place, throttle.next(len)));
        due.filter(|(_, due)| len > 0 && *due > now).max_by_key(|(_, due)| *due)
    }
}

// === Engine ===

impl Engine {
    pub(super) fn outlet(&mut self, id: LaneId) -> Option<&mut Outlet> {
        self.lane(id).map(|lane| &mut **lane.outlet.get_or_insert_default())
    }

    /// Collects what leaves a queue, unless its rule does already.
    pub(super) fn collect_at(&mut self, id: LaneId, keep: Keep) {
        let outlet = self.outlet(id);
        if let Some(outlet) = outlet.filter(|outlet| !outlet.keeps.iter().any(|other| other.is_same(&keep))) {
            outlet.keeps.push(keep);
        }
    }

    /// Counts what has come up to the outlet of a queue, and sets its timer.
    pub(super) fn tend_outlet(&mut self, now: Moment, id: LaneId) {
        let Some(lane) = self.lane(id) else { return };
        let Some(mut outlet) = lane.outlet.take() else { return };
        let (mut kept, mut late, mut collected) = (Vec::new(), Vec::new(), Vec::new());
        outlet.keeps.retain_mut(|keep| {
            let before = (keep.credit, keep.since);
            let over = keep.count(now, lane);
            if keep.since.or(over).is_some() && !std::mem::replace(&mut keep.effective, true) {
                kept.push((keep.rule, keep.point.seq));
            }
            collected.extend(keep.collected(before).map(|collected| (keep.rule, collected)));
            // It has held since then, and not since the head came.
            late.extend(over.map(|since| (keep.rule, Point { arrived: since, ..keep.point.clone() })));
            over.is_none()
        });
        let due = outlet.due(now, lane);
        let mut slows = None;
        if let Some((place, _)) = outlet.slowed(now, lane) {
            let throttle = &mut outlet.throttles[place];
            slows = Some(throttle.rule).filter(|_| !std::mem::replace(&mut throttle.effective, true));
        }
        let before = std::mem::replace(&mut outlet.timer, due);
        lane.outlet = Some(outlet);
        if due != before {
            self.remove_timer(before);
            self.add_timer(due);
        }
        slows.into_iter().for_each(|rule| self.effective(rule));
        kept.into_iter().for_each(|(rule, firing)| self.effective_once(rule, firing));
        collected.into_iter().for_each(|(rule, collected)| self.has_collected(now, id, rule, collected));
        for (rule, head) in late {
            self.close_gate(now, rule, &head, Opened::Limit);
        }
    }

    fn has_collected(&mut self, now: Moment, id: LaneId, rule: usize, collected: Collected) {
        self.sum(id, rule, |sum| {
            sum.kept += if collected.events { 0 } else { collected.bytes as u64 };
            sum.together += u64::from(collected.events);
            sum.time = sum.time.max(micros(now).saturating_sub(micros(collected.since)));
        });
    }

    /// What of a parcel leaves now; the rest is put back, and so is all of it where something must have left first.
    pub(super) fn portion(&mut self, now: Moment, id: LaneId, mut parcel: Parcel) -> Option<Parcel> {
        let Out::Bytes(bytes) = &parcel.out else { return Some(parcel) };
        let lane = self.lane_of(id)?;
        if lane.outlet.is_none() && parcel.parting.is_none() {
            return Some(parcel);
        }
        if let Some(unit) = parcel.parting.as_ref().filter(|parting| parting.is_fresh()).and_then(|_| self.flying(id)) {
            // What stands before the first piece leaves apart from it.
            self.guard_lane(id, unit, Duration::ZERO);
            self.put_back(id, parcel);
            return None;
        }
        let (whole, bytes) = (bytes.len(), bytes.clone());
        let place = self.looked_for(id, &parcel).unwrap_or(whole);
        let outlet = self.outlet(id)?;
        let most = outlet.portion(now, place);
        let mut partings: Vec<&mut Parting> = outlet.partings.iter_mut().chain(parcel.parting.as_mut()).collect();
        let ends = partings.iter().filter_map(|parting| parting.next(&bytes));
        let end = ends.min().filter(|end| *end <= most);
        let len = end.unwrap_or(most);
        let (mut gap, mut parted) = (None, Vec::new());
        for parting in &mut partings {
            let ends = parting.next(&bytes) == Some(len);
            let begins = parting.is_of_head() && parting.is_fresh();
            if ends {
                gap = gap.max(Some(parting.gap));
            }
            if begins || ends && len < whole {
                parted.push((parting.rule, parting.firing, begins));
            }
            parting.took(len);
        }
        for keep in &mut outlet.keeps {
            keep.credit -= len;
        }
        outlet.throttles.iter_mut().for_each(|throttle| throttle.took(now, len));
        let slowed: Vec<_> = outlet.throttles.iter().filter_map(|throttle| throttle.slowed(now)).collect();
        // The last piece of a block is apart from what follows.
        let last = parcel.parting.as_ref().filter(|_| len == whole).map(|parting| parting.gap);
        let apart = gap.or(last);
        self.has_parted(id, parted);
        for (rule, bytes, time) in slowed {
            self.sum(id, rule, |sum| (sum.slowed, sum.time) = (bytes, time));
        }
        if len < whole
            && let Some(front) = parcel.take_front(len)
        {
            self.put_back(id, std::mem::replace(&mut parcel, front));
        }
        Some(Parcel { apart, ..parcel })
    }

    /// Rules have parted the bytes that leave from the next ones or, where a body begins, from its head.
    fn has_parted(&mut self, id: LaneId, parted: Vec<(usize, u64, bool)>) {
        for (rule, firing, begins) in parted {
            self.effective_once(rule, firing);
            self.sum(id, rule, |sum| {
                sum.apart |= begins;
                sum.parted += u64::from(!begins);
            });
        }
    }

    /// The unit on its way on this leg that was let go last.
    fn flying(&self, id: LaneId) -> Option<super::event::UnitId> {
        let LaneId::Down(id) = id else { return None };
        let on = self.flights.iter().rev();
        let mut on = on.filter(|(_, flight)| flight.exchange == id && matches!(flight.job, Job::Write));
        on.next().map(|(unit, _)| *unit)
    }

    /// Where in a parcel the first unit ends for which something looks out.
    fn looked_for(&self, id: LaneId, parcel: &Parcel) -> Option<usize> {
        let LaneId::Down(id) = id else { return None };
        parcel.points.iter().find(|(end, point)| *end > 0 && self.is_looked_for(id, point)).map(|(end, _)| *end)
    }

    /// Of the points that leave now, the one that must have passed before more may leave, because something waits to see
    /// it. What leaves together passes together, and its last unit stands for all of it.
    pub(super) fn stop_behind(&mut self, id: ExchangeId, points: &[(usize, Point)]) -> Option<usize> {
        let first = points.iter().position(|(_, point)| self.is_looked_for(id, point));
        let Some(outlet) = self.lane(LaneId::Down(id)).and_then(|lane| lane.outlet.as_mut()) else { return first };
        outlet.looked_for |= first.is_some();
        if outlet.goes_on() {
            return None;
        }
        let all = std::mem::take(&mut outlet.looked_for);
        first.or_else(|| points.len().checked_sub(1).filter(|_| all))
    }

    /// Nothing leaves a queue any more.
    pub(super) fn close_outlet(&mut self, id: LaneId) {
        let outlet = self.lane(id).and_then(|lane| lane.outlet.take());
        self.remove_timer(outlet.and_then(|outlet| outlet.timer));
    }

    /// A gate before a body is open. Where nothing stood behind it, nothing was kept.
    pub(super) fn open_body(&mut self, now: Moment, id: ExchangeId, rule: usize, head: &[(usize, Point)]) {
        let lane = self.lane_of(LaneId::Down(id));
        let kept: usize = lane.into_iter().flat_map(|lane| &lane.parcels).map(Parcel::bytes).sum();
        if kept > 0 {
            self.effective(rule);
            let since = head.first().map_or(now, |(_, head)| head.arrived);
            let bytes = Collected { bytes: kept, since, events: false };
            self.has_collected(now, LaneId::Down(id), rule, bytes);
        }
    }
}
