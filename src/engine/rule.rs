//! A profile's rule as the engine takes it: checked, with every default filled in. The text form is read by `profile`.

use super::condition::Condition;
use super::fault::Fault;
use super::selector::Selector;
use super::trigger::{Scope, Trigger};

/// What a run does to what crosses it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// `PROFILE/RULE`, unique in the run (rule R37).
    pub name: String,
    /// The points this rule is about.
    pub selector: Selector,
    /// Which of them.
    pub trigger: Trigger,
    /// What is counted together.
    pub scope: Scope,
    /// Switches the rule on.
    pub from: Option<Condition>,
    /// Switches the rule off.
    pub until: Option<Condition>,
    /// Whether it may stay unfired.
    pub optional: bool,
    /// What is done.
    pub fault: Fault,
}
