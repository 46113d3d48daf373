//! How a stream and a point are called, from their keys (docs/journal.md): the same name in the verdict and the timeline.
//!
//! The one rule: a name holds the JSON-RPC id of the key, so that a reader finds it again in his own log.

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

/// A point by its key, in words: `s1/post:1/end#1` is `end of POST id 1`. Text that is no key is returned as it is.
#[must_use]
pub fn point(key: &str) -> String {
    let mut parts = key.splitn(2, '/').skip(1).flat_map(|rest| rest.rsplitn(2, '/'));
    match (parts.next(), parts.next()) {
        (Some(point), Some(own)) if point.contains('#') => {
            format!("{} of {}", point.split('#').next().unwrap_or(point), stream(own, None))
        }
        _ => key.to_owned(),
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
        assert_eq!(point("s1/post:1/end#1"), "end of POST id 1");
        assert_eq!(point("s1/other:PUT:/a/b/request#1"), "request of other:PUT:/a/b");
        for words in ["k/kill-get fired", "the window is full", "250 ms"] {
            assert_eq!(point(words), words);
        }
    }
}
