//! What the rules make of a point when it arrives (rules R11, R16).
//!
//! A fault says here what its parcel waits for and what happens when it leaves; nothing is carried out yet. The one
//! rule it keeps: rules decide in written order, each once for each point.

use std::sync::Arc;

use super::condition::Time;
use super::counting::Judgement;
use super::engine::Engine;
use super::event::{ExchangeId, Moment};
use super::fault::{Fault, Turn};
use super::matching::{self, Scene};
use super::plan::{Cond, Sel};
use super::record::{DecisionEntry, DrawEntry, Entry};
use super::rule::Rule;
use super::sse::BLOCK_LIMIT;
use super::unit::{LaneId, Out, Parcel, Point};

impl Engine {
    /// Lets every rule that selects the point of this parcel decide about it.
    pub(super) fn decide(&mut self, now: Moment, lane: &mut LaneId, parcel: &mut Parcel) {
        let plan = Arc::clone(&self.plan);
        // Nothing waits for the answer of a request that a rule sends: there is no exchange to do anything to.
        let decidable = parcel.points.first().filter(|_| !matches!(parcel.out, Out::Post));
        let Some(at) = decidable.map(|(_, point)| point.at) else { return };
        let mut keeper = self.keeper_of(parcel);
        for (rule, armed) in plan.about(at) {
            if let Some(keeper) = keeper.take_if(|keeper| *keeper < rule) {
                self.keep(now, keeper, *lane, parcel);
            }
            let Some((_, point)) = parcel.points.first() else { return };
            if self.is_hidden(point, rule) {
                continue;
            }
            if !self.selects(&armed.sel, point, point.exchange) {
                continue;
            }
            self.notebook.tallies[rule].matched += 1;
            let point = point.clone();
            let mut judgement = self.judge(now, rule, armed, &point);
            if judgement.fires {
                judgement.draws.extend(self.draws(rule, &point));
            }
            self.write_decision(now, rule, &point, &judgement);
            if judgement.fires {
                self.notebook.tallies[rule].fired += 1;
                self.silence_switched(rule);
                self.act(now, rule, lane, parcel);
            }
            // What is gone is not seen by later rules and not counted by them (rule R16).
            if parcel.lost.is_some() {
                return;
            }
        }
        if let Some(keeper) = keeper {
            self.keep(now, keeper, *lane, parcel);
        }
    }

    /// What a rule makes is seen by the rules after it, never by itself or earlier ones (rule R16); a resume that it
    /// answers is seen by all others, as any other resume (rule R31).
    fn is_hidden(&self, point: &Point, rule: usize) -> bool {
        point.maker.is_some_and(|maker| {
            let exchange = point.exchange.and_then(|id| self.exchanges.get(&id));
            let served = exchange.is_some_and(|exchange| exchange.serves.is_some());
            if served { rule == maker } else { rule <= maker }
        })
    }

    /// The rule fires: its fault acts.
    fn act(&mut self, now: Moment, rule: usize, lane: &mut LaneId, parcel: &mut Parcel) {
        let plan = Arc::clone(&self.plan);
        if let Some((_, point)) = parcel.points.first_mut() {
            point.rules.push(rule);
            if point.block.as_ref().is_some_and(|block| block.parted) {
                let key = point.key.to_string();
                self.act_on_a_last_part(now, rule, key);
            }
        }
        plan.rules[rule].rule.fault.act(self, Turn { now, rule, lane, parcel });
    }

    /// All but the end of the block has begun to pass already: that is what the rule meets.
    fn act_on_a_last_part(&mut self, now: Moment, rule: usize, key: String) {
        let Rule { name, fault, .. } = &self.plan.rules[rule].rule;
        let did = match fault {
            Fault::Cut(_) => "fell in its last part, and its bytes are counted from there",
            Fault::Delay(_) | Fault::Hold(_) => "kept only its last part back",
            _ => "did nothing to it",
        };
        let what =
            format!("an event beyond {BLOCK_LIMIT} bytes, which begins to pass before it is whole: \"{name}\" {did}");
        self.remark(now, key, what);
    }

    /// Whether a selector means a point, on the stream of this exchange.
    pub(super) fn selects(&self, sel: &Sel, point: &Point, on: Option<ExchangeId>) -> bool {
        sel.selector.at == point.at && matching::means(sel, &self.scene(point, on))
    }

    pub(super) fn scene<'a>(&'a self, point: &'a Point, on: Option<ExchangeId>) -> Scene<'a> {
        let exchange = on.and_then(|id| self.exchanges.get(&id)).map(AsRef::as_ref);
        Scene { point, exchange, calls: &self.calls, sessions: &self.sessions }
    }

    /// What is drawn for a rule that fires; a shuffle is drawn when its window closes.
    fn draws(&self, rule: usize, point: &Point) -> Vec<DrawEntry> {
        let armed = &self.plan.rules[rule];
        let plus = armed.gate.as_ref().and_then(Cond::plus).map(|time| ("plus", time));
        let drawn =
            armed.rule.fault.drawn().into_iter().chain(plus).filter(|(_, time)| !matches!(time, Time::Fixed(_)));
        drawn
            .map(|(purpose, time)| {
                let value = self.drawn(rule, Some(&point.key), purpose, Some(&time));
                DrawEntry { purpose: purpose.to_owned(), value: value.as_secs_f64() * 1e6 }
            })
            .collect()
    }

    fn write_decision(&mut self, now: Moment, rule: usize, point: &Point, judgement: &Judgement) {
        let seq = self.next_seq();
        if !self.notebook.on {
            return;
        }
        let armed = &self.plan.rules[rule];
        let what = if judgement.fires { armed.rule.fault.word() } else { judgement.why };
        let entry = DecisionEntry {
            seq,
            at: micros(now),
            rule: armed.rule.name.clone(),
            key: point.key.to_string(),
            count: judgement.count,
            fired: judgement.fires,
            what: what.to_owned(),
            draws: judgement.draws.clone(),
        };
        self.record(Entry::Decision(entry));
    }
}

/// A moment as the journal has it.
pub(super) fn micros(moment: Moment) -> u64 {
    u64::try_from(moment.0.as_micros()).unwrap_or(u64::MAX)
}
