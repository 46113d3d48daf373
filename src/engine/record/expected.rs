//! What became of expectations: a line for each time that one was not met, and their sums.

use serde::{Deserialize, Serialize};

/// An expectation was not met: written as soon as that is certain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExpectationEntry {
    /// The place in the sequence of what decided it.
    pub seq: u64,
    /// When it was decided.
    pub at: u64,
    /// The expectation, as `PROFILE/NAME`.
    pub name: String,
    /// The point that made `after` true; none: its scope had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The session, of an expectation that is asked of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// From when was counted.
    pub since: u64,
    /// How many were seen.
    pub seen: u64,
    /// The last few of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saw: Vec<SawEntry>,
    /// What was wrong, where it was not their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// Something that was counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SawEntry {
    /// The point.
    pub key: String,
    /// When it was seen.
    pub at: u64,
}

/// What became of one expectation (rule R34).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExpectationTally {
    /// Its full name.
    pub name: String,
    /// What was expected, in words.
    pub expected: String,
    /// What `after` waits for, in words; empty: there is none.
    pub after: String,
    /// The rules whose firing alone makes `after` true.
    pub waits_for: Vec<String>,
    /// How often it was judged: once for each time `after` came true, or for each thing that a named check looked at.
    pub checked: u64,
    /// How often it was not met.
    pub failed: u64,
    /// The first hundred of those.
    pub failures: Vec<ExpectationEntry>,
    /// How often `after` came true and was not followed to its end, because too many windows were open.
    pub unfollowed: u64,
    /// Why it could not be judged at all.
    pub void: Option<String>,
    /// Whether it may stay so.
    pub optional: bool,
}
