//! Waits that could never end: a unit held for something that stands behind it (R21), a rule that waits for itself.
//! Only what is certain from the text is refused; whether a wait ends in a run is the engine's to say.

use super::problem::Report;
use crate::engine::condition::{Condition, Leg, Same, Seen};
use crate::engine::fault::Fault;
use crate::engine::fault::buffer::{Buffer, Until};
use crate::engine::fault::cut::Place;
use crate::engine::fault::hold::Hold;
use crate::engine::fault::respond::Respond;
use crate::engine::language::{Spot, at_word};
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Glob, Selector};

/// Refuses waits of a rule that cannot end.
pub(super) fn rule(report: &mut Report, rule: &Rule, spot: &Spot) {
    let when = rule.fault.waits_for();
    let waits = [rule.from.as_ref(), when].into_iter().flatten();
    if waits.flat_map(any).any(|it| matches!(it, Condition::Fired { rule: other, .. } if *other == rule.name)) {
        report.wrong(spot, "the rule waits for itself", "name another rule in `fired`");
    }
    unknown_bytes(report, rule, spot);
    let all_behind = |hold: &Hold| {
        let behind: Vec<_> = any(&hold.until).into_iter().map(|until| behind(&rule.selector, hold, until)).collect();
        behind.first().copied().flatten().filter(|_| behind.iter().all(Option::is_some))
    };
    match &rule.fault {
        Fault::Hold(hold) => {
            if let Some(instead) = all_behind(hold) {
                report.wrong(spot, "the hold waits for something that can only come after what it holds", instead);
            }
        }
        Fault::Buffer(Buffer { until: Until::Condition(until), head, .. }) => {
            let hold = Hold { until: until.clone(), limit: None, overtake: false, reading: true };
            // Its head goes on, unless it is kept too.
            let heads =
                any(until).into_iter().any(|it| matches!(it, Condition::Seen(it) if it.selector.at == At::Head));
            if all_behind(&hold).is_some_and(|_| *head || !heads) {
                let instead = "say leg = \"server\" for what the server has sent";
                report.wrong(spot, "the buffer waits for something that can only come after what it keeps", instead);
            }
        }
        Fault::Respond(Respond { forward: true, when: Some(when), .. }) => {
            let behind = |it: &Condition| matches!(it, Condition::Seen(seen) if is_behind_its_head(seen));
            if any(when).into_iter().all(behind) {
                let instead = "say leg = \"server\" for what the server has sent";
                report.wrong(spot, "the answer waits for what it takes the place of", instead);
            }
        }
        _ => {}
    }
}

/// Whether what is awaited is the answer's own, as the client gets it.
fn is_behind_its_head(seen: &Seen) -> bool {
    let own = seen.same == Same::Exchange && seen.leg.is_none_or(|leg| leg == Leg::Client);
    own && matches!(seen.selector.at, At::Head | At::Block | At::End)
}

/// Bytes of the body are counted from the head on: a rule about an earlier point can be neither switched nor released by
/// them.
fn unknown_bytes(report: &mut Report, rule: &Rule, spot: &Spot) {
    let counts = |condition: &Condition| any(condition).iter().any(|it| matches!(it, Condition::Bytes { .. }));
    let at = rule.selector.at;
    let early = unsent(at) || at == At::Head;
    let switched = [&rule.from, &rule.until].into_iter().flatten().any(counts);
    let (withheld, when) = match &rule.fault {
        Fault::Cut(cut) => (at == At::Connect || cut.place != Place::After, cut.when.as_ref()),
        _ => (false, None),
    };
    if early && (switched || withheld && when.is_some_and(counts)) {
        let what = format!("no `bytes` of a body have passed at `{}`", at_word(at));
        let instead = if switched {
            "match at = \"block\" or \"end\""
        } else {
            "match at = \"head\" and write where = \"after\""
        };
        report.wrong(spot, what, instead);
    }
}

/// The conditions of which any is enough.
fn any(condition: &Condition) -> Vec<&Condition> {
    match condition {
        Condition::Any(all) => all.iter().flat_map(any).collect(),
        one => vec![one],
    }
}

const UNSENT: &str = "the server has not got it: wait for another exchange, such as same = \"!exchange\"";
const UNREAD: &str = "say reading = true, so that the server's leg is read on";
const BEHIND: &str = "say leg = \"server\" for what the server has sent, or overtake = true for a later block";
const UNASKED: &str = "the client has not been asked: wait for another owner's, same = \"!owner\"";

