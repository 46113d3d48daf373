//! The time scale of a run: what is a time of a rule is multiplied, what belongs to the peers or the wire is not (R36).
//!
//! The one rule it keeps: it is applied where a value is read, so that no fault can forget it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::engine::condition::Time;

/// Keys whose value is a plain duration and a time of the rule. Drawn times (`time`, `plus`, `gap`) and the durations of
/// conditions are scaled wherever they stand; `limit`, `within` and `settle` are not.
const SCALED: [&str; 2] = ["idle", "for"];

/// By how much the times of rules are multiplied: more than nothing, at most a million.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

impl Scale {
    /// As written.
    pub const FULL: Self = Self(1.0);

    /// The factor.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0
    }

    /// A time, scaled.
    #[must_use]
    pub fn of(self, time: Duration) -> Duration {
        if self == Self::FULL {
            return time;
        }
        Duration::try_from_secs_f64(time.as_secs_f64() * self.0).unwrap_or(Duration::MAX)
    }

    /// How long a scaled time is at full scale.
    #[must_use]
    pub fn full(self, time: Duration) -> Duration {
        Duration::try_from_secs_f64(time.as_secs_f64() / self.0).unwrap_or(Duration::MAX)
    }

    pub(super) fn of_drawn(self, time: Time) -> Time {
        match time {
            Time::Fixed(time) => Time::Fixed(self.of(time)),
            Time::Between(min, max) => Time::Between(self.of(min), self.of(max)),
            Time::Around(mean, jitter) => Time::Around(self.of(mean), self.of(jitter)),
        }
    }

    /// The value of a key that is a plain duration.
    pub(super) fn of_key(self, key: &str, time: Duration) -> Duration {
        if SCALED.contains(&key) { self.of(time) } else { time }
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::FULL
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let factor: f64 = text.parse().map_err(|_| "write a factor, for example 0.01".to_owned())?;
        if factor.is_finite() && factor > 0.0 && factor <= 1e6 {
            Ok(Self(factor))
        } else {
            Err("a factor is more than 0 and at most 1000000; 0.01 makes 5m to 3s".to_owned())
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_a_number_above_zero() {
        for right in ["0.01", "1", "2.5", "1e-3"] {
            let scale: Scale = right.parse().expect("a factor");
            assert_eq!(scale.to_string().parse(), Ok(scale), "{right}");
        }
        for wrong in ["0", "-1", "nan", "inf", "1e9", "half", "1%"] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_scaled_time_comes_back_at_full_scale() {
        let scale: Scale = "0.01".parse().expect("a factor");
        assert_eq!(scale.of(Duration::from_secs(300)), Duration::from_secs(3));
        assert_eq!(scale.full(Duration::from_secs(3)), Duration::from_secs(300));
        assert_eq!(Scale::FULL.of(Duration::MAX), Duration::MAX);
        let large: Scale = "1000000".parse().expect("a factor");
        assert_eq!(large.of(Duration::MAX), Duration::MAX);
    }
}
