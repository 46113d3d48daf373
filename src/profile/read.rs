//! Reads values by the schema: a node of the tree and a kind give a typed value, or a problem. What two keys mean
//! together is checked elsewhere.

use std::path::PathBuf;

use super::diagnose;
use super::problem::Report;
use super::scale::Scale;
use super::schema::{Field, Kind, Need};
use super::tree::{Node, Value, parse_value};
use crate::engine::language::Spot;
use crate::engine::language::params::{Datum, Params};
use crate::engine::rpc::Id;

/// Reads the values of one file.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    /// What was found wrong.
    pub(super) report: Report,
    /// The profile's name in this run; rules are `PROFILE/RULE`.
    pub(super) profile: &'a str,
    /// The name of the next value read, where it is not its key: a fault's main parameter is written as the fault.
    pub(super) alias: Option<&'static str>,
    /// The folder of the profile: files are named from there.
    pub(super) folder: Option<PathBuf>,
    /// The file's `era`.
    pub(super) era: Vec<String>,
    /// The run's time scale.
    pub(super) scale: Scale,
    /// The rules named by `fired`, to be looked for when all are known.
    pub(super) fired: Vec<Fired>,
}

/// A rule named by a condition.
#[derive(Debug)]
pub(super) struct Fired {
    pub(super) rule: String,
    pub(super) spot: Spot,
    pub(super) part: Option<String>,
}

