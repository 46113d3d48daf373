//! `--repeat`, `--seeds`, `--matrix`, `--known`: the same command several times, one run after the other, and what they amount to.
//!
//! The one rule: each run is one as if it were asked for by itself, with a proxy, a server and a runtime of its own; they share the
//! process, so that what ends it ends them all, and a signal ends the run at hand and those that would follow.

mod rows;

use std::io::{self, Write};
use std::path::Path;

use super::files::Files;
use super::interrupts::Interrupts;
use super::plan::Plan;
use super::{end, failure, once};
use crate::cli::RunArgs;
use crate::command::Exit;
use crate::journal::Header;
use crate::report::runs::{Ran, Row, RowState, Runs};
use crate::report::table::table;
use crate::report::verdict::Known;
use rows::{Asked, rows};

/// Whether more than one plain run is asked for.
pub(super) fn is_asked(args: &RunArgs) -> bool {
    let many = &args.many;
    many.repeat.is_some() || many.seeds.is_some() || many.known.is_some() || !many.matrix.is_empty()
}

/// Does the runs, writes their table to `err` and what else was asked for.
pub(super) fn run(args: &RunArgs, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let known = match args.many.known.as_deref().map_or(Ok(Vec::new()), known) {
        Ok(known) => known,
        Err(why) => {
            writeln!(err, "{why}")?;
            return Ok(Exit::because(2, "the known failures cannot be read"));
        }
    };
    let rows = match rows(args) {
        Ok(rows) => rows,
        Err(exit) => return Ok(exit),
    };
    if let Some(exit) = wrong(&rows, err)? {
        return Ok(exit);
    }
    let files = match Files::create(&args.many) {
        Ok(files) => files,
        Err(why) => return Ok(Exit::because(failure(args), why)),
    };
    let runs = all(&rows, &known, out, err)?.excused(&known);
    write!(err, "{}", table(&runs))?;
    end(files, &runs, failure(args), err)
}

/// One after the other, to the last or to a signal.
fn all(rows: &[Asked], known: &[Known], out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Runs> {
    let interrupts = Interrupts::listen()?;
    let mut runs = Runs { asked: Some(rows.len()), ..Runs::default() };
    for row in rows {
        runs.signal = interrupts.last().map(|signal| u8::try_from(signal.as_raw()).unwrap_or(u8::MAX));
        if runs.signal.is_some() {
            break;
        }
        writeln!(err, "mishap: run {} of {}: {}", row.number, rows.len(), row.title)?;
        // What there is to say of the profiles has been said.
        let ran = match Plan::of(&row.args, &mut io::sink())? {
            Ok(plan) => {
                once(&Plan { among: Some(Known::of(known, &row.name, &row.title)), ..plan }, &interrupts, out, err)?
            }
            Err(exit) => Ran::unjudged(Header::default(), exit.code, &exit.why.unwrap_or_default()),
        };
        runs.rows.push(row.became(ran));
    }
    Ok(runs)
}

impl Asked {
    fn became(&self, ran: Ran) -> Row {
        let state = if ran.verdict.exit == 0 { RowState::Passed } else { RowState::Failed };
        Row { row: self.number, name: self.name.clone(), title: self.title.clone(), state, known: None, ran }
    }
}

/// What is wrong with the words of any run, before the first is begun; profiles are told of once.
fn wrong(rows: &[Asked], err: &mut dyn Write) -> io::Result<Option<Exit>> {
    let mut wrong = None;
    let mut last: Option<&Asked> = None;
    for row in rows {
        if last.is_none_or(|last| last.args.profiles != row.args.profiles) {
            let found = Plan::of(&row.args, err)?.err();
            wrong = wrong.or(found.map(|exit| named(row, exit)));
        }
        last = Some(row);
    }
    Ok(wrong)
}

/// Whose problem it is, where there are several.
fn named(row: &Asked, exit: Exit) -> Exit {
    let why = exit.why.unwrap_or_default();
    Exit::because(exit.code, format!("run {} ({}): {why}", row.number, row.title))
}

/// The known failures in a file, or what is wrong with it, in some lines.
fn known(path: &Path) -> Result<Vec<Known>, String> {
    let wrong = |why: String| format!("--known {}: {why}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Known::parse(&text).map_err(wrong)
}
