//! The small texts of a profile: durations, sizes, rates, counts, globs, pointers. Each function takes the text alone
//! and, when it is wrong, answers what to write instead.

use std::time::Duration;

use crate::engine::fault::cut::Offset;
use crate::engine::language::words::DURATION_UNITS;
use crate::engine::selector::{Count, Glob};

/// Units of a size, in bytes.
const SIZE_UNITS: [(&str, u64); 3] = [("B", 1), ("KiB", 1024), ("MiB", 1024 * 1024)];

/// `"250ms"`, `"1.5s"`; units us ms s m h.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let Some((_, scale)) = DURATION_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" => format!("write the unit: \"{text}ms\" or \"{text}s\""),
            "sec" | "secs" | "second" | "seconds" => format!("write \"{number}s\""),
            "min" | "mins" | "minute" | "minutes" => format!("write \"{number}m\""),
            "msec" | "millis" | "milliseconds" => format!("write \"{number}ms\""),
            _ => "write a number and one of us, ms, s, m, h, such as \"250ms\"".to_owned(),
        });
    };
    scaled(number, *scale)
        .map(Duration::from_nanos)
        .ok_or_else(|| "write a number of digits below 5000000h, such as \"250ms\"".to_owned())
}

/// `"8KiB"`; units B KiB MiB.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let Some((_, scale)) = SIZE_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit.to_ascii_lowercase().as_str() {
            "" => format!("write {text} without quotes for bytes, or \"{text}KiB\""),
            "k" | "kb" | "kib" => format!("write \"{number}KiB\""),
            "m" | "mb" | "mib" => format!("write \"{number}MiB\""),
            _ => "write a number and one of B, KiB, MiB, such as \"8KiB\"".to_owned(),
        });
    };
    scaled(number, *scale).ok_or_else(|| "write a number and one of B, KiB, MiB, such as \"8KiB\"".to_owned())
}

/// `"10KiB/s"`, in bytes a second.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let example = || "write a size a second, for example \"10KiB/s\"".to_owned();
    match text.strip_suffix("/s") {
        Some(size_each) => size(size_each).map_err(|_| example()),
        // What is said next must be what is taken then.
        None if size(text).is_ok() => Err(format!("write \"{text}/s\"")),
        None => Err(example()),
    }
}

/// `">=2"`, `"<=2"`, `">2"`, `"<2"`.
pub(super) fn count(text: &str) -> Result<Count, String> {
    let help = || "write a number, or \">=2\", \"<=2\", \">2\", \"<2\"".to_owned();
    let split = text.find(|c: char| c.is_ascii_digit()).ok_or_else(help)?;
    let (sign, digits) = text.split_at(split);
    let number: u64 = digits.parse().map_err(|_| help())?;
    match sign.trim_end() {
        ">=" => Ok(Count::AtLeast(number)),
        "<=" => Ok(Count::AtMost(number)),
        ">" => number.checked_add(1).map(Count::AtLeast).ok_or_else(help),
        "<" => number.checked_sub(1).map(Count::AtMost).ok_or_else(|| "nothing is less than 0; write 0".to_owned()),
        "" => Err(format!("write {number} without quotes")),
        _ => Err(help()),
    }
}

/// Adds one pattern: `"tools/*"`, or `"!x"` to exclude.
pub(super) fn add_pattern(glob: &mut Glob, text: &str) {
    match text.strip_prefix('!') {
        Some(excluded) => glob.none.push(excluded.to_owned()),
        None => glob.any.push(text.to_owned()),
    }
}

/// A status pattern, `404`, `"4xx"`, `"!204"`, as the glob the engine compares with three digits.
pub(super) fn status_pattern(text: &str) -> Result<String, String> {
    let (not, rest) = text.strip_prefix('!').map_or(("", text), |rest| ("!", rest));
    let fits = rest.len() == 3
        && rest.starts_with(|c: char| ('1'..='9').contains(&c))
        && rest.chars().all(|c| c.is_ascii_digit() || c == 'x');
    if fits { Ok(format!("{not}{}", rest.replace('x', "?"))) } else { Err("write 404, \"4xx\" or \"!204\"".to_owned()) }
}

