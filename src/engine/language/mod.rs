//! The words of the profile language as data: what a key is, what a value must be, which points there are. What is read
//! by these (rules, selectors, faults) is described where it is used.
//!
//! The one rule it keeps: one description for each key. The loader, its errors, the reference and `mishap check` read it.

pub mod expected;
pub mod params;
pub mod words;

use super::selector::At;

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

/// A place in a profile's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spot {
    /// The line, from 1; 0: it stands in no file.
    pub line: usize,
    /// The variable whose value stands there, if one was filled in.
    pub variable: Option<String>,
}

/// Something wrong with what was read, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Where.
    pub spot: Spot,
    /// What is wrong, in lower case, without a full stop.
    pub what: String,
    /// What to write instead; `None`: it is right, and this version cannot do it.
    pub instead: Option<String>,
}

/// What is wrong with one rule.
#[derive(Debug, Clone, Default)]
pub struct Complaints(pub Vec<Complaint>);

impl Complaints {
    /// Something is wrong.
    pub fn wrong(&mut self, spot: &Spot, what: impl Into<String>, instead: impl Into<String>) {
        self.0.push(Complaint { spot: spot.clone(), what: what.into(), instead: Some(instead.into()) });
    }

    /// Something is right, but this version cannot do it.
    pub fn not_built(&mut self, spot: &Spot, what: &str) {
        self.0.push(Complaint { spot: spot.clone(), what: what.to_owned(), instead: None });
    }

    /// Complains of all but the first of the keys that were written; returns how many there were.
    pub fn at_most_one(&mut self, params: &params::Params, keys: &[&'static str]) -> usize {
        let written = params.which(keys);
        if let [(first, _), rest @ ..] = written.as_slice() {
            for (key, spot) in rest {
                self.wrong(spot, format!("`{first}` and `{key}` together"), "write one of them");
            }
        }
        written.len()
    }
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
    /// One whole number from 1, a list of them, or `"all"`.
    Ordinals,
    /// From 0 to 1.
    Share,
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// The name of a file, beside the profile; its text is the value.
    File,
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
    /// A client request: a table of `OWNER`.
    Owner,
    /// A kind of message, or a table of `MESSAGE`.
    Message,
    /// A place in a unit: a number of bytes, or `"50%"`.
    Offset,
    /// A table of `SELECTOR`.
    Selector,
    /// A condition.
    Condition(Asked),
    /// What an expectation counts.
    Expected,
    /// What an expectation begins with.
    Openings,
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
}

/// What a condition or a fault must remember one by one is counted no further.
#[expect(clippy::cast_possible_wrap, reason = "it is small")]
pub const MOST: i64 = super::condition::REMEMBERED as i64;

/// A key.
#[must_use]
pub const fn field(key: &'static str, kind: Kind, need: Need, doc: &'static str) -> Field {
    Field { key, kind, need, at: &[], doc }
}

/// A key that is a question about a point.
#[must_use]
pub const fn asked(key: &'static str, kind: Kind, at: &'static [At], doc: &'static str) -> Field {
    Field { key, kind, need: Need::Optional, at, doc }
}

/// A whole number without an upper bound.
pub const NO_LIMIT: i64 = i64::MAX;
/// Whether later units may pass a withheld one.
pub const OVERTAKE: Field =
    field("overtake", Kind::Bool, Need::Default("false"), "whether later units of the stream may pass it");
/// When a fault acts.
pub const WHEN: Field = field("when", Kind::Condition(Asked::Unit), Need::Optional, "when, if not at once");
/// What becomes of the leg that a rule does not end.
pub const OTHER_LEG: Field = field(
    "other-leg",
    Kind::Word(&["close", "drain", "keep"]),
    Need::Default("\"close\""),
    "what becomes of the other leg (drain on a `resumable` stream, and with `forward`)",
);
/// How long that lives on.
pub const LASTING: Field =
    field("for", Kind::Duration, Need::Optional, "how long drain or keep lasts (no end but the session's)");
/// The time between two parts.
pub const GAP: Field = field("gap", Kind::Time, Need::Default("\"0s\""), "the time between two parts");
/// The `retry` of an event.
pub const RETRY: Field = field("retry", Kind::Int(0, NO_LIMIT), Need::Optional, "reconnection time, in milliseconds");

/// How long something waits at most.
#[must_use]
pub const fn limit(default: &'static str, doc: &'static str) -> Field {
    field("limit", Kind::Duration, Need::Default(default), doc)
}

/// One SSE event that a fault makes.
pub const EVENT: &[Field] = &[
    field("id", Kind::Text, Need::Optional, "its id"),
    field("event", Kind::Text, Need::Optional, "its type"),
    field("data", Kind::Text, Need::Optional, "its data"),
    field("message", Kind::Json, Need::Optional, "its data, as a JSON-RPC message"),
    RETRY,
    field("comment", Kind::Text, Need::Optional, "a comment line"),
];
/// A JSON-RPC error that a fault makes.
pub const RPC_ERROR: &[Field] = &[
    field("code", Kind::Int(i64::MIN, i64::MAX), Need::Required, "the JSON-RPC error code"),
    field("message", Kind::Text, Need::Required, "the JSON-RPC error message"),
];
/// A field of an event: a value, or false to leave it out.
pub const EVENT_FIELD: Kind = Kind::Either(&[Kind::Text, Kind::Int(0, NO_LIMIT), Kind::Bool]);

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
            Self::Ordinals => "a whole number from 1, a list of them, or \"all\"".to_owned(),
            Self::Share => "a number from 0 to 1".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::File => "the name of a text file beside the profile".to_owned(),
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
            Self::Openings => "a duration, a selector, { fired = \"RULE\" } or a list".to_owned(),
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
