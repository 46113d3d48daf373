//! `mishap check`: says whether profiles can be used, and what their rules were understood to do. It starts nothing.

use std::io::{self, Write};

use super::Exit;
use crate::profile::{self, Loaded, Problem, Use};

/// Checks each profile, written as for `run -p`, with every choice of its variables.
///
/// The rules of a right profile go to `out`, one line each; problems and warnings go to `err`. It ends with 0, or with 2 if one
/// profile is wrong.
///
/// # Errors
///
/// When `out` or `err` cannot be written.
pub fn run(profiles: &[String], out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let mut wrong = 0;
    for text in profiles {
        match Use::parse(text).map_err(|problem| vec![problem]).and_then(|used| profile::check(&used)) {
            Ok(loaded) => {
                right(text, &loaded, out)?;
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

fn right(text: &str, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{text}: ok")?;
    for rule in &loaded.rules {
        let name = rule.name.split_once('/').map_or(rule.name.as_str(), |(_, name)| name);
        writeln!(out, "  {name}: {}", profile::explain(rule))?;
    }
    if loaded.rules.is_empty() {
        writeln!(out, "  no rules: everything passes")?;
    }
    Ok(())
}
