//! Expectations about what became of the client's requests, judged when the run is over (rule R33).
//!
//! The one rule: the words and the findings are those of the verdict; nothing is found out a second time.

use std::time::Duration;

use super::watcher::{Watched, micros};
use super::{Outcome, Request};
use crate::engine::expectation::RequestCheck;
use crate::engine::record::{ExpectationEntry, ExpectationTally, SawEntry};
use crate::report::words::span;

/// How many failures are kept; of more only the number is.
const FAILURES: usize = 100;

/// Judges a check of the client's requests; `within`: how soon after its arrival each must be settled.
pub fn judge(watched: &Watched, check: RequestCheck, within: Option<Duration>, tally: &mut ExpectationTally) {
    match check {
        RequestCheck::Settled => settled(watched, within.map(micros), tally),
        RequestCheck::NoLateCancel => not_found(watched, "late-cancel", tally),
        RequestCheck::NoLostRequest => not_found(watched, "lost-request", tally),
    }
}

fn settled(watched: &Watched, within: Option<u64>, tally: &mut ExpectationTally) {
    // What was forgotten had been answered; how soon is not known any more.
    match within {
        None => tally.checked += watched.forgotten,
        Some(_) => tally.unfollowed += watched.forgotten,
    }
    for request in watched.requests.iter().filter(|request| request.outcome != Outcome::Withheld) {
        tally.checked += 1;
        if let Some(what) = unsettled(request, within, watched.ended) {
            let at = request.settled.unwrap_or(watched.ended);
            fail(tally, (request.seq, at, request.arrived), &request.key, what);
        }
    }
}

/// Why a request is not settled, or was not soon enough.
fn unsettled(request: &Request, within: Option<u64>, ended: u64) -> Option<String> {
    let Some(settled) = request.settled else {
        return Some(format!("{} was open for {}, to the end", request.words(), lasted(request, ended)));
    };
    let late = within.is_some_and(|within| settled.saturating_sub(request.arrived) > within);
    late.then(|| format!("{} was {} after {}", request.words(), request.outcome, lasted(request, settled)))
}

fn lasted(request: &Request, to: u64) -> String {
    span(to.saturating_sub(request.arrived))
}

fn not_found(watched: &Watched, monitor: &str, tally: &mut ExpectationTally) {
    tally.checked += watched.counts.values().sum::<u64>();
    tally.unfollowed += watched.more_findings;
    for found in watched.findings.iter().filter(|found| found.monitor == monitor) {
        fail(tally, (found.seq, found.at, found.at), &found.key, found.words.clone());
    }
}

fn fail(tally: &mut ExpectationTally, (seq, at, since): (u64, u64, u64), key: &str, what: String) {
    tally.failed += 1;
    if tally.failures.len() < FAILURES {
        let saw = vec![SawEntry { key: key.to_owned(), at }];
        let (name, what) = (tally.name.clone(), Some(what));
        tally.failures.push(ExpectationEntry {
            seq,
            at,
            name,
            since,
            seen: 1,
            saw,
            what,
            ..ExpectationEntry::default()
        });
    }
}
