//! What is planned to happen when a parcel leaves, in its place or after it: a cut, or a made answer (rules R18, R23, R26).
//!
//! The one rule it keeps: it happens at most once on an exchange's client leg, and nothing acts there after it.

use std::time::Duration;

use super::engine::Engine;
use super::event::{ExchangeId, Inside, Moment};
use super::exchange::ClientLeg;
use super::fault::Fault;
use super::record::{Opened, PointFate};
use super::sighting::Truth;
use super::unit::{ArmedCut, CutPlan, Out, Parcel, Point, Until, Wait};

impl Engine {
    /// Plans a cut or an answer for when the parcel leaves: `after` it, or in its place. With a condition it is awaited: in its
    /// place the parcel waits too, `after` it the stream goes on.
    pub(super) fn plan_instead(&mut self, now: Moment, rule: usize, after: bool, limit: Duration, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first().cloned() else { return };
        let Some(cond) = &self.plan.rules[rule].gate else {
            return parcel.cuts.push(CutPlan { rule, later: false });
        };
        if after {
            return parcel.cuts.push(CutPlan { rule, later: true });
        }
        match self.truth(cond, rule, &point, now) {
            Truth::Since(_, cause) => {
                let words = self.words(&cause);
                self.notebook.came_true[rule] = true;
                self.close_gate(now, rule, &point, Opened::Already(words));
                parcel.cuts.push(CutPlan { rule, later: false });
            }
            truth @ (Truth::From(_) | Truth::No) => {
                let limit = point.arrived + limit;
                let next = if let Truth::From(at) = truth { limit.min(at) } else { limit };
                let mut wait = Wait { rule, until: Until::Cut, limit: Some(limit), timer: None };
                self.set_timer(&mut wait, Some(next));
                self.news |= self.is_lost(&wait, &point);
                parcel.waits.push(wait);
                self.look_out(rule, &point);
            }
        }
    }

    /// What was planned happens.
    pub(super) fn strike(&mut self, now: Moment, id: ExchangeId, rule: usize, point: &Point, inside: Option<Inside>) {
        match &self.plan.rules[rule].rule.fault {
            Fault::Respond(_) => self.answer(now, id, rule, point),
            _ => self.cut(now, id, rule, point, inside),
        }
    }

    pub(super) fn cut_instead(&mut self, now: Moment, exchange: ExchangeId, rule: usize, parcel: Parcel) {
        let inside = match (&self.plan.rules[rule].rule.fault, &parcel.out) {
            (Fault::Cut(cut), Out::Bytes(bytes)) => cut.part(bytes),
            _ => None,
        };
        // A request that is answered here ends here.
        let answered = matches!(self.plan.rules[rule].rule.fault, Fault::Respond(_));
        let fate = if answered && !matches!(parcel.out, Out::Head) { PointFate::Ended } else { PointFate::Cut };
        for (_, mut point) in parcel.points {
            let part = inside.as_ref().map_or(0, |inside| inside.part.len());
            point.bytes = part as u64;
            self.write_point(&point, fate, None, None);
            self.strike(now, exchange, rule, &point, inside.clone());
        }
    }

    /// A head waits while a rule may still answer in the server's place (rule R26).
    pub(super) fn withhold_head(&mut self, parcel: &mut Parcel) {
        let Some((_, point)) = parcel.points.first().filter(|_| matches!(parcel.out, Out::Head)) else { return };
        let (arrived, exchange) = (point.arrived, point.exchange.and_then(|id| self.exchanges.get(&id)));
        let limit = |rule: usize| match &self.plan.rules[rule].rule.fault {
            Fault::Respond(respond) => Some((rule, arrived + respond.limit)),
            _ => None,
        };
        let cuts = exchange.into_iter().flat_map(|exchange| &exchange.cuts);
        let answers: Vec<_> = cuts.filter_map(|cut| limit(cut.rule)).collect();
        for (rule, limit) in answers {
            let mut wait = Wait { rule, until: Until::Answer, limit: Some(limit), timer: None };
            self.set_timer(&mut wait, Some(limit));
            parcel.waits.push(wait);
        }
    }

    /// Whether a rule waits to answer in the server's place.
    pub(super) fn may_answer(&self, rule: usize, head: &Point) -> bool {
        let exchange = head.exchange.and_then(|id| self.exchanges.get(&id));
        exchange.is_some_and(|exchange| exchange.cuts.iter().any(|cut| cut.rule == rule))
    }

    /// A head has waited long enough for such a rule: the server's answer goes on.
    pub(super) fn answer_no_more(&mut self, now: Moment, rule: usize, head: &Point) {
        let Some(id) = head.exchange else { return };
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let Some(place) = exchange.cuts.iter().position(|cut| cut.rule == rule) else { return };
        let cut = exchange.cuts.remove(place);
        if exchange.cuts.is_empty() {
            self.cutting.remove(&id);
        }
        self.remove_timer(cut.timer);
        let gate = self.plan.rules[rule].gate.as_ref();
        let under_way = gate.is_some_and(|cond| self.under_way(cond, rule, &cut.point));
        self.close_gate(now, rule, head, if under_way { Opened::Limit } else { Opened::Vacuous });
    }

    pub(super) fn arm_cut(&mut self, id: ExchangeId, cut: ArmedCut) {
        let Some(exchange) = self.exchanges.get_mut(&id).filter(|exchange| exchange.client == ClientLeg::Open) else {
            return;
        };
        let (rule, point) = (cut.rule, cut.point.clone());
        exchange.cuts.push(cut);
        exchange.cuts.sort_by_key(|cut| cut.rule);
        self.cutting.insert(id);
        self.news = true;
        self.look_out(rule, &point);
    }
}
