//! Waits and when they are over: what opens a gate, when it is given up, when a cut on a running stream is due.
//!
//! The one rule it keeps: a wait that came true at its limit came true.

use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::event::{ConnId, ExchangeId, Moment};
use super::language::words::show_duration;
use super::record::Opened;
use super::sighting::{Cause, Truth};
use super::unit::{ArmedCut, CutPlan, Out, Parcel, Point, Until, Wait};

/// What became of a wait.
enum Waiting {
    /// It is awaited on, perhaps with a known time.
    Still(Option<Moment>),
    /// It came true.
    Over(Moment, Cause),
    /// It was given up.
    Limit(Moment),
    /// What it is for will not come, for this reason.
    Never(Opened),
}

impl Engine {
    /// A rule's gate is closed for this unit, counted from its arrival. Returns what it waits for; `None`: it is open
    /// already, and the order it stands for is there.
    pub(super) fn await_gate(
        &mut self,
        now: Moment,
        rule: usize,
        point: &Point,
        limit: Option<Duration>,
    ) -> Option<Wait> {
        self.log_firing(now, rule, point);
        self.gather(now, rule, point);
        let truth = self.plan.rules[rule].gate.as_ref().map_or(Truth::No, |cond| self.truth(cond, rule, point, now));
        if let Truth::Since(_, cause) = truth {
            self.effective_at(rule, point);
            self.ungather(rule, point);
            let opened = Opened::Already(self.words(&cause));
            self.close_gate(now, rule, point, opened);
            return None;
        }
        let limit = limit.map(|limit| point.arrived + limit);
        let mut wait = Wait { rule, until: Until::Hold, limit, timer: None };
        let next = if let Truth::From(at) = truth { Some(limit.map_or(at, |limit| limit.min(at))) } else { limit };
        self.set_timer(&mut wait, next);
        self.look_out(rule, point);
        self.news |= self.is_lost(&wait, point);
        Some(wait)
    }

    /// Asks every wait whether it is over.
    pub(super) fn open_gates(&mut self, now: Moment) {
        for id in self.busy.clone() {
            let Some(lane) = self.lane(id).filter(|lane| lane.gated) else { continue };
            let mut taken = std::mem::take(lane);
            for parcel in taken.parcels.iter_mut().filter(|parcel| !parcel.waits.is_empty()) {
                self.open_gates_of(now, parcel);
            }
            taken.gated = taken.parcels.iter().any(|parcel| !parcel.waits.is_empty());
            if let Some(lane) = self.lane(id) {
                *lane = taken;
            }
        }
        self.find_streams(now);
    }

