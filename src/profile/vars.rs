//! Variables: declared in `[vars]`, given with `-p NAME,key=value`, filled into the tree before anything else reads it.
//! A whole `"${NAME}"` becomes the value with its type; inside a longer string, its text.

use std::collections::BTreeSet;

use super::diagnose;
use super::file::Var;
use super::problem::{Report, Spot};
use super::read::Reader;
use super::schema::{Kind, VARIABLE};
use super::tree::{Entry, Node, Value};

/// Names that the engine fills in while the run goes on.
const RUN_TIME: [&str; 5] = ["owner.id", "owner.method", "owner.name", "exchange.stream", "session.id"];
/// The faults that make content, and so can say at run time whose it is.
const MAKES_CONTENT: [&str; 3] = ["rewrite", "inject", "respond"];

/// The variables of one use of a profile.
#[derive(Debug, Default)]
pub(super) struct Variables {
    declared: Vec<Variable>,
    used: BTreeSet<String>,
    /// Whether some use of a variable was wrong.
    misused: bool,
}

#[derive(Debug)]
struct Variable {
    name: String,
    choices: Option<Vec<String>>,
    doc: String,
    spot: Spot,
    value: Node,
}

// === Declared ===

impl Variables {
    /// Reads `[vars]` and puts the given values in place of the defaults. What is wrong with a given value goes to
    /// `given_report`, because it does not stand in the file.
    pub(super) fn declare(
        reader: &mut Reader<'_>,
        node: Option<&Node>,
        given: &[(String, Node)],
        given_report: &mut Report,
    ) -> Self {
        let mut variables = Self::default();
        if let Some(node) = node {
            match node.entries() {
                Some(entries) => {
                    variables.declared =
                        entries.iter().filter_map(|entry| declare(reader, entry, given, given_report)).collect();
                }
                None => {
                    reader.report.wrong(&node.spot, "`vars` is no table", "write [vars] and a line for each variable");
                }
            }
        }
        variables.refuse_unknown(node, given, given_report);
        variables
    }

    fn refuse_unknown(&self, node: Option<&Node>, given: &[(String, Node)], report: &mut Report) {
        let names: Vec<&str> =
            node.and_then(Node::entries).unwrap_or_default().iter().map(|it| it.key.as_str()).collect();
        for (name, _) in given.iter().filter(|(name, _)| !names.contains(&name.as_str())) {
            let what = format!("unknown variable \"{name}\"");
            report.wrong(&Spot::default(), what, undeclared_advice(name, &names));
        }
    }

    /// Each variable and its value in this run, as TOML.
    pub(super) fn values(&self) -> Vec<Var> {
        let var = |it: &Variable| Var { name: it.name.clone(), value: it.value.to_toml(), doc: it.doc.clone() };
        self.declared.iter().map(var).collect()
    }

    /// A variable that nothing uses is most often a typing error where it was to be used.
    pub(super) fn refuse_unused(&self, report: &mut Report) {
        if self.misused {
            // The wrong use was to be the missing one, most likely.
            return;
        }
        for variable in self.declared.iter().filter(|variable| !self.used.contains(&variable.name)) {
            let name = &variable.name;
            let instead = format!("write \"${{{name}}}\" where its value belongs, or remove it");
            report.wrong(&variable.spot, format!("variable \"{name}\" is never used"), instead);
        }
    }
}

fn undeclared_advice(name: &str, names: &[&str]) -> String {
    match diagnose::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if names.is_empty() => "this profile has no variables".to_owned(),
        None => format!("its variables are {}", names.join(", ")),
    }
}

