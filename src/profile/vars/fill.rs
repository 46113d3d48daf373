//! Fills variables into rules and expectations, and decides which rules are in.

use super::{Variable, Variables, is_plain, undeclared_advice};
use crate::engine::language::Spot;
use crate::profile::diagnose;
use crate::profile::problem::Report;
use crate::profile::schema::Kind;
use crate::profile::tree::{Entry, Node, Value};

/// Names that the engine fills in while the run goes on.
const RUN_TIME: [&str; 5] = ["owner.id", "owner.method", "owner.name", "exchange.stream", "session.id"];
/// The faults that make content, and so can say at run time whose it is.
const MAKES_CONTENT: [&str; 3] = ["rewrite", "inject", "respond"];

impl Variables {
    /// Whether a rule is part of this run: whether each variable that its `if` names has one of the values named.
    pub(in crate::profile) fn include(&mut self, rule: &Node, report: &mut Report) -> bool {
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
    pub(in crate::profile) fn fill_part(&mut self, node: &mut Node, report: &mut Report) {
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
            // A value that was given stands in no line of the file: the argument is to blame for it.
            let line = if variable.value.spot.line == 0 { 0 } else { spot.line };
            node.place(&Spot { line, variable: Some(variable.name.clone()) });
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
            let near = diagnose::nearest(name, names.iter().copied());
            let declare = || format!("declare {name} in [vars]; owner.id and its like are for `rewrite` only");
            report.wrong(spot, what, near.map_or_else(declare, |near| format!("did you mean \"{near}\"?")));
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
