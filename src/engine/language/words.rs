//! Selectors, conditions and times in English, so that the author of a rule can see that it was understood as meant. It
//! says only what is restricted: what is left out is not mentioned.

use std::time::Duration;

use super::at_word;
use crate::engine::condition::{Condition, Leg, Same, Seen, Time};
use crate::engine::rpc::Id;
use crate::engine::selector::{Count, Glob, PointerGlob, Presence, Selector, SessionSelector};

/// Units of a duration, in nanoseconds.
pub const DURATION_UNITS: [(&str, u64); 5] =
    [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000)];

/// The shortest text of a profile that is read as this; what is below a microsecond is not said.
#[must_use]
pub fn show_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    let unit = DURATION_UNITS.iter().rev().find(|(_, scale)| nanos.is_multiple_of(u128::from(*scale)));
    let (name, scale) = unit.unwrap_or(&DURATION_UNITS[0]);
    format!("{}{name}", nanos / u128::from(*scale))
}

/// A condition, as what has then happened.
#[must_use]
pub fn condition(it: &Condition) -> String {
    match it {
        Condition::After(after) => format!("{} have gone by", time(after)),
        Condition::End => "the server has ended the answer".to_owned(),
        Condition::Never => "never".to_owned(),
        Condition::Any(all) => all.iter().map(condition).collect::<Vec<_>>().join(", or "),
        Condition::Seen(it) => seen(it),
        Condition::Fired { rule, plus } => format!("{rule} has acted{}", plus_text(plus.as_ref())),
        Condition::Gathered(count) => format!("{count} are held"),
        Condition::Idle { time: quiet, plus } => {
            let plus = plus.as_ref().map(|plus| format!(" and {}", time(plus))).unwrap_or_default();
            format!("there was no byte for {}{plus}", show_duration(*quiet))
        }
        Condition::Bytes { size, plus } => format!("{size} bytes of the body have passed{}", plus_text(plus.as_ref())),
    }
}

fn seen(it: &Seen) -> String {
    let ordinal = if it.nth > 1 { format!("number {} of ", it.nth) } else { String::new() };
    let next = if it.next { "a later " } else { "" };
    let same = same(it.same);
    let how = match it.leg {
        Some(Leg::Client) => "was seen by the client's leg",
        Some(Leg::Server) => "was seen by the server's leg",
        Some(Leg::Both) | None if it.plus.is_some() => "passed",
        Some(Leg::Both) | None => "has passed",
    };
    format!("{ordinal}{next}{}{same} {how}{}", selector(&it.selector), plus_text(it.plus.as_ref()))
}

/// How a point relates to another.
pub(super) fn same(it: Same) -> &'static str {
    match it {
        Same::Exchange => " of the same exchange",
        Same::Call => " of the same JSON-RPC request",
        Same::Owner => " of the same owner",
        Same::Session => "",
        Same::Run => " of any session",
        Same::NotOwner => " of another owner",
        Same::NotExchange => " of another exchange",
    }
}

fn plus_text(plus: Option<&Time>) -> String {
    match plus {
        None | Some(Time::Fixed(Duration::ZERO)) => String::new(),
        Some(plus) => format!(" {} ago", time(plus)),
    }
}

/// A time, with how it is drawn.
#[must_use]
pub fn time(it: &Time) -> String {
    match it {
        Time::Fixed(fixed) => show_duration(*fixed),
        Time::Between(min, max) => format!("{} to {}", show_duration(*min), show_duration(*max)),
        Time::Around(mean, jitter) => format!("{} ± {}", show_duration(*mean), show_duration(*jitter)),
    }
}

/// A selector: its point, and in brackets what it asks.
#[must_use]
pub fn selector(it: &Selector) -> String {
    let mut fields: Vec<String> = Vec::new();
    let mut named = |name: &str, text: Option<String>| fields.extend(text.map(|text| format!("{name} {text}")));
    named("stream", it.stream.as_ref().map(glob));
    named("method", it.method.as_ref().map(glob));
    named("name", it.name.as_ref().map(glob));
    named("id", it.id.as_ref().map(id));
    named("params", pointers(&it.params));
    if let Some(owner) = &it.owner {
        named("owner's method", owner.method.as_ref().map(glob));
        named("owner's name", owner.name.as_ref().map(glob));
        named("owner's id", owner.id.as_ref().map(id));
        named("owner's params", pointers(&owner.params));
    }
    named("exchange", (!it.exchange.is_empty()).then(|| numbers(&it.exchange)));
    named("header", headers(&it.header));
    named("response-header", headers(&it.response_header));
    named("http-method", it.http_method.as_ref().map(glob));
    named("path", it.path.as_ref().map(glob));
    named("status", it.status.as_ref().map(glob));
    named("media", it.media.as_ref().map(glob));
    named("resuming a", it.resumes.as_ref().map(glob));
    named("reused", it.reused.map(|reused| reused.to_string()));
    named("session", it.session.as_ref().map(session));
    named("in flight", it.in_flight.as_ref().map(count));
    if let Some(message) = &it.message {
        named("message", message.kind.as_ref().map(glob));
        named("carrying", message.method.as_ref().map(glob));
        named("message's params", pointers(&message.params));
        named("message's result", pointers(&message.result));
        named("message's code", message.code.as_ref().map(glob));
    }
    named("block", it.block.as_ref().map(glob));
    named("index", (!it.index.is_empty()).then(|| numbers(&it.index)));
    named("event id", it.event_id.as_ref().map(presence));
    let fields = if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
    format!("{}{fields}", at_word(it.at))
}

fn glob(it: &Glob) -> String {
    let none = it.none.iter().map(|pattern| format!("not {pattern}"));
    let any: Vec<&str> = it.any.iter().filter(|pattern| !it.none.contains(pattern)).map(String::as_str).collect();
    let none = none.filter(|_| any.len() == it.any.len());
    let any = any.join(" or ");
    std::iter::once(any).filter(|any| !any.is_empty()).chain(none).collect::<Vec<_>>().join(", ")
}

fn pointers(it: &[PointerGlob]) -> Option<String> {
    let all: Vec<String> = it.iter().map(|(pointer, value)| format!("{pointer} {}", glob(value))).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

fn headers(it: &[(String, Presence)]) -> Option<String> {
    let all: Vec<String> = it.iter().map(|(name, value)| format!("{name} {}", presence(value))).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

fn presence(it: &Presence) -> String {
    match it {
        Presence::Present => "present".to_owned(),
        Presence::Absent => "absent".to_owned(),
        Presence::Like(value) => glob(value),
    }
}

fn session(it: &SessionSelector) -> String {
    let words =
        [(it.none, "none"), (it.ended, "ended")].into_iter().filter(|(on, _)| *on).map(|(_, word)| word.to_owned());
    it.ordinals.iter().map(u64::to_string).chain(words).collect::<Vec<_>>().join(" or ")
}

fn id(it: &Id) -> String {
    match it {
        Id::Number(text) => text.clone(),
        Id::Text(text) => format!("\"{text}\""),
    }
}

fn count(it: &Count) -> String {
    match it {
        Count::Is(number) => number.to_string(),
        Count::AtLeast(number) => format!(">={number}"),
        Count::AtMost(number) => format!("<={number}"),
    }
}

/// Numbers in a row.
#[must_use]
pub fn numbers(it: &[u64]) -> String {
    it.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
