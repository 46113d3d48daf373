//! Reads patterns: globs, words as globs, methods, statuses, pointers and what must hold for a header.

use super::diagnose;
use super::doubtful;
use super::read::Reader;
use super::schema::Kind;
use super::tree::{Entry, Node, Value};
use super::value;
use crate::engine::fault::moving::MoveTo;
use crate::engine::selector::{Glob, PointerGlob, Presence, SessionSelector};

const VERBS: [&str; 7] = ["GET", "POST", "DELETE", "OPTIONS", "PUT", "PATCH", "HEAD"];

impl Reader<'_> {
    pub(super) fn glob(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Glob> {
        let mut glob = Glob::default();
        for item in items(node) {
            match &item.value {
                Value::Text(text) => {
                    self.doubt_pattern(kind, text, item);
                    value::add_pattern(&mut glob, text);
                }
                // A pattern compares with the JSON text of numbers and booleans (R10), so they may be written as such.
                Value::Int(_) | Value::Float(_) | Value::Bool(_) if matches!(kind, Kind::Pointers | Kind::Code) => {
                    glob.any.push(item.to_toml());
                }
                _ => return self.none(key, kind, node),
            }
        }
        Some(glob)
    }

    fn doubt_pattern(&mut self, kind: &Kind, text: &str, node: &Node) {
        let doubt = match kind {
            Kind::Method => doubtful::method(text),
            Kind::Glob => doubtful::text(text),
            _ => None,
        };
        if let Some((what, instead)) = doubt {
            self.report.doubt(&node.spot, &what, &instead);
        }
    }

    pub(super) fn method(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Glob> {
        let verb = |item: &&Node| {
            let text = item.as_str().unwrap_or_default();
            VERBS.contains(&text.trim_start_matches('!').to_ascii_uppercase().as_str())
        };
        if let Some(item) = items(node).iter().find(verb) {
            let verb = item.as_str().unwrap_or_default().trim_start_matches('!');
            let instead = format!(
                "`method` is the JSON-RPC method: say `stream = \"{}\"` or `http-method = \"{}\"`",
                verb.to_ascii_lowercase(),
                verb.to_ascii_uppercase()
            );
            self.refuse_with(key, node, &instead);
            return None;
        }
        self.glob(key, kind, node)
    }

    pub(super) fn word_glob(&mut self, key: &str, kind: &Kind, node: &Node, words: &[&str]) -> Option<Glob> {
        let mut glob = Glob::default();
        for item in items(node) {
            let Some(text) = item.as_str() else { return self.none(key, kind, node) };
            let plain = text.strip_prefix('!').unwrap_or(text);
            let pattern = Glob { any: vec![plain.to_owned()], none: Vec::new() };
            if !words.iter().any(|word| pattern.matches(word)) {
                let near = diagnose::nearest(plain, words.iter().copied());
                let instead = near.map_or_else(
                    || format!("write {}", diagnose::list(words)),
                    |near| format!("did you mean \"{near}\"?"),
                );
                self.refuse_with(key, item, &instead);
                return None;
            }
            value::add_pattern(&mut glob, if text == "any" { "*" } else { text });
        }
        Some(glob)
    }

    pub(super) fn status(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Glob> {
        let mut glob = Glob::default();
        for item in items(node) {
            let text = match &item.value {
                Value::Text(text) => text.clone(),
                Value::Int(number) => number.to_string(),
                _ => return self.none(key, kind, node),
            };
            match value::status_pattern(&text) {
                Ok(pattern) => value::add_pattern(&mut glob, &pattern),
                Err(instead) => {
                    self.refuse_with(key, item, &instead);
                    return None;
                }
            }
        }
        Some(glob)
    }

    pub(super) fn pointers(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<PointerGlob>> {
        let entries = self.pointer_entries(key, kind, node)?;
        entries.into_iter().map(|(pointer, node)| Some((pointer, self.glob(key, kind, &node)?))).collect()
    }

    pub(super) fn set(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<(String, serde_json::Value)>> {
        let entries = self.pointer_entries(key, kind, node)?;
        Some(entries.into_iter().map(|(pointer, node)| (pointer, node.to_json())).collect())
    }

    pub(super) fn pointer_list(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<String>> {
        let Value::List(items) = &node.value else { return self.none(key, kind, node) };
        let read = |item: &Node| match item.as_str().map(|text| (text, value::pointer(text))) {
            Some((text, Ok(()))) => Some(text.to_owned()),
            Some((_, Err(instead))) => {
                self.refuse_with(key, item, &instead);
                None
            }
            None => self.none(key, kind, item),
        };
        items.iter().map(read).collect()
    }

    fn pointer_entries(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<(String, Node)>> {
        let Some(entries) = node.entries() else { return self.none(key, kind, node) };
        let mut found = Vec::new();
        for entry in entries {
            if let Err(instead) = value::pointer(&entry.key) {
                let what = format!("\"{}\" in `{key}` is no JSON pointer", entry.key);
                self.report.wrong(&entry.spot, what, instead);
                return None;
            }
            found.push((entry.key.clone(), entry.node.clone()));
        }
        Some(found)
    }

    pub(super) fn presence(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Presence> {
        match node.value {
            Value::Bool(true) => Some(Presence::Present),
            Value::Bool(false) => Some(Presence::Absent),
            _ => self.glob(key, kind, node).map(Presence::Like),
        }
    }

    pub(super) fn header_globs(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<(String, Presence)>> {
        let Some(entries) = node.entries() else { return self.none(key, kind, node) };
        let read = |entry: &Entry| {
            let presence = self.presence(&entry.key, &Kind::Presence, &entry.node)?;
            Some((entry.key.to_ascii_lowercase(), presence))
        };
        entries.iter().map(read).collect()
    }

    pub(super) fn headers(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Vec<(String, Option<String>)>> {
        let Some(entries) = node.entries() else { return self.none(key, kind, node) };
        let read = |entry: &Entry| {
            let name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if entry.key.is_empty() || !entry.key.chars().all(name) {
                let what = format!("\"{}\" in `{key}` is no header name", entry.key);
                self.report.wrong(&entry.spot, what, "write letters, digits and dashes");
                return None;
            }
            let value = match &entry.node.value {
                Value::Text(text) if text.chars().any(|c| c.is_control() && c != '\t') => {
                    self.refuse_with(&entry.key, &entry.node, "write one line, without control characters");
                    return None;
                }
                Value::Text(text) => Some(text.clone()),
                Value::Int(number) => Some(number.to_string()),
                Value::Bool(false) => None,
                _ => {
                    self.refuse_with(&entry.key, &entry.node, "write a string, or false to remove it");
                    return None;
                }
            };
            Some((entry.key.to_ascii_lowercase(), value))
        };
        entries.iter().map(read).collect()
    }

    pub(super) fn session(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<SessionSelector> {
        let mut session = SessionSelector::default();
        for item in items(node) {
            match &item.value {
                Value::Int(number) if *number > 0 => session.ordinals.push(number.unsigned_abs()),
                Value::Text(text) if text == "none" => session.none = true,
                Value::Text(text) if text == "ended" => session.ended = true,
                _ => return self.none(key, kind, node),
            }
        }
        Some(session)
    }

    pub(super) fn target(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<MoveTo> {
        if let Some(entries) = node.entries() {
            // It selects an open exchange, which has a head and is what it is from then on.
            let at = Node { spot: node.spot.clone(), value: Value::Text("head".to_owned()) };
            let at = Entry { key: "at".to_owned(), spot: node.spot.clone(), node: at };
            let missing = node.entry("at").is_none().then_some(at);
            let value = Value::Table(missing.into_iter().chain(entries.iter().cloned()).collect());
            let node = Node { spot: node.spot.clone(), value };
            return self.selector(&format!("`{key}`"), &node).map(|to| MoveTo::Selected(Box::new(to)));
        }
        match node.as_str() {
            Some("get") => Some(MoveTo::Get),
            Some("post") => Some(MoveTo::Post),
            Some("resume") => Some(MoveTo::Resume),
            text => {
                match text.and_then(|text| diagnose::nearest(text, ["get", "post", "resume"])) {
                    Some(near) => self.refuse_with(key, node, &format!("did you mean \"{near}\"?")),
                    None => self.refuse(key, kind, node),
                }
                None
            }
        }
    }
}

/// The items of a list that is not empty, or the value itself: one pattern is a list of one.
fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) if !items.is_empty() => items,
        _ => std::slice::from_ref(node),
    }
}
