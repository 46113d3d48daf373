//! The profile language as data: every table, key, type and default, once. The loader reads by these tables, and what
//! describes the language (errors now, the reference later) reads the same ones. No meaning beyond one key is in here.

mod faults;
mod tables;

pub use faults::{FAULTS, FaultTable, fault};
pub(super) use tables::MESSAGES;
pub use tables::{EXPECT, FILE, FIRED, GATHERED, MESSAGE, OWNER, RULE, SEEN, SELECTOR, VARIABLE, WAIT};

use crate::engine::selector::At;

/// One key of a table.
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// Whether it may be left out.
    pub need: Need,
    /// The points at which it can be asked for; empty: it is no question about a point, or applies at each.
    pub at: &'static [At],
    /// What it means, without a full stop.
    pub doc: &'static str,
}

/// Whether a key may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must be there.
    Required,
    /// It may be left out; the doc says what then holds.
    Optional,
    /// Left out, it is this TOML value.
    Default(&'static str),
}

/// What a value must be.
#[derive(Debug)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A version of the language that this loader knows.
    Version,
    /// A whole number from so much to so much.
    Int(i64, i64),
    /// One whole number from 1, or a list of them.
    Ordinals,
    /// From 0 to 1.
    Share,
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// `"250ms"`.
    Duration,
    /// A duration, `{ min, max }` or `{ mean, jitter }`.
    Time,
    /// Bytes: `4096`, `"8KiB"`.
    Size,
    /// `"10KiB/s"`.
    Rate,
    /// `2`, `">=2"`.
    Count,
    /// `"tools/*"`, `"!x"`, or a list.
    Glob,
    /// A JSON-RPC method, as a glob.
    Method,
    /// An error code, or a pattern.
    Code,
    /// A glob over these words.
    WordGlob(&'static [&'static str]),
    /// `404`, `"4xx"`, `"!204"`, or a list.
    Status,
    /// A JSON-RPC id: a number or a string.
    Id,
    /// `{ pointer = glob }`.
    Pointers,
    /// `{ name = glob, true or false }`.
    HeaderGlobs,
    /// A glob, `true` or `false`.
    Presence,
    /// An ordinal, a list of them, `"none"` or `"ended"`.
    Session,
    /// A client request: a table of [`OWNER`].
    Owner,
    /// A kind of message, or a table of [`MESSAGE`].
    Message,
    /// A place in a unit: a number of bytes, or `"50%"`.
    Offset,
    /// A table of [`SELECTOR`].
    Selector,
    /// A condition.
    Condition(Asked),
    /// What an expectation counts.
    Expected,
    /// `reverse`, `swap`, `shuffle` or a list of places.
    Order,
    /// The stream a block is moved to.
    Target,
    /// Any value.
    Json,
    /// `{ VARIABLE = value or list of values }`.
    Values,
    /// `{ pointer = any value }`.
    Set,
    /// A list of JSON pointers.
    PointerList,
    /// `{ name = value or false }`.
    Headers,
    /// A table of these keys.
    Table(&'static [Field]),
    /// A list of these.
    List(&'static Kind),
    /// Any one of these.
    Either(&'static [Kind]),
}

/// Where a condition is asked: what stands in hand there decides which forms have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// `from` and `until` of a rule: no unit waits.
    Switch,
    /// `until` and `when` of a fault: a unit is in hand.
    Unit,
    /// `after` of an expectation.
    Expectation,
}

/// What a condition or a fault must remember one by one is counted no further.
#[expect(clippy::cast_possible_wrap, reason = "it is small")]
const MOST: i64 = crate::engine::condition::REMEMBERED as i64;

/// A key.
const fn field(key: &'static str, kind: Kind, need: Need, doc: &'static str) -> Field {
    Field { key, kind, need, at: &[], doc }
}

/// A key that is a question about a point.
const fn asked(key: &'static str, kind: Kind, at: &'static [At], doc: &'static str) -> Field {
    Field { key, kind, need: Need::Optional, at, doc }
}

/// The word for a point.
#[must_use]
pub fn at_word(at: At) -> &'static str {
    match at {
        At::Connect => "connect",
        At::RequestHead => "request-head",
        At::Request => "request",
        At::Head => "head",
        At::Block => "block",
        At::End => "end",
        At::Leave => "leave",
    }
}

impl Kind {
    /// What a value of this kind is, for a message: `"limit" is DESCRIBED`.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Version => "1, the version that this mishap knows".to_owned(),
            Self::Int(from, i64::MAX) => format!("a whole number from {from}"),
            Self::Int(from, to) => format!("a whole number from {from} to {to}"),
            Self::Ordinals => "a whole number from 1, or a list of them".to_owned(),
            Self::Share => "a number from 0 to 1".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::Texts => "a list of strings".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("a list of {}", words.join(", ")),
            Self::Duration => "a duration such as \"250ms\"".to_owned(),
            Self::Time => "a duration such as \"250ms\", { min, max } or { mean, jitter }".to_owned(),
            Self::Size => "a size such as 4096 or \"8KiB\"".to_owned(),
            Self::Rate => "a rate such as \"10KiB/s\"".to_owned(),
            Self::Count => "a count such as 2, \">=2\" or \"<=2\"".to_owned(),
            Self::Glob | Self::Method => "a pattern such as \"tools/*\" or \"!x\", or a list of them".to_owned(),
            Self::Code => "an error code such as -32001, a pattern, or a list of them".to_owned(),
            Self::WordGlob(words) => format!("a pattern over {}, or a list of them", words.join(", ")),
            Self::Status => "a status such as 404, \"4xx\" or \"!204\", or a list of them".to_owned(),
            Self::Id => "a number or a string".to_owned(),
            Self::Pointers => "a table { '/json/pointer' = pattern }".to_owned(),
            Self::HeaderGlobs => "a table { name = pattern, true or false }".to_owned(),
            Self::Presence => "a pattern, true or false".to_owned(),
            Self::Session => "a session's number from 1, a list of them, \"none\" or \"ended\"".to_owned(),
            Self::Owner => "a table of method, name, id, params".to_owned(),
            Self::Message => "a kind of message, or a table of kind, method, params, result, code".to_owned(),
            Self::Offset => "a number of bytes (negative: from the end), or a share such as \"50%\"".to_owned(),
            Self::Selector => "a selector such as { at = \"request\", method = \"tools/call\" }".to_owned(),
            Self::Condition(_) => {
                "a condition: a duration, \"end\", \"never\", a selector, { fired = \"RULE\" } or a list".to_owned()
            }
            Self::Expected => "a selector, a list of them, { fired = \"RULE\" } or \"exit\"".to_owned(),
            Self::Order => "reverse, swap, shuffle or a list such as [2, 1, 3]".to_owned(),
            Self::Target => "get, post, resume or a selector".to_owned(),
            Self::Json => "a value".to_owned(),
            Self::Values => "a table { VARIABLE = value, or a list of values }".to_owned(),
            Self::Set => "a table { '/json/pointer' = value }".to_owned(),
            Self::PointerList => "a list of JSON pointers".to_owned(),
            Self::Headers => "a table { name = value, or false to remove }".to_owned(),
            Self::Table(fields) => {
                format!("a table of {}", fields.iter().map(|field| field.key).collect::<Vec<_>>().join(", "))
            }
            Self::List(kind) => format!("a list, each {}", kind.described()),
            Self::Either(kinds) => kinds.iter().map(Self::described).collect::<Vec<_>>().join(", or "),
        }
    }
}
