//! Reads quantities: durations, drawn times, sizes, rates, counts, places in a unit, orders.

use std::time::Duration;

use super::read::Reader;
use super::schema::{Field, Kind, Need};
use super::tree::{Node, Value};
use super::value;
use crate::engine::condition::Time;
use crate::engine::fault::cut::Offset;
use crate::engine::fault::reorder::Order;
use crate::engine::selector::Count;

const fn part(key: &'static str, doc: &'static str) -> Field {
    Field { key, kind: Kind::Duration, need: Need::Required, at: &[], doc }
}

/// A time that is drawn between two others.
const BETWEEN: [Field; 2] = [part("min", "the shortest"), part("max", "the longest")];
/// A time that is drawn around another.
const AROUND: [Field; 2] = [part("mean", "the middle"), part("jitter", "how far from it")];

/// Whether a table is a drawn time rather than a table of parameters.
pub(super) fn is_drawn(node: &Node) -> bool {
    ["min", "max", "mean", "jitter"].iter().any(|key| node.entry(key).is_some())
}

impl Reader<'_> {
    pub(super) fn duration(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Duration> {
        match &node.value {
            Value::Int(number) => {
                self.refuse_with(key, node, &format!("write the unit: \"{number}ms\" or \"{number}s\""));
                None
            }
            _ => self.parsed(key, kind, node, value::duration),
        }
    }

    pub(super) fn time(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Time> {
        if node.entries().is_none() {
            return self.duration(key, kind, node).map(Time::Fixed);
        }
        let before = self.report.count();
        let around = node.entry("mean").is_some() || node.entry("jitter").is_some();
        let fields: &'static [Field] = if around { &AROUND } else { &BETWEEN };
        let params = self.table(&format!("`{key}`"), node, &[fields]);
        if self.report.count() != before {
            return None;
        }
        if around {
            let (mean, jitter) = (params.duration("mean")?, params.duration("jitter")?);
            if jitter > mean {
                self.refuse_with(key, node, "write a jitter of at most the mean: no time is below zero");
                return None;
            }
            return Some(Time::Around(mean, jitter));
        }
        let (min, max) = (params.duration("min")?, params.duration("max")?);
        if min > max {
            self.refuse_with(key, node, "write the shorter time as `min`");
            return None;
        }
        Some(Time::Between(min, max))
    }

    pub(super) fn size(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<u64> {
        match node.value {
            Value::Int(number) => u64::try_from(number).ok().or_else(|| self.none(key, kind, node)),
            _ => self.parsed(key, kind, node, value::size),
        }
    }

    pub(super) fn rate(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<u64> {
        self.parsed(key, kind, node, value::rate)
    }

    pub(super) fn count(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Count> {
        match node.value {
            Value::Int(number) => u64::try_from(number).ok().map(Count::Is).or_else(|| self.none(key, kind, node)),
            _ => self.parsed(key, kind, node, value::count),
        }
    }

    pub(super) fn offset(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Offset> {
        match node.value {
            Value::Int(number) => Some(Offset::Bytes(number)),
            _ => self.parsed(key, kind, node, value::share),
        }
    }

    pub(super) fn order(&mut self, key: &str, kind: &Kind, node: &Node) -> Option<Order> {
        if let Value::List(_) = node.value {
            let order = self.ordinals(key, kind, node)?;
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if sorted.iter().zip(1..).all(|(place, expected)| *place == expected) {
                return Some(Order::Given(order));
            }
            self.refuse_with(key, node, "write each place from 1 once, such as [2, 1, 3]");
            return None;
        }
        match self.word(key, node, &["reverse", "swap", "shuffle"])?.as_str() {
            "swap" => Some(Order::Swap),
            "shuffle" => Some(Order::Shuffle),
            _ => Some(Order::Reverse),
        }
    }

    fn parsed<T>(&mut self, key: &str, kind: &Kind, node: &Node, parse: fn(&str) -> Result<T, String>) -> Option<T> {
        let Some(text) = node.as_str() else { return self.none(key, kind, node) };
        match parse(text) {
            Ok(value) => Some(value),
            Err(instead) => {
                self.refuse_with(key, node, &instead);
                None
            }
        }
    }
}
