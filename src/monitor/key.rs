//! Keys taken apart (docs/journal.md): the exchange of a point, and the stream that a resume continues.

/// The session and the exchange of a point's key.
pub(super) fn exchange(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(exchange, _)| exchange)
}

/// A point's own part of its key: `block#3`.
pub(super) fn place(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(_, place)| place)
}

/// The exchange whose stream this one carries: of `s1/resume:1(post:2)` that is `s1/post:2`, of any other its own. None of
/// a resume of nobody knows what.
pub(super) fn origin(exchange: &str) -> Option<String> {
    let Some((session, own)) = exchange.split_once('/') else { return Some(exchange.to_owned()) };
    let Some(rest) = own.strip_prefix("resume:") else { return Some(exchange.to_owned()) };
    let origin = rest.split_once('(')?.1.strip_suffix(')')?;
    // A resume of a resume carries the stream that the first one did.
    (origin != "?").then(|| self::origin(&format!("{session}/{origin}")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resume_carries_the_stream_that_it_continues() {
        assert_eq!(exchange("s1/post:2/block#1"), "s1/post:2");
        assert_eq!(place("s1/post:2/block#1"), "block#1");
        assert_eq!(origin("s1/post:2(2)").as_deref(), Some("s1/post:2(2)"));
        assert_eq!(origin("s1/resume:1(post:\"a\"(2))").as_deref(), Some("s1/post:\"a\"(2)"));
        assert_eq!(origin("s1/resume:3(?)"), None);
    }
}
