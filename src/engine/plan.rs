//! The rules of a run, prepared: which rule looks at which point, which points conditions wait to see, and what an
//! exchange's body must be read for.
//!
//! The one rule it keeps: nothing here changes while the run lasts.

use std::sync::Arc;
use std::time::Duration;

use super::condition::{Condition, Leg, Same, Seen, Time};
use super::expectation::Expectation;
use super::expecting::Awaited;
use super::rule::Rule;
use super::selector::{At, Selector};
use super::trigger::Scope;

/// A selector, and its number if it asks for the k-th exchange.
#[derive(Debug, Clone)]
pub(super) struct Sel {
    pub(super) selector: Selector,
    pub(super) number: Option<usize>,
}

/// A rule, and its conditions with their watches.
#[derive(Debug)]
pub(super) struct Armed {
    pub(super) name: Arc<str>,
    pub(super) sel: Sel,
    pub(super) rule: Rule,
    pub(super) from: Option<Cond>,
    pub(super) until: Option<Cond>,
    /// What its fault waits for: `hold.until`, `cut.when`.
    pub(super) gate: Option<Cond>,
    /// Whether a condition asks whether it has acted.
    pub(super) heeded: bool,
    /// To which streams its fault moves.
    pub(super) target: Option<Sel>,
}

/// A condition whose points are watched for.
#[derive(Debug)]
pub(super) enum Cond {
    After(Time),
    End,
    Never,
    Any(Vec<Cond>),
    Seen {
        watch: usize,
        same: Same,
        nth: u64,
        next: bool,
        plus: Option<Time>,
    },
    Fired {
        rule: Option<usize>,
        plus: Option<Time>,
    },
    Gathered(u64),
    /// The number is that of its place in [`Plan::silences`].
    Idle {
        number: usize,
        time: Duration,
        plus: Option<Time>,
    },
    /// The number is that of its place in [`Plan::sizes`].
    Bytes {
        number: usize,
        plus: Option<Time>,
    },
}

impl Cond {
    /// The watches it looks at.
    pub(super) fn watches(&self, found: &mut Vec<usize>) {
        match self {
            Self::Seen { watch, .. } => found.push(*watch),
            Self::Any(conds) => conds.iter().for_each(|cond| cond.watches(found)),
            Self::After(_)
            | Self::End
            | Self::Never
            | Self::Fired { .. }
            | Self::Gathered(_)
            | Self::Idle { .. }
            | Self::Bytes { .. } => {}
        }
    }

    /// The time that is drawn for a unit which waits for this; in a list the first.
    pub(super) fn plus(&self) -> Option<Time> {
        match self {
            Self::After(time) => Some(*time),
            Self::Seen { plus, .. } | Self::Fired { plus, .. } | Self::Idle { plus, .. } | Self::Bytes { plus, .. } => {
                *plus
            }
            Self::Any(conds) => conds.iter().find_map(Self::plus),
            Self::End | Self::Never | Self::Gathered(_) => None,
        }
    }
}

/// Points that a condition waits to see, on one leg.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) sel: Sel,
    pub(super) leg: Leg,
    /// The same without what only passing decides: which units may be seen once they have passed.
    pub(super) ahead: Sel,
}

/// A silence that a condition of a rule asks for.
#[derive(Debug)]
pub(super) struct Quiet {
    pub(super) rule: usize,
    pub(super) time: Duration,
    pub(super) plus: Option<Time>,
    /// Whether it switches the rule on.
    pub(super) switches: bool,
}

/// The rules of a run, prepared.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) rules: Vec<Armed>,
    pub(super) watches: Vec<Watch>,
    /// What must be seen.
    pub(super) expected: Vec<Awaited>,
    /// The selectors that count exchanges.
    pub(super) numbered: Vec<Selector>,
    /// Whether some rule or condition can only be judged by what bodies say.
    pub(super) looks_inside: bool,
    /// Whether some rule or condition asks for the end of an answer.
    pub(super) asks_for_ends: bool,
    /// The silences that conditions ask for.
    pub(super) silences: Vec<Quiet>,
    /// The sizes that conditions ask for, in bytes.
    pub(super) sizes: Vec<u64>,
    /// Rules whose firing a condition asks for.
    heeded: Vec<usize>,
    /// Whether some rule wants the server to feel that it holds.
    pub(super) presses: bool,
    /// Whether some rule gives clients' requests other ids.
    pub(super) renames_requests: bool,
    /// Whether some rule gives messages in blocks other ids, servers' requests among them.
    pub(super) renames_blocks: bool,
    /// Whether some rule cuts connections.
    pub(super) cuts_connections: bool,
}

