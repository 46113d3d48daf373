//! `cut`: a leg ends before, after or inside a unit, and how.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::engine::condition::{Condition, Leg};
use crate::engine::engine::Engine;
use crate::engine::event::{Command, ConnId, Ending, ExchangeId, Fate, Inside, Moment};
use crate::engine::exchange::{ClientLeg, ServerLeg};
use crate::engine::fault::Fault;
use crate::engine::leave::Job;
use crate::engine::record::{Opened, PointFate};
use crate::engine::sighting::Truth;
use crate::engine::unit::{CutPlan, LaneId, Out, Parcel, Point, Until, Wait};

/// `cut`: all points but leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// How the leg ends.
    pub ending: Ending,
    /// Where, in relation to the unit.
    pub place: Place,
    /// Which leg.
    pub leg: Leg,
    /// What becomes of the other leg.
    pub other_leg: OtherLeg,
    /// How long drain or keep lasts (`for`); `None`: no end.
    pub lasting: Option<Duration>,
    /// When, if not at once (rule R23).
    pub when: Option<Condition>,
    /// When a unit withheld for `when` is let go anyway, which is a failure.
    pub limit: Duration,
    /// Before a reset: how long the reader gets, where it cannot be seen that it has read everything.
    pub settle: Duration,
}

/// Where a cut falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// The unit does not pass.
    Before,
    /// The unit passes first.
    After,
    /// So much of the block passes. Of another unit nothing would: no profile may ask for it.
    Inside(Offset),
}

/// A place inside a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offset {
    /// After so many bytes; negative: so many before the end.
    Bytes(i64),
    /// After that share of its bytes, 0 to 1.
    Share(f64),
}

/// What becomes of the leg that a cut does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OtherLeg {
    /// Closed as a peer that leaves would.
    Close,
    /// Open, read and thrown away.
    Drain,
    /// Open and not read.
    Keep,
}

impl Cut {
    /// The part of a block that still leaves.
    pub(in crate::engine) fn part(&self, block: &Bytes) -> Option<Inside> {
        let Place::Inside(offset) = self.place else { return None };
        let whole = block.len();
        let end = match offset {
            Offset::Bytes(n) if n < 0 => whole.saturating_sub(usize::try_from(n.unsigned_abs()).unwrap_or(whole)),
            Offset::Bytes(n) => usize::try_from(n).unwrap_or(whole).min(whole),
            Offset::Share(share) => share_of(whole, share),
        };
        Some(Inside { part: block.slice(..end), whole })
    }

    /// What becomes of the server's leg when it is the other one.
    fn fate_of_server(&self) -> Fate {
        match self.other_leg {
            OtherLeg::Close => Fate::Close,
            OtherLeg::Drain => Fate::Drain(self.lasting),
            OtherLeg::Keep => Fate::Keep(self.lasting),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of it"
)]
fn share_of(whole: usize, share: f64) -> usize {
    ((whole as f64 * share.clamp(0.0, 1.0)) as usize).min(whole)
}

impl Engine {
    pub(in crate::engine) fn plan_cut(&mut self, now: Moment, rule: usize, cut: &Cut, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first().cloned() else { return };
        let Some(cond) = &self.plan.rules[rule].gate else {
            return parcel.cuts.push(CutPlan { rule, later: false });
        };
        if cut.place == Place::After {
            return parcel.cuts.push(CutPlan { rule, later: true });
        }
        match self.truth(cond, rule, &point, now) {
            Truth::Since(_, cause) => {
                let words = self.words(&cause);
                self.close_gate(now, rule, &point, Opened::Already(words));
                parcel.cuts.push(CutPlan { rule, later: false });
            }
            truth @ (Truth::From(_) | Truth::No) => {
                let limit = point.arrived + cut.limit;
                let next = if let Truth::From(at) = truth { limit.min(at) } else { limit };
                let mut wait = Wait { rule, until: Until::Cut, limit: Some(limit), timer: None };
                self.set_timer(&mut wait, Some(next));
                parcel.waits.push(wait);
                self.look_out(rule, &point);
            }
        }
    }