/// What to write instead, if what is waited for is certainly behind the unit that is held.
fn behind(held: &Selector, hold: &Hold, until: &Condition) -> Option<&'static str> {
    match until {
        Condition::End if unsent(held.at) => Some(UNSENT),
        Condition::End => (!hold.reading && matches!(held.at, At::Head | At::Block)).then_some(UNREAD),
        Condition::Seen(seen) => {
            let own = match seen.same {
                Same::Exchange => true,
                Same::Owner | Same::Call => is_own_request(held) || is_progress(held),
                Same::Session | Same::Run | Same::NotOwner | Same::NotExchange => false,
            };
            let in_exchange = || behind_in_exchange(held, hold, seen);
            own.then(in_exchange).flatten().or_else(|| behind_in_call(held, seen).then_some(UNASKED))
        }
        Condition::After(_)
        | Condition::Never
        | Condition::Any(_)
        | Condition::Fired { .. }
        | Condition::Gathered(_)
        | Condition::Idle { .. } => None,
        Condition::Bytes { .. } => {
            unsent(held.at).then_some(UNSENT).or_else(|| (held.at == At::Head).then_some(BEHIND))
        }
    }
}

fn unsent(at: At) -> bool {
    matches!(at, At::Connect | At::RequestHead | At::Request)
}

/// Whether what is held is a client's own request, so that what it owns cannot come before it: not a resume, an answer, a
/// cancel or a progress, which belong to another request.
fn is_own_request(held: &Selector) -> bool {
    let post = |stream: &Glob| stream.any.is_empty() || stream.any.iter().any(|stream| stream == "post");
    let other = |kind: &Glob| kind.any.iter().any(|kind| kind != "request");
    let kind = held.message.as_ref().and_then(|message| message.kind.as_ref());
    let method = [held.method.as_ref(), held.message.as_ref().and_then(|message| message.method.as_ref())];
    let notes = |glob: &Glob| glob.any.iter().any(|method| method.starts_with("notifications/"));
    held.at == At::Request
        && held.stream.as_ref().is_none_or(post)
        && !kind.is_some_and(other)
        && !method.into_iter().flatten().any(notes)
}

/// Whether what is held is the progress of a request on that request's own stream, before its answer.
fn is_progress(held: &Selector) -> bool {
    let get = |stream: &Glob| stream.any.iter().any(|stream| stream != "post");
    held.at == At::Block && method(held) == Some(PROGRESS) && !held.stream.as_ref().is_some_and(get)
}

const PROGRESS: &str = "notifications/progress";

/// The one method that the messages meant have.
fn method(selector: &Selector) -> Option<&str> {
    one(selector.message.as_ref()?.method.as_ref()?)
}

/// The only text that a pattern fits, if it is one.
fn one(glob: &Glob) -> Option<&str> {
    match (glob.any.as_slice(), glob.none.as_slice()) {
        ([only], []) if !only.contains(['*', '?']) => Some(only),
        _ => None,
    }
}

/// The number of the progress that is meant: it grows with every notification of one request.
fn progress(selector: &Selector) -> Option<f64> {
    let params = &selector.message.as_ref().filter(|_| method(selector) == Some(PROGRESS))?.params;
    let (_, number) = params.iter().find(|(pointer, _)| pointer == "/progress")?;
    one(number)?.parse().ok()
}

/// Whether the awaited point of the same exchange comes after the unit that is held.
fn behind_in_exchange(held: &Selector, hold: &Hold, seen: &Seen) -> Option<&'static str> {
    let arrived = seen.leg == Some(Leg::Server);
    match (held.at, seen.selector.at) {
        (At::Connect | At::RequestHead | At::Request, At::Head | At::Block | At::End) => Some(UNSENT),
        (At::Connect | At::RequestHead, At::Request) if seen.same == Same::Exchange => Some(UNSENT),
        (At::Request, At::Request) if seen.same == Same::Exchange && seen.leg != Some(Leg::Client) => Some(UNSENT),
        // What the server has sent is seen while a unit waits, as long as its leg is read on.
        (At::Head | At::Block, At::Block | At::End) if arrived && !hold.reading => Some(UNREAD),
        (At::Head, At::Head | At::Block | At::End) | (At::Block | At::End, At::End) if !arrived => Some(BEHIND),
        (At::Block, At::Block) if !arrived && !hold.overtake && is_later_block(held, seen) => Some(BEHIND),
        _ => None,
    }
}

/// Blocks before the held one have passed; only an answer, further progress, or what is said to come next, is certainly
/// behind it.
fn is_later_block(held: &Selector, seen: &Seen) -> bool {
    let answer = |selector: &Selector| {
        let kind = selector.message.as_ref().and_then(|message| message.kind.as_ref());
        kind.is_some_and(|kind| kind.any.iter().any(|kind| kind == "answer" || kind == "response" || kind == "error"))
    };
    let grown = progress(held).zip(progress(&seen.selector)).is_some_and(|(held, awaited)| awaited > held);
    seen.next || grown || (answer(&seen.selector) && held.message.is_some() && !answer(held))
}

/// A server's request cannot be answered before it is delivered.
fn behind_in_call(held: &Selector, seen: &Seen) -> bool {
    let kind = |selector: &Selector, word: &str| {
        let kind = selector.message.as_ref().and_then(|message| message.kind.as_ref());
        kind.is_some_and(|kind| kind.any.iter().any(|kind| kind == word))
    };
    held.at == At::Block
        && kind(held, "request")
        && seen.same == Same::Call
        && seen.selector.at == At::Request
        && kind(&seen.selector, "answer")
}
