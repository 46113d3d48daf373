//! Whether anything crossed the proxy at all: a client that went past it is the first thing to think of, and no rule's fault.
//!
//! The one rule: it is said only where it was counted. A run that only lets everything pass counts nothing.

use super::{CommandEnd, Facts, Kind, Reason};

/// What to think of when nothing crossed; none: something did, or nobody counted. A connection at which a rule matched is something.
pub(super) fn nothing(facts: &Facts) -> Option<&'static str> {
    let summary = &facts.summary;
    let crossed = summary.exchanges > 0 || summary.rules.iter().any(|rule| rule.matched > 0);
    let whose = match facts.command {
        Some(_) => "nothing crossed the proxy: does the command use {url} or MISHAP_URL?",
        None => "nothing crossed the proxy: does the client use its URL?",
    };
    (facts.watched.is_some() && !crossed).then_some(whose)
}

/// A command that is over, and of which nothing crossed, tested nothing. In the foreground nobody may have wanted to, and one that
/// nobody could wait for may not have come to it.
pub(super) fn reason(facts: &Facts) -> Option<Reason> {
    let ended = facts.command.filter(|end| *end != CommandEnd::Unknown);
    ended.and_then(|_| nothing(facts)).map(|why| Reason::of_run(Kind::Vacuous, why))
}
