//! `mishap report JOURNAL`: reads a journal and prints its timeline.

use std::io::{self, Write};

use super::Exit;
use crate::cli::ReportArgs;
use crate::journal;
use crate::report::timeline::timeline;

/// Prints the journal's timeline to `out`; 1 if the file cannot be read.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn run(args: &ReportArgs, out: &mut dyn Write) -> io::Result<Exit> {
    match journal::read(&args.journal) {
        Ok(lines) => out.write_all(timeline(&lines).as_bytes()).map(|()| Exit::DONE),
        Err(error) => Ok(Exit::because(1, format!("{}: {error}", args.journal.display()))),
    }
}
