//! What became of known failures (`--known FILE`) in the runs that were done.
//!
//! The one rule: an entry excuses a reason, never a run. A run is known only if each of its reasons is, so that what comes new is
//! red; and an entry whose reason is gone is red until it is removed. Only a run that tested something shows that one is gone.

use serde::Serialize;

use super::{Ran, Row, RowState, Runs};
use crate::report::verdict::{Known, hides, marked};

/// How many names of runs are listed where an entry names none of them.
const LISTED: usize = 12;

/// An entry of the file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct KnownLine {
    /// The run that it names.
    pub run: String,
    /// The reasons that it excuses: a kind, an exit status, or both.
    pub what: String,
    /// Why they are known.
    pub why: String,
    /// What became of it.
    pub state: KnownState,
    /// Where no run of its name was done: the names of those that were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KnownState {
    /// A run of its name failed so.
    #[default]
    Failed,
    /// Its runs were done and none failed so: it is to be removed.
    Gone,
    /// None of its runs failed so, and none tested enough to show that it is gone.
    Untested,
    /// No run of its name was done.
    NoRun,
}

fn line(entry: &Known, rows: &[Row]) -> KnownLine {
    let kind = entry.kind.map(|kind| kind.word().to_owned());
    let what: Vec<String> = kind.into_iter().chain(entry.exit.map(|exit| format!("exit {exit}"))).collect();
    let state = state(entry, rows);
    let names = if state == KnownState::NoRun { names(rows) } else { Vec::new() };
    KnownLine { run: entry.run.clone(), what: what.join(", "), why: entry.why.clone(), state, names }
}

fn state(entry: &Known, rows: &[Row]) -> KnownState {
    let own: Vec<&Ran> = rows.iter().filter(|row| entry.names(&row.name, &row.title)).map(|row| &row.ran).collect();
    if own.is_empty() {
        KnownState::NoRun
    } else if own.iter().any(|ran| ran.verdict.reasons.iter().any(|reason| entry.excuses(reason))) {
        KnownState::Failed
    } else if own.iter().any(|ran| !ran.verdict.reasons.iter().any(hides)) {
        KnownState::Gone
    } else {
        KnownState::Untested
    }
}

/// The names of the runs, each once.
fn names(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&row.name) {
            names.push(row.name.clone());
        }
    }
    names
}

impl KnownLine {
    /// What became of it, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { run, what, why, state, .. } = self;
        match state {
            KnownState::Failed => format!("known failure {run} ({what}): {why}"),
            KnownState::Gone => format!("known failure {run} ({what}) is gone: remove it from the file ({why})"),
            KnownState::Untested => format!("known failure {run} ({what}): no run tested enough to show it"),
            KnownState::NoRun => {
                format!("known failure {run} ({what}): no run of that name was done{}", self.instead())
            }
        }
    }

    /// The names that there were.
    fn instead(&self) -> String {
        let listed = self.names.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join("; ");
        match self.names.len().saturating_sub(LISTED) {
            0 if listed.is_empty() => String::new(),
            0 => format!("; there were: {listed}"),
            more => format!("; there were: {listed}; and {more} more"),
        }
    }
}

impl Runs {
    /// Marks the reasons that are known and the rows that fail for no others, and says what became of each entry.
    #[must_use]
    pub fn excused(mut self, known: &[Known]) -> Self {
        for row in &mut self.rows {
            row.excuse(known);
        }
        self.known = known.iter().map(|entry| line(entry, &self.rows)).collect();
        self
    }
}

impl Row {
    fn excuse(&mut self, known: &[Known]) {
        let own = Known::of(known, &self.name, &self.title);
        let reasons = std::mem::take(&mut self.ran.verdict.reasons);
        self.ran.verdict.reasons = reasons.into_iter().map(|reason| marked(reason, &own)).collect();
        let whys: Option<Vec<_>> = self.ran.counted().map(|reason| reason.known.clone()).collect();
        if let Some(mut whys) = whys.filter(|whys| self.state == RowState::Failed && !whys.is_empty()) {
            whys.dedup();
            self.known = Some(whys.join("; "));
            self.state = RowState::Known;
        }
    }
}
