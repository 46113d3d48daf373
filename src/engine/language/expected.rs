//! Expectations in English, for `mishap check` and the verdict. It says only what is restricted.

use std::time::Duration;

use super::words::{same, selector, show_duration, time};
use crate::engine::condition::{Leg, Time};
use crate::engine::expectation::{Check, Expectation, Opener, Opening, RequestCheck, Wanted, What};
use crate::engine::selector::Count;
use crate::engine::trigger::Scope;

/// The whole expectation as a sentence: for which occasions, and what is to be seen.
#[must_use]
pub fn sentence(it: &Expectation) -> String {
    let optional = if it.optional { " (may never be asked)" } else { "" };
    let wanted = wanted(it) + optional;
    match (&it.what, it.after.is_empty(), it.scope) {
        (What::Check(_) | What::Requests(_), ..) => wanted,
        (_, false, _) => format!("each time that {}: {wanted}", after(it)),
        (_, true, Scope::Run) => format!("in the run: {wanted}"),
        (_, true, _) => format!("in each session: {wanted}"),
    }
}

/// What is to be seen.
#[must_use]
pub fn wanted(it: &Expectation) -> String {
    let what = match &it.what {
        What::Points(all) => format!("{} {}", count(it.count), all.iter().map(point).collect::<Vec<_>>().join(" or ")),
        What::Fired(rule) => format!("{} firing of {rule}", count(it.count)),
        What::Exit if it.count.most() == Some(0) => "no end of the command".to_owned(),
        What::Exit => "the end of the command".to_owned(),
        What::Resumed => "a resume of that stream, from the last id it was given".to_owned(),
        What::Check(check) => checked(*check).to_owned(),
        What::Requests(check) => of_requests(*check).to_owned(),
    };
    let long = |word: &str, time: Option<Duration>| {
        time.map(|time| format!(" {word} {}", show_duration(time))).unwrap_or_default()
    };
    format!("{what}{}{}", long("in any", it.per), long("within", it.within))
}

/// What makes `after` true; empty, if there is none.
#[must_use]
pub fn after(it: &Expectation) -> String {
    it.after.iter().map(opening).collect::<Vec<_>>().join(", or ")
}

fn checked(check: Check) -> &'static str {
    match check {
        Check::OneInitialize => "no second initialize by a client whose first was answered",
        Check::ResumeId => "each Last-Event-ID to be the last one delivered on the stream it continues",
        Check::NoRepeat => "no tools/call sent again under another id, and no id used twice",
        Check::Closed => "no exchange open at the end",
        Check::ConnectionsClosed => "no connection of a client open at the end",
    }
}

fn of_requests(check: RequestCheck) -> &'static str {
    match check {
        RequestCheck::Settled => "each client request answered, cancelled, left or told",
        RequestCheck::NoLateCancel => "no cancel of a request whose stream had ended",
        RequestCheck::NoLostRequest => "no server's request given up that had crossed no stream",
    }
}

fn count(it: Count) -> String {
    match it {
        Count::Is(0) => "no".to_owned(),
        Count::Is(number) => format!("exactly {number}"),
        Count::AtLeast(number) => format!("at least {number}"),
        Count::AtMost(number) => format!("at most {number}"),
    }
}

fn point(it: &Wanted) -> String {
    format!("{}{}{}", selector(&it.selector), same(it.same), on(it.leg))
}

/// Expectations look at the client's leg, if nothing else is said (rule R2).
fn on(leg: Leg) -> &'static str {
    if leg == Leg::Client { "" } else { " on the server's leg" }
}

fn opening(it: &Opening) -> String {
    let later = |plus: Option<&Time>| match plus {
        None | Some(Time::Fixed(Duration::ZERO)) => String::new(),
        Some(plus) => format!(" {} ago", time(plus)),
    };
    match it {
        Opening::Time(after) => format!("{} have gone by", time(after)),
        Opening::Seen(seen) => {
            let Opener { selector: which, leg, nth, across, plus } = &**seen;
            let ordinal = nth.map(|nth| format!("number {nth} of ")).unwrap_or_default();
            let across = if nth.is_some() && *across { " of any session" } else { "" };
            format!("{ordinal}{}{across}{} was seen{}", selector(which), on(*leg), later(plus.as_ref()))
        }
        Opening::Fired { rule, plus } => format!("{rule} has acted{}", later(plus.as_ref())),
        Opening::Leave => "the client has left an exchange that the server has not ended".to_owned(),
    }
}
