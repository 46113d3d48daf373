//! Values of the command line that clap does not know: an address to listen on, a length of time.
//!
//! The one rule: what is refused is told with what to write instead.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Reads an address to listen on, or a port on loopback.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let named = text.strip_prefix("localhost:").unwrap_or(text);
    let address = named.parse().map(loopback).or_else(|_| text.parse());
    address.map_err(|_| "write IP:PORT, for example 127.0.0.1:8080, or a port".to_owned())
}

/// Reads a length of time: a number and `ms`, `s` or `m`.
///
/// # Errors
///
/// When it is none, with what to write.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| "write a number and a unit, for example 30s".to_owned())?;
    match &text[digits.len()..] {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err("the unit is missing or unknown; write ms, s or m, for example 30s".to_owned()),
    }
}

/// Reads a size of 64 KiB or more, with its unit.
pub(super) fn journal_max(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let help = || "write a number and a unit, KiB, MiB or GiB, for example 64MiB".to_owned();
    let number: u64 = digits.parse().map_err(|_| help())?;
    let unit: u64 = match &text[digits.len()..] {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(help()),
    };
    let max = number.saturating_mul(unit);
    if max < 64 << 10 { Err("write 64KiB or more".to_owned()) } else { Ok(max) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_needs_its_unit() {
        assert_eq!(
            [duration("250ms"), duration("30s"), duration("2m")].map(Result::unwrap_or_default),
            [Duration::from_millis(250), Duration::from_secs(30), Duration::from_secs(120),]
        );
        for wrong in ["30", "s", "3 s", "-1s", "1h30"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
