//! Rules and messages, as short as tests want them.

use std::time::Duration;

use super::super::condition::{Condition, Leg, Same, Seen, Time};
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::{Cut, OtherLeg, Place};
use super::super::fault::delay::Delay;
use super::super::fault::hold::Hold;
use super::super::fault::respond::{Content, Respond};
use super::super::rule::Rule;
use super::super::selector::{At, Glob, MessageSelector, Selector};
use super::super::trigger::{Scope, Trigger};

pub(crate) fn glob(pattern: &str) -> Option<Glob> {
    let (any, none) = match pattern.strip_prefix('!') {
        Some(pattern) => (vec![], vec![pattern.to_owned()]),
        None => (vec![pattern.to_owned()], vec![]),
    };
    Some(Glob { any, none })
}

/// Points of this kind on this stream (`*`: any).
pub(crate) fn at(at: At, stream: &str) -> Selector {
    Selector { stream: glob(stream), ..Selector::any(at) }
}

/// Points of this kind of exchanges whose POST carries this method.
pub(crate) fn of(point: At, method: &str) -> Selector {
    Selector { method: glob(method), ..Selector::any(point) }
}

/// Blocks whose message is of this kind.
pub(crate) fn message(kind: &str) -> Selector {
    let message = MessageSelector { kind: glob(kind), ..MessageSelector::default() };
    Selector { message: Some(message), ..Selector::any(At::Block) }
}

pub(crate) fn rule(name: &str, selector: Selector, fault: Fault) -> Rule {
    Rule {
        name: name.to_owned(),
        selector,
        trigger: Trigger::default(),
        scope: Scope::Session,
        from: None,
        until: None,
        optional: false,
        fault,
    }
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn delay(time: u64) -> Fault {
    Fault::Delay(Delay { time: Time::Fixed(ms(time)), overtake: false })
}

pub(crate) fn hold(until: Condition) -> Fault {
    Fault::Hold(Hold { until, limit: Some(ms(10_000)), overtake: false, reading: true })
}

pub(crate) fn cut(ending: Ending, place: Place) -> Cut {
    Cut {
        ending,
        place,
        leg: Leg::Client,
        other_leg: OtherLeg::Close,
        lasting: None,
        when: None,
        limit: ms(10_000),
        settle: ms(20),
    }
}

/// An answer without a body in the server's place.
pub(crate) fn respond(status: u16) -> Respond {
    Respond {
        status,
        headers: Vec::new(),
        content: Content::Empty,
        ending: Ending::Eof,
        when: None,
        limit: ms(1_000),
        forward: false,
        other_leg: OtherLeg::Usual,
        lasting: None,
    }
}

pub(crate) fn after(time: u64) -> Condition {
    Condition::After(Time::Fixed(ms(time)))
}

pub(crate) fn sight(selector: Selector) -> Seen {
    Seen { selector, leg: None, same: Same::Session, nth: 1, next: false, plus: None }
}

pub(crate) fn seen(selector: Selector) -> Condition {
    Condition::Seen(Box::new(sight(selector)))
}

/// The event that answers a request.
pub(crate) fn answer(id: u64) -> String {
    format!("event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n")
}

/// The event of a server's request.
pub(crate) fn question(id: u64) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"elicitation/create\",\"params\":{{}}}}\n\n")
}

/// The event of a notification.
pub(crate) fn notification(n: u64) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"n\":{n}}}}}\n\n")
}