impl Reader<'_> {
    /// Reads a table: unknown keys, wrong values and missing keys are problems; what is right is returned.
    pub(super) fn table(&mut self, named: &str, node: &Node, groups: &[&'static [Field]]) -> Params {
        let fields: Vec<&'static Field> = groups.iter().copied().flatten().collect();
        let mut params = Params::default();
        let Some(entries) = node.entries() else {
            if node.value != Value::Missing {
                self.report.wrong(&node.spot, format!("{named} is {}", node.sort()), "write a table");
            }
            return params;
        };
        let mut unknown = false;
        for entry in entries {
            let Some(field) = fields.iter().find(|field| field.key == entry.key) else {
                let instead = diagnose::unknown_key(&entry.key, named, &fields);
                self.report.wrong(&entry.spot, format!("unknown key \"{}\" in {named}", entry.key), instead);
                unknown = true;
                continue;
            };
            let shown = self.alias.take().unwrap_or(field.key);
            if let Some(datum) = self.value(shown, &field.kind, &entry.node) {
                params.put(field.key, datum, Some(entry.spot.clone()));
            }
        }
        for field in fields.into_iter().filter(|field| node.entry(field.key).is_none()) {
            // An unknown key was to be the missing one, most likely.
            if !(unknown && field.need == Need::Required) {
                self.absent(named, node, field, &mut params);
            }
        }
        params
    }

    fn absent(&mut self, named: &str, node: &Node, field: &'static Field, params: &mut Params) {
        match field.need {
            Need::Optional => {}
            Need::Required => {
                let what = format!("{named} has no `{}`", field.key);
                let instead = match field.kind {
                    Kind::Version => format!("add {} = 1", field.key),
                    Kind::Text => format!("add {} = \"…\"", field.key),
                    _ => format!("add `{}`: {}", field.key, field.doc),
                };
                self.report.wrong(&node.spot, what, instead);
            }
            Need::Default(text) => {
                let node = parse_value(text).expect("a default of the schema is TOML");
                let datum = self.value(field.key, &field.kind, &node).expect("a default of the schema is right");
                params.put(field.key, datum, None);
            }
        }
    }

    /// Reads one value.
    pub(super) fn value(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Datum> {
        let checked = |right: bool| right.then_some(Datum::Checked);
        match kind {
            Kind::Bool => self.bool_value(key, kind, node),
            Kind::Version => checked(self.int(key, kind, node, 1, 1).is_some()),
            Kind::Int(from, to) => self.int(key, kind, node, *from, *to).map(Datum::Int),
            Kind::Ordinals => self.ordinals(key, kind, node).map(Datum::Ordinals),
            Kind::Share => self.share(key, kind, node).map(Datum::Share),
            Kind::Text => self.text(key, kind, node).map(Datum::Text),
            Kind::File => self.file_text(key, kind, node).map(Datum::Text),
            Kind::Texts => self.each(key, kind, node, &Kind::Text).map(Datum::List),
            Kind::Word(words) => self.word(key, node, words).map(Datum::Text),
            Kind::Words(words) => self.each(key, kind, node, &Kind::Word(words)).map(Datum::List),
            Kind::Duration => {
                let scale = self.scale;
                self.duration(key, kind, node).map(|time| Datum::Duration(scale.of_key(key, time)))
            }
            Kind::Time => {
                let scale = self.scale;
                self.time(key, kind, node).map(|time| Datum::Time(scale.of_drawn(time)))
            }
            Kind::Size => self.size(key, kind, node).map(Datum::Size),
            Kind::Rate => self.rate(key, kind, node).map(Datum::Rate),
            Kind::Count => self.count(key, kind, node).map(Datum::Count),
            Kind::Offset => self.offset(key, kind, node).map(Datum::Offset),
            Kind::Id => self.id(key, kind, node).map(Datum::Id),
            Kind::Glob | Kind::Code => self.glob(key, kind, node).map(Datum::Glob),
            Kind::Method => self.method(key, kind, node).map(Datum::Glob),
            Kind::WordGlob(words) => self.word_glob(key, kind, node, words).map(Datum::Glob),
            Kind::Status => self.status(key, kind, node).map(Datum::Glob),
            Kind::Pointers => self.pointers(key, kind, node).map(Datum::Pointers),
            Kind::Presence => self.presence(key, kind, node).map(Datum::Presence),
            Kind::HeaderGlobs => self.header_globs(key, kind, node).map(Datum::HeaderGlobs),
            Kind::Session => self.session(key, kind, node).map(Datum::Session),
            Kind::Owner => self.owner(node).map(Datum::Owner),
            Kind::Message => self.message(node).map(Datum::Message),
            Kind::Selector => self.selector(&format!("`{key}`"), node).map(|it| Datum::Selector(Box::new(it))),
            Kind::Condition(asked) => self.condition(key, node, *asked).map(Datum::Condition),
            Kind::Expected => self.expected(key, node).map(Datum::Expected),
            Kind::Openings => self.openings(key, node).map(Datum::Openings),
            Kind::Order => self.order(key, kind, node).map(Datum::Order),
            Kind::Target => self.target(key, kind, node).map(Datum::Target),
            Kind::Json => Some(Datum::Json(node.to_json())),
            // What `if` names was looked up when the variables were filled in.
            Kind::Values => Some(Datum::Checked),
            Kind::Set => self.set(key, kind, node).map(Datum::Set),
            Kind::PointerList => self.pointer_list(key, kind, node).map(Datum::PointerList),
            Kind::Headers => self.headers(key, kind, node).map(Datum::Headers),
            Kind::Table(fields) => {
                let before = self.report.count();
                let params = self.table(&format!("`{key}`"), node, &[fields]);
                (self.report.count() == before).then_some(Datum::Table(params))
            }
            Kind::List(each) => self.each(key, kind, node, each).map(Datum::List),
            Kind::Either(kinds) => self.either(key, kind, node, kinds),
        }
    }

    /// Reads the items of a list; `None` if one is wrong.
    fn each(&mut self, key: &str, kind: &Kind, node: &Node, item: &Kind) -> Option<Vec<Datum>> {
        let Value::List(items) = &node.value else { return self.none(key, kind, node) };
        let read: Vec<_> = items.iter().map(|each| self.value(key, item, each)).collect();
        read.into_iter().collect()
    }

    /// The first kind that fits. If none does, a table or list is most likely the kind that takes one, and its own
    /// problems say more than "none of these".
    fn either(&mut self, key: &str, kind: &Kind, node: &Node, kinds: &[Kind]) -> Option<Datum> {
        let before = self.report.count();
        let mut inner = None;
        for each in kinds {
            let read = self.value(key, each, node);
            let problems = self.report.undo(before);
            if problems.iter().all(|problem| problem.kind == super::ProblemKind::NotBuilt) {
                self.report.redo(problems);
                return read;
            }
            if node.entries().is_some() && matches!(each, Kind::Table(_) | Kind::Condition(_)) {
                inner = Some(problems);
            }
        }
        match inner {
            Some(problems) => self.report.redo(problems),
            None => self.refuse(key, kind, node),
        }
        None
    }

    /// The value is not of this kind.
    pub(super) fn refuse(&mut self, key: &str, kind: &Kind, node: &Node) {
        self.refuse_with(key, node, &format!("write {}", kind.described()));
    }

    /// The value is not right, and this would be.
    pub(super) fn refuse_with(&mut self, key: &str, node: &Node, instead: &str) {
        let what = match &node.value {
            Value::Missing => return,
            Value::Table(_) | Value::List(_) if node.to_toml().len() > 60 => {
                format!("`{key}` cannot be {}", node.sort())
            }
            _ => format!("`{key}` cannot be {}", node.to_toml()),
        };
        self.report.wrong(&node.spot, what, instead);
    }
}

// === Scalars ===

impl Reader<'_> {
    fn bool_value(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Datum> {
        match node.value {
            Value::Bool(value) => Some(Datum::Bool(value)),
            _ => self.none(key, kind, node),
        }
    }

    pub(super) fn int(&mut self, key: &str, kind: &Kind, node: &Node, from: i64, to: i64) -> Option<i64> {
        match &node.value {
            Value::Int(number) if (from..=to).contains(number) => Some(*number),
            Value::Text(text) if text.parse::<i64>().is_ok() => {
                self.refuse_with(key, node, &format!("write {text} without quotes"));
                None
            }
            _ => self.none(key, kind, node),
        }
    }

    pub(super) fn ordinals(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<u64>> {
        if node.as_str() == Some("all") {
            return Some(Vec::new());
        }
        let items = match &node.value {
            Value::List(items) if !items.is_empty() => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let ordinal = |item: &Node| match item.value {
            Value::Int(number) => u64::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        };
        items.iter().map(ordinal).collect::<Option<Vec<u64>>>().or_else(|| self.none(key, kind, node))
    }

    fn share(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<f64> {
        match node.value {
            Value::Float(number) if (0.0..=1.0).contains(&number) => Some(number),
            Value::Int(0) => Some(0.0),
            Value::Int(1) => Some(1.0),
            _ => self.none(key, kind, node),
        }
    }

    pub(super) fn text(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => self.none(key, kind, node),
        }
    }

    /// The text of the file that is named.
    fn file_text(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<String> {
        let name = self.text(key, kind, node)?;
        let path = self.folder.as_ref().map_or_else(|| PathBuf::from(&name), |folder| folder.join(&name));
        match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) => {
                let instead = format!("name a text file beside the profile ({}: {error})", path.display());
                self.refuse_with(key, node, &instead);
                None
            }
        }
    }

    pub(super) fn word(&mut self, key: &str, node: &Node, words: &[&str]) -> Option<String> {
        match node.as_str() {
            Some(text) if words.contains(&text) => Some(text.to_owned()),
            text => {
                let text = text.unwrap_or_default();
                let near = diagnose::nearest(text, words.iter().copied());
                let elsewhere = if key == "at" { diagnose::point_elsewhere } else { diagnose::elsewhere };
                let instead = match (near, elsewhere(text)) {
                    (_, Some(here)) => here.to_owned(),
                    (Some(near), None) => format!("did you mean \"{near}\"?"),
                    (None, None) => format!("write {}", diagnose::list(words)),
                };
                self.refuse_with(key, node, &instead);
                None
            }
        }
    }

    fn id(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Id> {
        match &node.value {
            Value::Text(text) => Some(Id::Text(text.clone())),
            Value::Int(number) => Some(Id::Number(number.to_string())),
            _ => self.none(key, kind, node),
        }
    }

    pub(super) fn none<T>(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<T> {
        self.refuse(key, kind, node);
        None
    }
}
