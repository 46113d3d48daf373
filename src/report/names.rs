//! How a stream and a point are called, from their keys (docs/journal.md): the same name in the verdict and the timeline.
//!
//! The one rule: a name holds the JSON-RPC id of the key, so that a reader finds it again in his own log.

use std::collections::BTreeMap;

/// The name of an exchange's stream, from its own part of the key: `post:1` is `POST id 1`, or `POST tools/call id 1`
/// where its method is known.
#[must_use]
pub fn stream(own: &str, method: Option<&str>) -> String {
    let (kind, rest) = own.split_once(':').unwrap_or((own, ""));
    if let ("resume", Some((_, origin))) = (kind, rest.split_once('(')) {
        let origin = origin.strip_suffix(')').unwrap_or(origin);
        return if origin == "?" { "resume".to_owned() } else { format!("resume of {}", stream(origin, method)) };
    }
    let (rest, again) = repeated(rest);
    let method = method.map(|method| format!("{method} ")).unwrap_or_default();
    let name = match kind {
        "post" => format!("POST {method}id {rest}"),
        "answer" => format!("POST answer id {rest}"),
        "note" => format!("POST {}", rest.trim_start_matches("notifications/")),
        "get" | "delete" if rest == "1" => kind.to_uppercase(),
        "get" | "delete" => format!("{} {rest}", kind.to_uppercase()),
        "listen" => format!("listen id {rest}"),
        _ => return own.to_owned(),
    };
    name + &again
}

/// The methods of exchanges, by their keys (session / exchange).
pub type Methods = BTreeMap<String, String>;

/// A point by its key, in words: `s1/post:1/end#1` is `end of POST tools/call id 1`, and `s1/post:1/block#2` is `block 2 of`
/// it. Text that is no key is returned as it is.
#[must_use]
pub fn point(key: &str, methods: &Methods) -> String {
    match key.rsplit_once('/') {
        Some((exchange, point)) if exchange.contains('/') && point.contains('#') => {
            point_of(key, &exchange_stream(exchange, methods))
        }
        _ => key.to_owned(),
    }
}

/// A point by its key, on a stream of this name.
#[must_use]
pub fn point_of(key: &str, stream: &str) -> String {
    format!("{} of {stream}", place(key.rsplit('/').next().unwrap_or(key)))
}

/// The name of an exchange's stream, from its whole key.
#[must_use]
pub fn exchange_stream(key: &str, methods: &Methods) -> String {
    let own = key.split_once('/').map_or(key, |(_, own)| own);
    stream(own, methods.get(key).map(String::as_str))
}

/// A point's own part of its key: `end#1` is `end`, there is one; `block#2` is `block 2`.
fn place(point: &str) -> String {
    match point.split_once('#') {
        Some((kind, number)) if kind.starts_with("block") => format!("{} {number}", kind.replace("block.", "")),
        Some((kind, _)) => kind.to_owned(),
        None => point.to_owned(),
    }
}

/// Parts `1(2)`, the second use of id 1, into `1` and ` (2)`.
fn repeated(rest: &str) -> (&str, String) {
    let split = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    match split.filter(|(_, times)| times.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((id, times)) => (id, format!(" ({times})")),
        None => (rest, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_called_by_its_kind_and_the_id_of_its_request() {
        let keys = ["post:1", "post:\"a\"(2)", "answer:0", "note:notifications/initialized", "get:1", "get:2"];
        let names = ["POST id 1", "POST id \"a\" (2)", "POST answer id 0", "POST initialized", "GET", "GET 2"];
        assert_eq!(keys.map(|key| stream(key, None)), names);
        assert_eq!(stream("post:1", Some("tools/call")), "POST tools/call id 1");
        assert_eq!(stream("resume:1(post:1)", None), "resume of POST id 1");
    }

    #[test]
    fn a_point_is_called_by_its_stream_and_other_words_are_left_alone() {
        let methods = Methods::from([("s1/post:1".to_owned(), "tools/call".to_owned())]);
        let point = |key| point(key, &methods);
        assert_eq!(point("s1/post:1/end#1"), "end of POST tools/call id 1");
        assert_eq!(point("s2/post:1/end#1"), "end of POST id 1", "another session's");
        assert_eq!(point("s1/post:1/block#2"), "block 2 of POST tools/call id 1");
        assert_eq!(point("s1/get:1/block.comment#3"), "comment 3 of GET");
        assert_eq!(point("s1/other:PUT:/a/b/request#1"), "request of other:PUT:/a/b");
        for words in ["k/kill-get fired", "the window is full", "250 ms"] {
            assert_eq!(point(words), words);
        }
    }
}
