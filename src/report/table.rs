//! Several runs as a table for people: one line each, and one command to repeat each that is not 0.

use std::fmt::Write as _;

use super::runs::{KnownState, Row, RowState, Runs};
use super::verdict::told;

/// Writes the table.
#[must_use]
pub fn table(runs: &Runs) -> String {
    let mut text = format!("mishap: {} of {} runs\n", runs.rows.len(), runs.asked.unwrap_or(1));
    let width = runs.rows.iter().map(|row| row.title.chars().count()).max().unwrap_or(0).max(8);
    let seeds = runs.rows.iter().map(|row| row.ran.header.seed.to_string().len()).max().unwrap_or(0).max(4);
    let _ = writeln!(text, "  run  {:width$}  {:>seeds$}  exit  why", "profiles", "seed");
    for row in &runs.rows {
        let (number, title, seed, exit) = (row.row, &row.title, row.ran.header.seed, row.ran.verdict.exit);
        let _ = writeln!(text, "  {number:>3}  {title:width$}  {seed:>seeds$}  {exit:>4}  {}", why(row));
    }
    for row in runs.rows.iter().filter(|row| row.ran.verdict.exit != 0) {
        if let Some(again) = &row.ran.again {
            let _ = writeln!(text, "  again {}: {again}", row.row);
        }
    }
    for line in runs.known.iter().filter(|line| line.state != KnownState::Failed) {
        let _ = writeln!(text, "  {}", line.words());
    }
    text
}

/// Why a run ended so, in a line, and whether that is known; what is new stands before what is known.
#[must_use]
pub fn why(row: &Row) -> String {
    let why = &row.ran.verdict.why;
    match (row.state, &row.known) {
        (RowState::Known, Some(known)) => format!("known: {known}: {why}"),
        _ if row.ran.counted().all(|reason| reason.known.is_none()) => why.clone(),
        _ => {
            let (known, new): (Vec<_>, Vec<_>) = row.ran.counted().partition(|reason| reason.known.is_some());
            new.into_iter().chain(known).map(told).collect::<Vec<_>>().join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::tests::{failed, known, passed, several};
    use crate::report::verdict::Known;

    #[test]
    fn a_run_is_a_line_and_one_that_failed_has_the_command_that_repeats_it() {
        let runs =
            several(&[passed("get-opens-first"), failed("late", "command", 9)], &[known("late", 9), known("none", 4)]);
        let expected = "\
mishap: 2 of 2 runs
  run  profiles         seed  exit  why
    1  get-opens-first     7     0  every rule was effective
    2  late                7     9  known: it is known: command failed
  again 2: mishap run -p late
  known failure none (exit 4): no run of that name was done; there were: get-opens-first; late
";
        assert_eq!(table(&runs), expected);
    }

    #[test]
    fn what_is_new_beside_what_is_known_is_said_first() {
        let (name, mut ran) = failed("late", "command", 9);
        let new = failed("", "hang", 5).1.verdict.reasons;
        ran.verdict.reasons.extend(new);
        let line = |known: &[Known]| why(&several(&[(name.clone(), ran.clone())], known).rows[0]);
        assert_eq!(line(&[known("late", 9)]), "hang failed; known (it is known): command failed");
        assert_eq!(line(&[known("late", 9), known("late", 5)]), "known: it is known: command failed");
        assert_eq!(line(&[]), "command failed");
    }
}
