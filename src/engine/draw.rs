//! Chance by identity: what is drawn depends on the seed, the rule, the point and the purpose, and on nothing else.
//!
//! There is no generator that is passed around, so that the order in which things are asked cannot change a fate
//! (ARCHITECTURE.md, "The seam"). The arithmetic is our own: a release of a library must not change what a seed means.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::condition::Time;
use super::hash::hash;

/// The numbers drawn for one purpose of one rule at one point.
#[derive(Debug, Clone)]
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// The stream of numbers that belongs to this identity.
    #[must_use]
    pub fn new(seed: u64, rule: &str, key: &str, purpose: &str) -> Self {
        let mut identity = [0; 32];
        let words = [seed, hash(rule.as_bytes()), hash(key.as_bytes()), hash(purpose.as_bytes())];
        for (bytes, word) in identity.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(identity))
    }

    /// A number from 0, included, to 1, not included.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.0.next_u64() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }

    /// A whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let span = u128::from(high.saturating_sub(low)) + 1;
        let scaled = (u128::from(self.0.next_u64()) * span) >> 64;
        low + u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// The numbers from 0 to `n` in a drawn order.
    pub fn shuffle(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            let other = usize::try_from(self.between(0, last as u64)).unwrap_or(last);
            order.swap(last, other);
        }
        order
    }

    /// A length of time, to the microsecond.
    pub fn time(&mut self, time: &Time) -> Duration {
        let micros = |time: &Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        match time {
            Time::Fixed(time) => *time,
            Time::Between(low, high) => Duration::from_micros(self.between(micros(low), micros(high))),
            Time::Around(mean, jitter) => {
                let low = micros(mean).saturating_sub(micros(jitter));
                Duration::from_micros(self.between(low, micros(mean).saturating_add(micros(jitter))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(seed: u64, rule: &str, key: &str, purpose: &str) -> Vec<u64> {
        let mut draw = Draw::new(seed, rule, key, purpose);
        (0..4).map(|_| draw.between(0, u64::MAX)).collect()
    }

    /// A draw that ignored its seed, or any other part of its identity, would fail here.
    #[test]
    fn every_part_of_the_identity_counts() {
        let base = units(1, "r", "s1/post:1/request#1", "delay");
        assert_eq!(base, units(1, "r", "s1/post:1/request#1", "delay"));
        for other in [
            units(2, "r", "s1/post:1/request#1", "delay"),
            units(1, "q", "s1/post:1/request#1", "delay"),
            units(1, "r", "s1/post:2/request#1", "delay"),
            units(1, "r", "s1/post:1/request#1", "plus"),
        ] {
            assert_ne!(base, other);
        }
    }

    /// A seed must mean the same in every release: these values may not change.
    #[test]
    fn a_seed_means_the_same_for_ever() {
        assert_eq!(Draw::new(7, "p/r", "s1/get:1/head#1", "delay").between(0, 999_999), 901_422);
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut draw = Draw::new(0, "", "", "");
        let drawn: Vec<u64> = (0..200).map(|_| draw.between(3, 5)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&5)));
        assert!((0..200).map(|_| draw.unit()).all(|unit| (0.0..1.0).contains(&unit)));
        assert_eq!(draw.between(9, 9), 9);
    }

    #[test]
    fn a_shuffle_keeps_every_element() {
        let mut order = Draw::new(3, "", "", "").shuffle(50);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }

    /// Evenly over all of it, whatever is drawn for: a draw that stayed on one side, or moved the middle, fails here.
    #[test]
    fn a_time_around_a_mean_is_drawn_evenly_from_mean_minus_to_mean_plus_jitter() {
        let around = Time::Around(Duration::from_millis(100), Duration::from_millis(40));
        let key = |n: usize| format!("s1/post:{n}/request#1");
        let drawn: Vec<Duration> = (0..4_000).map(|n| Draw::new(7, "p/r", &key(n), "delay").time(&around)).collect();
        let ms = |from: u128, to: u128| drawn.iter().filter(|it| (from..to).contains(&it.as_millis())).count();
        assert_eq!(ms(60, 140) + drawn.iter().filter(|it| **it == Duration::from_millis(140)).count(), drawn.len());
        for eighth in 0..8 {
            let share = ms(60 + eighth * 10, 70 + eighth * 10);
            assert!((400..600).contains(&share), "{share} of 4000 in eighth {eighth}");
        }
        let middle = drawn.iter().sum::<Duration>() / 4_000;
        assert!(middle.abs_diff(Duration::from_millis(100)) < Duration::from_millis(2), "{middle:?}");
    }

    #[test]
    fn jitter_larger_than_the_mean_is_never_below_zero() {
        let around = Time::Around(Duration::from_millis(1), Duration::from_secs(1));
        let mut draw = Draw::new(1, "", "", "");
        assert!((0..100).all(|_| draw.time(&around) <= Duration::from_millis(1001)));
    }
}
