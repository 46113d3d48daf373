//! `mishap profiles`: lists the built-in profiles, for people or as JSON, or shows one whole, to be copied and edited.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Exit;
use crate::cli::ProfilesArgs;
use crate::profile::builtin::{self, Builtin};
use crate::profile::{self, Source, Use, Var};

/// Writes the list, or the text of the one named.
///
/// It ends with 0, or with 2 if no profile has that name.
///
/// # Errors
///
/// When `out` or `err` cannot be written.
pub fn run(args: &ProfilesArgs, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let Some(name) = &args.name else {
        if args.json {
            writeln!(out, "{:#}", table())?;
        } else {
            list(out)?;
        }
        return Ok(Exit::DONE);
    };
    match builtin::named(name) {
        Some(profile) if args.json => {
            let source = profile.source();
            writeln!(out, "{:#}", source.map(|source| row(profile, &source)).unwrap_or_default())?;
        }
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
    }
    Ok(Exit::DONE)
}

// === For people ===

fn list(out: &mut dyn Write) -> io::Result<()> {
    for (title, profiles) in builtin::grouped() {
        writeln!(out, "{title}")?;
        for (profile, source) in profiles {
            entry(profile, &source, out)?;
        }
    }
    writeln!(out, "\nmishap profiles NAME shows one whole: what it provokes, and what its variables are for.")?;
    writeln!(out, "mishap run -p NAME,variable=value uses one; a copy is used as -p ./FILE.toml.")
}

fn entry(profile: &Builtin, source: &Source, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {}\n      {}", profile.name, source.summary)?;
    // A report without its owner: the profile itself names it in full.
    let short = |report: &String| report.rsplit('/').next().unwrap_or_default().to_owned();
    let provokes: Vec<String> = source.provokes.iter().map(short).collect();
    if !provokes.is_empty() {
        writeln!(out, "      provokes {}", provokes.join(", "))?;
    }
    let vars: Vec<String> = source.vars.iter().map(shown).collect();
    if vars.is_empty() { Ok(()) } else { writeln!(out, "      {}", vars.join(" ")) }
}

/// A variable as it is written after `-p NAME,`.
fn shown(var: &Var) -> String {
    let bare = var.value.trim_matches('"');
    let plain = !bare.contains([',', ' ', '"', '\'', '{', '[']);
    format!("{}={}", var.name, if plain { bare } else { &var.value })
}

// === For programs ===

/// All of them, in the order of the list.
fn table() -> Value {
    let groups = builtin::grouped().into_iter().flat_map(|(_, profiles)| profiles);
    groups.map(|(profile, source)| row(profile, &source)).collect()
}

fn row(profile: &Builtin, source: &Source) -> Value {
    let [provokes, against, symptom] = profile.opening();
    let var = |var: &Var| {
        let mut shown = json!({ "name": var.name, "default": var.json, "doc": var.doc });
        if !var.choices.is_empty() {
            let choice = |text: &String| text.trim_matches('"').to_owned();
            shown["choices"] = var.choices.iter().map(choice).collect();
        }
        shown
    };
    json!({
        "name": profile.name,
        "group": source.group,
        "summary": source.summary,
        "bug": provokes,
        "against": against,
        "symptom": symptom,
        "provokes": source.provokes,
        "era": source.era,
        "vars": source.vars.iter().map(var).collect::<Value>(),
    })
}
