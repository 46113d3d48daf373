//! `mishap report JOURNAL`: reads a journal, whole, torn or still being written, and writes it in the form that was asked for.

use std::io::{self, Write};
use std::path::Path;

use super::Exit;
use crate::cli::ReportArgs;
use crate::journal::{self, Line};
use crate::report::beside::beside;
use crate::report::format::Format;

/// Writes the report to `out` or to the file that was named; 1 if a journal cannot be read or that file not written, 2 if two
/// journals are to be in a form for one, or nothing says which form it is to be.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn run(args: &ReportArgs, out: &mut dyn Write) -> io::Result<Exit> {
    let text = match made(args) {
        Ok(text) => text,
        Err(exit) => return Ok(exit),
    };
    let Some(path) = &args.output else { return out.write_all(text.as_bytes()).map(|()| Exit::DONE) };
    Ok(match std::fs::write(path, text) {
        Ok(()) => Exit::DONE,
        Err(error) => Exit::because(1, format!("{}: {error}", path.display())),
    })
}

fn made(args: &ReportArgs) -> Result<String, Exit> {
    let named = args.output.as_deref();
    let format = match (args.format, named) {
        (Some(format), _) => format,
        (None, Some(path)) => Format::of(path).ok_or_else(|| unknown(path))?,
        (None, None) => Format::Text,
    };
    if args.beside.is_some() && format != Format::Text {
        return Err(Exit::because(
            2,
            "--beside draws text; leave --format out, and let the name given to -o end with .txt",
        ));
    }
    let lines = read(&args.journal)?;
    match (&args.beside, named) {
        (Some(other), _) => Ok(beside(&lines, &read(other)?)),
        (None, Some(path)) => Ok(format.write_to(path, &lines)),
        (None, None) => Ok(format.write(&lines)),
    }
}

/// A name that does not say what is to be in the file: what would be read as one thing must not be another.
fn unknown(path: &Path) -> Exit {
    let name = path.display();
    let why = format!("-o {name}: its name must say what is to be in it: {}; or name the --format", Format::ENDS);
    Exit::because(2, why)
}

fn read(path: &Path) -> Result<Vec<Line>, Exit> {
    journal::read(path).map_err(|error| Exit::because(1, format!("{}: {error}", path.display())))
}
