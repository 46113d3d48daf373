//! Reasons: why a run does not end with 0, of which kind each is, and which kinds count (`--fail-on`).
//!
//! The one rule: what is chosen away is still listed, and what the command or mishap itself did always counts.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::journal::ReasonLine;

/// Why a run is not to end with 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What kind of reason it is.
    pub kind: Kind,
    /// The exit status.
    pub code: u8,
    /// The full name of the rule or expectation, or the monitor, that it is about; none: the run.
    pub about: Option<String>,
    /// Why.
    pub why: String,
}

/// What kind of reason it is. In order of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The command behind the proxy failed.
    Command,
    /// Mishap itself could not do something.
    Mishap,
    /// An expectation was not met.
    Expectation,
    /// A monitor found something that is wrong.
    Finding,
    /// A monitor found something that is worth a look.
    Notice,
    /// A rule never had an effect.
    Rule,
    /// A gate or an expectation had nothing that it could be about; or nothing crossed the proxy.
    Vacuous,
    /// A hold reached its limit with what it waits for under way.
    Gate,
    /// A request was open at the end, its client still there.
    Hang,
}

/// The kinds that `--fail-on` chooses from.
const CHOSEN: [Kind; 7] =
    [Kind::Rule, Kind::Vacuous, Kind::Gate, Kind::Hang, Kind::Expectation, Kind::Finding, Kind::Notice];

/// Which kinds of reasons fail a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailOn(BTreeSet<Kind>);

// === Reason ===

impl Reason {
    /// A reason of this kind, with the exit status that belongs to it.
    #[must_use]
    pub fn of(kind: Kind, about: &str, why: impl Into<String>) -> Self {
        Self { about: Some(about.to_owned()), ..Self::of_run(kind, why) }
    }

    /// A reason that is about nothing but the run.
    pub(super) fn of_run(kind: Kind, why: impl Into<String>) -> Self {
        Self { kind, code: kind.fixed().unwrap_or(1), about: None, why: why.into() }
    }

    /// The command's own status.
    pub(super) fn command(code: u8, why: String) -> Self {
        Self { kind: Kind::Command, code, about: None, why }
    }

    /// What mishap could not do; behind a proxy with a command the low statuses are the command's.
    pub(super) fn mishap(code: u8, why: String) -> Self {
        Self { kind: Kind::Mishap, code, about: None, why }
    }

    /// The reason as a journal's line has it.
    pub(super) fn line(&self, fail_on: &FailOn) -> ReasonLine {
        let Self { kind, code, about, why } = self.clone();
        ReasonLine { kind: kind.word().to_owned(), exit: code, about, why, counts: fail_on.counts(kind), known: None }
    }
}

impl Kind {
    /// The word for it on the command line, in the journal and in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Mishap => "mishap",
            Self::Expectation => "expectation",
            Self::Finding => "finding",
            Self::Notice => "notice",
            Self::Rule => "rule",
            Self::Vacuous => "vacuous",
            Self::Gate => "gate",
            Self::Hang => "hang",
        }
    }

    /// The exit status that all of this kind have (README.md, "The verdict and the exit status"). That of a command is its own, and
    /// ours depends on whether there is one.
    pub(super) fn fixed(self) -> Option<u8> {
        match self {
            Self::Command | Self::Mishap => None,
            Self::Expectation | Self::Finding | Self::Notice => Some(3),
            Self::Rule | Self::Vacuous => Some(4),
            Self::Gate | Self::Hang => Some(5),
        }
    }
}

// === FailOn ===

impl FailOn {
    /// Whether a reason of this kind fails a run.
    #[must_use]
    pub fn counts(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Command | Kind::Mishap) || self.0.contains(&kind)
    }
}

impl Default for FailOn {
    /// All but notices.
    fn default() -> Self {
        Self(CHOSEN.into_iter().filter(|kind| *kind != Kind::Notice).collect())
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(BTreeSet::new()));
        }
        let kind = |word: &str| CHOSEN.into_iter().find(|kind| kind.word() == word.trim());
        let known = || CHOSEN.map(Kind::word).join(", ");
        let read =
            |word: &str| kind(word).ok_or_else(|| format!("\"{word}\" is no kind; write some of {}, or none", known()));
        text.split(',').map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = CHOSEN.into_iter().filter(|kind| self.0.contains(kind)).map(Kind::word).collect();
        f.write_str(if words.is_empty() { "none".to_owned() } else { words.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_that_fail_a_run_are_written_as_they_are_read() {
        for right in ["none", "rule", "rule,vacuous,gate,hang,expectation,finding,notice"] {
            assert_eq!(right.parse::<FailOn>().expect("kinds").to_string(), right);
        }
        assert_eq!(FailOn::default().to_string(), "rule,vacuous,gate,hang,expectation,finding");
        assert_eq!("hang, rule".parse::<FailOn>().expect("kinds").to_string(), "rule,hang");
        for wrong in ["", "rules", "command", "mishap", "none,rule", "rule,"] {
            let why = wrong.parse::<FailOn>().expect_err(wrong);
            assert!(
                why.ends_with("write some of rule, vacuous, gate, hang, expectation, finding, notice, or none"),
                "{why}"
            );
        }
    }

    #[test]
    fn what_the_command_or_mishap_did_always_counts() {
        let none: FailOn = "none".parse().expect("it is one");
        assert!(none.counts(Kind::Command) && none.counts(Kind::Mishap));
        assert!(CHOSEN.into_iter().all(|kind| !none.counts(kind)));
    }
}
