//! A journal as a text timeline: lanes for client, proxy and server, one row for a point, two for one that waited.
//!
//! The one rule: a row is where its sequence number puts it, so what is above happened before. Rows fit 100 columns.

mod describe;
mod doing;
mod excerpt;
pub(super) mod labels;
pub(super) mod lanes;
mod order;
pub(super) mod rows;

use std::fmt::Write as _;

use super::parts::Parts;
use super::words::count;
use crate::journal::{Footer, Header, Line, RuleLine, VerdictLine};
use crate::report::verdict::expectation;
pub use excerpt::excerpt;
use lanes::{HEADING, draw};
use rows::rows;

/// How wide a timeline is.
const COLUMNS: usize = 100;

/// Writes a journal's lines as a timeline.
#[must_use]
pub fn timeline(lines: &[Line]) -> String {
    let parts = Parts::of(lines);
    let mut text = parts.run.map(heading).unwrap_or_default() + HEADING;
    rows(&parts.entries).iter().for_each(|row| draw(row, COLUMNS, &mut text));
    text + &parts.verdict.map(judged).unwrap_or_default() + &ending(parts.closed)
}

fn heading(header: &Header) -> String {
    let mut text = format!("mishap {}, {}, seed {}\n", header.mishap, header.started, header.seed);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "http://{} -> {}", header.listen, header.upstream);
    if let Some(part) = header.part.filter(|part| part.gone > 0) {
        let _ = writeln!(text, "the newest only: {} before them are kept no more", count(part.gone, "line"));
    }
    for profile in &header.profiles {
        let vars: String = profile.vars.iter().map(|(name, value)| format!(", {name}={value}")).collect();
        let _ = writeln!(text, "profile {}{vars}", profile.name);
    }
    text
}

/// The verdict, as the run said it.
fn judged(line: &VerdictLine) -> String {
    let mut text = "\nverdict\n".to_owned();
    for RuleLine { name, matched, fired, effective, optional } in &line.rules {
        let may = if *optional { ", optional" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name}: matched {matched}, fired {fired}, effective {effective}{may}");
    }
    line.gates.iter().for_each(|gate| _ = writeln!(text, "  gate {gate}"));
    line.effects.iter().for_each(|effect| _ = writeln!(text, "  did  {effect}"));
    line.expectations.iter().for_each(|it| _ = writeln!(text, "  expect {}", expectation(it)));
    if !line.outcomes.is_empty() {
        let counted: Vec<String> = line.outcomes.iter().map(|(word, number)| format!("{number} {word}")).collect();
        let _ = writeln!(text, "  requests: {}", counted.join(", "));
    }
    line.findings.iter().for_each(|found| _ = writeln!(text, "  {}: {}", found.monitor, found.words));
    let _ = writeln!(text, "  exit {}: {}", line.exit, line.why);
    text
}

fn ending(footer: Option<&Footer>) -> String {
    match footer.map(|footer| footer.dropped) {
        None => "no last line: the run did not end by itself, entries may be missing\n".to_owned(),
        Some(0) => String::new(),
        Some(dropped) => {
            format!("missing: {dropped} (no room in the journal's queue, or the file could not be written)\n")
        }
    }
}

#[cfg(test)]
mod tests;
