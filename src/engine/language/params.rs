//! What was read from a table: one typed value for each key, with the defaults of the schema filled in. Taking a value
//! cannot fail; whoever takes has read the table without a complaint first.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Spot;
use crate::engine::condition::{Condition, Time};
use crate::engine::expectation::{Opening, What};
use crate::engine::fault::cut::Offset;
use crate::engine::fault::moving::MoveTo;
use crate::engine::fault::reorder::Order;
use crate::engine::rpc::Id;
use crate::engine::selector::{
    Count, Glob, MessageSelector, OwnerSelector, PointerGlob, Presence, Selector, SessionSelector,
};

/// A value that was read and found right: one variant for each type that a [`Kind`](super::Kind) is read as.
#[expect(missing_docs, reason = "the kinds say what each is")]
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    Bool(bool),
    Int(i64),
    Ordinals(Vec<u64>),
    Share(f64),
    Text(String),
    Duration(Duration),
    Time(Time),
    Count(Count),
    Glob(Glob),
    Id(Id),
    Pointers(Vec<PointerGlob>),
    HeaderGlobs(Vec<(String, Presence)>),
    Presence(Presence),
    Session(SessionSelector),
    Owner(OwnerSelector),
    Message(MessageSelector),
    Offset(Offset),
    Selector(Box<Selector>),
    Condition(Condition),
    Expected(What),
    Openings(Vec<Opening>),
    Order(Order),
    Target(MoveTo),
    Set(Vec<(String, serde_json::Value)>),
    /// A number of bytes.
    Size(u64),
    /// Bytes a second.
    Rate(u64),
    /// Names in lower case; `None` removes.
    Headers(Vec<(String, Option<String>)>),
    PointerList(Vec<String>),
    Json(serde_json::Value),
    Table(Params),
    List(Vec<Datum>),
    /// Right, and nobody takes it.
    Checked,
}

/// Headers that are meant for one hop or frame a message (RFC 9110, 7.6.1; RFC 9112, 6).
const FRAMING: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The values of a table by key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Params(BTreeMap<&'static str, (Datum, Option<Spot>)>);

impl Params {
    /// Fills in a value; `written`: where, if it was not left out.
    pub fn put(&mut self, key: &'static str, datum: Datum, written: Option<Spot>) {
        self.0.insert(key, (datum, written));
    }

    /// Where the key was written; `None` if it was not, or was wrong.
    pub fn written(&self, key: &str) -> Option<&Spot> {
        self.0.get(key)?.1.as_ref()
    }

    /// Those of these keys that were written, and where.
    pub fn which(&self, keys: &[&'static str]) -> Vec<(&'static str, Spot)> {
        keys.iter().filter_map(|key| Some((*key, self.written(key)?.clone()))).collect()
    }

    /// The value under a key, of whatever type: for a key that takes several.
    pub fn datum(&self, key: &str) -> Option<Datum> {
        self.0.get(key).map(|(datum, _)| datum.clone())
    }
}

/// One function for each type: the value under a key, or `None` if it has none.
macro_rules! typed {
    ($($name:ident: $variant:ident -> $type:ty;)*) => {
        impl Params {
            $(#[doc = concat!("The value under a key that is read as `", stringify!($type), "`.")]
            #[must_use]
            pub fn $name(&self, key: &str) -> Option<$type> {
                match self.datum(key)? {
                    Datum::$variant(value) => Some(value),
                    other => unreachable!("the schema gives `{key}` the kind of {other:?}"),
                }
            })*
        }
    };
}

typed! {
    int: Int -> i64;
    ordinals: Ordinals -> Vec<u64>;
    share: Share -> f64;
    text: Text -> String;
    duration: Duration -> Duration;
    time: Time -> Time;
    count: Count -> Count;
    glob: Glob -> Glob;
    id: Id -> Id;
    pointers: Pointers -> Vec<PointerGlob>;
    header_globs: HeaderGlobs -> Vec<(String, Presence)>;
    presence: Presence -> Presence;
    session: Session -> SessionSelector;
    owner: Owner -> OwnerSelector;
    message: Message -> MessageSelector;
    offset: Offset -> Offset;
    selector: Selector -> Box<Selector>;
    condition: Condition -> Condition;
    expected: Expected -> What;
    openings: Openings -> Vec<Opening>;
    order: Order -> Order;
    target: Target -> MoveTo;
    set: Set -> Vec<(String, serde_json::Value)>;
    size: Size -> u64;
    rate: Rate -> u64;
    headers: Headers -> Vec<(String, Option<String>)>;
    pointer_list: PointerList -> Vec<String>;
    json: Json -> serde_json::Value;
    sub_table: Table -> Params;
    list: List -> Vec<Datum>;
    bool_value: Bool -> bool;
}

impl Params {
    /// `true` if it is written and true.
    pub fn flag(&self, key: &str) -> bool {
        self.bool_value(key).unwrap_or(false)
    }

    /// The headers written under a key that belong to one hop or say how a message is framed, and where: HTTP itself would
    /// break with them.
    pub fn framing_headers(&self, key: &str) -> Vec<(String, Spot)> {
        let (Some(headers), Some(spot)) = (self.headers(key), self.written(key)) else { return Vec::new() };
        let framing = headers.into_iter().filter(|(name, _)| FRAMING.contains(&name.as_str()));
        framing.map(|(name, _)| (name, spot.clone())).collect()
    }

    /// Whether a key of both kinds is true, or a number above one.
    pub fn is_again(&self, key: &str) -> bool {
        matches!(self.datum(key), Some(Datum::Bool(true))) || matches!(self.datum(key), Some(Datum::Int(2..)))
    }

    /// A whole number that the schema keeps from being negative.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.int(key).map(|number| u64::try_from(number).expect("the schema keeps it from being negative"))
    }
}
