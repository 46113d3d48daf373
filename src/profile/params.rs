//! What was read from a table: one typed value for each key, with the defaults of the schema filled in. Taking a value
//! cannot fail; whoever takes has read the table without a problem first.

use std::collections::BTreeMap;
use std::time::Duration;

use super::problem::Spot;
use crate::engine::condition::{Condition, Time};
use crate::engine::fault::cut::Offset;
use crate::engine::fault::moving::MoveTo;
use crate::engine::fault::reorder::Order;
use crate::engine::rpc::Id;
use crate::engine::selector::{
    Count, Glob, MessageSelector, OwnerSelector, PointerGlob, Presence, Selector, SessionSelector,
};

/// A value that was read and found right.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Datum {
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
    Order(Order),
    Target(MoveTo),
    Set(Vec<(String, serde_json::Value)>),
    /// Right, and nothing that is built takes it.
    Checked,
}

/// The values of a table by key.
#[derive(Debug, Default)]
pub(super) struct Params(BTreeMap<&'static str, (Datum, Option<Spot>)>);

impl Params {
    pub(super) fn put(&mut self, key: &'static str, datum: Datum, written: Option<Spot>) {
        self.0.insert(key, (datum, written));
    }

    /// Where the key was written; `None` if it was not, or was wrong.
    pub(super) fn written(&self, key: &str) -> Option<&Spot> {
        self.0.get(key)?.1.as_ref()
    }

    fn datum(&self, key: &str) -> Option<Datum> {
        self.0.get(key).map(|(datum, _)| datum.clone())
    }
}

/// One function for each type: the value under a key, or `None` if it has none.
macro_rules! typed {
    ($($name:ident: $variant:ident -> $type:ty;)*) => {
        impl Params {
            $(pub(super) fn $name(&self, key: &str) -> Option<$type> {
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
    order: Order -> Order;
    target: Target -> MoveTo;
    set: Set -> Vec<(String, serde_json::Value)>;
    bool_value: Bool -> bool;
}

impl Params {
    /// `true` if it is written and true.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.bool_value(key).unwrap_or(false)
    }

    /// A whole number that the schema keeps from being negative.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.int(key).map(|number| u64::try_from(number).expect("the schema keeps it from being negative"))
    }
}
