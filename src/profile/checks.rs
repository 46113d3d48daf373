//! What two keys mean together: combinations that could never do what they say are refused at load.

use super::params::Params;
use super::problem::{Report, Spot};
use super::waits;
use crate::engine::condition::{Condition, Time};
use crate::engine::fault::Fault;
use crate::engine::fault::hold::Hold;
use crate::engine::fault::moving::{Move, MoveTo};
use crate::engine::fault::reorder::{Order, Reorder};
use crate::engine::rule::Rule;
use crate::engine::selector::At;

/// `nth` names points; `skip` and `every` count them: both at once would have two meanings.
pub(super) fn triggers(report: &mut Report, params: &Params) {
    let Some(spot) = params.written("nth") else { return };
    for other in ["skip", "every"] {
        if params.written(other).is_some() {
            report.wrong(spot, format!("`nth` together with `{other}`"), "write nth as a list, or leave it out");
        }
    }
}

/// The parameters of a fault, read without a problem, at the point where it acts.
pub(super) fn fault(report: &mut Report, name: &str, params: &Params, at: At, spot: &Spot) {
    match name {
        "cut" => cut(report, params, at),
        "hold" => endless(report, params),
        "rewrite" => rewrite(report, params, at, spot),
        "respond" => {
            at_most_one(report, params, &["body", "body-file", "json", "result", "error", "sse"]);
        }
        "inject" if at_most_one(report, params, &["message", "event", "comment", "raw"]) == 0 => {
            report.wrong(spot, "`inject` adds nothing", "write one of message, event, comment, raw");
        }
        "reframe" if written(params, &["split", "gap", "newline", "coalesce", "final-blank", "pad"]).is_empty() => {
            report.wrong(spot, "`reframe` changes nothing", "write one of split, newline, coalesce, final-blank, pad");
        }
        _ => {}
    }
}

/// A whole rule.
pub(super) fn rule(report: &mut Report, rule: &Rule, spot: &Spot) {
    match &rule.fault {
        Fault::Hold(hold) => limit(report, hold, spot),
        Fault::Reorder(reorder) => places(report, reorder, spot),
        Fault::Move(moving) => moved(report, rule, moving, spot),
        Fault::Delay(_) | Fault::Cut(_) | Fault::Rewrite(_) => {}
    }
    waits::rule(report, rule, spot);
}

/// A hold for good has no limit (R21): one that is written would be ignored.
fn endless(report: &mut Report, params: &Params) {
    let never = params.condition("until") == Some(Condition::Never);
    if let Some(spot) = params.written("limit").filter(|_| never) {
        report.wrong(spot, "`limit` beside \"never\": a hold for good has none", "remove it, or say `delay`");
    }
}

fn cut(report: &mut Report, params: &Params, at: At) {
    let place = params.text("where");
    let place = place.as_deref().unwrap_or(if matches!(at, At::Connect | At::Head) { "after" } else { "before" });
    let ending = params.written("ending").cloned().unwrap_or_default();
    let headless = matches!(at, At::Connect | At::RequestHead | At::Request) || (at == At::Head && place != "after");
    if headless && params.text("ending").as_deref() == Some("eof") && params.text("leg").as_deref() != Some("server") {
        let instead = if at == At::Head { "write where = \"after\", or" } else { "match at = \"head\", or" };
        report.wrong(
            &ending,
            "`eof` before a head: there is no body to end",
            format!("{instead} cut with fin, reset or stall"),
        );
    }
    let inside = params.written("where").filter(|_| place == "inside");
    match (inside, params.written("byte")) {
        (None, Some(byte)) => report.wrong(byte, "`byte` without `inside`", "write where = \"inside\""),
        (Some(spot), _) if at == At::Request => report.not_built(spot, "`inside` at `request`, a half-sent request,"),
        (Some(spot), _) if at != At::Block => {
            report.wrong(spot, "`inside` needs a block or a request", "match at = \"block\", or write before or after");
        }
        _ => {}
    }
    if let Some(spot) = params.written("where").filter(|_| at == At::End && place == "after") {
        report.wrong(spot, "`after` an end: nothing is left to cut", "write where = \"before\"");
    }
    if let Some(lasting) = params.written("for").filter(|_| params.text("other-leg").as_deref() == Some("close")) {
        report.wrong(lasting, "`for` with a leg that closes", "write other-leg = \"drain\" or \"keep\"");
    }
    if let Some(code) = params.written("h2-code") {
        report.not_built(code, "`h2-code`");
    }
}

fn rewrite(report: &mut Report, params: &Params, at: At, spot: &Spot) {
    let other = written(params, &["status", "headers", "remove", "id", "result", "error", "event", "as"]);
    for (key, spot) in &other {
        report.not_built(spot, &format!("`rewrite` of `{key}`"));
    }
    match params.written("set") {
        Some(set) if at == At::Head => {
            report.wrong(set, "`set` changes a message, and a head has none", "match at = \"block\" or \"request\"");
        }
        None if other.is_empty() => report.wrong(spot, "`rewrite` changes nothing", "write `set`"),
        _ => {}
    }
}

/// A limit is a failure, not a plan (R21): a time that never comes true before it is a slip.
fn limit(report: &mut Report, hold: &Hold, spot: &Spot) {
    let (Condition::After(Time::Fixed(time)), Some(limit)) = (&hold.until, hold.limit) else { return };
    if *time >= limit {
        report.wrong(spot, "the hold's time is not shorter than its `limit`", "write a longer limit, or say `delay`");
    }
}

/// A session has one standalone GET: what came on it cannot move there.
fn moved(report: &mut Report, rule: &Rule, moving: &Move, spot: &Spot) {
    let get = rule.selector.stream.as_ref().is_some_and(|stream| stream.any == ["get"]);
    if get && moving.to == MoveTo::Get {
        report.wrong(spot, "`move` to the stream on which it came", "write to = \"post\", or match another stream");
    }
}

fn places(report: &mut Report, reorder: &Reorder, spot: &Spot) {
    let Order::Given(places) = &reorder.order else { return };
    if places.len() as u64 != reorder.window {
        let what = format!("`order` has {} places and the window {}", places.len(), reorder.window);
        report.wrong(spot, what, "write a place for each block of the window");
    }
}

/// Reports all but the first of the keys that were written; returns how many there were.
fn at_most_one(report: &mut Report, params: &Params, keys: &[&'static str]) -> usize {
    let written = written(params, keys);
    if let [(first, _), rest @ ..] = written.as_slice() {
        for (key, spot) in rest {
            report.wrong(spot, format!("`{first}` and `{key}` together"), "write one of them");
        }
    }
    written.len()
}

fn written(params: &Params, keys: &[&'static str]) -> Vec<(&'static str, Spot)> {
    keys.iter().filter_map(|key| Some((*key, params.written(key)?.clone()))).collect()
}
