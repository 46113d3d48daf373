//! When what waits leaves: gates are opened, then parcels go in the order of their times (rules R5, R17, R18).
//!
//! Gates are asked again only when there is news: something was seen, a rule acted, an answer ended, time came. The one
//! rule it keeps: ties are broken by (time, sequence), one sequence for all streams.

use super::engine::Engine;
use super::event::Moment;
use super::record::PointFate;
use super::unit::{Lane, LaneId, Out, Parcel, Piece, Until, Wait};

impl Engine {
    /// Puts a parcel into its queue, and what goes behind it; it leaves at once if nothing keeps it.
    pub(super) fn enqueue(&mut self, now: Moment, id: LaneId, mut parcel: Parcel) {
        let behind = std::mem::take(&mut parcel.behind);
        self.enqueue_one(now, id, parcel);
        for parcel in behind {
            // The leg may have been ended in its place.
            match self.cut_off(id) {
                Some(fate) => self.discard(now, &parcel, fate),
                None => self.enqueue_one(now, id, parcel),
            }
        }
    }

    fn enqueue_one(&mut self, now: Moment, id: LaneId, parcel: Parcel) {
        if let Some(fate) = parcel.lost {
            if let (LaneId::Up(exchange), Out::Forward(_)) = (id, &parcel.out) {
                self.exchanges.get_mut(&exchange).into_iter().for_each(|exchange| exchange.dropped = true);
                self.news = true;
            }
            return self.discard(now, &parcel, fate);
        }
        if self.is_copy_of_nothing(&parcel) {
            return self.discard(now, &parcel, PointFate::Gone);
        }
        if let (LaneId::Down(exchange), Out::Head | Out::Bytes(_)) = (id, &parcel.out) {
            self.heard(now, exchange);
        }
        let Some(lane) = self.lane(id) else {
            return self.discard(now, &parcel, PointFate::Gone);
        };
        let fits = !lane.torn || parcel.piece != Piece::Whole;
        if fits
            && lane.is_empty()
            && lane.guard.is_none()
            && lane.outlet.is_none()
            && parcel.waits.is_empty()
            && parcel.ready <= now
            && !self.news
        {
            self.leave(now, id, parcel);
            return;
        }
        // What it stands behind may have been lost before it came here.
        let over = |wait: &Wait| matches!(wait.until, Until::Behind(seq) if !self.awaited.contains(&seq));
        self.news |= parcel.waits.iter().any(over);
        self.push(id, parcel);
    }

    /// Puts a parcel at the end of its queue; before an end, which is always last.
    pub(super) fn push(&mut self, id: LaneId, parcel: Parcel) {
        self.stirred = true;
        let Some(lane) = self.lane(id) else { return };
        if lane.parcels.back().is_some_and(|last| matches!(last.out, Out::End(_))) {
            let end = lane.take(lane.parcels.len() - 1);
            lane.push(parcel);
            end.into_iter().for_each(|end| lane.push(end));
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
                self.add_due(now);
                self.fire_cuts(now);
                self.fire_connection_cuts(now);
                self.open_gates(now);
            }
            if !std::mem::take(&mut self.stirred) || !self.release(now) {
                return;
            }
            self.stirred = true;
        }
    }

    /// Lets go everything that may; whether anything went.
    fn release(&mut self, now: Moment) -> bool {
        let mut leavers = Vec::new();
        for id in self.busy.clone() {
            self.tend_outlet(now, id);
            let Some(lane) = self.lane(id) else { continue };
            leavers_of(now, lane, |order, seq| leavers.push((order, seq, id)));
        }
        // Stable: parcels of one queue keep its order where their times and numbers are equal.
        leavers.sort_by_key(|(order, _, _)| *order);
        let any = !leavers.is_empty();
        for (_, seq, id) in leavers {
            let Some(lane) = self.lane(id).filter(|lane| lane.guard.is_none()) else { continue };
            let Some(index) = lane.parcels.iter().position(|parcel| parcel.seq == seq) else { continue };
            if let Some(mut parcel) = lane.take(index) {
                self.tell_by(id, &mut parcel);
                self.leave(now, id, parcel);
            }
            if let LaneId::Down(exchange) = id {
                self.press(now, exchange);
            }
        }
        let mut busy = std::mem::take(&mut self.busy);
        busy.retain(|id| self.lane(*id).is_some_and(|lane| !lane.is_empty()));
        self.busy = busy;
        any
    }

    /// A parcel that has waited was let go by what ended its own wait, or by what let those in front of it go.
    fn tell_by(&mut self, id: LaneId, parcel: &mut Parcel) {
        let time = if parcel.timer.is_some() { self.next_seq() } else { 0 };
        let Some(lane) = self.lane(id) else { return };
        for (_, point) in &mut parcel.points {
            point.by = point.by.max(time).max(lane.last_by);
            lane.last_by = point.by;
        }
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
            (self.news, self.stirred) = (true, true);
        }
    }

    pub(super) fn lane_of(&self, id: LaneId) -> Option<&Lane> {
        match id {
            LaneId::Conn(conn) => self.conns.get(&conn).map(|conn| &conn.lane),
            LaneId::Up(exchange) => self.exchanges.get(&exchange).map(|exchange| &exchange.up),
            LaneId::Down(exchange) => self.exchanges.get(&exchange).map(|exchange| &exchange.down),
            LaneId::Astray => Some(&self.astray),
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
}

/// The parcels of a lane that may leave, with the time and number that order them: each waits for those in front of it,
/// unless they let it pass, and none leaves while a guard stands. A head is never passed, and an end passes nobody but
/// what waits for a block to become whole.
fn leavers_of(now: Moment, lane: &Lane, mut leaver: impl FnMut((Moment, u64), u64)) {
    if lane.guard.is_some() {
        return;
    }
    let (mut passed, mut ready, mut number) = (false, lane.floor, 0);
    let (mut torn, mut aside) = (lane.torn, false);
    for parcel in &lane.parcels {
        if torn && parcel.piece == Piece::Whole && !matches!(parcel.out, Out::End(_)) {
            aside = true;
            continue;
        }
        if parcel.waits.is_empty() && parcel.ready <= now {
            if passed && matches!(parcel.out, Out::End(_)) {
                return;
            }
            if let Some(outlet) = &lane.outlet {
                // One at a time: what leaves may use up what others would need.
                if outlet.lets_go(now, parcel) {
                    leaver((ready.max(parcel.ready), parcel.seq), parcel.seq);
                }
                return;
            }
            ready = ready.max(parcel.ready);
            number = number.max(parcel.seq);
            leaver((ready, number), parcel.seq);
            torn = match parcel.piece {
                Piece::Begun => true,
                // What was set aside comes next.
                Piece::Last if aside => return,
                Piece::Last => false,
                Piece::Whole => torn,
            };
        } else if parcel.overtake && matches!(parcel.out, Out::Bytes(_) | Out::Post) {
            passed = true;
        } else {
            return;
        }
    }
}
