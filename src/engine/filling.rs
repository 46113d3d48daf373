//! Names of the run in what a rule writes: `"${owner.id}"` and the others of language.md 2, "Variables".
//!
//! The one rule it keeps: a string that is one name whole takes the value's own type.

use serde_json::Value;

use super::engine::Engine;
use super::exchange::stream_word;
use super::unit::Point;

impl Engine {
    /// A value with the names of the run filled in; a string that is one name whole takes the value's own type.
    pub(super) fn filled(&self, template: &Value, point: &Point) -> Value {
        match template {
            Value::String(text) => self.filled_text(text, point),
            Value::Array(elements) => elements.iter().map(|element| self.filled(element, point)).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), self.filled(value, point))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }

    /// The same as a text that can stand in a header or in a line of an event: no control characters.
    pub(super) fn filled_line(&self, text: &str, point: &Point) -> String {
        let text = match self.filled_text(text, point) {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        without_control(&text)
    }

    fn filled_text(&self, text: &str, point: &Point) -> Value {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = split_name(rest) {
            let value = self.named(name, point);
            if before.is_empty() && after.is_empty() && out.is_empty() {
                return value;
            }
            out.push_str(before);
            match value {
                Value::String(text) => out.push_str(&text),
                value => out.push_str(&value.to_string()),
            }
            rest = after;
        }
        out.push_str(rest);
        Value::String(out)
    }

    /// What a name of the run stands for; null when there is none, and also for a name that does not exist.
    fn named(&self, name: &str, point: &Point) -> Value {
        let owner = point.belongs.owners.first().and_then(|owner| self.calls.get(*owner));
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
        match name {
            "owner.id" => owner.map_or(Value::Null, |owner| owner.id.to_json()),
            "owner.method" => text(owner.map(|owner| &*owner.method)),
            "owner.name" => text(owner.and_then(|owner| owner.name.as_deref())),
            "exchange.stream" => {
                text(point.exchange.and_then(|id| self.exchanges.get(&id)).map(|exchange| stream_word(exchange.stream)))
            }
            "session.id" => {
                let id = self.sessions.get(point.session).and_then(|session| session.id.as_ref());
                id.map_or(Value::Null, |id| Value::from(String::from_utf8_lossy(id)))
            }
            _ => Value::Null,
        }
    }
}

/// A text that can stand in a header or in a line of an event: blanks for control characters.
pub(super) fn without_control(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The text before a `${name}`, the name, and the text after it.
fn split_name(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("${")?;
    let end = start + text[start..].find('}')?;
    Some((&text[..start], &text[start + 2..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_their_text() {
        assert_eq!(split_name("a${b}c"), Some(("a", "b", "c")));
        assert_eq!((split_name("a$b"), split_name("${b")), (None, None));
    }
}
