//! Bytes that pass only so fast.

use std::time::Duration;

use crate::engine::decide::micros;
use crate::engine::event::Moment;

/// The shortest time between two portions, as long as bytes stand there for it: less would be a write for each byte.
const STEP: Duration = Duration::from_millis(10);
const SECOND: u128 = 1_000_000_000;

/// A bucket that fills at a rate. What is counted is when it would be full again: no rounding ever lets a byte go early.
#[derive(Debug)]
pub(in crate::engine) struct Throttle {
    pub(super) rule: usize,
    /// Bytes a second.
    rate: u64,
    /// How many bytes may pass at once.
    burst: u64,
    full: Moment,
    /// When the first byte passed, and how many have.
    first: Option<Moment>,
    passed: u64,
    /// Whether it has kept something.
    pub(super) effective: bool,
}

impl Throttle {
    /// A bucket that is full at this moment.
    pub(in crate::engine) fn new(rule: usize, rate: u64, burst: u64, full: Moment) -> Self {
        Self { rule, rate, burst, full, first: None, passed: 0, effective: false }
    }

    /// How many of so many bytes may pass now.
    pub(super) fn allows(&self, now: Moment, len: usize) -> usize {
        let step = usize::try_from(self.step()).unwrap_or(usize::MAX).min(len);
        if self.due(step) > now {
            return 0;
        }
        let missing = self.full.0.saturating_sub(now.0).as_nanos() * u128::from(self.rate);
        let there = u128::from(self.burst).saturating_sub(missing.div_ceil(SECOND));
        usize::try_from(there).unwrap_or(usize::MAX).clamp(step, len)
    }

    /// When the next of so many bytes may pass.
    pub(super) fn next(&self, len: usize) -> Moment {
        self.due(usize::try_from(self.step()).unwrap_or(usize::MAX).min(len))
    }

    /// So many bytes pass.
    pub(super) fn took(&mut self, now: Moment, len: usize) {
        self.first.get_or_insert(now);
        self.passed += len as u64;
        self.full = Moment(self.full.max(now).0.saturating_add(self.time(len as u64)));
    }

    /// How many bytes have passed and in what time, if it has kept something: its rule, those, microseconds.
    pub(super) fn slowed(&self, now: Moment) -> Option<(usize, u64, u64)> {
        let first = self.first.filter(|_| self.effective)?;
        Some((self.rule, self.passed, micros(now).saturating_sub(micros(first))))
    }

    /// The fewest bytes that pass at once where more stand there.
    fn step(&self) -> u64 {
        let step = u128::from(self.rate) * STEP.as_nanos() / SECOND;
        u64::try_from(step).unwrap_or(u64::MAX).clamp(1, self.burst)
    }

    fn due(&self, len: usize) -> Moment {
        let empty = self.burst.saturating_sub(len as u64);
        // What of the bucket may still be empty fills in less than this.
        let fills =
            Duration::from_nanos(u64::try_from(u128::from(empty) * SECOND / u128::from(self.rate)).unwrap_or(u64::MAX));
        Moment(self.full.0.saturating_sub(fills))
    }

    /// How long so many bytes take, rounded up.
    fn time(&self, bytes: u64) -> Duration {
        let nanos = (u128::from(bytes) * SECOND).div_ceil(u128::from(self.rate));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However the bytes come, no more have passed by any moment than the burst and what the rate allows since.
        #[test]
        fn never_early_and_never_stuck(
            rate in 1..10_000_000u64,
            burst in 1..1_000_000u64,
            steps in prop::collection::vec((0..50_000_000u64, 1..100_000usize), 1..60),
        ) {
            let mut throttle = Throttle::new(0, rate, burst, Moment::default());
            let (mut now, mut passed) = (Moment::default(), 0u128);
            for (wait, len) in steps {
                now = now.max(throttle.next(len)) + Duration::from_nanos(wait % 3 * wait);
                let may = throttle.allows(now, len);
                prop_assert!(may > 0 && may <= len, "{} of {}", may, len);
                throttle.took(now, may);
                passed += may as u128;
                let allowed = u128::from(burst) * SECOND + now.0.as_nanos() * u128::from(rate);
                prop_assert!(passed * SECOND <= allowed, "{} bytes by {:?}", passed, now);
            }
        }
    }

    #[test]
    fn a_full_bucket_lets_its_burst_pass_and_then_a_step_at_a_time() {
        let mut throttle = Throttle::new(0, 1_000, 100, Moment::default());
        let at = |ms| Moment(Duration::from_millis(ms));
        assert_eq!(throttle.allows(at(0), 500), 100);
        throttle.took(at(0), 100);
        assert_eq!((throttle.allows(at(9), 400), throttle.next(400)), (0, at(10)));
        assert_eq!(throttle.allows(at(10), 400), 10);
        assert_eq!(throttle.allows(at(25), 400), 25);
        assert_eq!(throttle.allows(at(5), 5), 5, "less than a step, if that is all there is");
    }
}
