//! A rule in one line of English, so that its author can see that it was understood as meant. It says only what the
//! rule restricts: what is left out is not mentioned.

use std::time::Duration;

use super::schema::at_word;
use super::value::show_duration;
use crate::engine::condition::{Condition, Leg, Same, Seen, Time};
use crate::engine::event::Ending;
use crate::engine::fault::Fault;
use crate::engine::fault::cut::{Cut, Offset, OtherLeg, Place};
use crate::engine::fault::hold::Hold;
use crate::engine::fault::moving::{Closed, Move, MoveTo};
use crate::engine::fault::reorder::{Order, Reorder};
use crate::engine::rpc::Id;
use crate::engine::rule::Rule;
use crate::engine::selector::{Count, Glob, PointerGlob, Presence, Selector, SessionSelector};
use crate::engine::trigger::{Scope, Trigger};

/// The rule as a sentence: which points, how many of them, what is done.
#[must_use]
pub fn explain(rule: &Rule) -> String {
    let mut parts = vec![format!("at {}", selector(&rule.selector))];
    parts.extend(trigger(&rule.trigger, rule.scope));
    parts.extend(rule.from.as_ref().map(|from| format!("from the time that {}", condition(from))));
    parts.extend(rule.until.as_ref().map(|until| format!("until {}", condition(until))));
    let optional = if rule.optional { " (may stay unfired)" } else { "" };
    format!("{}: {}{optional}", parts.join(", "), fault(&rule.fault))
}

// === What is done ===

fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Delay(delay) => format!("delay by {}", time(&delay.time)),
        Fault::Hold(hold) => held(hold),
        Fault::Reorder(reorder) => reordered(reorder),
        Fault::Move(moved) => move_text(moved),
        Fault::Cut(cut) => cut_text(cut),
        Fault::Rewrite(rewrite) => {
            let pointers: Vec<&str> = rewrite.set.iter().map(|(pointer, _)| pointer.as_str()).collect();
            format!("set {}", pointers.join(", "))
        }
    }
}

fn held(hold: &Hold) -> String {
    let limit = hold.limit.map(|limit| format!(", at most {} (then exit 5)", show_duration(limit))).unwrap_or_default();
    match &hold.until {
        Condition::Never => "hold for good".to_owned(),
        until => format!("hold until {}{limit}", condition(until)),
    }
}

fn reordered(reorder: &Reorder) -> String {
    let order = match &reorder.order {
        Order::Reverse => "in reverse order".to_owned(),
        Order::Swap => "with each pair swapped".to_owned(),
        Order::Shuffle => "in a drawn order".to_owned(),
        Order::Given(places) => format!("in the order {}", numbers(places)),
    };
    let across = if reorder.across { " over all streams of the session" } else { "" };
    format!("collect {}{across}, release them {order}", reorder.window)
}

fn move_text(moved: &Move) -> String {
    let to = match &moved.to {
        MoveTo::Get => "the standalone GET".to_owned(),
        MoveTo::Post => "the oldest open POST".to_owned(),
        MoveTo::Resume => "the oldest open resume".to_owned(),
        MoveTo::Selected(to) => format!("the exchange of {}", selector(to)),
    };
    let copy = if moved.copy { "copy" } else { "move" };
    let closed = if moved.closed == Closed::Drop { ", or lose it if none is open" } else { "" };
    format!("{copy} to {to}{closed}")
}