fn declare(
    reader: &mut Reader<'_>,
    entry: &Entry,
    given: &[(String, Node)],
    given_report: &mut Report,
) -> Option<Variable> {
    let name = &entry.key;
    if name.is_empty() || !name.chars().all(is_plain) {
        let what = format!("\"{name}\" cannot be a variable's name");
        reader.report.wrong(&entry.spot, what, "write letters, digits, - and _ only");
        return None;
    }
    if entry.node.entries().is_none() {
        let what = format!("variable \"{name}\" is {}", entry.node.sort());
        let instead = format!("write {name} = {{ default = {}, doc = \"what it is for\" }}", entry.node.to_toml());
        reader.report.wrong(&entry.spot, what, instead);
    } else {
        reader.table(&format!("variable \"{name}\""), &entry.node, &[&VARIABLE]);
    }
    let default = entry.node.entry("default").map(|it| it.node.clone());
    let choices = entry.node.entry("choices").map(|it| it.node.clone());
    let given = given.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
    let mut right = true;
    if let Some(choices) = &choices {
        right &= default.as_ref().is_none_or(|value| is_choice(name, value, choices, &mut reader.report));
        right &= given.as_ref().is_none_or(|value| is_choice(name, value, choices, given_report));
    }
    // What is wrong here was said here: where the value is used, nothing more is to be said.
    let missing = || Node { spot: entry.spot.clone(), value: Value::Missing };
    let value = given.or(default).filter(|_| right).unwrap_or_else(missing);
    let doc = entry.node.entry("doc").and_then(|it| it.node.as_str()).unwrap_or_default().to_owned();
    let choices = match choices.map(|choices| choices.value) {
        Some(Value::List(items)) => Some(items.iter().map(Node::to_toml).collect()),
        _ => None,
    };
    Some(Variable { choices, name: name.clone(), doc, spot: entry.spot.clone(), value })
}

