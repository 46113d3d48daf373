//! What the watcher saw, for the verdict: the outcomes of requests, what the monitors found, who hangs.
//!
//! The one rule: one screen. What is alike is folded, what was answered is only counted.

use super::{Kind, Reason};
use crate::engine::record::{FindingEntry, Weight};
use crate::journal::{RequestLine, VerdictLine};
use crate::monitor::{MONITORS, Outcome, Request, Watched};
use crate::report::words::{count, span};

/// How many requests that were not answered get a line, and how many findings of one monitor.
const REQUESTS: usize = 6;
const FINDINGS: usize = 3;

/// The lines of the screen.
pub(super) fn lines(watched: &Watched) -> Vec<String> {
    let mut lines = outcomes(watched);
    for monitor in MONITORS {
        let found: Vec<_> = watched.findings.iter().filter(|found| found.monitor == monitor.name).collect();
        lines.extend(found.iter().take(FINDINGS).map(|found| finding(found)));
        if found.len() > FINDINGS {
            lines.push(format!("  ... and {} more of {}", found.len() - FINDINGS, monitor.name));
        }
    }
    if watched.more_findings > 0 {
        lines.push(format!("... and {} not kept", count(watched.more_findings, "finding")));
    }
    if watched.reconnects > 0 {
        let reconnects = count(watched.reconnects, "reconnect");
        lines.push(format!("{reconnects} (GETs and resumes), at most {} a minute", watched.reconnects_a_minute));
    }
    lines
}

/// The reasons not to end with 0: what each monitor found, and requests that hang.
pub(super) fn reasons(watched: &Watched) -> Vec<Reason> {
    let found = MONITORS.iter().flat_map(|monitor| {
        [(Weight::Failure, Kind::Finding), (Weight::Notice, Kind::Notice)].map(|(weight, kind)| {
            let of = |found: &&FindingEntry| found.monitor == monitor.name && found.weight == weight;
            let found: Vec<_> = watched.findings.iter().filter(of).collect();
            let first = found.first()?;
            Some(Reason::of(kind, monitor.name, format!("{}: {}{}", monitor.name, first.words, more(found.len()))))
        })
    });
    let open: Vec<_> = watched.requests.iter().filter(|request| request.outcome == Outcome::Open).collect();
    let hangs = open.first().map(|first| {
        let why = format!("{} has no answer: {}{}", first.words(), waited(first, watched.ended), more(open.len()));
        Reason::of(Kind::Hang, &first.key, why)
    });
    found.flatten().chain(hangs).collect()
}

/// Adds what a journal's verdict says of it.
pub(super) fn fill(line: VerdictLine, watched: &Watched) -> VerdictLine {
    let requests = watched.requests.iter().map(|request| RequestLine {
        key: request.key.clone(),
        id: request.id.clone(),
        method: request.method.clone(),
        outcome: request.outcome.word().to_owned(),
        rule: request.rule.clone(),
        arrived: request.arrived,
        settled: request.settled,
    });
    VerdictLine {
        outcomes: watched.counts.iter().map(|(outcome, number)| (outcome.word().to_owned(), *number)).collect(),
        requests: requests.collect(),
        more_requests: watched.forgotten,
        findings: watched.findings.clone(),
        more_findings: watched.more_findings,
        reconnects: watched.reconnects,
        reconnects_a_minute: watched.reconnects_a_minute,
        ..line
    }
}

/// The counts by word, and a line for each request that was not answered.
fn outcomes(watched: &Watched) -> Vec<String> {
    let counted = watched.counts.iter().filter(|(_, number)| **number > 0);
    let counted: Vec<String> = counted.map(|(outcome, number)| format!("{number} {outcome}")).collect();
    if counted.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("requests: {}", counted.join(", "))];
    let unanswered: Vec<_> = watched.requests.iter().filter(|request| !request.outcome.is_answered()).collect();
    lines.extend(unanswered.iter().take(REQUESTS).map(|request| format!("  {}", line(request, watched.ended))));
    if unanswered.len() > REQUESTS {
        lines.push(format!("  ... and {} more", unanswered.len() - REQUESTS));
    }
    lines
}

/// `tools/call id 2: told after 1.0 s by k/cut; closed by k/cut (eof)`.
fn line(request: &Request, ended: u64) -> String {
    let (words, outcome) = (request.words(), request.outcome);
    if matches!(outcome, Outcome::Open | Outcome::Withheld) {
        let by = request.rule.as_ref().map(|rule| format!("withheld by {rule}, ")).unwrap_or_default();
        return format!("{words}: {by}{}", waited(request, ended));
    }
    let after = span(request.settled.unwrap_or(ended).saturating_sub(request.arrived));
    let by = request.rule.as_ref().map(|rule| format!(" by {rule}")).unwrap_or_default();
    let refused = request.refused.map(|status| format!(", refused with {status}")).unwrap_or_default();
    let closed = request.closed.as_ref().map(|closed| format!("; {closed}")).unwrap_or_default();
    format!("{words}: {outcome} after {after}{by}{refused}{closed}; {}", request.legs(ended))
}

fn waited(request: &Request, ended: u64) -> String {
    format!("open {}; {}", span(ended.saturating_sub(request.arrived)), request.legs(ended))
}

fn finding(found: &FindingEntry) -> String {
    let FindingEntry { monitor, key, words, weight, .. } = found;
    let kind = match weight {
        Weight::Failure => "finding",
        Weight::Notice => "notice",
    };
    format!("{kind} {monitor} ({key}): {words}")
}

fn more(number: usize) -> String {
    if number > 1 { format!(" (and {} more)", number - 1) } else { String::new() }
}