    fn open_gates_of(&mut self, now: Moment, parcel: &mut Parcel) {
        let mut waits = std::mem::take(&mut parcel.waits);
        let before = waits.len();
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
                self.given_up(now, wait, parcel, None);
                false
            }
            Waiting::Never(why) => {
                parcel.ready = parcel.ready.max(now);
                self.given_up(now, wait, parcel, Some(why));
                false
            }
        });
        self.stirred |= waits.len() < before;
        parcel.waits = waits;
    }

    fn waiting(&self, wait: &Wait, points: &[(usize, Point)], now: Moment) -> Waiting {
        let Some((_, point)) = points.first() else { return Waiting::Over(now, Cause::Time) };
        let truth = match &wait.until {
            Until::Hold | Until::Cut => match &self.plan.rules[wait.rule].gate {
                Some(cond) => self.truth(cond, wait.rule, point, now),
                None => Truth::No,
            },
            Until::Behind(seq) if self.awaited.contains(seq) => Truth::No,
            Until::Behind(_) => Truth::Since(now, Cause::Time),
            Until::Answer if self.may_answer(wait.rule, point) => Truth::No,
            Until::Answer => Truth::Since(now, Cause::Time),
            Until::Window(_) | Until::Stream => return Waiting::Still(wait.limit),
        };
        match (truth, wait.limit) {
            (Truth::Since(at, cause), limit) if limit.is_none_or(|limit| at <= limit) => Waiting::Over(at, cause),
            (_, Some(limit)) if limit <= now => Waiting::Limit(limit),
            (Truth::From(at), limit) if limit.is_none_or(|limit| at <= limit) => Waiting::Still(Some(at)),
            (Truth::No, _) if self.is_out_of_reach(wait, point.exchange) => Waiting::Never(Opened::Full),
            (Truth::No, _) if self.is_lost(wait, point) => Waiting::Never(Opened::Lost),
            (_, limit) => Waiting::Still(limit),
        }
    }

    /// A wait is over because what was waited for has come.
    fn opened(&mut self, now: Moment, wait: &Wait, parcel: &mut Parcel, cause: &Cause) {
        self.clear_timer(wait);
        self.came_true(wait.rule, cause);
        let by = self.by(cause);
        let Some((_, point)) = parcel.points.first_mut() else { return };
        point.by = by;
        let point = point.clone();
        match wait.until {
            Until::Hold => {
                if !matches!(parcel.out, Out::Gate(_)) {
                    self.effective_at(wait.rule, &point);
                }
                self.ungather(wait.rule, &point);
                self.close_gate(now, wait.rule, &point, Opened::By(self.words(cause)));
            }
            Until::Cut => {
                self.close_gate(now, wait.rule, &point, Opened::By(self.words(cause)));
                parcel.cuts.push(CutPlan { rule: wait.rule, later: false });
                parcel.cuts.sort_by_key(|cut| cut.rule);
            }
            Until::Behind(_) | Until::Window(_) | Until::Stream | Until::Answer => {}
        }
    }

    /// A wait has reached its limit, or is over for this reason.
    fn given_up(&mut self, now: Moment, wait: &Wait, parcel: &mut Parcel, why: Option<Opened>) {
        self.clear_timer(wait);
        let by = self.next_seq();
        let Some((_, point)) = parcel.points.first_mut() else { return };
        point.by = by;
        let point = point.clone();
        match wait.until {
            Until::Hold | Until::Cut => {
                let gate = self.plan.rules[wait.rule].gate.as_ref();
                let under_way = why == Some(Opened::Full)
                    || why.is_none() && gate.is_some_and(|cond| self.under_way(cond, wait.rule, &point));
                if wait.until == Until::Hold {
                    self.ungather(wait.rule, &point);
                    if under_way && !matches!(parcel.out, Out::Gate(_)) {
                        self.effective_at(wait.rule, &point);
                    }
                }
                let opened = why.unwrap_or(if under_way { Opened::Limit } else { Opened::Vacuous });
                self.close_gate(now, wait.rule, &point, opened);
                let emptied = point.exchange.and_then(|id| self.exchanges.get(&id)).is_some_and(|it| it.emptied);
                if wait.until == Until::Cut && emptied {
                    // There is nothing left that could be let go in its place.
                    parcel.cuts.push(CutPlan { rule: wait.rule, later: false });
                    parcel.cuts.sort_by_key(|cut| cut.rule);
                }
            }
            Until::Answer => self.answer_no_more(now, wait.rule, &point),
            Until::Behind(_) | Until::Window(_) | Until::Stream => {}
        }
    }

    /// The sequence number of what let something go.
    pub(super) fn by(&mut self, cause: &Cause) -> u64 {
        match cause {
            Cause::Time | Cause::Silence(..) => self.next_seq(),
            Cause::Seen(_, seq)
            | Cause::End(seq)
            | Cause::Fired(_, seq)
            | Cause::Gathered(seq)
            | Cause::Bytes(_, seq) => *seq,
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
            Cause::Silence(_, time) => format!("{} of silence", show_duration(*time)),
            Cause::Bytes(size, _) => format!("{size} bytes"),
        }
    }

    /// Cuts of connections whose `when` has come true; one that is in use is cut when it is not.
    pub(super) fn fire_connection_cuts(&mut self, now: Moment) {
        let armed: Vec<ConnId> =
            self.conns.iter().filter(|(_, conn)| !conn.cuts.is_empty()).map(|(conn, _)| *conn).collect();
        for id in armed {
            let in_use = self.is_in_use(id, None);
            let Some(conn) = self.conns.get_mut(&id).filter(|_| !in_use) else { continue };
            let mut cuts = std::mem::take(&mut conn.cuts);
            let due = self.due_cut(now, &mut cuts);
            if let Some(cut) = due {
                cuts.iter().for_each(|cut| self.remove_timer(cut.timer));
                self.cut_connection(now, id, cut.rule, &cut.point);
            } else if let Some(conn) = self.conns.get_mut(&id) {
                conn.cuts = cuts;
            }
        }
    }

    /// The first of these cuts in written order whose `when` is true.
    fn due_cut(&mut self, now: Moment, cuts: &mut Vec<ArmedCut>) -> Option<ArmedCut> {
        let plan = Arc::clone(&self.plan);
        let due = cuts.iter_mut().position(|cut| {
            let Some(cond) = &plan.rules[cut.rule].gate else { return false };
            match self.truth(cond, cut.rule, &cut.point, now) {
                Truth::Since(_, cause) => {
                    self.came_true(cut.rule, &cause);
                    true
                }
                Truth::From(at) => {
                    if cut.timer != Some(at) {
                        self.remove_timer(cut.timer);
                        self.add_timer(Some(at));
                        cut.timer = Some(at);
                    }
                    false
                }
                Truth::No => false,
            }
        });
        due.map(|index| cuts.remove(index))
    }

    /// Cuts whose `when` has come true while their streams went on.
    pub(super) fn fire_cuts(&mut self, now: Moment) {
        for id in self.cutting.clone() {
            let Some(exchange) = self.exchanges.get_mut(&id) else {
                self.cutting.remove(&id);
                continue;
            };
            let mut cuts = std::mem::take(&mut exchange.cuts);
            let fired = self.due_cut(now, &mut cuts);
            self.restore_cuts(id, cuts);
            if let Some(cut) = fired {
                self.strike(now, id, cut.rule, &cut.point, None);
            }
        }
    }

    fn restore_cuts(&mut self, id: ExchangeId, cuts: Vec<ArmedCut>) {
        if cuts.is_empty() {
            self.cutting.remove(&id);
        }
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.cuts = cuts;
        }
    }
}
