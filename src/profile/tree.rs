//! The text of a profile as a tree that knows its lines. It gives no meaning to any key; the schema does that.
//!
//! Serde is not used: its untagged and flattened forms answer a mistake with "data did not match any variant", and a
//! profile is written by hand.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::engine::language::Spot;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) spot: Spot,
    pub(super) value: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// JSON's null: TOML has none.
    Null,
    /// A date, or a number beyond 64 bits: nothing in a profile is one.
    Other(String),
    /// What stood here was wrong, and that was reported: whatever is asked of it, there is nothing more to say.
    Missing,
}

/// A key and its value, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) spot: Spot,
    pub(super) node: Node,
}

/// The text is not TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: usize,
    pub(super) message: String,
}

/// Reads a whole file. Only the first slip is reported: it confuses what follows.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    match errors.iter().min_by_key(|error| start(error)) {
        None => Ok(Node { spot: Spot { line: 1, variable: None }, value: lines.table(table.into_inner()) }),
        Some(error) => Err(SyntaxError { line: lines.line(start(error)), message: error.message().to_lowercase() }),
    }
}

/// Reads one value that stands in no file, or `None` if the text is not TOML.
pub(super) fn parse_value(text: &str) -> Option<Node> {
    let mut node = Lines::of("").node(DeValue::parse(text).ok()?, 1);
    node.place(&Spot::default());
    Some(node)
}

// === Node ===

impl Node {
    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key == key)
    }

    /// What sort of value it is, for a message.
    pub(super) fn sort(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(_) => "a date or a number beyond 64 bits",
            Value::Null => "null",
            Value::Missing => "missing",
        }
    }

    /// The value as one line of TOML.
    pub(super) fn to_toml(&self) -> String {
        match &self.value {
            Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Bool(value) => value.to_string(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_toml).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
            Value::Table(entries) => {
                let entries: Vec<String> = entries.iter().map(Entry::to_toml).collect();
                format!("{{ {} }}", entries.join(", "))
            }
            Value::Other(text) => text.clone(),
            Value::Null => "null".to_owned(),
            Value::Missing => String::new(),
        }
    }

    /// The value as JSON. Dates and infinite numbers, which JSON does not have, become strings.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) | Value::Other(text) => text.as_str().into(),
            Value::Int(number) => (*number).into(),
            Value::Float(number) if number.is_finite() => (*number).into(),
            Value::Float(number) => number.to_string().into(),
            Value::Bool(value) => (*value).into(),
            Value::Null | Value::Missing => serde_json::Value::Null,
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect(),
        }
    }

    /// Says of every value in it where it now stands.
    pub(super) fn place(&mut self, spot: &Spot) {
        self.spot = spot.clone();
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.place(spot)),
            Value::Table(entries) => {
                for entry in entries {
                    entry.spot = spot.clone();
                    entry.node.place(spot);
                }
            }
            _ => {}
        }
    }
}

impl Entry {
    fn to_toml(&self) -> String {
        let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let key = if !self.key.is_empty() && self.key.chars().all(bare) {
            self.key.clone()
        } else {
            serde_json::Value::from(self.key.as_str()).to_string()
        };
        format!("{key} = {}", self.node.to_toml())
    }
}

// === Lines ===

/// Where each line begins.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at) + 1
    }

    /// `outer` is the line of the key: a table that dotted keys made stands nowhere itself.
    fn node(&self, value: Spanned<DeValue<'_>>, outer: usize) -> Node {
        let line = self.line(value.span().start).max(outer);
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| Value::Other(number.to_string()), Value::Int),
            DeValue::Float(number) => {
                number.as_str().parse().map_or_else(|_| Value::Other(number.to_string()), Value::Float)
            }
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(date) => Value::Other(date.to_string()),
            DeValue::Array(items) => Value::List(items.into_iter().map(|item| self.node(item, line)).collect()),
            DeValue::Table(table) => self.table(table),
        };
        Node { spot: Spot { line, variable: None }, value }
    }

    fn table(&self, table: DeTable<'_>) -> Value {
        let mut entries: Vec<_> = table.into_iter().collect();
        // The parser sorts by key; the text's order is the order of the rules and of what is said about them.
        entries.sort_by_key(|(key, _)| key.span().start);
        let entries = entries.into_iter().map(|(key, value)| {
            let line = self.line(key.span().start);
            let spot = Spot { line, variable: None };
            Entry { key: key.into_inner().into_owned(), spot, node: self.node(value, line) }
        });
        Value::Table(entries.collect())
    }
}
