//! When what waits leaves: gates are opened, then parcels go in the order of their times (rules R5, R17, R18).
//!
//! Gates are asked again only when there is news: something was seen, a rule acted, an answer ended, time came. The one
//! rule it keeps: ties are broken by (time, sequence), one sequence for all streams.

use std::sync::Arc;

use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::record::{Opened, PointFate};
use super::sighting::{Cause, Truth};
use super::unit::{Lane, LaneId, Out, Parcel, Point, Until, Wait};

/// What became of a wait.
enum Waiting {
    /// It is awaited on, perhaps with a known time.
    Still(Option<Moment>),
    /// It came true.
    Over(Moment, Cause),
    /// It was given up.
    Limit(Moment),
}

impl Engine {
    /// Puts a parcel into its queue; it leaves at once if nothing keeps it.
    pub(super) fn enqueue(&mut self, now: Moment, id: LaneId, parcel: Parcel) {
        if let Some(fate) = parcel.lost {
            return self.discard(now, &parcel, fate);
        }
        let Some(lane) = self.lane(id) else {
            return self.discard(now, &parcel, PointFate::Gone);
        };
        if lane.is_empty() && parcel.waits.is_empty() && !self.news {
            self.leave(now, id, parcel);
            return;
        }
        self.push(id, parcel);
    }

    /// Puts a parcel at the end of its queue; before an end, which is always last.
    pub(super) fn push(&mut self, id: LaneId, parcel: Parcel) {
        let Some(lane) = self.lane(id) else { return };
        if lane.parcels.back().is_some_and(|last| matches!(last.out, Out::End(_))) {
            let end = lane.take(lane.parcels.len() - 1);
            lane.push(parcel);
            lane.parcels.extend(end);
        } else {
            lane.push(parcel);
        }
        self.busy.insert(id);
    }

    /// Opens what can be opened and lets go what can go, until nothing changes any more.
    pub(super) fn pump(&mut self, now: Moment) {
        loop {
            while std::mem::take(&mut self.news) {
                self.close_windows(now);
                self.fire_cuts(now);
                self.open_gates(now);
            }
            if !self.release(now) {
                return;
            }
        }
    }

    /// Asks every wait whether it is over.
    fn open_gates(&mut self, now: Moment) {
        for id in self.busy.clone() {
            let Some(lane) = self.lane(id) else { continue };
            let mut taken = std::mem::take(lane);
            for parcel in &mut taken.parcels {
                self.open_gates_of(now, parcel);
            }
            if let Some(lane) = self.lane(id) {
                *lane = taken;
            }
        }
        self.find_streams(now);
    }

    fn open_gates_of(&mut self, now: Moment, parcel: &mut Parcel) {
        let mut waits = std::mem::take(&mut parcel.waits);
        waits.retain_mut(|wait| match self.waiting(wait, &parcel.points, now) {
            Waiting::Still(time) => {
                self.set_timer(wait, time);
                true
            }
            Waiting::Over(at, cause) => {
                parcel.ready = parcel.ready.max(at);
                self.opened(now, wait, parcel, &cause);
                false
            }
            Waiting::Limit(at) => {
                parcel.ready = parcel.ready.max(at);
                self.given_up(now, wait, parcel);
                false
            }
        });
        parcel.waits = waits;
    }

    fn waiting(&self, wait: &Wait, points: &[(usize, Point)], now: Moment) -> Waiting {
        let Some((_, point)) = points.first() else { return Waiting::Over(now, Cause::Time) };
        let truth = match &wait.until {
            Until::Due(due) if *due <= now => Truth::Since(*due, Cause::Time),
            Until::Due(due) => Truth::From(*due),
            Until::Hold | Until::Cut => match &self.plan.rules[wait.rule].gate {
                Some(cond) => self.truth(cond, wait.rule, point, now),
                None => Truth::No,
            },
            Until::Behind(seq) if self.awaited.contains(seq) => Truth::No,
            Until::Behind(_) => Truth::Since(now, Cause::Time),
            Until::Window(_) | Until::Stream => return Waiting::Still(wait.limit),
        };
        match (truth, wait.limit) {
            (Truth::Since(at, cause), limit) if limit.is_none_or(|limit| at <= limit) => Waiting::Over(at, cause),
            (_, Some(limit)) if limit <= now => Waiting::Limit(limit),
            (Truth::From(at), limit) if limit.is_none_or(|limit| at <= limit) => Waiting::Still(Some(at)),
            (_, limit) => Waiting::Still(limit),
        }
    }

