//! Known failures (`--known FILE`): what the file says, and what became of each of its entries.
//!
//! The one rule: an entry excuses a reason, never a run. A run is known only if each of its reasons is, so that what comes new is
//! red; and an entry whose reason is gone is red until it is removed.

use serde::{Deserialize, Serialize};

use super::{Ran, Row, RowState, Runs};
use crate::journal::ReasonLine;
use crate::report::verdict::Kind;

/// One `[[known]]` of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Known {
    /// The run's name in the table, or its title.
    pub run: String,
    /// The kind of the reason.
    pub kind: Option<Kind>,
    /// The exit status of the reason.
    pub exit: Option<u8>,
    /// Why it is known: words, a link.
    pub why: String,
}

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
    /// No run of its name was done.
    NoRun,
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    known: Vec<Known>,
}

/// Reads the text of a file of known failures.
///
/// # Errors
///
/// What is wrong with it, with its line.
pub fn parse(text: &str) -> Result<Vec<Known>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    match file.known.iter().find_map(Known::problem) {
        Some(problem) => Err(problem),
        None => Ok(file.known),
    }
}

impl Known {
    fn problem(&self) -> Option<String> {
        let what = match (self.kind, self.exit) {
            (None, None) => "says neither `kind` nor `exit`; write the kind of reason, or its exit status",
            (Some(Kind::Mishap), _) => "what mishap could not do is never a known failure",
            (_, Some(0)) => "0 is no failure",
            _ => return None,
        };
        Some(format!("known failure \"{}\": {what}", self.run))
    }

    fn names(&self, row: &Row) -> bool {
        row.name == self.run || row.title == self.run
    }

    fn excuses(&self, reason: &ReasonLine) -> bool {
        let kind = self.kind.is_none_or(|kind| kind.word() == reason.kind);
        kind && self.exit.is_none_or(|exit| exit == reason.exit) && reason.kind != Kind::Mishap.word()
    }

    fn line(&self, state: KnownState) -> KnownLine {
        let kind = self.kind.map(|kind| kind.word().to_owned());
        let what: Vec<String> = kind.into_iter().chain(self.exit.map(|exit| format!("exit {exit}"))).collect();
        KnownLine { run: self.run.clone(), what: what.join(", "), why: self.why.clone(), state }
    }

    /// What became of it. A run that mishap could not do says nothing about it.
    fn state(&self, rows: &[Row]) -> KnownState {
        let tells = |ran: &Ran| ran.counted().all(|reason| reason.kind != Kind::Mishap.word());
        let mut own = rows.iter().filter(|row| self.names(row) && tells(&row.ran)).peekable();
        if own.peek().is_none() {
            return KnownState::NoRun;
        }
        let failed = own.any(|row| row.ran.counted().any(|reason| self.excuses(reason)));
        if failed { KnownState::Failed } else { KnownState::Gone }
    }
}

impl KnownLine {
    /// What became of it, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { run, what, why, state } = self;
        match state {
            KnownState::Failed => format!("known failure {run} ({what}): {why}"),
            KnownState::Gone => format!("known failure {run} ({what}) is gone: remove it from the file ({why})"),
            KnownState::NoRun => format!("known failure {run} ({what}): no run of that name was done"),
        }
    }
}

impl Runs {
    /// Marks the rows that fail as is known, and says what became of each entry.
    #[must_use]
    pub fn excused(mut self, known: &[Known]) -> Self {
        for row in &mut self.rows {
            let entries: Vec<&Known> = known.iter().filter(|entry| entry.names(row)).collect();
            let excuse =
                |reason: &ReasonLine| entries.iter().find(|entry| entry.excuses(reason)).map(|entry| &entry.why);
            let excuses: Option<Vec<_>> = row.ran.counted().map(excuse).collect();
            if let Some(mut whys) = excuses.filter(|whys| row.state == RowState::Failed && !whys.is_empty()) {
                whys.dedup();
                row.known = Some(whys.into_iter().map(String::as_str).collect::<Vec<_>>().join("; "));
                row.state = RowState::Known;
            }
        }
        self.known = known.iter().map(|entry| entry.line(entry.state(&self.rows))).collect();
        self
    }
}
