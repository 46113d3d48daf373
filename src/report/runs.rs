//! What one run or several amounted to, for programs and for a CI: the object of `--verdict`, and what JUnit, the table and
//! the annotations are made of.
//!
//! The one rule: a run is told in the words of the journal's first line and of its verdict line, so that nothing has two names.

mod known;

use serde::Serialize;

use super::verdict::Status;
use super::words::count;
use crate::journal::{Header, ReasonLine, SCHEMA, VerdictLine};

pub use known::{KnownLine, KnownState};

/// A run and what it amounted to.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Ran {
    /// What was run, and with what.
    #[serde(flatten)]
    pub header: Header,
    /// What to type to repeat the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// The journal's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// What it amounted to.
    #[serde(flatten)]
    pub verdict: VerdictLine,
}

/// One run of several.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The number of the run, from 1.
    pub row: usize,
    /// Its profiles as they were given, with their values: the name by which `--known` calls it.
    pub name: String,
    /// The name, and what tells this run from others of that name: its seed, if that was chosen, and which repetition it is.
    pub title: String,
    /// What became of it.
    pub state: RowState,
    /// Of a known failure: why it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The run itself.
    #[serde(flatten)]
    pub ran: Ran,
}

/// What became of one run of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// It ended with 0.
    #[default]
    Passed,
    /// It did not, and that was not known.
    Failed,
    /// It did not, and each reason is among the known failures.
    Known,
}

/// Several runs and what they amounted to together; or one by itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Runs {
    /// How many were asked for; none: one run by itself.
    pub asked: Option<usize>,
    /// Those that were begun, in order.
    pub rows: Vec<Row>,
    /// The known failures, and what became of each.
    pub known: Vec<KnownLine>,
    /// The signal that ended them before all had been begun.
    pub signal: Option<u8>,
}

/// The object of `--verdict`: of one run by itself, or of several.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Object<'a> {
    One(&'a Ran),
    Several(Several<'a>),
}

/// Several runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
struct Several<'a> {
    /// The version of the schema.
    schema: u32,
    /// The version of mishap.
    mishap: &'static str,
    /// The exit status of all together.
    exit: u8,
    /// Why.
    why: String,
    /// How many runs were asked for; a signal may have ended them before.
    asked: usize,
    /// The runs, in order.
    runs: &'a [Row],
    /// The known failures and what became of each.
    #[serde(skip_serializing_if = "<[KnownLine]>::is_empty")]
    known: &'a [KnownLine],
}

impl Ran {
    /// A run that mishap could not begin or go on with, or whose command it could not start.
    #[must_use]
    pub fn unjudged(header: Header, exit: u8, why: &str) -> Self {
        // A shell's statuses for a command that is not there or cannot be executed.
        let kind = if matches!(exit, 126 | 127) { "command" } else { "mishap" }.to_owned();
        let reason = ReasonLine { kind, exit, about: None, why: why.to_owned(), counts: true, known: None };
        let verdict = VerdictLine { exit, why: why.to_owned(), reasons: vec![reason], ..VerdictLine::default() };
        Self { header, verdict, ..Self::default() }
    }

    /// The reasons that fail it.
    pub fn counted(&self) -> impl Iterator<Item = &ReasonLine> {
        self.verdict.reasons.iter().filter(|reason| reason.counts)
    }

    /// Its profiles by name, as a title.
    #[must_use]
    pub fn profiles(&self) -> String {
        let names: Vec<&str> = self.header.profiles.iter().map(|profile| profile.name.as_str()).collect();
        if names.is_empty() { "no profile".to_owned() } else { names.join(" + ") }
    }
}

impl Runs {
    /// One run by itself.
    #[must_use]
    pub fn alone(ran: Ran) -> Self {
        let state = if ran.verdict.exit == 0 { RowState::Passed } else { RowState::Failed };
        let name = ran.profiles();
        let row = Row { row: 1, title: name.clone(), name, state, known: None, ran };
        Self { rows: vec![row], ..Self::default() }
    }

    /// The object of `--verdict`.
    #[must_use]
    pub fn json(&self) -> String {
        let object = match (self.asked, self.rows.as_slice()) {
            (None, [row]) => Object::One(&row.ran),
            (asked, runs) => {
                let Status { code: exit, why } = self.exit();
                let (schema, mishap) = (SCHEMA, env!("CARGO_PKG_VERSION"));
                Object::Several(Several {
                    schema,
                    mishap,
                    exit,
                    why,
                    asked: asked.unwrap_or(1),
                    runs,
                    known: &self.known,
                })
            }
        };
        let mut text = serde_json::to_string_pretty(&object).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The exit status and why, as in one run: a command's own (of several the lowest), else what mishap could not do, else the
    /// lowest. A known failure that is none any more counts as an expectation that was not met.
    #[must_use]
    pub fn exit(&self) -> Status {
        let failed: Vec<&Row> = self.rows.iter().filter(|row| row.state == RowState::Failed).collect();
        let weighed = failed.iter().map(|row| (weight(&row.ran), row.ran.verdict.exit, self.told(row, &failed)));
        let gone: Vec<&KnownLine> = self.known.iter().filter(|line| line.state == KnownState::Gone).collect();
        let gone = gone.first().map(|line| (2, 3, line.words()));
        let signal = self.signal.map(|signal| (1, signal.saturating_add(128), self.ended(signal)));
        match weighed.chain(signal).chain(gone).min_by_key(|(weight, code, _)| (*weight, *code)) {
            Some((_, code, why)) => Status { code, why },
            None => Status { code: 0, why: self.green() },
        }
    }

    /// Whether it is a command's own status that they end with.
    #[must_use]
    pub fn command_failed(&self) -> bool {
        self.rows.iter().any(|row| row.state == RowState::Failed && weight(&row.ran) == 0)
    }

    /// How many there are of this state.
    #[must_use]
    pub fn number(&self, state: RowState) -> u64 {
        let number = self.rows.iter().filter(|row| row.state == state).count();
        u64::try_from(number).unwrap_or(u64::MAX)
    }

    fn told(&self, row: &Row, failed: &[&Row]) -> String {
        if self.asked.is_none() {
            return row.ran.verdict.why.clone();
        }
        let (number, all) = (failed.len(), self.rows.len());
        let others = self.signal.map(|signal| format!("; {}", self.ended(signal))).unwrap_or_default();
        format!("{number} of {all} runs failed; run {} ({}): {}{others}", row.row, row.title, row.ran.verdict.why)
    }

    fn ended(&self, signal: u8) -> String {
        format!("ended by signal {signal} after {} of {} runs", self.rows.len(), self.asked.unwrap_or(1))
    }

    fn green(&self) -> String {
        match (self.asked, self.number(RowState::Known), self.rows.first()) {
            (None, _, Some(row)) => row.ran.verdict.why.clone(),
            (_, 0, _) => format!("{} passed", count(self.number(RowState::Passed), "run")),
            (_, known, _) => {
                let passed = count(self.number(RowState::Passed), "run");
                format!("{passed} passed, {known} failed as is known")
            }
        }
    }
}

/// The place of a run's status among those of others: the command's own, ours, the others.
fn weight(ran: &Ran) -> u8 {
    match ran.counted().next().map(|reason| reason.kind.as_str()) {
        Some("command") => 0,
        Some("mishap") => 1,
        _ => 2,
    }
}

#[cfg(test)]
pub(crate) mod tests;