    /// A wait is over because what was waited for has come.
    fn opened(&mut self, now: Moment, wait: &Wait, parcel: &mut Parcel, cause: &Cause) {
        self.clear_timer(wait);
        let by = self.by(cause);
        let Some((_, point)) = parcel.points.first_mut() else { return };
        point.by = by;
        let point = point.clone();
        match wait.until {
            Until::Hold => {
                self.effective(wait.rule);
                self.ungather(wait.rule, &point);
                self.close_gate(now, wait.rule, &point, Opened::By(self.words(cause)));
            }
            Until::Cut => {
                self.close_gate(now, wait.rule, &point, Opened::By(self.words(cause)));
                parcel.cuts.push(super::unit::CutPlan { rule: wait.rule, later: false });
                parcel.cuts.sort_by_key(|cut| cut.rule);
            }
            Until::Due(_) | Until::Behind(_) | Until::Window(_) | Until::Stream => {}
        }
    }

    /// A wait has reached its limit.
    fn given_up(&mut self, now: Moment, wait: &Wait, parcel: &mut Parcel) {
        self.clear_timer(wait);
        let by = self.next_seq();
        let Some((_, point)) = parcel.points.first_mut() else { return };
        point.by = by;
        let point = point.clone();
        match wait.until {
            Until::Hold | Until::Cut => {
                let under_way =
                    self.plan.rules[wait.rule].gate.as_ref().is_some_and(|cond| self.under_way(cond, &point));
                if wait.until == Until::Hold {
                    self.ungather(wait.rule, &point);
                    if under_way {
                        self.effective(wait.rule);
                    }
                }
                let opened = if under_way { Opened::Limit } else { Opened::Vacuous };
                self.close_gate(now, wait.rule, &point, opened);
            }
            Until::Due(_) | Until::Behind(_) | Until::Window(_) | Until::Stream => {}
        }
    }

    /// Lets go everything that may; whether anything went.
    fn release(&mut self, now: Moment) -> bool {
        let mut leavers = Vec::new();
        for id in self.busy.clone() {
            let Some(lane) = self.lane(id) else { continue };
            leavers_of(lane, |ready, seq| leavers.push((ready, seq, id)));
        }
        leavers.sort_unstable();
        let any = !leavers.is_empty();
        for (_, seq, id) in leavers {
            let Some(lane) = self.lane(id) else { continue };
            let Some(index) = lane.parcels.iter().position(|parcel| parcel.seq == seq) else { continue };
            if let Some(parcel) = lane.take(index) {
                self.leave(now, id, parcel);
            }
        }
        let mut busy = std::mem::take(&mut self.busy);
        busy.retain(|id| self.lane(*id).is_some_and(|lane| !lane.is_empty()));
        self.busy = busy;
        any
    }

    /// Sets the timer of a wait, if it is not set already.
    pub(super) fn set_timer(&mut self, wait: &mut Wait, time: Option<Moment>) {
        if wait.timer != time {
            self.clear_timer(wait);
            wait.timer = time;
            self.add_timer(time);
        }
    }

    pub(super) fn clear_timer(&mut self, wait: &Wait) {
        self.remove_timer(wait.timer);
    }

    pub(super) fn add_timer(&mut self, time: Option<Moment>) {
        if let Some(time) = time {
            *self.timers.entry(time).or_default() += 1;
        }
    }

