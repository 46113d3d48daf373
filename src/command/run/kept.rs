//! What is written while a run goes on, its journal and the bodies beside it: begun together, closed together, told in one line.
//!
//! The one rule: what is lost is said. A run whose record could not be kept is not green.

use std::path::{Path, PathBuf};

use super::plan::Plan;
use crate::cli::RunArgs;
use crate::journal::{Bodies, Closed, Header, Journal, Queue, Shelf, VerdictLine};

/// A journal and the bodies beside it, while they are written.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    args: &'a RunArgs,
    /// Where the journal is, that which only the reports are made of too.
    path: Option<PathBuf>,
    journal: Option<Journal>,
    bodies: Option<Bodies>,
}

/// What became of them.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What is there, for the verdict.
    pub(super) there: Option<String>,
    /// What could not be written.
    pub(super) failed: Vec<String>,
}

impl<'a> Kept<'a> {
    /// Begins with the bodies, which need nothing to begin. Returns what keeps them from it.
    pub(super) fn bodies(plan: &Plan<'a>) -> Result<Self, String> {
        let args = plan.args;
        let create = |path: &Path| Bodies::create(path, args.journal_max).map_err(|error| bodies_error(path, &error));
        let path = plan.reports.journal().map(Path::to_owned);
        Ok(Self { args, path, journal: None, bodies: args.bodies.as_deref().map(create).transpose()? })
    }

    /// Where bodies go.
    pub(super) fn shelf(&self) -> Option<Shelf> {
        self.bodies.as_ref().map(Bodies::shelf)
    }

    /// Begins the journal, now that its first line can be written. Returns what keeps it from it.
    pub(super) fn begin(&mut self, header: &Header, waiting: Queue) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let created = Journal::create(path, header.clone(), self.args.journal_max, waiting);
        self.journal = Some(created.map_err(|error| format!("journal {}: {error}", path.display()))?);
        Ok(())
    }

    /// Writes what waits, and the verdict.
    pub(super) fn close(self, verdict: Option<VerdictLine>) -> Told {
        let mut told = Told::default();
        if let (Some(path), Some(journal)) = (&self.path, self.journal) {
            let closed = journal.close(verdict);
            told.there = there(path, &closed).filter(|_| self.args.journal.is_some());
            told.failed.extend(closed.error.map(|error| format!("journal {}: {error}", path.display())));
        }
        if let (Some(path), Some(bodies)) = (&self.args.bodies, self.bodies) {
            let shelved = bodies.close();
            let missing = if shelved.dropped > 0 { format!(", {} missing", shelved.dropped) } else { String::new() };
            told.there.iter_mut().for_each(|there| *there += &format!("; bodies in {}{missing}", path.display()));
            told.failed.extend(shelved.error.map(|error| bodies_error(path, &error)));
        }
        told
    }
}

fn bodies_error(path: &Path, error: &std::io::Error) -> String {
    format!("bodies {}: {error}", path.display())
}

/// What is there of a journal; nothing to be proud of after an error that lost no line.
fn there(path: &Path, closed: &Closed) -> Option<String> {
    let (path, written, kept) = (path.display(), closed.written, closed.written - closed.gone);
    let found = closed.found.as_ref().map(|path| format!("; what led to the first finding: {}", path.display()));
    let newest = if closed.gone > 0 { format!("the newest {kept} of ") } else { String::new() };
    let number = format!("{newest}{written} entries{}", found.unwrap_or_default());
    match (closed.dropped, &closed.error) {
        (0, Some(_)) => None,
        (0, None) => Some(format!("{path}, {number}; draw it with mishap report")),
        (dropped, _) => Some(format!("{path}, {number}, {dropped} more are missing")),
    }
}
