//! Two journals of the same traffic, one taken before a gateway and one behind it, as one timeline with both lanes.
//!
//! The one rule: what one saw and the other did not is marked where it was seen. Which exchange is which is found in
//! `joining`; nothing here compares contents, because a gateway may write a message anew.

mod clocks;
mod joining;
mod marks;

use std::fmt::Write as _;

use super::parts::Parts;
use super::timeline::lanes::{Arrow, IDLE, Row, draw_in, lanes};
use super::timeline::rows::rows;
use super::words::{count, span};
use crate::journal::{Header, Line};
use clocks::Clocks;
use joining::Joined;
use marks::Marks;

/// How wide the timeline is.
const COLUMNS: usize = 120;

/// The line above the rows.
const HEADING: &str = "
    time  stream                client  before  gateway behind  server  ■ held   ✗ stopped   + made   ! a rule   ? differs
";

/// The side of the gateway on which something was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    Behind,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Behind => "behind",
        }
    }
}

/// Writes the journal taken before a gateway and that taken behind it as one timeline.
#[must_use]
pub fn beside(before: &[Line], behind: &[Line]) -> String {
    let sides = [Parts::of(before), Parts::of(behind)];
    let joined = Joined::of([&sides[0], &sides[1]]);
    let clocks = Clocks::of([&sides[0], &sides[1]], &joined);
    let marks = Marks::of(&joined);
    let mut text = heading(Side::Before, sides[0].run) + &heading(Side::Behind, sides[1].run);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} on both sides, {} of them by trace context; {clocks}",
        count(joined.number(), "exchange"),
        joined.by_trace()
    );
    text.push_str(HEADING);
    let shown = |side: Side, parts: &Parts<'_>| {
        let all = rows(&parts.entries).into_iter();
        all.map(|row| (side, Row { at: clocks.time(side, row.at), ..row })).collect::<Vec<_>>()
    };
    for (side, row) in merged(shown(Side::Before, &sides[0]), shown(Side::Behind, &sides[1])) {
        draw_in([&five(side, &lanes(&row)), &five(side, IDLE)], &row, &under(side, &row, &marks), COLUMNS, &mut text);
    }
    text + &summary(&marks)
}

fn heading(side: Side, run: Option<&Header>) -> String {
    let Some(run) = run else { return String::new() };
    format!("{}: {}, seed {}, http://{} -> {}\n", side.word(), run.started, run.seed, run.listen, run.upstream)
}

fn summary(marks: &Marks) -> String {
    match marks.differences() {
        0 => "\nboth saw the same\n".to_owned(),
        differences => {
            let seen = |side: Side| format!("{} only {}", marks.only(side), side.word());
            let all = count(differences, "difference");
            format!("\n{all}: {}, {}\n", seen(Side::Before), seen(Side::Behind))
        }
    }
}

/// The three lanes of a side among the five of both; the middle one is the gateway's.
fn five(side: Side, three: &str) -> String {
    match side {
        Side::Before => format!("{three}       │       │"),
        Side::Behind => format!("│       │       {three}"),
    }
}

/// What rules did, and what the other side saw otherwise; of a point in two rows, under where it came.
fn under(side: Side, row: &Row, marks: &Marks) -> Vec<String> {
    let mark = row.point.filter(|seq| *seq == row.seq).and_then(|seq| marks.at(side, seq));
    let faults = row.faults.iter().map(|fault| format!("! {fault}"));
    faults.chain(mark.map(|mark| format!("? {mark}"))).collect()
}

type Seen = (Side, Row);

/// In order of time, an answer first where it comes from; what one journal has in order stays in order.
fn merged(before: Vec<Seen>, behind: Vec<Seen>) -> Vec<Seen> {
    let (mut before, mut behind) = (before.into_iter().peekable(), behind.into_iter().peekable());
    let mut merged = Vec::new();
    loop {
        let first = match (before.peek(), behind.peek()) {
            (Some((_, a)), Some((_, b))) => a.at < b.at || (a.at == b.at && a.server != Arrow::Left),
            (a, _) => a.is_some(),
        };
        match if first { before.next() } else { behind.next() } {
            Some(row) => merged.push(row),
            None => return merged,
        }
    }
}

#[cfg(test)]
mod tests;
