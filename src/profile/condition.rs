//! Reads a condition. Which form a table has is told by its keys; which forms have a meaning, by where it is asked.

use super::read::Reader;
use super::schema::{Asked, FIRED, GATHERED, Kind, SEEN, SELECTOR, WAIT, at_word};
use super::tree::{Node, Value};
use super::value;
use crate::engine::condition::{Condition, Leg, Same, Seen, Time};
use crate::engine::selector::At;

/// Whether a table has a key that only a condition has.
pub(super) fn is_condition(node: &Node) -> bool {
    let fields = SELECTOR.iter().chain(&SEEN).chain(&FIRED).chain(&GATHERED).chain(&WAIT);
    fields.into_iter().any(|field| node.entry(field.key).is_some())
}

impl Reader<'_> {
    pub(super) fn condition(&mut self, key: &str, node: &Node, asked: Asked) -> Option<Condition> {
        match &node.value {
            Value::Text(text) => self.word_condition(key, node, text, asked),
            Value::List(items) if !items.is_empty() => {
                let read: Vec<_> = items.iter().map(|item| self.condition(key, item, asked)).collect();
                read.into_iter().collect::<Option<Vec<_>>>().map(Condition::Any)
            }
            Value::Table(_) => self.table_condition(key, node, asked),
            Value::Int(number) => {
                self.refuse_with(key, node, &format!("write the unit: \"{number}ms\" or \"{number}s\""));
                None
            }
            _ => self.none(key, &Kind::Condition(asked), node),
        }
    }

    fn word_condition(&mut self, key: &str, node: &Node, text: &str, asked: Asked) -> Option<Condition> {
        match text {
            "never" => Some(Condition::Never),
            "end" if asked == Asked::Unit => Some(Condition::End),
            "end" => {
                self.refuse_with(key, node, "no exchange is in hand here: write { at = \"end\", ... }");
                None
            }
            _ if text.starts_with(|c: char| c.is_ascii_digit()) => match value::duration(text) {
                Ok(duration) => Some(Condition::After(Time::Fixed(self.scale.of(duration)))),
                Err(instead) => {
                    self.refuse_with(key, node, &instead);
                    None
                }
            },
            _ if text.contains('/') => {
                self.refuse_with(
                    key,
                    node,
                    &format!("write {{ at = \"end\", method = \"{text}\" }}, or another point of it"),
                );
                None
            }
            _ => self.none(key, &Kind::Condition(asked), node),
        }
    }

    fn table_condition(&mut self, key: &str, node: &Node, asked: Asked) -> Option<Condition> {
        let has = |key: &str| node.entry(key).is_some();
        if has("fired") {
            return self.fired_condition(key, node);
        }
        if has("gathered") {
            return self.gathered_condition(key, node, asked);
        }
        let waits = ["idle", "bytes", "control"].iter().any(|key| has(key));
        if waits || (has("plus") && !SELECTOR.iter().any(|field| has(field.key))) {
            return self.wait_condition(key, node);
        }
        self.seen_condition(key, node).map(|seen| Condition::Seen(Box::new(seen)))
    }

    fn fired_condition(&mut self, key: &str, node: &Node) -> Option<Condition> {
        let before = self.report.count();
        let params = self.table(&format!("`{key}`"), node, &[&FIRED]);
        if self.report.count() != before {
            return None;
        }
        Some(Condition::Fired { rule: self.fired_rule(&params)?, plus: params.time("plus") })
    }

    fn gathered_condition(&mut self, key: &str, node: &Node, asked: Asked) -> Option<Condition> {
        let before = self.report.count();
        let params = self.table(&format!("`{key}`"), node, &[&GATHERED]);
        if asked != Asked::Unit {
            self.refuse_with(key, node, "`gathered` counts what a fault withholds: write it in its `until` or `when`");
        }
        (self.report.count() == before).then(|| params.number("gathered").map(Condition::Gathered))?
    }

    fn wait_condition(&mut self, key: &str, node: &Node) -> Option<Condition> {
        let before = self.report.count();
        if let Some(same) = node.entry("same").filter(|_| node.entry("idle").is_some()) {
            let what =
                "`same` beside `idle`, which is about the answer in hand, or at connect its connection, and no session";
            let instead = "leave it out, and match the stream whose silence is meant, or at = \"connect\"";
            self.report.wrong(&same.spot, what, instead);
            return None;
        }
        let params = self.table(&format!("`{key}`"), node, &[&WAIT]);
        let given: Vec<&str> =
            ["idle", "bytes", "control"].into_iter().filter(|key| node.entry(key).is_some()).collect();
        match given.as_slice() {
            [] => {}
            ["control"] => self.report.not_built_but(
                &node.spot,
                "the control API, which alone opens `control`,",
                "wait for something that crosses, such as { at = \"request\", method = \"ping\" }",
            ),
            [_] => {}
            [..] => self.refuse_with(key, node, "write one of them in a table; a list of tables is true with any"),
        }
        if self.report.count() != before {
            return None;
        }
        let plus = params.time("plus");
        let idle = || params.duration("idle").map(|time| Condition::Idle { time, plus });
        let bytes = || params.size("bytes").map(|size| Condition::Bytes { size, plus });
        idle().or_else(bytes).or_else(|| plus.map(Condition::After))
    }

    fn seen_condition(&mut self, key: &str, node: &Node) -> Option<Seen> {
        let before = self.report.count();
        let named = format!("`{key}`");
        let params = self.table(&named, node, &[&SELECTOR, &SEEN]);
        let selector = self.selected(&named, node, &params, before)?;
        let leg = params.text("leg").map(|leg| if leg == "client" { Leg::Client } else { Leg::Server });
        if leg == Some(Leg::Server) && matches!(selector.at, At::Connect | At::RequestHead) {
            let spot = params.written("leg").unwrap_or(&node.spot);
            let what =
                format!("nothing is ever like this: a `{}` is not seen on the server's leg", at_word(selector.at));
            self.report.doubt(spot, &what, "");
        }
        let same = Same::of(&params.text("same")?);
        Some(Seen {
            selector,
            leg,
            same,
            nth: params.number("nth")?,
            next: params.flag("next"),
            plus: params.time("plus"),
        })
    }
}
