//! The same profile in JSON. serde_json says whether the text is JSON; what is read here a second time is only where
//! each value stands, so this reader may rely on the text being right.

use std::collections::BTreeSet;

use super::tree::{Entry, Lines, Node, SyntaxError, Value};
use crate::engine::language::Spot;

/// Reads a whole file.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => {
            let mut places = Places { text, at: 0, lines: Lines::of(text), twice: None };
            let node = places.node();
            places.twice.map_or(Ok(node), Err)
        }
        Err(error) => {
            let shown = error.to_string();
            let message = shown.split(" at line ").next().unwrap_or(&shown).to_owned();
            Err(SyntaxError { line: error.line().max(1), message })
        }
    }
}

/// Walks over text that is JSON.
struct Places<'a> {
    text: &'a str,
    at: usize,
    lines: Lines,
    /// The first key that stands twice in its table, which JSON allows and nobody means.
    twice: Option<SyntaxError>,
}

impl Places<'_> {
    fn node(&mut self) -> Node {
        self.skip(|c| c.is_ascii_whitespace());
        let spot = Spot { line: self.lines.line(self.at), variable: None };
        let value = match self.peek() {
            b'{' => Value::Table(self.entries()),
            b'[' => Value::List(self.items(b']', Self::node)),
            b'"' => Value::Text(self.string()),
            _ => self.scalar(),
        };
        Node { spot, value }
    }

    fn entries(&mut self) -> Vec<Entry> {
        let entries = self.items(b'}', Self::entry);
        let mut known = BTreeSet::new();
        if let Some(entry) = entries.iter().find(|entry| !known.insert(&entry.key)) {
            let message = format!("the key \"{}\" stands twice", entry.key);
            self.twice.get_or_insert(SyntaxError { line: entry.spot.line, message });
        }
        entries
    }

    /// What stands between the bracket here and the one that closes it.
    fn items<T>(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        loop {
            // Over the opening bracket, then over each comma.
            self.at += 1;
            self.skip(|c| c.is_ascii_whitespace());
            if self.peek() == close {
                break;
            }
            items.push(item(self));
            self.skip(|c| c.is_ascii_whitespace());
            if self.peek() == close {
                break;
            }
        }
        self.at += 1;
        items
    }

    fn entry(&mut self) -> Entry {
        let spot = Spot { line: self.lines.line(self.at), variable: None };
        let key = self.string();
        self.skip(|c| c.is_ascii_whitespace() || c == b':');
        Entry { key, spot, node: self.node() }
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }

    fn scalar(&mut self) -> Value {
        let start = self.at;
        self.skip(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.'));
        let text = &self.text[start..self.at];
        match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ if text.contains(['.', 'e', 'E']) => text.parse().map_or(Value::Null, Value::Float),
            _ => text.parse().map_or_else(|_| Value::Other(text.to_owned()), Value::Int),
        }
    }

    fn skip(&mut self, over: impl Fn(u8) -> bool) {
        self.at += self.text.as_bytes()[self.at..].iter().take_while(|c| over(**c)).count();
    }

    /// The byte here; a closing bracket at the end of the text, which no right text reaches.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::btree_map(".*", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_serde_json_reads(value in json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.expect("a value can be written");
            prop_assert_eq!(parse(&text).expect("it is JSON").to_json(), value);
        }
    }

    #[test]
    fn a_value_stands_in_its_line() {
        let node = parse("{\n \"a\": [\n  1,\n  {\"b\": 2}\n ]\n}").expect("it is JSON");
        let list = &node.entry("a").expect("it is there").node;
        let Value::List(items) = &list.value else { panic!("a list") };
        assert_eq!((list.spot.line, items[0].spot.line), (2, 3));
        assert_eq!(items[1].entry("b").expect("it is there").spot.line, 4);
        assert_eq!(parse("{\"a\": 1,\n\"a\": 1}").map_err(|error| error.line), Err(2));
        assert_eq!(parse("{\n\"a\": }").map_err(|error| error.line), Err(2));
    }
}
