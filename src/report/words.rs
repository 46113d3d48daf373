//! Small pieces of text that the reports share: lengths of time, plurals, words for a shell.

/// Writes a length of time as a reader says it, rounded: three figures at most below a minute. `micros` are microseconds.
#[must_use]
pub fn span(micros: u64) -> String {
    let to = |unit: u64| micros.saturating_add(unit / 2) / unit;
    let tenths = |tenths: u64, unit| format!("{}.{} {unit}", tenths / 10, tenths % 10);
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..9_950 => tenths(to(100), "ms"),
        9_950..999_500 => format!("{} ms", to(1_000)),
        999_500..59_950_000 => tenths(to(100_000), "s"),
        _ => format!("{} m {} s", to(1_000_000) / 60, to(1_000_000) % 60),
    }
}

/// Writes a number and its noun, with an "s" unless it is one.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Writes which one of many: `1st`, `2nd`, `11th`.
#[must_use]
pub fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Writes words as a POSIX shell takes them; quoted only where they must be.
#[must_use]
pub fn shell<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(shell_word).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_written_in_the_unit_a_reader_would_use() {
        let written =
            [0, 999, 1_000, 9_940, 9_990, 412_545, 999_999, 1_999_999, 59_900_000, 59_990_000, 3_723_000_000].map(span);
        assert_eq!(
            written,
            [
                "0 us", "999 us", "1.0 ms", "9.9 ms", "10 ms", "413 ms", "1.0 s", "2.0 s", "59.9 s", "1 m 0 s",
                "62 m 3 s"
            ]
        );
    }

    #[test]
    fn one_of_many_is_written_with_its_ending() {
        let written = [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal);
        assert_eq!(written, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]);
    }

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_read_it_otherwise() {
        let words = ["-p", "late,when={ idle = \"5s\" }", "it's", "", "http://127.0.0.1:1/mcp", "{url}"];
        assert_eq!(shell(words), r#"-p 'late,when={ idle = "5s" }' 'it'\''s' '' http://127.0.0.1:1/mcp '{url}'"#);
    }
}
