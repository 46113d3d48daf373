//! Which points of a recorded run each rule would have hit. Its faults do nothing here: what they would have changed cannot
//! be known from a run in which they did not act.

use std::io::{self, Write};
use std::time::Duration;

use crate::engine::condition::Time;
use crate::engine::fault::Fault;
use crate::engine::fault::delay::Delay;
use crate::engine::record::{DecisionEntry, Entry};
use crate::engine::rule::Rule;
use crate::engine::selector::Selector;
use crate::journal::{Line, again};

/// How many points are named for each rule.
const NAMED: usize = 5;

/// Every decision of these rules about the points of a recorded run.
pub(super) fn hits(lines: &[Line], rules: &[Rule]) -> Vec<DecisionEntry> {
    let seed = lines.first().and_then(|line| if let Line::Run(header) = line { Some(header.seed) } else { None });
    let nothing = Fault::Delay(Delay { time: Time::Fixed(Duration::ZERO), overtake: false });
    let rules = rules.iter().map(|rule| Rule { fault: nothing.clone(), ..rule.clone() }).collect();
    let decision = |entry| if let Entry::Decision(decision) = entry { Some(decision) } else { None };
    again(lines, rules, seed.unwrap_or_default()).into_iter().filter_map(decision).collect()
}

/// Says of one rule what it would have hit.
pub(super) fn tell(rule: &Rule, hits: &[DecisionEntry], out: &mut dyn Write) -> io::Result<()> {
    let selected: Vec<_> = hits.iter().filter(|hit| hit.rule == rule.name).collect();
    let fired: Vec<&str> = selected.iter().filter(|hit| hit.fired).map(|hit| hit.key.as_str()).collect();
    let more = fired.len().saturating_sub(NAMED);
    let named = fired.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match (selected.len(), fired.len()) {
        (0, _) => writeln!(out, "    in that run: nothing it selects")?,
        (selected, 0) => writeln!(out, "    in that run: selects {selected}, fires at none")?,
        (selected, count) => writeln!(out, "    in that run: selects {selected}, fires at {count}: {named}{more}")?,
    }
    if asks_content(&rule.selector) {
        writeln!(out, "    (a journal holds no params, results or error codes: what asks for them selects nothing)")?;
    }
    Ok(())
}

fn asks_content(selector: &Selector) -> bool {
    let owner = selector.owner.as_ref().is_some_and(|owner| !owner.params.is_empty());
    let message = selector.message.as_ref();
    let message = message.is_some_and(|it| !it.params.is_empty() || !it.result.is_empty() || it.code.is_some());
    owner || message || !selector.params.is_empty()
}
