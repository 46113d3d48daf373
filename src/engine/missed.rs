//! Why a rule that selects points fires at none of them: what its trigger (rule R11) and its switches (rule R13) lacked; and
//! why one that fires does nothing: what it waits for never came.
//!
//! The one rule it keeps: it counts what was asked and decides nothing.

use std::time::Duration;

use super::condition::Condition;
use super::engine::Engine;
use super::fault::Fault;
use super::rule::Rule;
use super::sighting::Cause;
use super::trigger::{Scope, Trigger};

/// What a rule lacked that selected points and fired at none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Missed {
    /// The rule's full name.
    pub rule: String,
    /// At how many of its points its `from` had not come true.
    pub early: u64,
    /// At how many its `until` had come true last.
    pub late: u64,
    /// The most points that it counted in one scope.
    pub most: u64,
    /// The lowest number that was drawn against its `probability`.
    pub lowest: Option<f64>,
    /// At which points it would have fired.
    pub trigger: Trigger,
    /// What it counts together.
    pub scope: Scope,
}

/// A rule that fired, and whose `when` never came true.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unmet {
    /// The rule's full name.
    pub rule: String,
    /// The silence that it waits for, what is drawn not included; none: it waits for something else.
    pub silence: Option<Duration>,
}

/// Why a rule is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Off {
    /// Its `from` has not come true.
    Early,
    /// Its `until` came true last.
    Late,
}

impl Missed {
    pub(super) fn of(rule: &Rule) -> Self {
        let (trigger, scope) = (rule.trigger.clone(), rule.scope);
        Self { rule: rule.name.clone(), trigger, scope, ..Self::default() }
    }

    pub(super) fn was_off(&mut self, off: Off) {
        match off {
            Off::Early => self.early += 1,
            Off::Late => self.late += 1,
        }
    }

    /// So many were counted in a scope, and this was drawn.
    pub(super) fn counted(&mut self, count: u64, drawn: Option<f64>) {
        self.most = self.most.max(count);
        self.lowest = self.lowest.into_iter().chain(drawn).min_by(f64::total_cmp);
    }
}

impl Engine {
    /// One for each rule that selected points and never fired.
    pub(super) fn missed(&self) -> Vec<Missed> {
        let rules = self.notebook.missed.iter().zip(&self.notebook.tallies);
        rules.filter(|(_, tally)| tally.matched > 0 && tally.fired == 0).map(|(missed, _)| missed.clone()).collect()
    }

    /// What a rule waits for has come, and it acts.
    pub(super) fn came_true(&mut self, rule: usize, cause: &Cause) {
        self.notebook.came_true[rule] = true;
        self.silence_acted(cause);
    }

    /// One for each rule that fired and waited for ever.
    pub(super) fn unmet(&self) -> Vec<Unmet> {
        let rules = self.plan.rules.iter().zip(&self.notebook.tallies).zip(&self.notebook.came_true);
        let waited = rules.filter(|((_, tally), came_true)| tally.fired > 0 && !**came_true);
        waited.filter_map(|((armed, _), _)| unmet(&armed.rule)).collect()
    }
}

/// What a fault does not act without. A hold acts before: its gates say what became of it.
fn awaited(fault: &Fault) -> Option<&Condition> {
    match fault {
        Fault::Cut(_) | Fault::Respond(_) | Fault::Inject(_) => fault.waits_for(),
        _ => None,
    }
}

fn unmet(rule: &Rule) -> Option<Unmet> {
    let silence = match awaited(&rule.fault)? {
        Condition::Idle { time, .. } => Some(*time),
        _ => None,
    };
    Some(Unmet { rule: rule.name.clone(), silence })
}
