//! Loads whole profiles: finds the text, reads it, names its rules for the run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::builtin;
use super::diagnose;
use super::json;
use super::problem::{Problem, ProblemKind, Report};
use super::read::Reader;
use super::scale::Scale;
use super::schema::FILE;
use super::tree::{self, Entry, Node, SyntaxError, Value};
use super::uses::Use;
use super::vars::Variables;
use crate::engine::expectation::Expectation;
use crate::engine::hash::digest;
use crate::engine::language::Spot;
use crate::engine::rule::Rule;

/// The rules of a run and where they come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// In the order in which they decide: profiles as they were named, rules as they are written (R16).
    pub rules: Vec<Rule>,
    /// What must be seen, in the same order.
    pub expectations: Vec<Expectation>,
    /// One for each profile, in the order in which they were named.
    pub sources: Vec<Source>,
    /// What is most likely not what was meant.
    pub doubts: Vec<Doubt>,
}

/// Something in a rule or an expectation that is most likely not what was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The full name of that, `PROFILE/NAME`.
    pub of: String,
    /// What and where; displays as a problem does.
    pub problem: Problem,
}

/// A profile of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name in this run: rules are `NAME/RULE`. The second use of one name is `NAME#2` (R37).
    pub name: String,
    /// The file; `None` for a built-in profile.
    pub path: Option<PathBuf>,
    /// Its `summary`.
    pub summary: String,
    /// Its `group`: what it is about, in a word.
    pub group: String,
    /// The reports of the bugs it provokes.
    pub provokes: Vec<String>,
    /// The protocol's eras it is for; empty: all.
    pub era: Vec<String>,
    /// Each variable and its value in this run, as TOML.
    pub vars: Vec<Var>,
    /// A hash of the text: whether two runs had the same profile.
    pub hash: String,
}

/// A variable of a profile in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its value in this run, as TOML.
    pub value: String,
    /// The same, as JSON.
    pub json: serde_json::Value,
    /// What it is for.
    pub doc: String,
    /// The only values it may have, as TOML; empty: any of its type.
    pub choices: Vec<String>,
}

/// Loads profiles in the order in which they act.
///
/// # Errors
///
/// With every problem of every profile.
pub fn load(uses: &[Use]) -> Result<Loaded, Vec<Problem>> {
    load_at(Scale::FULL, uses)
}

