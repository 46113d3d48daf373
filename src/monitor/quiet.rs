//! The hang detector: requests without an answer on which neither leg says anything but comments.
//!
//! It is asked when it wants to be asked again, and told what time it is, as the engine. The one rule: what a rule
//! withholds is not named; that the rule did it is in the verdict.

use std::time::Duration;

use super::request::Request;
use super::requests::Requests;
use crate::report::words::span;

/// The detector.
#[derive(Debug)]
pub struct Quiet {
    /// How long a request may be quiet, in microseconds.
    limit: u64,
}

impl Quiet {
    /// Names requests that are quiet for so long.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit: u64::try_from(limit.as_micros()).unwrap_or(u64::MAX) }
    }

    /// When the next request will have been quiet for long enough, unless something happens on it; in microseconds since
    /// the run began.
    pub(super) fn next_due(&self, requests: &mut Requests) -> Option<u64> {
        let mut next = None;
        requests.each_open(|request| {
            // One that has been named is named again only after something has happened on it.
            let due = (!is_named(request)).then(|| since(request).saturating_add(self.limit));
            next = next.into_iter().chain(due).min();
        });
        next
    }

    /// Those that have been quiet for long enough by now, and were not named yet, in words.
    pub(super) fn tick(&self, now: u64, requests: &mut Requests, held: impl Fn(&Request) -> bool) -> Vec<String> {
        let mut named = Vec::new();
        requests.each_open(|request| {
            if is_named(request) || since(request).saturating_add(self.limit) > now {
                return;
            }
            if held(request) {
                request.looked = now;
            } else {
                request.named = Some(now);
                named.push(format!("{} has no answer and is quiet: {}", request.words(), waiting(request, now)));
            }
        });
        named
    }
}

fn is_named(request: &Request) -> bool {
    request.named.is_some_and(|named| named >= request.last())
}

/// Since when it is quiet, or was found to be held.
fn since(request: &Request) -> u64 {
    request.last().max(request.looked)
}

/// How long a request has been open, on which stream, and what its legs did last.
pub(super) fn waiting(request: &Request, now: u64) -> String {
    let open = span(now.saturating_sub(request.arrived));
    format!("open {open} ({}); {}", request.key, request.legs(now))
}
