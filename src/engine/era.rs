//! The protocol's eras: which were seen in a run, and in which a selector can mean anything.
//!
//! An era is told by what really crossed: an `endpoint` block, an initialize that was answered, a request that says its
//! version itself and was answered. The one rule it keeps: a selector is said to be of no seen era only where that is
//! certain; servers may have methods of their own.

use std::collections::{BTreeMap, BTreeSet};

use super::bounded::Bounded;
use super::engine::Engine;
use super::exchange::{Exchange, stream_word};
use super::plan::Armed;
use super::record::{Foreign, RuleTally};
use super::selector::{At, Glob, Presence, Selector, Stream};

/// The first version without a handshake.
const MODERN: &str = "2026-07-28";
/// How many versions are remembered for each era.
const VERSIONS: usize = 16;
/// The longest version that is one, in bytes.
const VERSION_LENGTH: usize = 32;

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// 2024-11-05: an event stream that says where to post.
    Legacy,
    /// 2025-03-26 to 2025-11-25: one endpoint, opened with an initialize.
    Session,
    /// From 2026-07-28 on: every request stands for itself.
    Modern,
}

/// The eras that were seen, with their protocol versions.
pub type Eras = BTreeMap<Era, BTreeSet<String>>;

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Seen(BTreeMap<Era, Bounded<String, ()>>);

impl Era {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Legacy, Self::Session, Self::Modern];

    /// Its word in a profile's `era`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Session => "session",
            Self::Modern => "modern",
        }
    }
}

impl Seen {
    /// The era was seen, with this version where it was said.
    pub(super) fn add(&mut self, era: Era, version: Option<&str>) {
        let versions = self.0.entry(era).or_insert_with(|| Bounded::new(VERSIONS));
        if let Some(version) = version.filter(|version| version.len() <= VERSION_LENGTH) {
            versions.insert(version.to_owned(), ());
        }
    }

    /// A request was answered. One that says a version without a handshake is of the modern era; a 202 is also what a
    /// legacy server says to an initialize.
    pub(super) fn answered(&mut self, exchange: &Exchange) {
        let status = exchange.status().unwrap_or_default();
        let posted = matches!(exchange.stream, Stream::Post | Stream::Listen);
        if !posted || !(200..300).contains(&status) {
            return;
        }
        let version = exchange.header("mcp-protocol-version").and_then(|version| std::str::from_utf8(version).ok());
        let modern = version.is_some_and(|version| version >= MODERN);
        let begins = exchange.messages.iter().any(|spoken| spoken.message.method.as_deref() == Some("initialize"));
        if begins && status != 202 {
            self.add(Era::Session, None);
        } else if !begins && (modern || exchange.stream == Stream::Listen) {
            self.add(Era::Modern, version.filter(|_| modern));
        } else if !begins && version.is_some() {
            self.add(Era::Session, version);
        }
    }

    pub(super) fn eras(&self) -> Eras {
        let versions = |versions: &Bounded<String, ()>| versions.iter().map(|(version, ())| version.clone()).collect();
        self.0.iter().map(|(era, seen)| (*era, versions(seen))).collect()
    }
}

impl Engine {
    /// The rules that have selected nothing and can select nothing in the eras seen.
    pub(super) fn foreign(&self) -> Vec<Foreign> {
        let seen = self.eras.eras();
        let foreign = |(armed, tally): (&Armed, &RuleTally)| {
            let (of, by) = possible(&armed.rule.selector);
            let none = tally.matched == 0 && !seen.is_empty() && !of.iter().any(|era| seen.contains_key(era));
            none.then(|| Foreign { rule: armed.rule.name.clone(), of, by })
        };
        self.plan.rules.iter().zip(&self.notebook.tallies).filter_map(foreign).collect()
    }
}

/// In which eras a selector can mean something, and what keeps it from the others.
#[must_use]
pub fn possible(selector: &Selector) -> (Vec<Era>, &'static str) {
    let head = matches!(selector.at, At::RequestHead | At::Request | At::Head);
    let of_stream = |stream: Stream| match stream {
        Stream::Post | Stream::Other => &Era::ALL[..],
        // A legacy stream is a GET until its first block has come.
        Stream::Get if head => &[Era::Legacy, Era::Session],
        Stream::Get | Stream::Resume | Stream::Delete => &[Era::Session],
        Stream::Listen => &[Era::Modern],
        Stream::Legacy => &[Era::Legacy],
    };
    let streams =
        [Stream::Post, Stream::Get, Stream::Resume, Stream::Listen, Stream::Legacy, Stream::Delete, Stream::Other];
    let meant = streams.into_iter().filter(|stream| {
        selector.stream.as_ref().is_none_or(|glob| glob.matches(stream_word(*stream)))
            && (selector.resumes.is_none() || *stream == Stream::Resume)
    });
    let by_stream: BTreeSet<Era> = meant.flat_map(of_stream).copied().collect();
    let message = selector.message.as_ref().and_then(|message| message.method.as_ref());
    let by_method = [selector.method.as_ref(), message].into_iter().flatten().filter_map(of_method).next();
    let headed = selector.header.iter().any(|(name, it)| name == "mcp-session-id" && *it != Presence::Absent);
    let (limit, what): (&[Era], _) = match (by_method, headed) {
        (Some(eras), _) => (eras, "its method"),
        (None, true) => (&[Era::Session], "the session id it asks for"),
        (None, false) => (&Era::ALL, "its stream"),
    };
    (by_stream.into_iter().filter(|era| limit.contains(era)).collect(), what)
}

/// The eras of methods that only some have, if it is about nothing else.
fn of_method(glob: &Glob) -> Option<&'static [Era]> {
    const HANDSHAKE: [&str; 2] = ["initialize", "notifications/initialized"];
    const MODERN: [&str; 3] = ["server/discover", "subscriptions/listen", "notifications/subscriptions/acknowledged"];
    let only = |methods: &[&str]| !glob.any.is_empty() && glob.any.iter().all(|one| methods.contains(&one.as_str()));
    if only(&HANDSHAKE) {
        Some(&[Era::Legacy, Era::Session])
    } else if only(&MODERN) {
        Some(&[Era::Modern])
    } else {
        None
    }
}