/// The same with the times of rules multiplied (rule R36).
///
/// # Errors
///
/// With every problem of every profile.
pub fn load_at(scale: Scale, uses: &[Use]) -> Result<Loaded, Vec<Problem>> {
    let mut loaded = Loaded::default();
    let mut problems = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for used in uses {
        let (name, text) = match find(used) {
            Ok(found) => found,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let times = names.entry(name.clone()).and_modify(|times| *times += 1).or_insert(1);
        let name = if *times == 1 { name } else { format!("{name}#{times}") };
        match read_profile(used, &name, &text, scale) {
            Ok((source, parts)) => {
                loaded.sources.push(source);
                loaded.rules.extend(parts.rules);
                loaded.expectations.extend(parts.expectations);
                loaded.doubts.extend(parts.doubts);
            }
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(loaded) } else { Err(problems) }
}

/// Loads one profile with its values, and again with each other choice of its variables: what a rule that is left out
/// by its `if` would have to say is said too.
///
/// # Errors
///
/// With every problem found on the way, each once.
pub fn check(used: &Use) -> Result<Loaded, Vec<Problem>> {
    let loaded = load(std::slice::from_ref(used));
    let choices = find(used).ok().and_then(|(_, text)| parse(used, &text).ok()).map(|tree| choices(&tree));
    let (mut problems, mut doubts) = (Vec::new(), Vec::new());
    for (name, value) in choices.unwrap_or_default() {
        let mut other = used.clone();
        other.given.retain(|(given, _)| *given != name);
        other.given.push((name, value));
        let found = match load(&[other]) {
            Ok(other) => {
                doubts.extend(other.doubts);
                Vec::new()
            }
            Err(found) => found,
        };
        problems.extend(found.into_iter().filter(|problem| problem.line.is_some()));
    }
    match loaded {
        Ok(mut loaded) if problems.is_empty() => {
            for doubt in doubts {
                if !loaded.doubts.contains(&doubt) {
                    loaded.doubts.push(doubt);
                }
            }
            Ok(loaded)
        }
        loaded => {
            let mut all: Vec<Problem> = Vec::new();
            for problem in loaded.err().unwrap_or_default().into_iter().chain(problems) {
                if !all.contains(&problem) {
                    all.push(problem);
                }
            }
            Err(all)
        }
    }
}

/// Each choice of each variable.
fn choices(tree: &Node) -> Vec<(String, Node)> {
    let variables = tree.entry("vars").and_then(|entry| entry.node.entries()).unwrap_or_default();
    let of = |entry: &Entry| match entry.node.entry("choices").map(|choices| choices.node.value.clone()) {
        Some(Value::List(items)) => items.into_iter().map(|item| (entry.key.clone(), item)).collect(),
        _ => Vec::new(),
    };
    variables.iter().flat_map(of).collect()
}

/// The name and the text of a profile.
fn find(used: &Use) -> Result<(String, String), Problem> {
    let wrong = |what: String, instead: Option<String>| Problem {
        file: used.shown(),
        line: None,
        part: None,
        kind: ProblemKind::Wrong,
        what,
        instead,
    };
    if used.is_file() {
        let path = PathBuf::from(&used.profile);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| wrong(format!("cannot read {}: {error}", used.profile), used.with_comma()))?;
        let stem = path.file_stem().map_or_else(|| used.profile.clone(), |stem| stem.to_string_lossy().into_owned());
        return Ok((stem, text));
    }
    if let Some(builtin) = builtin::named(&used.profile) {
        return Ok((builtin.name.to_owned(), builtin.text.to_owned()));
    }
    if let Some(instead) = used.with_comma() {
        return Err(wrong(format!("no profile is called \"{}\"", used.profile), Some(instead)));
    }
    let near = diagnose::nearest(&used.profile, builtin::all().iter().map(|builtin| builtin.name));
    let near =
        near.map_or_else(|| "`mishap profiles` lists them.".to_owned(), |near| format!("did you mean \"{near}\"?"));
    Err(wrong(
        format!("no profile is called \"{}\"", used.profile),
        Some(format!("{near} A file is named with a slash or with .toml: ./{}.toml", used.profile)),
    ))
}

/// What a profile is made of.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) rules: Vec<Rule>,
    pub(super) expectations: Vec<Expectation>,
    pub(super) doubts: Vec<Doubt>,
}

/// Reads one profile.
pub(super) fn read_profile(used: &Use, name: &str, text: &str, scale: Scale) -> Result<(Source, Parts), Vec<Problem>> {
    let mut report = Report::new(&used.profile, &used.shown());
    let tree = match parse(used, text) {
        Ok(tree) => tree,
        Err(error) => {
            let what = format!("not {}: {}", if used.is_json() { "JSON" } else { "TOML" }, error.message);
            report.broken(&Spot { line: error.line, variable: None }, what);
            return Err(report.finish());
        }
    };
    let era = texts(&tree, "era");
    let folder = used.is_file().then(|| PathBuf::from(&used.profile).parent().map(PathBuf::from)).flatten();
    let mut reader = Reader { report, profile: name, alias: None, folder, era, scale, fired: Vec::new() };
    let mut given = Report::new(&used.shown(), &used.shown());
    reader.table("the file", &tree, &[&FILE]);
    let variables =
        Variables::declare(&mut reader, tree.entry("vars").map(|entry| &entry.node), &used.given, &mut given);
    let source = source(used, name, text, &tree, &variables);
    let parts = parts(&mut reader, &tree, variables);
    let mut problems = given.finish();
    problems.extend(reader.report.finish());
    if problems.is_empty() { Ok((source, parts)) } else { Err(problems) }
}

fn parse(used: &Use, text: &str) -> Result<Node, SyntaxError> {
    if used.is_json() { json::parse(text) } else { tree::parse(text) }
}

