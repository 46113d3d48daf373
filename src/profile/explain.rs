//! A rule in one line of English, so that its author can see that it was understood as meant. It says only what the
//! rule restricts: what is left out is not mentioned.

use crate::engine::condition::Leg;
use crate::engine::fault::Fault;
use crate::engine::fault::cut::{Cut, OtherLeg};
use crate::engine::language::words::{condition, numbers, selector};
use crate::engine::rule::Rule;
use crate::engine::selector::At;
use crate::engine::trigger::{Scope, Trigger};

/// The rule as a sentence: which points, how many of them, what is done; `all` rules, because others may change what it does.
#[must_use]
pub fn explain(rule: &Rule, all: &[Rule]) -> String {
    let mut parts = vec![format!("at {}", selector(&rule.selector))];
    parts.extend(trigger(&rule.trigger, rule.scope));
    parts.extend(rule.from.as_ref().map(|from| format!("from the time that {}", condition(from))));
    parts.extend(rule.until.as_ref().map(|until| format!("until {}", condition(until))));
    let optional = if rule.optional { " (may stay unfired)" } else { "" };
    let spared = spared(rule, all).unwrap_or_default();
    format!("{}: {}{spared}{optional}", parts.join(", "), rule.fault.explain())
}

/// What a `resumable` makes of the server's leg behind a cut that does not say what becomes of it (rule R31).
fn spared(rule: &Rule, all: &[Rule]) -> Option<String> {
    let Fault::Cut(Cut { leg: Leg::Client, other_leg: OtherLeg::Usual, .. }) = &rule.fault else { return None };
    let answers = matches!(rule.selector.at, At::Head | At::Block | At::End);
    let keeper = all.iter().find(|other| matches!(other.fault, Fault::Resumable(_))).filter(|_| answers)?;
    let name = keeper.name.split_once('/').map_or(&*keeper.name, |(_, name)| name);
    Some(format!(" (read on where {name} answers its resumes)"))
}

// === When ===

fn trigger(trigger: &Trigger, scope: Scope) -> Option<String> {
    let mut parts = Vec::new();
    if !trigger.nth.is_empty() {
        parts.push(format!("only number {}", numbers(&trigger.nth)));
    }
    if trigger.skip > 0 {
        parts.push(format!("not the first {}", trigger.skip));
    }
    if trigger.every > 1 {
        parts.push(format!("only every {}.", trigger.every));
    }
    if trigger.probability < 1.0 {
        parts.push(format!("with a probability of {}", trigger.probability));
    }
    parts.extend(trigger.times.map(|times| format!("{times} at most")));
    let scope = match scope {
        Scope::Exchange => "exchange",
        Scope::Owner => "client request",
        Scope::Connection => "connection",
        Scope::Session => "session",
        Scope::Run => "run",
    };
    (!parts.is_empty()).then(|| format!("{} in each {scope}", parts.join(", ")))
}
