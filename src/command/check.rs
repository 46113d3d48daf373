//! `mishap check`: says whether profiles can be used, and what their rules were understood to do. It starts nothing.

mod against;

use std::io::{self, Write};
use std::path::Path;

use super::Exit;
use crate::cli::CheckArgs;
use crate::engine::language::expected::sentence;
use crate::journal::{self, Line};
use crate::profile::{self, Loaded, Problem, Use};

/// Checks each profile, written as for `run -p`, with every choice of its variables.
///
/// The rules of a right profile go to `out`, one line each, with `--against` also what each would have hit; problems and warnings go to `err`. It ends with 0,
/// with 2 if one profile is wrong, or with 1 if the journal cannot be read.
///
/// # Errors
///
/// When `out` or `err` cannot be written.
pub fn run(args: &CheckArgs, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let recorded = match args.against.as_deref().map(journal::read).transpose() {
        Ok(lines) => lines,
        Err(error) => {
            let path = args.against.as_deref().unwrap_or(Path::new("-")).display();
            writeln!(err, "cannot read {path}: {error}")?;
            return Ok(Exit::because(1, "the journal cannot be read"));
        }
    };
    let profiles = &args.profiles;
    let mut wrong = 0;
    for text in profiles {
        match Use::parse(text).map_err(|problem| vec![problem]).and_then(|used| profile::check(&used)) {
            Ok(loaded) => {
                right(text, &loaded, recorded.as_deref(), out)?;
                doubts(&loaded, err)?;
            }
            Err(problems) => {
                wrong += 1;
                list(&problems, err)?;
            }
        }
    }
    match wrong {
        0 => Ok(Exit::DONE),
        1 if profiles.len() == 1 => Ok(Exit::because(2, "the profile cannot be used")),
        _ => Ok(Exit::because(2, format!("{wrong} of {} profiles cannot be used", profiles.len()))),
    }
}

/// Writes problems, one a line.
pub(super) fn list(problems: &[Problem], err: &mut dyn Write) -> io::Result<()> {
    problems.iter().try_for_each(|problem| writeln!(err, "{problem}"))
}

/// Writes what is most likely not what was meant, one a line.
pub(super) fn doubts(loaded: &Loaded, err: &mut dyn Write) -> io::Result<()> {
    loaded.doubts.iter().try_for_each(|doubt| writeln!(err, "{}", doubt.problem))
}

fn right(text: &str, loaded: &Loaded, recorded: Option<&[Line]>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{text}: ok")?;
    let hits = recorded.map(|lines| against::hits(lines, &loaded.rules));
    for rule in &loaded.rules {
        let name = rule.name.split_once('/').map_or(rule.name.as_str(), |(_, name)| name);
        writeln!(out, "  {name}: {}", profile::explain(rule, &loaded.rules))?;
        if let Some(hits) = &hits {
            against::tell(rule, hits, out)?;
        }
    }
    for expectation in &loaded.expectations {
        let name = expectation.name.split_once('/').map_or(expectation.name.as_str(), |(_, name)| name);
        writeln!(out, "  expect {name}: {}", sentence(expectation))?;
    }
    if loaded.rules.is_empty() {
        writeln!(out, "  no rules: everything passes")?;
    }
    Ok(())
}