/// Reads the rules and expectations.
fn parts(reader: &mut Reader<'_>, tree: &Node, mut variables: Variables) -> Parts {
    let mut parts = Parts::default();
    let mut names: Vec<(String, Spot)> = Vec::new();
    for (ordinal, mut node) in items(reader, tree, "rule") {
        names.extend(node.entry("name").and_then(name_of));
        reader.report.part = Some(part("rule", &node, ordinal));
        let included = variables.include(&node, &mut reader.report);
        variables.fill_part(&mut node, &mut reader.report);
        if included {
            let rule = reader.rule(&node);
            let found = reader.report.take_doubts();
            if let Some(rule) = rule {
                parts.doubts.extend(of(&rule.name, found));
                parts.rules.push(rule);
            }
        }
        reader.report.part = None;
    }
    unique(reader, "rule", &names);
    let mut expected = Vec::new();
    for (ordinal, mut node) in items(reader, tree, "expect") {
        expected.extend(node.entry("name").and_then(name_of));
        reader.report.part = Some(part("expectation", &node, ordinal));
        let included = variables.include(&node, &mut reader.report);
        variables.fill_part(&mut node, &mut reader.report);
        if included {
            let expectation = reader.expectation(&node);
            let found = reader.report.take_doubts();
            if let Some(expectation) = expectation {
                parts.doubts.extend(of(&expectation.name, found));
                parts.expectations.push(expectation);
            }
        }
        reader.report.part = None;
    }
    unique(reader, "expectation", &expected);
    fired(reader, &names);
    variables.refuse_unused(&mut reader.report);
    parts
}

fn of(name: &str, doubts: Vec<Problem>) -> impl Iterator<Item = Doubt> {
    doubts.into_iter().map(move |problem| Doubt { of: name.to_owned(), problem })
}

/// How messages name a rule or an expectation.
fn part(what: &str, node: &Node, ordinal: usize) -> String {
    match node.entry("name").and_then(|entry| entry.node.as_str()) {
        Some(name) => format!("{what} \"{name}\""),
        None => format!("{what} {ordinal}"),
    }
}

fn name_of(entry: &Entry) -> Option<(String, Spot)> {
    Some((entry.node.as_str()?.to_owned(), entry.spot.clone()))
}

/// The tables of `[[rule]]` or `[[expect]]`, numbered from 1.
fn items(reader: &mut Reader<'_>, tree: &Node, key: &str) -> Vec<(usize, Node)> {
    match tree.entry(key) {
        None => Vec::new(),
        Some(Entry { node: Node { value: Value::List(items), .. }, .. }) => (1..).zip(items.iter().cloned()).collect(),
        Some(entry) => {
            let what = format!("`{key}` is {}", entry.node.sort());
            reader.report.wrong(&entry.spot, what, format!("write [[{key}]], with two brackets, before each"));
            Vec::new()
        }
    }
}

fn unique(reader: &mut Reader<'_>, what: &str, names: &[(String, Spot)]) {
    for (index, (name, spot)) in names.iter().enumerate() {
        if let Some((_, first)) = names[..index].iter().find(|(other, _)| other == name) {
            let what = format!("a second {what} is called \"{name}\"");
            reader.report.wrong(spot, what, format!("the first is in line {}; give it another name", first.line));
        }
    }
}

/// `fired` looks in its own profile (R37).
fn fired(reader: &mut Reader<'_>, names: &[(String, Spot)]) {
    for fired in std::mem::take(&mut reader.fired) {
        if names.iter().any(|(name, _)| *name == fired.rule) {
            continue;
        }
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let instead = match diagnose::nearest(&fired.rule, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => "this profile has no rules".to_owned(),
            None => format!("this profile's rules: {}", known.join(", ")),
        };
        reader.report.part = fired.part;
        reader.report.wrong(&fired.spot, format!("`fired` names no rule: \"{}\"", fired.rule), instead);
        reader.report.part = None;
    }
}

fn source(used: &Use, name: &str, text: &str, tree: &Node, variables: &Variables) -> Source {
    let said = |key: &str| tree.entry(key).and_then(|entry| entry.node.as_str()).unwrap_or_default().to_owned();
    Source {
        name: name.to_owned(),
        path: used.is_file().then(|| PathBuf::from(&used.profile)),
        summary: said("summary"),
        group: said("group"),
        provokes: texts(tree, "provokes"),
        era: texts(tree, "era"),
        vars: variables.values(),
        hash: digest(text.as_bytes()),
    }
}

/// The texts of a list at the top of a file.
fn texts(tree: &Node, key: &str) -> Vec<String> {
    match tree.entry(key).map(|entry| &entry.node.value) {
        Some(Value::List(items)) => items.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
