//! The reports of a run, written at its end from its journal; from one of its own, if none was asked for.
//!
//! The one rule: a report is made of what a journal holds, so that `mishap report` would say the same.

use std::io;
use std::path::{Path, PathBuf};

use crate::cli::{Reported, RunArgs};
use crate::journal;

/// The journal of a run, if it has one, and what is made of it.
#[derive(Debug)]
pub(super) struct Reports<'a> {
    files: &'a [Reported],
    journal: Option<PathBuf>,
    /// Whether the journal goes when the reports are written.
    passing: bool,
}

impl<'a> Reports<'a> {
    pub(super) fn of(args: &'a RunArgs) -> Self {
        let beside = |first: &Reported| {
            let mut name = first.path.as_os_str().to_owned();
            name.push(format!(".{}.ndjson", std::process::id()));
            PathBuf::from(name)
        };
        let own = args.report.first().filter(|_| args.journal.is_none()).map(beside);
        let passing = own.is_some();
        Self { files: &args.report, journal: own.or_else(|| args.journal.clone()), passing }
    }

    /// Where the run's entries go; nowhere without a journal and a report.
    pub(super) fn journal(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// Writes the reports of a journal that is closed. Returns the names of those written, and in words why others are not.
    pub(super) fn write(&self) -> (Vec<String>, Vec<String>) {
        let (mut written, mut failed) = (Vec::new(), Vec::new());
        let Some(journal) = self.journal().filter(|_| !self.files.is_empty()) else { return (written, failed) };
        match whole(journal) {
            Ok(lines) => {
                for Reported { path, format } in self.files {
                    match std::fs::write(path, format.write_to(path, &lines)) {
                        Ok(()) => written.push(path.display().to_string()),
                        Err(error) => failed.push(format!("report {}: {error}", path.display())),
                    }
                }
            }
            Err(error) => failed.push(format!("no report: journal {}: {error}", journal.display())),
        }
        (written, failed)
    }
}

/// The lines of a journal that is a file. A pipe's have gone to whoever reads it.
fn whole(path: &Path) -> io::Result<Vec<journal::Line>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file, and cannot be read again; leave --journal out, or name a file"));
    }
    journal::read(path)
}

impl Drop for Reports<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.journal().filter(|_| self.passing) {
            // Where the run could not begin there is none.
            let _ = std::fs::remove_file(path);
        }
    }
}