impl Plan {
    pub(super) fn new(rules: Vec<Rule>, expectations: Vec<Expectation>) -> Self {
        let mut plan = Self::default();
        let names: Vec<String> = rules.iter().map(|rule| rule.name.clone()).collect();
        for rule in rules {
            let armed = plan.arm(rule, &names);
            plan.rules.push(armed);
        }
        for heeded in std::mem::take(&mut plan.heeded) {
            plan.rules[heeded].heeded = true;
        }
        plan.expected = expectations.into_iter().map(|it| plan.awaited(it, &names)).collect();
        plan
    }

    /// Whether a condition asks what only the bytes of a body tell.
    pub(super) fn measures(&self) -> bool {
        !self.silences.is_empty() || !self.sizes.is_empty()
    }

    /// The rules about one kind of point, in written order.
    pub(super) fn about(&self, at: At) -> impl Iterator<Item = (usize, &Armed)> {
        self.rules.iter().enumerate().filter(move |(_, armed)| armed.sel.selector.at == at)
    }

    fn arm(&mut self, rule: Rule, names: &[String]) -> Armed {
        let gate = rule.fault.waits_for();
        let target = rule.fault.target().map(|target| self.sel(&target));
        self.looks_inside |= rule.scope == Scope::Owner;
        self.asks_for_ends |= rule.selector.at == At::End;
        self.presses |= rule.fault.presses();
        if rule.fault.renames() {
            self.renames_requests |= rule.selector.at == At::Request;
            self.renames_blocks |= rule.selector.at == At::Block;
        }
        self.cuts_connections |= rule.selector.at == At::Connect && gate.is_some();
        let switching = self.silences.len();
        let from = rule.from.as_ref().map(|condition| self.cond(condition, names));
        self.silences[switching..].iter_mut().for_each(|quiet| quiet.switches = true);
        Armed {
            name: Arc::from(&*rule.name),
            sel: self.sel(&rule.selector),
            from,
            until: rule.until.as_ref().map(|condition| self.cond(condition, names)),
            gate: gate.map(|condition| self.cond(condition, names)),
            target,
            heeded: false,
            rule,
        }
    }

    pub(super) fn sel(&mut self, selector: &Selector) -> Sel {
        let asks_content = selector.message.is_some() || selector.owner.is_some() || selector.in_flight.is_some();
        self.looks_inside |= selector.at == At::Block || asks_content || selector.resumes.is_some();
        let number = (!selector.exchange.is_empty()).then(|| {
            self.numbered.push(selector.clone());
            self.numbered.len() - 1
        });
        Sel { selector: selector.clone(), number }
    }

    fn cond(&mut self, condition: &Condition, names: &[String]) -> Cond {
        match condition {
            Condition::After(time) => Cond::After(*time),
            Condition::End => {
                self.asks_for_ends = true;
                Cond::End
            }
            Condition::Never => Cond::Never,
            Condition::Any(conditions) => {
                Cond::Any(conditions.iter().map(|condition| self.cond(condition, names)).collect())
            }
            Condition::Seen(seen) => self.seen(seen),
            Condition::Fired { rule, plus } => {
                let rule = names.iter().position(|name| name == rule);
                self.heeded.extend(rule);
                Cond::Fired { rule, plus: *plus }
            }
            Condition::Gathered(count) => Cond::Gathered(*count),
            Condition::Idle { time, plus } => {
                self.silences.push(Quiet { rule: self.rules.len(), time: *time, plus: *plus, switches: false });
                Cond::Idle { number: self.silences.len() - 1, time: *time, plus: *plus }
            }
            Condition::Bytes { size, plus } => {
                self.sizes.push(*size);
                Cond::Bytes { number: self.sizes.len() - 1, plus: *plus }
            }
        }
    }

    fn seen(&mut self, seen: &Seen) -> Cond {
        let leg = match (seen.leg, seen.selector.at) {
            (Some(Leg::Client), _) => Leg::Client,
            (Some(Leg::Server | Leg::Both), _) => Leg::Server,
            (None, At::Connect | At::RequestHead | At::Head | At::Block | At::End) => Leg::Client,
            (None, At::Request | At::Leave) => Leg::Server,
        };
        self.looks_inside |= matches!(seen.same, Same::Call | Same::Owner | Same::NotOwner);
        self.asks_for_ends |= seen.selector.at == At::End;
        let sel = self.sel(&seen.selector);
        let selector = Selector { in_flight: None, ..sel.selector.clone() };
        self.watches.push(Watch { leg, ahead: Sel { selector, number: sel.number }, sel });
        Cond::Seen {
            watch: self.watches.len() - 1,
            same: seen.same,
            nth: seen.nth.max(1),
            next: seen.next,
            plus: seen.plus,
        }
    }
}
