//! Variables: declared in `[vars]`, given with `-p NAME,key=value`, filled into the tree before anything else reads it.
//! A whole `"${NAME}"` becomes the value with its type; inside a longer string, its text.

mod fill;

use std::collections::BTreeSet;

use super::diagnose;
use super::file::Var;
use super::problem::Report;
use super::read::Reader;
use super::schema::VARIABLE;
use super::tree::{Entry, Node, Value};
use crate::engine::language::Spot;

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
        let var = |it: &Variable| Var {
            name: it.name.clone(),
            value: it.value.to_toml(),
            json: it.value.to_json(),
            doc: it.doc.clone(),
            choices: it.choices.clone().unwrap_or_default(),
        };
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