fn cut_text(cut: &Cut) -> String {
    let ending = match cut.ending {
        Ending::Eof => "end",
        Ending::Fin => "close",
        Ending::Reset => "reset",
        Ending::Stall => "silence",
    };
    let (leg, other) = match cut.leg {
        Leg::Client => ("the client's leg", Some("the server's")),
        Leg::Server => ("the server's leg", Some("the client's")),
        Leg::Both => ("both legs", None),
    };
    let place = match cut.place {
        Place::Before => "before it".to_owned(),
        Place::After => "after it".to_owned(),
        Place::Inside(Offset::Bytes(bytes)) if bytes < 0 => format!("{} bytes before its end", bytes.unsigned_abs()),
        Place::Inside(Offset::Bytes(bytes)) => format!("after {bytes} of its bytes"),
        Place::Inside(Offset::Share(share)) => format!("after {}% of its bytes", share * 100.0),
    };
    let when = cut.when.as_ref().map(|when| format!(", when {}", condition(when))).unwrap_or_default();
    let fate = match cut.other_leg {
        OtherLeg::Close => "is closed",
        OtherLeg::Drain => "is read on",
        OtherLeg::Keep => "is left open, unread",
    };
    let lasting = cut.lasting.map(|lasting| format!(" for {}", show_duration(lasting))).unwrap_or_default();
    let other = other.map(|other| format!("; {other} {fate}{lasting}")).unwrap_or_default();
    format!("{ending} {leg} {place}{when}{other}")
}

// === When ===

fn trigger(trigger: &Trigger, scope: Scope) -> Option<String> {
    let mut parts = Vec::new();
    if !trigger.nth.is_empty() {
        parts.push(format!("only number {}", numbers(&trigger.nth)));
    }
    if trigger.skip > 0 {
        parts.push(format!("not the first {}", trigger.skip));
    }
    if trigger.every > 1 {
        parts.push(format!("only every {}.", trigger.every));
    }
    if trigger.probability < 1.0 {
        parts.push(format!("with a probability of {}", trigger.probability));
    }
    parts.extend(trigger.times.map(|times| format!("{times} at most")));
    let scope = match scope {
        Scope::Exchange => "exchange",
        Scope::Owner => "client request",
        Scope::Connection => "connection",
        Scope::Session => "session",
        Scope::Run => "run",
    };
    (!parts.is_empty()).then(|| format!("{} in each {scope}", parts.join(", ")))
}

fn condition(it: &Condition) -> String {
    match it {
        Condition::After(after) => format!("{} have gone by", time(after)),
        Condition::End => "the server has ended the answer".to_owned(),
        Condition::Never => "never".to_owned(),
        Condition::Any(all) => all.iter().map(condition).collect::<Vec<_>>().join(", or "),
        Condition::Seen(it) => seen(it),
        Condition::Fired { rule, plus } => format!("{rule} has acted{}", plus_text(plus.as_ref())),
        Condition::Gathered(count) => format!("{count} are held"),
    }
}

fn seen(it: &Seen) -> String {
    let ordinal = if it.nth > 1 { format!("number {} of ", it.nth) } else { String::new() };
    let next = if it.next { "a later " } else { "" };
    let same = match it.same {
        Same::Exchange => " of the same exchange",
        Same::Call => " of the same JSON-RPC request",
        Same::Owner => " of the same owner",
        Same::Session => "",
        Same::Run => " of any session",
        Same::NotOwner => " of another owner",
        Same::NotExchange => " of another exchange",
    };
    let how = match it.leg {
        Some(Leg::Client) => "was seen by the client's leg",
        Some(Leg::Server) => "was seen by the server's leg",
        Some(Leg::Both) | None if it.plus.is_some() => "passed",
        Some(Leg::Both) | None => "has passed",
    };
    format!("{ordinal}{next}{}{same} {how}{}", selector(&it.selector), plus_text(it.plus.as_ref()))
}

fn plus_text(plus: Option<&Time>) -> String {
    match plus {
        None | Some(Time::Fixed(Duration::ZERO)) => String::new(),
        Some(plus) => format!(" {} ago", time(plus)),
    }
}

fn time(it: &Time) -> String {
    match it {
        Time::Fixed(fixed) => show_duration(*fixed),
        Time::Between(min, max) => format!("{} to {}", show_duration(*min), show_duration(*max)),
        Time::Around(mean, jitter) => format!("{} ± {}", show_duration(*mean), show_duration(*jitter)),
    }
}

// === Which ===

fn selector(it: &Selector) -> String {
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

fn numbers(it: &[u64]) -> String {
    it.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
