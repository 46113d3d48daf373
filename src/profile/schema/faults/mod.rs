//! The faults: where each can act, its parameters, whether this version can do it.

mod content;
mod ending;
mod passing;

use super::{Asked, Field, Kind, Need, field};
use crate::engine::selector::At;

/// A fault.
#[derive(Debug)]
pub struct FaultTable {
    /// Its key in a rule.
    pub name: &'static str,
    /// The points at which it can act.
    pub at: &'static [At],
    /// The parameter that a value which is no table of parameters stands for.
    pub main: Option<&'static str>,
    /// Its parameters.
    pub params: &'static [Field],
    /// Whether this version can do it.
    pub built: bool,
    /// What it does, without a full stop.
    pub doc: &'static str,
}

/// The fault of that name.
#[must_use]
pub fn fault(name: &str) -> Option<&'static FaultTable> {
    FAULTS.iter().find(|fault| fault.name == name)
}

/// All of them, in the order of the manual.
pub static FAULTS: [FaultTable; 15] = [
    passing::DELAY,
    passing::HOLD,
    passing::BUFFER,
    passing::REORDER,
    passing::THROTTLE,
    ending::CUT,
    ending::DROP,
    ending::DUPLICATE,
    ending::RESPOND,
    content::REWRITE,
    content::INJECT,
    content::REFRAME,
    passing::MOVE,
    content::RESUMABLE,
    passing::ROUTE,
];

const NO_LIMIT: i64 = i64::MAX;
const OVERTAKE: Field =
    field("overtake", Kind::Bool, Need::Default("false"), "whether later units of the stream may pass it");
const WHEN: Field = field("when", Kind::Condition(Asked::Unit), Need::Optional, "when, if not at once");
const GAP: Field = field("gap", Kind::Time, Need::Default("\"0s\""), "the time between two parts");
const RETRY: Field = field("retry", Kind::Int(0, NO_LIMIT), Need::Optional, "reconnection time, in milliseconds");

const fn limit(default: &'static str, doc: &'static str) -> Field {
    field("limit", Kind::Duration, Need::Default(default), doc)
}

/// One SSE event that a fault makes.
const EVENT: &[Field] = &[
    field("id", Kind::Text, Need::Optional, "its id"),
    field("event", Kind::Text, Need::Optional, "its type"),
    field("data", Kind::Text, Need::Optional, "its data"),
    field("message", Kind::Json, Need::Optional, "its data, as a JSON-RPC message"),
    RETRY,
    field("comment", Kind::Text, Need::Optional, "a comment line"),
];
const RPC_ERROR: &[Field] = &[
    field("code", Kind::Int(i64::MIN, i64::MAX), Need::Required, "the JSON-RPC error code"),
    field("message", Kind::Text, Need::Required, "the JSON-RPC error message"),
];
const EVENT_FIELD: Kind = Kind::Either(&[Kind::Text, Kind::Int(0, NO_LIMIT), Kind::Bool]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_main_parameter_is_a_parameter() {
        for fault in &FAULTS {
            if let Some(main) = fault.main {
                assert_eq!(fault.params.first().map(|field| field.key), Some(main), "{}", fault.name);
            }
        }
    }
}
