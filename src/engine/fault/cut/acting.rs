//! What the engine does for a cut: it is planned when its unit arrives, and ends the legs when that leaves.

use std::sync::Arc;
use std::time::Duration;

use super::OtherLeg;
use crate::engine::condition::Leg;
use crate::engine::engine::Engine;
use crate::engine::event::{Command, ConnId, Ending, ExchangeId, Fate, Inside, Moment};
use crate::engine::exchange::{ClientLeg, ServerLeg};
use crate::engine::fault::Fault;
use crate::engine::leave::Job;
use crate::engine::record::PointFate;
use crate::engine::unit::{LaneId, Out, Parcel, Point};

impl Engine {
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
        let Some(exchange) = self.exchanges.get(&id).filter(|exchange| exchange.client == ClientLeg::Open) else {
            return;
        };
        let kept = exchange.kept.is_some();
        self.log_firing(now, rule, point);
        let settle = (cut.ending == Ending::Reset).then_some(cut.settle);
        let (client, server) = match (cut.leg, cut.other_leg) {
            (Leg::Client, _) => (cut.ending, cut.fate_of_server(kept)),
            (Leg::Both, _) => (cut.ending, as_fate(cut.ending)),
            (Leg::Server, OtherLeg::Usual | OtherLeg::Close) => (Ending::Fin, as_fate(cut.ending)),
            (Leg::Server, OtherLeg::Drain | OtherLeg::Keep) => (Ending::Stall, as_fate(cut.ending)),
        };
        let settle = settle.filter(|_| client == Ending::Reset);
        self.cut_finds(now, id, point, inside.as_ref(), server);
        if cut.leg == Leg::Client {
            self.judge_cut(now, id, rule, (cut, point), (client, inside.as_ref()));
        } else {
            self.effective(rule);
        }
        match cut.lasting.filter(|_| cut.leg == Leg::Server && client == Ending::Stall) {
            Some(lasting) => self.silence_client(now, id, rule, now + lasting),
            None => self.cut_client(now, id, rule, client, inside, settle),
        }
        if self.exchanges.get(&id).is_some_and(|exchange| exchange.server == ServerLeg::Open) {
            match cut.leg {
                Leg::Client => self.end_server(id, server),
                Leg::Server | Leg::Both => self.close_server(id, server, Vec::new()),
            }
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
        self.tell_connection_cut(now, rule, point, cut.ending);
    }

    /// Ends the client's leg; what has not left yet never will.
    pub(in crate::engine) fn cut_client(
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