    /// Ends the legs of an exchange as the rule says. An exchange whose client's leg is over is not cut again.
    pub(in crate::engine) fn cut(
        &mut self,
        now: Moment,
        id: ExchangeId,
        rule: usize,
        point: &Point,
        inside: Option<Inside>,
    ) {
        let plan = Arc::clone(&self.plan);
        let Fault::Cut(cut) = &plan.rules[rule].rule.fault else { return };
        if self.exchanges.get(&id).is_none_or(|exchange| exchange.client != ClientLeg::Open) {
            return;
        }
        self.effective(rule);
        self.log_firing(now, rule, point);
        let settle = (cut.ending == Ending::Reset).then_some(cut.settle);
        let (client, server) = match (cut.leg, cut.other_leg) {
            (Leg::Client, _) => (cut.ending, cut.fate_of_server()),
            (Leg::Both, _) => (cut.ending, as_fate(cut.ending)),
            (Leg::Server, OtherLeg::Close) => (Ending::Fin, as_fate(cut.ending)),
            (Leg::Server, OtherLeg::Drain | OtherLeg::Keep) => (Ending::Stall, as_fate(cut.ending)),
        };
        let settle = settle.filter(|_| client == Ending::Reset);
        match cut.lasting.filter(|_| cut.leg == Leg::Server && client == Ending::Stall) {
            Some(lasting) => self.silence_client(now, id, rule, now + lasting),
            None => self.cut_client(now, id, rule, client, inside, settle),
        }
        if self.exchanges.get(&id).is_some_and(|exchange| exchange.server == ServerLeg::Open) {
            self.close_server(id, server, Vec::new());
        }
        self.tidy(id);
    }

    /// Ends a client's connection on which nothing is open.
    pub(in crate::engine) fn cut_connection(&mut self, now: Moment, conn: ConnId, rule: usize, point: &Point) {
        let plan = Arc::clone(&self.plan);
        let Fault::Cut(cut) = &plan.rules[rule].rule.fault else { return };
        self.effective(rule);
        self.log_firing(now, rule, point);
        self.out.push(Command::CutConnection { conn, ending: cut.ending });
    }

    fn cut_client(
        &mut self,
        now: Moment,
        id: ExchangeId,
        rule: usize,
        ending: Ending,
        inside: Option<Inside>,
        settle: Option<Duration>,
    ) {
        self.empty_lanes(now, id);
        let head_left = self.exchanges.get(&id).is_some_and(|exchange| exchange.head_left);
        let ending = if ending == Ending::Eof && !head_left { Ending::Fin } else { ending };
        let seq = self.next_seq();
        let mut point = self.end_point(now, id, seq);
        point.made = Some(ending);
        point.rules.push(rule);
        let mut points = vec![(0, point)];
        if ending == Ending::Stall {
            for (_, point) in points.drain(..) {
                self.write_point(&point, PointFate::Cut, None, None);
            }
        }
        let unit = self.fly(id, points, Job::Finish);
        self.out.push(Command::Finish { exchange: id, unit, ending, inside, settle });
    }
}

impl Engine {
    /// The client hears nothing more, and its leg is closed only later.
    fn silence_client(&mut self, now: Moment, id: ExchangeId, rule: usize, until: Moment) {
        self.empty_lanes(now, id);
        let seq = self.next_seq();
        let mut point = self.end_point(now, id, seq);
        point.made = Some(Ending::Fin);
        point.rules.push(rule);
        let mut parcel = Parcel::new(Out::End(Ending::Fin), point);
        (parcel.ready, parcel.timer) = (until, Some(until));
        self.add_timer(Some(until));
        self.push(LaneId::Down(id), parcel);
    }

    fn empty_lanes(&mut self, now: Moment, id: ExchangeId) {
        self.end_client(id);
        for lane in [LaneId::Up(id), LaneId::Down(id)] {
            self.discard_all(now, lane, PointFate::Cut);
        }
    }
}

/// What a server's leg meets that is ended on purpose.
fn as_fate(ending: Ending) -> Fate {
    match ending {
        Ending::Eof | Ending::Fin => Fate::Close,
        Ending::Reset => Fate::Reset,
        Ending::Stall => Fate::Keep(None),
    }
}
