//! Patterns with `*` and `?`, and what they are compared with.

use bytes::Bytes;

use super::selector::{Count, Glob, Presence};

impl Glob {
    /// Whether this text is meant.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_one_of(&[text])
    }

    /// Whether something is meant that goes by several names.
    #[must_use]
    pub fn matches_one_of(&self, names: &[&str]) -> bool {
        let meant = |patterns: &[String]| patterns.iter().any(|pattern| names.iter().any(|name| like(pattern, name)));
        (self.any.is_empty() || meant(&self.any)) && !meant(&self.none)
    }
}

impl Presence {
    /// Whether a header or an SSE id is as it must be.
    #[must_use]
    pub fn holds(&self, value: Option<&Bytes>) -> bool {
        match (self, value) {
            (Self::Present, value) => value.is_some(),
            (Self::Absent, value) => value.is_none(),
            (Self::Like(_), None) => false,
            (Self::Like(glob), Some(value)) => glob.matches(&String::from_utf8_lossy(value)),
        }
    }
}

impl Count {
    /// Whether so many are meant.
    #[must_use]
    pub fn holds(&self, n: u64) -> bool {
        match self {
            Self::Is(count) => n == *count,
            Self::AtLeast(least) => n >= *least,
            Self::AtMost(most) => n <= *most,
        }
    }
}

/// Whether the text is like the pattern: `*` stands for any text, `?` for one character.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go back to: after the last star, and the text it has not swallowed yet.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(b'?') => {
                p += 1;
                t += width(text[t]);
            }
            Some(byte) if *byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((after, swallowed)) => {
                    star = Some((after, swallowed + 1));
                    (p, t) = (after, swallowed + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// How many bytes a character has that begins with this one.
fn width(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text_and_characters() {
        for (pattern, text, is) in [
            ("tools/*", "tools/call", true),
            ("tools/*", "tool/call", false),
            ("*", "", true),
            ("4??", "404", true),
            ("4??", "40", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("?", "é", true),
            ("Post", "post", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(like(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn exclusion_wins_and_nothing_required_means_everything() {
        let glob = Glob { any: vec!["tools/*".into()], none: vec!["tools/list".into()] };
        assert!(glob.matches("tools/call") && !glob.matches("tools/list") && !glob.matches("ping"));
        assert!(Glob::default().matches("anything"));
        let no_answers = Glob { any: vec![], none: vec!["answer".into()] };
        assert!(!no_answers.matches_one_of(&["answer", "response"]));
    }
}
