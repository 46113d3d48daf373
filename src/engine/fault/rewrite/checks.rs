//! What of `rewrite` has no meaning, at its point or together, and what to write instead.

use super::{Form, Rewrite};
use crate::engine::fault::event_text;
use crate::engine::fault::rewrite::Reply;
use crate::engine::language::params::{Datum, Params};
use crate::engine::language::{Complaints, Spot};
use crate::engine::rule::Rule;
use crate::engine::selector::{At, Glob};

const ALL: [&str; 9] = ["status", "headers", "set", "remove", "id", "result", "error", "event", "as"];
const OF_A_MESSAGE: [&str; 5] = ["set", "remove", "id", "result", "error"];

/// The parameters, at the point where they act.
pub(super) fn params(params: &Params, at: At, spot: &Spot, slips: &mut Complaints) {
    if params.which(&ALL).is_empty() {
        return slips.wrong(spot, "`rewrite` changes nothing", format!("write one of {}", ALL.join(", ")));
    }
    points(params, at, slips);
    slips.at_most_one(params, &["result", "error"]);
    empty(params, slips);
    status(params, slips);
    headers(params, slips);
    event(params, slips);
    pointers(params, slips);
}

/// What is not there at this point.
fn points(params: &Params, at: At, slips: &mut Complaints) {
    for (key, spot) in params.which(&ALL) {
        let message = OF_A_MESSAGE.contains(&key);
        let (what, instead) = match (key, at) {
            (_, At::Head) if message => ("changes a message, and a head has none", "\"block\" or \"request\""),
            ("event", At::Head) => ("changes an event, and a head is none", "\"block\""),
            ("event", At::Request) => ("changes an event, and a request is none", "\"block\""),
            ("status", At::Request) => ("is an answer's, and a request has none", "\"head\""),
            ("status" | "headers", At::Block) => ("has gone with the head", "\"head\""),
            _ => continue,
        };
        slips.wrong(&spot, format!("`{key}` {what}"), format!("match at = {instead}"));
    }
    let (Some(form), Some(spot)) = (params.text("as"), params.written("as")) else { return };
    match (form.as_str(), at) {
        ("array", At::Head) => {
            let what = "`as = \"array\"` wraps a message, and a head has none";
            slips.wrong(spot, what, "match at = \"block\" or \"request\"");
        }
        ("sse" | "json", At::Block) => {
            let what = format!("`as = \"{form}\"` changes the whole answer, and its head has gone");
            slips.wrong(spot, what, "match at = \"head\"");
        }
        ("sse" | "json", At::Request) => {
            let what = format!("`as = \"{form}\"` is about an answer, and a request is JSON");
            slips.wrong(spot, what, "match at = \"head\", or write as = \"array\"");
        }
        _ => {}
    }
}

/// Tables and lists with nothing in them.
fn empty(params: &Params, slips: &mut Complaints) {
    let headers = params.headers("headers").is_some_and(|headers| headers.is_empty());
    let set = params.set("set").is_some_and(|set| set.is_empty());
    let remove = params.pointer_list("remove").is_some_and(|remove| remove.is_empty());
    let event = params.sub_table("event").is_some_and(|event| event.which(&["id", "event", "retry"]).is_empty());
    for (key, is_empty) in [("headers", headers), ("set", set), ("remove", remove), ("event", event)] {
        if let Some(spot) = params.written(key).filter(|_| is_empty) {
            slips.wrong(spot, format!("`{key}` changes nothing"), "name something in it, or leave it out");
        }
    }
}

/// A status that says there is no body, where `rewrite` keeps the body.
fn status(params: &Params, slips: &mut Complaints) {
    let (Some(status), Some(spot)) = (params.int("status"), params.written("status")) else { return };
    if status < 200 {
        let what = format!("`status` cannot be {status}: what follows is no answer yet");
        slips.wrong(spot, what, "write a status from 200 to 599");
    } else if matches!(status, 204 | 205 | 304) {
        let what = format!("`status` cannot be {status}: such an answer has no body, and `rewrite` keeps it");
        slips.wrong(spot, what, format!("write respond = {status}"));
    }
}

fn headers(params: &Params, slips: &mut Complaints) {
    for (name, spot) in params.framing_headers("headers") {
        let instead = match name.as_str() {
            "connection" | "keep-alive" => "leave it out; `cut` ends a connection",
            "content-length" => "leave it out; to end a body early write `cut`",
            _ => "leave it out",
        };
        slips.wrong(&spot, format!("the header `{name}` frames the message, and HTTP would break with it"), instead);
    }
}

fn event(params: &Params, slips: &mut Complaints) {
    let Some(event) = params.sub_table("event") else { return };
    for (key, spot) in event.which(&["id", "event", "retry"]) {
        match event.datum(key) {
            Some(Datum::Bool(true)) => {
                slips.wrong(&spot, format!("`{key}` cannot be true"), "write a value, or false to remove it");
            }
            _ => event_text::one_line(&event, key, slips),
        }
    }
}

fn pointers(params: &Params, slips: &mut Complaints) {
    if let (Some(set), Some(spot)) = (params.set("set"), params.written("set"))
        && set.iter().any(|(pointer, _)| pointer == "/id")
    {
        slips.wrong(spot, "`set` of \"/id\"", "write id = { value = … }, which is undone in what answers a request");
    }
    if let (Some(remove), Some(spot)) = (params.pointer_list("remove"), params.written("remove"))
        && remove.iter().any(String::is_empty)
    {
        slips.wrong(spot, "`remove` of the whole message", "write drop = true");
    }
}

/// A whole rule: what it could never meet.
pub(super) fn rule(rewrite: &Rewrite, rule: &Rule, spot: &Spot, slips: &mut Complaints) {
    let selector = &rule.selector;
    let kinds = selector.message.as_ref().and_then(|message| message.kind.as_ref());
    let never = |words: &[&str]| kinds.is_some_and(|kinds| only(kinds, words));
    if let Some(reply) = &rewrite.reply {
        let word = if matches!(reply, Reply::Result(_)) { "result" } else { "error" };
        let asks = never(&["request", "notification"]) || selector.at == At::Request && selector.method.is_some();
        if asks {
            slips.wrong(spot, format!("`{word}` is for an answer"), "match message = \"answer\", without `method`");
        }
    }
    if rewrite.id.is_some() && never(&["notification"]) {
        slips.wrong(spot, "a notification has no `id`", "match message = \"request\" or \"answer\"");
    }
    let media = |word: &str| selector.media.as_ref().is_some_and(|media| only(media, &[word]));
    let stream = |words: &[&str]| selector.stream.as_ref().is_some_and(|stream| only(stream, words));
    match rewrite.form {
        Some(Form::Sse) if media("sse") => {
            slips.wrong(spot, "`as = \"sse\"` of what is an event stream", "match media = \"json\"");
        }
        Some(Form::Json) if media("json") => {
            slips.wrong(spot, "`as = \"json\"` of what is JSON", "match media = \"sse\"");
        }
        Some(Form::Json) if stream(&["get", "legacy", "listen", "delete", "other"]) => {
            let what = "`as = \"json\"` on a stream that ends with no answer";
            slips.wrong(spot, what, "match stream = \"post\" or \"resume\"");
        }
        _ => {}
    }
    if !rewrite.event.is_empty() && media("json") {
        slips.wrong(spot, "`event` of a JSON answer, which has no events", "match media = \"sse\"");
    }
}

/// Whether a pattern means nothing but these words.
fn only(glob: &Glob, words: &[&str]) -> bool {
    !glob.any.is_empty() && glob.any.iter().all(|any| words.contains(&any.as_str()))
}
