//! The way of a body's bytes out of their queue: what is collected before it leaves, and in which pieces it does.
//!
//! It comes after all waits: only what could leave is collected, so that no time is added to another's (rule R17). The one
//! rule it keeps: no byte is lost, added or changed here, and none passes another.

mod keep;
mod parting;
mod rate;

use std::time::Duration;

pub(super) use keep::{Keep, Of};
pub(super) use parting::Parting;
pub(super) use rate::Throttle;

use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::leave::Job;
use super::record::Opened;
use super::unit::{Lane, LaneId, Out, Parcel};

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
    /// Rules that give each event of the body another form, and whether they have given one.
    pub(super) shapes: Vec<(usize, bool)>,
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
        let (mut kept, mut late) = (Vec::new(), Vec::new());
        outlet.keeps.retain_mut(|keep| {
            let over = keep.count(now, lane);
            if (keep.since.is_some() || over) && !std::mem::replace(&mut keep.effective, true) {
                kept.push(keep.rule);
            }
            if over {
                late.push((keep.rule, keep.point.clone()));
            }
            !over
        });
        let due = outlet.due(now, lane);
        if let Some((place, _)) = outlet.slowed(now, lane) {
            let throttle = &mut outlet.throttles[place];
            if !std::mem::replace(&mut throttle.effective, true) {
                kept.push(throttle.rule);
            }
        }
        let before = std::mem::replace(&mut outlet.timer, due);
        lane.outlet = Some(outlet);
        if due != before {
            self.remove_timer(before);
            self.add_timer(due);
        }
        kept.into_iter().for_each(|rule| self.effective(rule));
        for (rule, head) in late {
            self.close_gate(now, rule, &head, Opened::Limit);
        }
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
            if (begins || ends && len < whole) && !std::mem::replace(&mut parting.effective, true) {
                parted.push(parting.rule);
            }
            parting.took(len);
        }
        for keep in &mut outlet.keeps {
            keep.credit -= len;
        }
        outlet.throttles.iter_mut().for_each(|throttle| throttle.took(now, len));
        // The last piece of a block is apart from what follows.
        let last = parcel.parting.as_ref().filter(|_| len == whole).map(|parting| parting.gap);
        let apart = gap.or(last);
        parted.into_iter().for_each(|rule| self.effective(rule));
        if len < whole
            && let Some(front) = parcel.take_front(len)
        {
            self.put_back(id, std::mem::replace(&mut parcel, front));
        }
        Some(Parcel { apart, ..parcel })
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

    /// Nothing leaves a queue any more.
    pub(super) fn close_outlet(&mut self, id: LaneId) {
        let outlet = self.lane(id).and_then(|lane| lane.outlet.take());
        self.remove_timer(outlet.and_then(|outlet| outlet.timer));
    }

    /// A gate before a body is open. Where nothing stood behind it, nothing was kept.
    pub(super) fn open_body(&mut self, id: ExchangeId, rule: usize) {
        let stands = |lane: &Lane| lane.parcels.iter().any(|parcel| parcel.bytes() > 0);
        if self.lane_of(LaneId::Down(id)).is_some_and(stands) {
            self.effective(rule);
        }
    }
}