fn is_choice(name: &str, value: &Node, choices: &Node, report: &mut Report) -> bool {
    let Value::List(items) = &choices.value else { return true };
    let choices: Vec<String> = items.iter().map(Node::to_toml).collect();
    let text = value.to_toml();
    if choices.contains(&text) {
        return true;
    }
    let near = diagnose::nearest(&text, choices.iter().map(String::as_str));
    let instead = match near {
        Some(near) => format!("did you mean {near}?"),
        None => format!("write one of {}", choices.join(", ")),
    };
    report.wrong(&value.spot, format!("variable \"{name}\" cannot be {text}"), instead);
    false
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

// === Filled in ===

impl Variables {
    /// Whether a rule is part of this run: whether each variable that its `if` names has one of the values named.
    pub(super) fn include(&mut self, rule: &Node, report: &mut Report) -> bool {
        let Some(entry) = rule.entry("if") else { return true };
        let Some(entries) = entry.node.entries() else {
            let what = format!("`if` is {}", entry.node.sort());
            report.wrong(&entry.spot, what, format!("write {}", Kind::Values.described()));
            return true;
        };
        // Each is looked up, whether or not one before it already leaves the rule out.
        let fits: Vec<bool> = entries.iter().map(|entry| self.has_value(entry, report)).collect();
        fits.into_iter().all(|fits| fits)
    }

    fn has_value(&mut self, entry: &Entry, report: &mut Report) -> bool {
        let Some(variable) = self.take(&entry.key) else {
            self.misused = true;
            let names: Vec<&str> = self.declared.iter().map(|it| it.name.as_str()).collect();
            let what = format!("`if` names no variable: \"{}\"", entry.key);
            report.wrong(&entry.spot, what, undeclared_advice(&entry.key, &names));
            return true;
        };
        let values = match &entry.node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&entry.node),
        };
        for value in values {
            let text = value.to_toml();
            if let Some(choices) = variable.choices.as_ref().filter(|choices| !choices.contains(&text)) {
                let what = format!("variable \"{}\" is never {text}", entry.key);
                report.wrong(&value.spot, what, format!("write one of {}", choices.join(", ")));
            }
        }
        values.iter().any(|value| value.to_toml() == variable.value.to_toml())
    }

    /// Fills in the variables of a rule or an expectation.
    pub(super) fn fill_part(&mut self, node: &mut Node, report: &mut Report) {
        let Value::Table(entries) = &mut node.value else { return };
        for entry in entries {
            let run_time = MAKES_CONTENT.contains(&entry.key.as_str());
            self.refuse_in_key(entry, report);
            self.fill(&mut entry.node, run_time, report);
        }
    }

    fn fill(&mut self, node: &mut Node, run_time: bool, report: &mut Report) {
        match &mut node.value {
            Value::Text(text) if text.contains("${") => {
                let text = std::mem::take(text);
                *node = self.filled(&text, &node.spot, run_time, report);
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.fill(item, run_time, report)),
            Value::Table(entries) => {
                for entry in entries {
                    self.refuse_in_key(entry, report);
                    self.fill(&mut entry.node, run_time, report);
                }
            }
            _ => {}
        }
    }

    fn filled(&mut self, text: &str, spot: &Spot, run_time: bool, report: &mut Report) -> Node {
        let whole = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).filter(|name| is_name(name));
        if let Some(variable) = whole.and_then(|name| self.take(name)) {
            let mut node = variable.value.clone();
            node.place(&Spot { line: spot.line, variable: Some(variable.name.clone()) });
            return node;
        }
        let value = self.text_with(text, spot, run_time, report).map_or(Value::Missing, Value::Text);
        Node { spot: spot.clone(), value }
    }

    /// The text with its variables filled in; `None` if one of them was wrong, which is then reported.
    fn text_with(&mut self, text: &str, spot: &Spot, run_time: bool, report: &mut Report) -> Option<String> {
        let mut filled = String::new();
        let mut right = true;
        let mut rest = text;
        while let Some((before, opened)) = rest.split_once("${") {
            filled.push_str(before);
            match opened.split_once('}').filter(|(name, _)| is_name(name)) {
                Some((name, after)) => {
                    let part = self.text_of(name, spot, run_time, report);
                    right &= part.is_some();
                    filled.push_str(&part.unwrap_or_default());
                    rest = after;
                }
                // What is no name stays as it is: a body may hold a script.
                None => {
                    filled.push_str("${");
                    rest = opened;
                }
            }
        }
        filled.push_str(rest);
        right.then_some(filled)
    }

    fn text_of(&mut self, name: &str, spot: &Spot, run_time: bool, report: &mut Report) -> Option<String> {
        if RUN_TIME.contains(&name) {
            if run_time {
                return Some(format!("${{{name}}}"));
            }
            let what = format!("\"${{{name}}}\" is not known yet here");
            report.wrong(spot, what, "it is filled in at run time, in `rewrite`, `inject` and `respond` only");
            return None;
        }
        let Some(variable) = self.take(name) else {
            self.misused = true;
            let names: Vec<&str> = self.declared.iter().map(|it| it.name.as_str()).chain(RUN_TIME).collect();
            let what = format!("\"${{{name}}}\" is not declared in [vars]");
            report.wrong(spot, what, undeclared_advice(name, &names));
            return None;
        };
        match &variable.value.value {
            Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Table(_) => {
                let what = format!("variable \"{name}\" is {}, and stands inside a string", variable.value.sort());
                report.wrong(spot, what, format!("write \"${{{name}}}\" alone"));
                None
            }
            Value::Missing => None,
            Value::Null | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Other(_) => {
                Some(variable.value.to_toml())
            }
        }
    }

    fn refuse_in_key(&mut self, entry: &Entry, report: &mut Report) {
        if entry.key.contains("${") {
            self.misused = true;
            let what = format!("a variable in the key \"{}\"", entry.key);
            report.wrong(&entry.spot, what, "variables stand in values only; make the whole table one");
        }
    }

    fn take(&mut self, name: &str) -> Option<&Variable> {
        let variable = self.declared.iter().find(|variable| variable.name == name)?;
        self.used.insert(name.to_owned());
        Some(variable)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| is_plain(c) || c == '.')
}
