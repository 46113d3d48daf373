//! `mishap profiles`: lists the built-in profiles, or shows one whole, to be copied and edited.

use std::io::{self, Write};

use super::Exit;
use crate::profile::builtin::{self, Builtin};
use crate::profile::{self, Use, Var};

/// Writes the list, or the text of the one named.
///
/// It ends with 0, or with 2 if no profile has that name.
///
/// # Errors
///
/// When `out` or `err` cannot be written.
pub fn run(name: Option<&str>, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    match name {
        None => all(out)?,
        Some(name) => match builtin::named(name) {
            Some(profile) => out.write_all(profile.text.as_bytes())?,
            None => {
                let problems = profile::load(&[Use::plain(name)]).err().unwrap_or_default();
                // There was no -p here, which a problem with a name begins with.
                let used = format!("-p {name}: ");
                for problem in problems.iter().map(ToString::to_string) {
                    writeln!(err, "{}", problem.strip_prefix(&used).unwrap_or(&problem))?;
                }
                return Ok(Exit::because(2, format!("no built-in profile is called \"{name}\"")));
            }
        },
    }
    Ok(Exit::DONE)
}

fn all(out: &mut dyn Write) -> io::Result<()> {
    let mut about = "";
    for profile in builtin::all() {
        if profile.about != about {
            about = profile.about;
            writeln!(out, "{about}")?;
        }
        entry(profile, out)?;
    }
    writeln!(out, "\nmishap profiles NAME shows one whole: what it provokes, and what its variables are for.")?;
    writeln!(out, "mishap run -p NAME,variable=value uses one; a copy is used as -p ./FILE.toml.")
}

fn entry(profile: &Builtin, out: &mut dyn Write) -> io::Result<()> {
    let loaded = profile::load(&[Use::plain(profile.name)]).unwrap_or_default();
    let source = loaded.sources.first();
    writeln!(out, "  {}", profile.name)?;
    writeln!(out, "      {}", source.map(|source| source.summary.as_str()).unwrap_or_default())?;
    // A report without its owner: the profile itself names it in full.
    let short = |report: &String| report.rsplit('/').next().unwrap_or_default().to_owned();
    let provokes: Vec<String> = source.map(|it| it.provokes.iter().map(short).collect()).unwrap_or_default();
    if !provokes.is_empty() {
        writeln!(out, "      provokes {}", provokes.join(", "))?;
    }
    let vars: Vec<String> = source.map(|source| source.vars.iter().map(shown).collect()).unwrap_or_default();
    if vars.is_empty() { Ok(()) } else { writeln!(out, "      {}", vars.join(" ")) }
}

/// A variable as it is written after `-p NAME,`.
fn shown(var: &Var) -> String {
    let bare = var.value.trim_matches('"');
    let plain = !bare.contains([',', ' ', '"', '\'', '{', '[']);
    format!("{}={}", var.name, if plain { bare } else { &var.value })
}
