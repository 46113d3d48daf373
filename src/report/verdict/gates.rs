//! What became of the gates, in words: a line for each rule and kind of opening.
//!
//! The one rule: what opened a gate is called as the timeline calls it.

use crate::engine::record::{GateEntry, Opened};
use crate::report::names::{self, Methods};
use crate::report::words::{count, span};

/// One line for each rule and kind of opening: twenty sessions are one line, not twenty.
pub(super) fn gate_groups(gates: &[GateEntry], methods: &Methods) -> Vec<String> {
    let mut groups: Vec<Vec<&GateEntry>> = Vec::new();
    for gate in gates {
        let alike = |group: &&mut Vec<&GateEntry>| group[0].rule == gate.rule && kind(group[0]) == kind(gate);
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(gate),
            None => groups.push(vec![gate]),
        }
    }
    groups.iter().map(|group| format!("{}: {}", group[0].rule, opening(group, methods))).collect()
}

fn kind(gate: &GateEntry) -> std::mem::Discriminant<Opened> {
    std::mem::discriminant(&gate.opened)
}

/// What became of one gate, in words.
#[must_use]
pub fn gate_words(gate: &GateEntry) -> String {
    opening(&[gate], &Methods::new()).trim_start_matches("1 ").to_owned()
}

/// What became of gates of one rule that all opened in the same way. `group` is not empty.
fn opening(group: &[&GateEntry], methods: &Methods) -> String {
    let number = group.len();
    let held = held(group);
    match &group[0].opened {
        Opened::By(what) if what.starts_with("the window ") => windows(group),
        Opened::By(what) => format!("{number} opened {}{}, after {held}", cause(what, methods), others(group, what)),
        Opened::Already(what) => {
            format!("{number} not held: {} had already passed{}", names::point(what, methods), others(group, what))
        }
        Opened::Limit => format!("{number} let go at the limit, after {held}, with the condition under way"),
        Opened::Vacuous => format!("{number} let go at the limit, after {held}, with nothing under way to open it"),
        Opened::Lost => format!("{number} let go after {held}, when what it waited for could no longer come"),
        Opened::Full => format!("{number} let go after {held}, because no more of the answer could be kept or read"),
        Opened::Left => format!("{number} never opened: waited {held}, then the client left{}", kept(group)),
        Opened::RunEnded => format!("{number} still closed after {held}, when the run ended{}", kept(group)),
    }
}

/// What gates that never opened have kept from the client, and what would have opened them.
fn kept(group: &[&GateEntry]) -> String {
    let blocks = match group.iter().map(|gate| gate.undelivered).sum() {
        0 => String::new(),
        blocks => format!("; {} never delivered", count(blocks, "block")),
    };
    let behind = group.iter().any(|gate| gate.overtake);
    let hint = if behind { "; what it waits for stood behind it: set overtake = true" } else { "" };
    format!("{blocks}{hint}")
}

/// What opened a gate: a point, or the firing of a rule.
fn cause(what: &str, methods: &Methods) -> String {
    match what.strip_suffix(" fired") {
        Some(rule) => format!("when {} fired", rule.rsplit('/').next().unwrap_or(rule)),
        None => format!("by {}", names::point(what, methods)),
    }
}

fn windows(group: &[&GateEntry]) -> String {
    let full = group.iter().filter(|gate| gate.opened == Opened::By("the window is full".to_owned())).count();
    let closed = group.len() - full;
    let number = u64::try_from(group.len()).unwrap_or(u64::MAX);
    format!("{}: {full} full, {closed} closed before it was", count(number, "window"))
}

/// How long gates held: the shortest and the longest.
pub(super) fn held(group: &[&GateEntry]) -> String {
    let shortest = group.iter().map(|gate| gate.held).min().unwrap_or(0);
    let longest = group.iter().map(|gate| gate.held).max().unwrap_or(0);
    if shortest == longest { span(longest) } else { format!("{} to {}", span(shortest), span(longest)) }
}

fn others(group: &[&GateEntry], first: &str) -> String {
    let differ = |gate: &&&GateEntry| match &gate.opened {
        Opened::By(what) | Opened::Already(what) => what != first,
        Opened::Limit | Opened::Vacuous | Opened::Lost | Opened::Full | Opened::Left | Opened::RunEnded => false,
    };
    match group.iter().filter(differ).count() {
        0 => String::new(),
        number => format!(" and {number} more"),
    }
}
