//! Whether a rule that waits for silence would have acted without the time scale: the peers' own timers are not scaled.
//!
//! The one rule: what was not seen is said to be not known.

use std::time::Duration;

use super::span;
use crate::engine::record::SilenceTally;
use crate::profile::Scale;

/// One line for each silence because of which a rule acted, if times were scaled.
pub(super) fn notes(silences: &[SilenceTally], scale: Scale) -> Vec<String> {
    if scale == Scale::FULL {
        return Vec::new();
    }
    silences.iter().filter(|silence| silence.acted > 0).map(|silence| note(silence, scale)).collect()
}

fn note(silence: &SilenceTally, scale: Scale) -> String {
    let SilenceTally { rule, time, longest, open, .. } = silence;
    let full = u64::try_from(scale.full(Duration::from_micros(*time)).as_micros()).unwrap_or(u64::MAX);
    let acted = format!("rule \"{rule}\" acted after {} of silence, {} at full scale: ", span(*time), span(full));
    let seen = (*longest).max(*open);
    let would = if seen >= full {
        format!("it would have acted there too, a silence of {} was seen", span(seen))
    } else if *longest >= *time {
        format!("it would not have acted there, its peer was never silent for more than {}", span(seen))
    } else {
        "whether its peer is ever silent for so long was not seen".to_owned()
    };
    acted + &would
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(longest: u64, open: u64, acted: u64, scale: &str) -> Vec<String> {
        let second = 1_000_000;
        let (longest, open) = (longest * second, open * second);
        let silence = SilenceTally { rule: "p/idle".into(), time: 3 * second, acted, longest, open };
        notes(&[silence], scale.parse().expect("a factor"))
    }

    #[test]
    fn it_is_said_whether_the_rule_would_have_acted_at_full_scale() {
        let acted = "rule \"p/idle\" acted after 3.0 s of silence, 5 m 0 s at full scale: ";
        for (longest, open, says) in [
            (15, 0, "it would not have acted there, its peer was never silent for more than 15.0 s"),
            (15, 20, "it would not have acted there, its peer was never silent for more than 20.0 s"),
            (400, 0, "it would have acted there too, a silence of 6 m 40 s was seen"),
            (1, 400, "it would have acted there too, a silence of 6 m 40 s was seen"),
            (2, 0, "whether its peer is ever silent for so long was not seen"),
            (0, 0, "whether its peer is ever silent for so long was not seen"),
        ] {
            assert_eq!(said(longest, open, 1, "0.01"), [format!("{acted}{says}")], "{longest} {open}");
        }
    }

    #[test]
    fn nothing_is_said_at_full_scale_or_of_a_silence_that_did_nothing() {
        assert!(said(15, 0, 1, "1").is_empty() && said(15, 0, 0, "0.01").is_empty());
    }
}