/// A JSON pointer (RFC 6901).
pub(super) fn pointer(text: &str) -> Result<(), String> {
    if !text.is_empty() && !text.starts_with('/') {
        let path = if text.contains('/') { text.to_owned() } else { text.replace('.', "/") };
        return Err(format!("write \"/{path}\""));
    }
    let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if escaped { Ok(()) } else { Err("write \"~0\" for a tilde and \"~1\" for a slash in a name".to_owned()) }
}

/// `"50%"`: a share of a unit's bytes.
pub(super) fn share(text: &str) -> Result<Offset, String> {
    let help = || "write a share such as \"50%\", or a number of bytes (negative: from the end)".to_owned();
    let percent: f64 = text.strip_suffix('%').and_then(|number| number.trim().parse().ok()).ok_or_else(help)?;
    if (0.0..=100.0).contains(&percent) { Ok(Offset::Share(percent / 100.0)) } else { Err(help()) }
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// A decimal number times `scale`, exact, or `None` if it is no number or does not come out whole.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| (1..=18).contains(digits))?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let parts = u128::from(fraction.parse::<u64>().ok()?) * u128::from(scale);
    let one = 10_u128.pow(digits);
    let exact = parts.is_multiple_of(one).then_some(parts / one)?;
    whole.checked_add(u64::try_from(exact).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::language::words::show_duration;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("0ms"), Ok(Duration::ZERO));
        assert_eq!(duration("2 m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("30"), Err("write the unit: \"30ms\" or \"30s\"".to_owned()));
        assert_eq!(duration("30sec"), Err("write \"30s\"".to_owned()));
        for wrong in ["", "s", "-1s", "1.s", ".5s", "1e3s", "1.2.3s", "99999999999h", "0.0001us", "1m30s", "５s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_size_has_binary_units() {
        assert_eq!(size("8KiB"), Ok(8192));
        assert_eq!(size("0.5MiB"), Ok(512 * 1024));
        assert_eq!(size("8kb"), Err("write \"8KiB\"".to_owned()));
        assert_eq!(rate("10KiB/s"), Ok(10240));
        assert_eq!(rate("10KiB"), Err("write \"10KiB/s\"".to_owned()));
        for wrong in ["fast", "10MiB/m", "10KB/s"] {
            assert_eq!(rate(wrong), Err("write a size a second, for example \"10KiB/s\"".to_owned()));
        }
        let long = duration("99999999999h").expect_err("it does not fit");
        assert!(long.contains("below 5000000h"), "{long}");
    }

    #[test]
    fn a_count_may_be_a_bound() {
        assert_eq!(count(">=2"), Ok(Count::AtLeast(2)));
        assert_eq!(count(">2"), Ok(Count::AtLeast(3)));
        assert_eq!(count("<=2"), Ok(Count::AtMost(2)));
        assert_eq!(count("< 2"), Ok(Count::AtMost(1)));
        for wrong in ["<0", "2", "==2", "=>2", "two", "", ">18446744073709551615"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_status_is_three_digits_or_a_class() {
        assert_eq!(status_pattern("4xx").as_deref(), Ok("4??"));
        assert_eq!(status_pattern("!204").as_deref(), Ok("!204"));
        for wrong in ["40", "4040", "xxx", "ok", "!", "4XX"] {
            assert!(status_pattern(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pointer_begins_with_a_slash_and_escapes_with_tildes() {
        assert_eq!(pointer("/arguments/tag"), Ok(()));
        assert_eq!(pointer("/_meta/mishap~1owner"), Ok(()));
        assert_eq!(pointer("tag"), Err("write \"/tag\"".to_owned()));
        assert_eq!(pointer("arguments.tag"), Err("write \"/arguments/tag\"".to_owned()));
        assert!(pointer("/a~2").is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(micros in 0_u64..10_000_000_000_000) {
            let span = Duration::from_micros(micros);
            prop_assert_eq!(duration(&show_duration(span)), Ok(span));
        }
    }
}
