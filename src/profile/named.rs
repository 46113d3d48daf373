//! The named checks of an expectation: what each takes, and what it counts.
//!
//! The one rule it keeps: a check that can be said with a selector is one; only the others are looked after by themselves.

use std::time::Duration;

use crate::engine::condition::{Leg, Same};
use crate::engine::expectation::{Check, Expectation, Opening, RequestCheck, Wanted, What};
use crate::engine::selector::{At, Count, Glob, Selector};
use crate::engine::trigger::Scope;

/// The most GETs, and in how long a time, if nothing else is said.
const GETS: (Count, Duration) = (Count::AtMost(5), Duration::from_secs(10));

/// A named check.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: &'static str,
    /// The keys that have a meaning beside it, but `count`.
    pub(super) keys: &'static [&'static str],
    pub(super) needs_after: bool,
}

const fn plain(name: &'static str) -> Named {
    Named { name, keys: &[], needs_after: false }
}

static NAMED: [Named; 11] = [
    Named { keys: &["within"], ..plain("settled") },
    plain("resume-id"),
    plain("no-repeat"),
    plain("closed"),
    plain("connections-closed"),
    plain("one-initialize"),
    Named { keys: &["per", "scope"], ..plain("gets") },
    Named { keys: &["after", "within"], needs_after: true, ..plain("resumed") },
    Named { keys: &["within"], ..plain("leave-seen") },
    plain("no-late-cancel"),
    plain("no-lost-request"),
];

/// The check of that name.
pub(super) fn find(name: &str) -> Option<&'static Named> {
    NAMED.iter().find(|named| named.name == name)
}

impl Named {
    /// Makes the expectation what it counts; `counted`: whether a count was written.
    pub(super) fn fill(&self, it: &mut Expectation, counted: bool) {
        match self.name {
            "gets" => {
                let same = if it.scope == Scope::Run { Same::Run } else { Same::Session };
                it.what = What::Points(vec![wanted(streams(At::Request, &["get", "resume"]), Leg::Client, same)]);
                it.count = if counted { it.count } else { GETS.0 };
                it.per = it.per.or(Some(GETS.1));
            }
            "leave-seen" => {
                it.what = What::Points(vec![wanted(Selector::any(At::Leave), Leg::Server, Same::Exchange)]);
                it.after = vec![Opening::Leave];
            }
            "resumed" => it.what = What::Resumed,
            "one-initialize" => it.what = What::Check(Check::OneInitialize),
            "resume-id" => it.what = What::Check(Check::ResumeId),
            "no-repeat" => it.what = What::Check(Check::NoRepeat),
            "closed" => it.what = What::Check(Check::Closed),
            "connections-closed" => it.what = What::Check(Check::ConnectionsClosed),
            "no-late-cancel" => it.what = What::Requests(RequestCheck::NoLateCancel),
            "no-lost-request" => it.what = What::Requests(RequestCheck::NoLostRequest),
            _ => it.what = What::Requests(RequestCheck::Settled),
        }
    }
}

fn wanted(selector: Selector, leg: Leg, same: Same) -> Wanted {
    Wanted { selector, leg, same }
}

fn streams(at: At, streams: &[&str]) -> Selector {
    let any = streams.iter().map(|stream| (*stream).to_owned()).collect();
    Selector { stream: Some(Glob { any, none: Vec::new() }), ..Selector::any(at) }
}