    pub(super) fn remove_timer(&mut self, time: Option<Moment>) {
        let Some(time) = time else { return };
        if let Some(count) = self.timers.get_mut(&time) {
            *count -= 1;
            if *count == 0 {
                self.timers.remove(&time);
            }
        }
    }

    /// Time has come to here: what waited for it is news.
    pub(super) fn advance(&mut self, now: Moment) {
        while let Some((time, _)) = self.timers.first_key_value() {
            if *time > now {
                return;
            }
            self.timers.pop_first();
            self.news = true;
        }
    }

    /// The sequence number of what let something go.
    fn by(&mut self, cause: &Cause) -> u64 {
        match cause {
            Cause::Time => self.next_seq(),
            Cause::Seen(_, seq) | Cause::End(seq) | Cause::Fired(_, seq) | Cause::Gathered(seq) => *seq,
        }
    }

    /// What opened a gate, for the journal: a point's key, or words.
    pub(super) fn words(&self, cause: &Cause) -> String {
        match cause {
            Cause::Time => "time".to_owned(),
            Cause::Seen(key, _) => key.to_string(),
            Cause::End(_) => "the end of the answer".to_owned(),
            Cause::Fired(rule, _) => format!("{} fired", self.plan.rules[*rule].name),
            Cause::Gathered(_) => "gathered".to_owned(),
        }
    }

    pub(super) fn lane(&mut self, id: LaneId) -> Option<&mut Lane> {
        match id {
            LaneId::Conn(conn) => self.conns.get_mut(&conn).map(|conn| &mut conn.lane),
            LaneId::Up(exchange) => self.exchanges.get_mut(&exchange).map(|exchange| &mut exchange.up),
            LaneId::Down(exchange) => self.exchanges.get_mut(&exchange).map(|exchange| &mut exchange.down),
            LaneId::Astray => Some(&mut self.astray),
        }
    }

    /// Cuts whose `when` has come true while their streams went on.
    fn fire_cuts(&mut self, now: Moment) {
        let plan = Arc::clone(&self.plan);
        for id in self.cutting.clone() {
            let Some(exchange) = self.exchanges.get_mut(&id) else {
                self.cutting.remove(&id);
                continue;
            };
            let mut cuts = std::mem::take(&mut exchange.cuts);
            let due = cuts.iter_mut().position(|cut| {
                let Some(cond) = &plan.rules[cut.rule].gate else { return false };
                match self.truth(cond, cut.rule, &cut.point, now) {
                    Truth::Since(..) => true,
                    Truth::From(at) => {
                        if cut.timer != Some(at) {
                            self.add_timer(Some(at));
                            cut.timer = Some(at);
                        }
                        false
                    }
                    Truth::No => false,
                }
            });
            let fired = due.map(|index| cuts.remove(index));
            self.restore_cuts(id, cuts);
            if let Some(cut) = fired {
                self.cut(now, id, cut.rule, &cut.point, None);
            }
        }
    }

    fn restore_cuts(&mut self, id: ExchangeId, cuts: Vec<super::unit::ArmedCut>) {
        if cuts.is_empty() {
            self.cutting.remove(&id);
        }
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.cuts = cuts;
        }
    }
}

/// The parcels of a lane that may leave, with the times that order them: each waits for those in front of it, unless
/// they let it pass. A head is never passed, and an end passes nobody.
fn leavers_of(lane: &Lane, mut leaver: impl FnMut(Moment, u64)) {
    let (mut passed, mut ready) = (false, Moment::default());
    for parcel in &lane.parcels {
        if parcel.waits.is_empty() {
            if passed && matches!(parcel.out, Out::End(_)) {
                return;
            }
            ready = ready.max(parcel.ready);
            leaver(ready, parcel.seq);
        } else if parcel.overtake && matches!(parcel.out, Out::Bytes(_)) {
            passed = true;
        } else {
            return;
        }
    }
}
