//! Reads a `[[rule]]`: its keys, its selector, its one fault, and what these mean together.

use super::checks;
use super::condition::is_condition;
use super::diagnose;
use super::quantity::is_drawn;
use super::read::Reader;
use super::schema::{FaultTable, Kind, RULE, SELECTOR, at_word, fault};
use super::selector::point;
use super::tree::{Entry, Node, Value};
use crate::engine::fault::Fault;
use crate::engine::language::params::Params;
use crate::engine::rule::Rule;
use crate::engine::selector::At;
use crate::engine::trigger::{Scope, Trigger};

impl Reader<'_> {
    /// Reads a rule; `None` if something is wrong with it, which is then reported.
    pub(super) fn rule(&mut self, node: &Node) -> Option<Rule> {
        let before = self.report.count();
        let (faults, plain): (Vec<&Entry>, Vec<&Entry>) =
            node.entries().unwrap_or_default().iter().partition(|entry| fault(&entry.key).is_some());
        let rest = Node { spot: node.spot.clone(), value: Value::Table(plain.into_iter().cloned().collect()) };
        let params = self.table("the rule", &rest, &[&RULE]);
        self.swallowed_name(node);
        checks::triggers(&mut self.report, &params);
        let at = node.entry("match").and_then(|entry| point(&entry.node));
        let fault = self.one_fault(node, &faults, at);
        if self.report.count() != before {
            return None;
        }
        let rule = rule(&format!("{}/{}", self.profile, params.text("name")?), &params, fault?)?;
        let written = faults.first().map_or_else(|| node.spot.clone(), |entry| entry.spot.clone());
        checks::rule(&mut self.report, &rule, &written);
        checks::doubts(&mut self.report, &rule, &params, &written);
        (self.report.count() == before).then_some(rule)
    }

    /// `[rule.match]` takes the lines after it, a rule's `name` among them.
    fn swallowed_name(&mut self, node: &Node) {
        let Some(inside) = node.entry("match").and_then(|entry| entry.node.entry("name")) else { return };
        if node.entry("name").is_none() {
            let instead = "write the rule's `name` before `match` (a table opened too early?)";
            self.report.wrong(&inside.spot, "the `name` inside `match` is a tool's name", instead);
        }
    }

    fn one_fault(&mut self, node: &Node, faults: &[&Entry], at: Option<At>) -> Option<Fault> {
        match faults {
            // An unknown key was to be the fault, most likely.
            [] if entries(node).any(|key| !RULE.iter().any(|field| field.key == key)) => None,
            [] => {
                let what = "the rule does nothing";
                self.report.wrong(&node.spot, what, "write one fault, such as delay = \"300ms\" or cut = \"reset\"");
                None
            }
            [entry] => self.fault(entry, fault(&entry.key)?, at),
            [first, second, ..] => {
                let what = format!("the rule has two faults, `{}` and `{}`", first.key, second.key);
                self.report.wrong(&second.spot, what, "write one rule for each");
                None
            }
        }
    }

    fn fault(&mut self, entry: &Entry, table: &'static FaultTable, at: Option<At>) -> Option<Fault> {
        let before = self.report.count();
        let node = self.parameters(table, entry)?;
        let short = entry.node.entries().is_none() || is_main(table, &entry.node);
        self.alias = short.then_some(table.name);
        let params = self.table(&format!("`{}`", table.name), &node, &[table.params]);
        self.alias = None;
        if let Some(at) = at.filter(|at| !table.at.contains(at)) {
            let points: Vec<&str> = table.at.iter().copied().map(at_word).collect();
            let what = format!("`{}` cannot act at `{}`", table.name, at_word(at));
            self.report.wrong(&entry.spot, what, format!("match at {}", diagnose::list(&points)));
        }
        if self.report.count() == before {
            checks::fault(&mut self.report, table, &params, at?, &entry.spot);
        }
        if self.report.count() != before {
            return None;
        }
        (table.make)(&params, at?)
    }

    /// The table of a fault's parameters, whatever way the fault was written.
    fn parameters(&mut self, table: &FaultTable, entry: &Entry) -> Option<Node> {
        let node = &entry.node;
        let of = |entries| Some(Node { spot: entry.spot.clone(), value: Value::Table(entries) });
        match (&node.value, table.main) {
            (Value::Table(_), Some(main)) if !is_main(table, node) => {
                debug_assert!(table.params[0].key == main, "the main parameter is the first");
                Some(node.clone())
            }
            (Value::Table(_), None) => Some(node.clone()),
            (Value::Bool(true), _) => of(vec![]),
            (Value::List(places), Some("window")) => {
                let instead = format!("write reorder = {{ window = {}, order = {} }}", places.len(), node.to_toml());
                self.refuse_with(table.name, node, &instead);
                None
            }
            (Value::Bool(false), _) => {
                self.refuse_with(table.name, node, "leave the rule out");
                None
            }
            (_, Some(main)) => of(vec![Entry { key: main.to_owned(), spot: entry.spot.clone(), node: node.clone() }]),
            (_, None) => {
                let params: Vec<&str> = table.params.iter().map(|field| field.key).collect();
                let takes = format!("write a table of {}", diagnose::list(&params));
                self.refuse_with(table.name, node, if params.is_empty() { "write true" } else { &takes });
                None
            }
        }
    }
}

fn entries(node: &Node) -> impl Iterator<Item = &str> {
    node.entries().unwrap_or_default().iter().map(|entry| entry.key.as_str())
}

/// Whether a table is the main parameter's value and not a table of parameters.
fn is_main(table: &FaultTable, node: &Node) -> bool {
    if table.params.iter().any(|field| node.entry(field.key).is_some()) {
        return false;
    }
    match table.params.first().map(|field| &field.kind) {
        Some(Kind::Time) => is_drawn(node),
        Some(Kind::Condition(_) | Kind::Either(_)) => is_condition(node),
        Some(Kind::Target) => SELECTOR.iter().any(|field| node.entry(field.key).is_some()),
        _ => false,
    }
}

fn rule(name: &str, params: &Params, fault: Fault) -> Option<Rule> {
    Some(Rule {
        name: name.to_owned(),
        selector: *params.selector("match")?,
        trigger: Trigger {
            nth: params.ordinals("nth").unwrap_or_default(),
            skip: params.number("skip")?,
            every: params.number("every")?,
            probability: params.share("probability")?,
            times: params.number("times"),
        },
        scope: match params.text("scope")?.as_str() {
            "exchange" => Scope::Exchange,
            "owner" => Scope::Owner,
            "connection" => Scope::Connection,
            "run" => Scope::Run,
            _ => Scope::Session,
        },
        from: params.condition("from"),
        until: params.condition("until"),
        optional: params.flag("optional"),
        fault,
    })
}
