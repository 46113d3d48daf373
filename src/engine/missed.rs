//! Why a rule that selects points fires at none of them: what its trigger (rule R11) and its switches (rule R13) lacked.
//!
//! The one rule it keeps: it counts what was asked and decides nothing.

use super::engine::Engine;
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

/// Why a rule is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Off {
    /// Its `from` has not come true.
    Early,
    /// Its `until` came true last.
    Late,
}

impl Missed {
    pub(super) fn of(rule: &super::rule::Rule) -> Self {
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
}
