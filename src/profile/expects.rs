//! `--expect 'KEY=VALUE,...'` and `--expect 'CHECK[,KEY=VALUE...]'`: an expectation from the command line. It is read as an
//! `[[expect]]`, and a value that is not TOML is a string, as behind the name of `-p`.

use super::diagnose;
use super::file::{Doubt, Loaded};
use super::problem::{Problem, Report};
use super::read::Reader;
use super::scale::Scale;
use super::tree::{Entry, Node, Value};
use super::uses::{pairs, wrong};
use crate::engine::expectation::Expectation;
use crate::engine::language::Spot;

/// Adds expectations to what was loaded; rules are named in full, `PROFILE/RULE`.
///
/// # Errors
///
/// With every problem of every expectation.
pub fn expect(texts: &[String], scale: Scale, loaded: &mut Loaded) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for (number, text) in (1..).zip(texts) {
        if let Err(found) = one(number, text, scale, loaded) {
            problems.extend(found);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn one(number: usize, text: &str, scale: Scale, loaded: &mut Loaded) -> Result<(), Vec<Problem>> {
    let shown = format!("--expect {text}");
    let mut node = node(text, &shown).map_err(|problem| vec![problem])?;
    let name = name(&mut node, number, loaded);
    let report = Report::new(&shown, &shown);
    let mut reader =
        Reader { report, profile: "", alias: None, folder: None, era: Vec::new(), scale, fired: Vec::new() };
    let expectation = reader.expectation(&node);
    for fired in std::mem::take(&mut reader.fired) {
        if !loaded.rules.iter().any(|rule| rule.name == fired.rule) {
            let names: Vec<&str> = loaded.rules.iter().map(|rule| rule.name.as_str()).collect();
            let instead = match diagnose::nearest(&fired.rule, names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None if names.is_empty() => "this run has no rules".to_owned(),
                None => format!("this run's rules: {}", names.join(", ")),
            };
            reader.report.wrong(&fired.spot, format!("`fired` names no rule: \"{}\"", fired.rule), instead);
        }
    }
    let doubts = reader.report.take_doubts().into_iter().map(|problem| Doubt { of: name.clone(), problem });
    loaded.doubts.extend(doubts);
    let problems = reader.report.finish();
    match expectation {
        Some(expectation) if problems.is_empty() => {
            loaded.expectations.push(Expectation { name, ..expectation });
            Ok(())
        }
        _ => Err(problems),
    }
}

/// The table that the text writes.
fn node(text: &str, shown: &str) -> Result<Node, Problem> {
    let bare = text.trim();
    let bare = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(bare);
    let (first, rest) = bare.split_once(',').unwrap_or((bare, ""));
    let check = Some(first.trim()).filter(|word| !word.is_empty() && !word.contains('='));
    let pairs = pairs(shown, if check.is_some() { rest } else { bare }, "write KEY=VALUE,KEY=VALUE or a named check")?;
    let spot = Spot::default();
    let check = check.map(|word| ("that".to_owned(), Node { spot: spot.clone(), value: Value::Text(word.to_owned()) }));
    let entries: Vec<Entry> =
        check.into_iter().chain(pairs).map(|(key, node)| Entry { key, spot: spot.clone(), node }).collect();
    if entries.is_empty() {
        return Err(wrong(shown, "it says nothing".to_owned(), "write --expect settled or --expect 'match={ ... }'"));
    }
    Ok(Node { spot, value: Value::Table(entries) })
}

/// Gives it a name if it has none, and returns the full one: that of its check, or its number on the command line.
fn name(node: &mut Node, number: usize, loaded: &Loaded) -> String {
    let said = |key: &str| node.entry(key).and_then(|entry| entry.node.as_str()).map(str::to_owned);
    let own = said("name");
    let name = own.clone().or_else(|| said("that")).unwrap_or_else(|| number.to_string());
    let taken = |name: &str| loaded.expectations.iter().any(|it| it.name == format!("expect/{name}"));
    let name = if own.is_none() && taken(&name) { format!("{name}#{number}") } else { name };
    if let (None, Value::Table(entries)) = (own, &mut node.value) {
        let value = Value::Text(name.clone());
        let spot = Spot::default();
        entries.push(Entry { key: "name".to_owned(), spot: spot.clone(), node: Node { spot, value } });
    }
    format!("expect/{name}")
}
