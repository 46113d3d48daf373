//! Which of the points a rule selects it fires at (rules R11, R13, R22), counted apart in each scope.
//!
//! The one rule it keeps: the order of questions. Selected, switched on (now it counts), then `skip`, `every`, `nth`,
//! `probability`, `times`.

use super::draw::Draw;
use super::engine::Engine;
use super::event::{ConnId, ExchangeId, Moment};
use super::missed::Off;
use super::owner::CallId;
use super::plan::{Armed, Cond};
use super::record::DrawEntry;
use super::trigger::{Scope, Trigger};
use super::unit::Point;

/// How many scopes are counted in, for each rule: what one rule counts pushes out nothing of another's.
pub(super) const SCOPES: usize = 16 * 1024;

/// What is counted together, for one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScopeKey {
    Run,
    Session(u64),
    Connection(ConnId),
    Exchange(ExchangeId),
    Owner(CallId),
    /// What belongs to no client request, in one session.
    Unowned(u64),
}

/// What a rule has counted in one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Counter {
    /// When its first point arrived, and that point's place in the sequence.
    first: Option<(Moment, u64)>,
    counted: u64,
    fired: u64,
    /// How many turns it has taken.
    turns: u64,
    /// How many units the rule holds now.
    held: u64,
    /// Since when it has held enough of them; what was gathered once stays so.
    gathered: Option<(Moment, u64)>,
}

/// What a rule makes of a point that it selects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    pub(super) count: u64,
    pub(super) fires: bool,
    /// Why not.
    pub(super) why: &'static str,
    pub(super) draws: Vec<DrawEntry>,
}

impl ScopeKey {
    pub(super) fn of(scope: Scope, point: &Point) -> Self {
        match (scope, point.exchange, point.belongs.owners.first()) {
            (Scope::Run, _, _) => Self::Run,
            (Scope::Connection, _, _) | (Scope::Exchange, None, _) => Self::Connection(point.conn),
            (Scope::Exchange, Some(exchange), _) => Self::Exchange(exchange),
            (Scope::Session, _, _) => Self::Session(point.session),
            (Scope::Owner, _, Some(owner)) => Self::Owner(*owner),
            (Scope::Owner, _, None) => Self::Unowned(point.session),
        }
    }
}

impl Engine {
    /// Asks the questions of rule R11 of a point that the rule selects, and counts.
    pub(super) fn judge(&mut self, now: Moment, rule: usize, armed: &Armed, point: &Point) -> Judgement {
        let scope = ScopeKey::of(armed.rule.scope, point);
        self.counters[rule].entry(&scope, Counter::default).first.get_or_insert((point.arrived, point.seq));
        let off = self.off(now, rule, armed, point);
        let seed = self.seed;
        let counter = self.counters[rule].entry(&scope, Counter::default);
        let mut draws = Vec::new();
        if let Some(off) = off {
            self.notebook.missed[rule].was_off(off);
            return Judgement { count: counter.counted, fires: false, why: "off", draws };
        }
        counter.counted += 1;
        let trigger = &armed.rule.trigger;
        let why = counted_out(trigger, counter.counted)
            .or_else(|| chance(seed, armed, point, &mut draws))
            .or_else(|| trigger.times.is_some_and(|times| counter.fired >= times).then_some("times"));
        if why.is_none() {
            counter.fired += 1;
        }
        self.notebook.missed[rule].counted(counter.counted, draws.first().map(|draw| draw.value));
        Judgement { count: counter.counted, fires: why.is_none(), why: why.unwrap_or_default(), draws }
    }

    /// When the scope of this point began for the rule.
    pub(super) fn first_of_scope(&self, rule: usize, point: &Point) -> Option<(Moment, u64)> {
        self.counter(rule, point)?.first
    }

    /// Since when the rule has held as many units as it wants in the scope of this point (rule R22).
    pub(super) fn gathered(&self, rule: usize, point: &Point) -> Option<(Moment, u64)> {
        self.counter(rule, point)?.gathered
    }

    /// The rule holds one unit more.
    pub(super) fn gather(&mut self, now: Moment, rule: usize, point: &Point) {
        let armed = &self.plan.rules[rule];
        let wanted = armed.gate.as_ref().and_then(Cond::gathers);
        let scope = ScopeKey::of(armed.rule.scope, point);
        let counter = self.counters[rule].entry(&scope, Counter::default);
        counter.held += 1;
        if counter.gathered.is_none() && wanted.is_some_and(|wanted| counter.held >= wanted) {
            counter.gathered = Some((now, point.seq));
            self.news = true;
        }
    }

    /// The number of the rule's next turn in the scope of this point, from 0.
    pub(super) fn take_turn(&mut self, rule: usize, point: &Point) -> u64 {
        let scope = ScopeKey::of(self.plan.rules[rule].rule.scope, point);
        let counter = self.counters[rule].entry(&scope, Counter::default);
        counter.turns += 1;
        counter.turns - 1
    }

    /// The rule holds one unit less.
    pub(super) fn ungather(&mut self, rule: usize, point: &Point) {
        let scope = ScopeKey::of(self.plan.rules[rule].rule.scope, point);
        if let Some(counter) = self.counters[rule].get_mut(&scope) {
            counter.held = counter.held.saturating_sub(1);
        }
    }

    fn counter(&self, rule: usize, point: &Point) -> Option<&Counter> {
        self.counters[rule].get(&ScopeKey::of(self.plan.rules[rule].rule.scope, point))
    }

    /// On, if of `from` and `until` it was `from` that came true last (rule R13); else why it is off.
    fn off(&self, now: Moment, rule: usize, armed: &Armed, point: &Point) -> Option<Off> {
        let last = |cond: Option<&_>| cond.and_then(|cond| self.last_true(cond, rule, point, now));
        let (from, until) = (last(armed.from.as_ref()), last(armed.until.as_ref()));
        match (&armed.from, from, until) {
            (None, _, until) => until.map(|_| Off::Late),
            (Some(_), None, _) => Some(Off::Early),
            (Some(_), Some(_), None) => None,
            (Some(_), Some(from), Some(until)) => (from <= until).then_some(Off::Late),
        }
    }
}

fn counted_out(trigger: &Trigger, count: u64) -> Option<&'static str> {
    if count <= trigger.skip {
        return Some("skip");
    }
    if trigger.every > 1 && !(count - trigger.skip).is_multiple_of(trigger.every) {
        return Some("every");
    }
    (!trigger.nth.is_empty() && !trigger.nth.contains(&count)).then_some("nth")
}

fn chance(seed: u64, armed: &Armed, point: &Point, draws: &mut Vec<DrawEntry>) -> Option<&'static str> {
    let probability = armed.rule.trigger.probability;
    if probability >= 1.0 {
        return None;
    }
    let value = Draw::new(seed, &armed.name, &point.key.to_string(), "probability").unit();
    draws.push(DrawEntry { purpose: "probability".to_owned(), value });
    (value >= probability).then_some("probability")
}

impl Cond {
    /// How many units the condition wants to be held.
    fn gathers(&self) -> Option<u64> {
        match self {
            Self::Gathered(count) => Some(*count),
            Self::Any(conds) => conds.iter().filter_map(Self::gathers).min(),
            Self::After(_)
            | Self::End
            | Self::Never
            | Self::Seen { .. }
            | Self::Fired { .. }
            | Self::Idle { .. }
            | Self::Bytes { .. } => None,
        }
    }
}
