//! Selectors that mean nothing that ever crosses, because two of their fields contradict each other by the tables of the
//! language. Only what is certain from the text is said; a rule that may match and does not is the verdict's to tell.

use super::schema::{Kind, SELECTOR};
use crate::engine::selector::{At, Glob, MessageSelector, Presence, Selector};

/// The kinds of exchange, and the HTTP method that each has.
const VERBS: [(&str, &str); 6] =
    [("post", "POST"), ("get", "GET"), ("resume", "GET"), ("listen", "POST"), ("legacy", "GET"), ("delete", "DELETE")];
/// The kinds that are of one era only.
const ERAS: [(&str, &str); 2] = [("listen", "modern"), ("legacy", "legacy")];
const LISTEN: &str = "subscriptions/listen";

/// The key that contradicts the rest of its selector, and why nothing is ever like that.
pub(super) fn never(selector: &Selector, era: &[String]) -> Option<(&'static str, String)> {
    empty(selector)
        .or_else(|| streams(selector, era))
        .or_else(|| selector.message.as_ref().and_then(message))
        .or_else(|| answer(selector))
}

/// Patterns that no text fits, and patterns over words that no word fits.
fn empty(selector: &Selector) -> Option<(&'static str, String)> {
    let patterns = [("method", &selector.method), ("name", &selector.name), ("path", &selector.path)];
    let none = patterns.into_iter().find(|(_, glob)| glob.as_ref().is_some_and(excludes_itself));
    if let Some((key, _)) = none {
        return Some((key, format!("`{key}` excludes all that it names")));
    }
    let worded = [
        ("stream", &selector.stream),
        ("media", &selector.media),
        ("resumes", &selector.resumes),
        ("block", &selector.block),
    ];
    let none = worded.into_iter().find(|(key, glob)| {
        glob.as_ref().is_some_and(|glob| !words(key).iter().any(|word| *word != "any" && glob.matches(word)))
    });
    none.map(|(key, _)| (key, format!("`{key}` excludes all that there is")))
}

/// The words that a key of the selector is a pattern over.
fn words(key: &str) -> &'static [&'static str] {
    let kind = SELECTOR.iter().find(|field| field.key == key).map(|field| &field.kind);
    if let Some(Kind::WordGlob(words)) = kind { words } else { &[] }
}

/// Whether each text that is named is excluded too.
fn excludes_itself(glob: &Glob) -> bool {
    let plain = |text: &String| !text.contains(['*', '?']);
    !glob.any.is_empty() && glob.any.iter().all(|text| plain(text) && !glob.matches(text))
}

/// What the kinds of exchange do not have.
fn streams(selector: &Selector, era: &[String]) -> Option<(&'static str, String)> {
    let glob = selector.stream.as_ref()?;
    let meant: Vec<&str> = words("stream").iter().copied().filter(|word| glob.matches(word)).collect();
    let only = |kinds: &[&str]| meant.iter().all(|word| kinds.contains(word));
    let shown = meant.join(" or ");
    let verb = |word: &&str| VERBS.iter().find(|(stream, _)| stream == word).map(|(_, verb)| *verb);
    if let Some(method) = &selector.http_method
        && meant.iter().all(|word| verb(word).is_some_and(|verb| !method.matches(verb)))
    {
        return Some(("http-method", format!("a {shown} has another HTTP method")));
    }
    if selector.resumes.is_some() && !meant.contains(&"resume") {
        return Some(("resumes", format!("a {shown} resumes nothing")));
    }
    let silent = only(&["get", "resume", "legacy", "delete"]);
    if selector.at == At::Request && selector.message.is_some() && silent {
        return Some(("message", format!("the request of a {shown} carries no message")));
    }
    let asked = [("name", selector.name.is_some()), ("id", selector.id.is_some()), ("params", has(&selector.params))];
    let asked = asked.into_iter().find(|(_, asked)| *asked).filter(|_| selector.at != At::Block);
    if let Some((key, _)) = asked.filter(|_| only(&["get", "delete"])) {
        return Some((key, format!("a {shown} carries no message, so it has no `{key}`")));
    }
    let listens = |method: &Glob| method.matches(LISTEN);
    if only(&["listen"]) && !selector.method.as_ref().is_none_or(listens) {
        return Some(("method", format!("a listen carries {LISTEN} and nothing else")));
    }
    if !meant.contains(&"listen") && !meant.contains(&"resume") && selector.method.as_ref().is_some_and(is_listen) {
        return Some(("method", format!("{LISTEN} is a stream of its own: stream = \"listen\"")));
    }
    let foreign = |(stream, of): &&(&str, &str)| only(&[stream]) && !era.is_empty() && !era.iter().any(|it| it == of);
    ERAS.iter()
        .find(foreign)
        .map(|(stream, of)| ("stream", format!("a {stream} is of the {of} era, and `era` has none")))
}

fn is_listen(method: &Glob) -> bool {
    method.any == [LISTEN]
}

fn has<T>(list: &[T]) -> bool {
    !list.is_empty()
}

/// What the kinds of message do not have.
fn message(message: &MessageSelector) -> Option<(&'static str, String)> {
    if message.method.as_ref().is_some_and(excludes_itself) {
        return Some(("message", "`method` excludes all that it names".to_owned()));
    }
    let kind = message.kind.as_ref()?;
    let sorts =
        [&["response"][..], &["response", "answer"], &["error"], &["error", "answer"], &["request"], &["notification"]];
    let meant: Vec<&str> = sorts.iter().filter(|names| kind.matches_one_of(names)).map(|names| names[0]).collect();
    let what = if meant.is_empty() {
        "its kinds exclude all that there is"
    } else if message.code.is_some() && !meant.contains(&"error") {
        "only an error has a `code`"
    } else if has(&message.result) && !meant.contains(&"response") {
        "only a response has a `result`"
    } else {
        return None;
    };
    Some(("message", what.to_owned()))
}

/// What the kinds of answer do not have.
fn answer(selector: &Selector) -> Option<(&'static str, String)> {
    let media = selector.media.as_ref()?;
    if selector.at != At::Block || media.matches("sse") {
        return None;
    }
    if !media.matches("json") {
        return Some(("media", "only an event stream or a JSON answer has blocks".to_owned()));
    }
    let block = selector.block.as_ref().is_some_and(|block| !block.matches("message"));
    let id = selector.event_id.as_ref().is_some_and(|id| *id != Presence::Absent);
    let key = if block { "block" } else { Some("event-id").filter(|_| id)? };
    Some((key, "a JSON answer is one message, without an SSE id".to_owned()))
}
