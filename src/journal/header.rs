//! The lines of a journal that are not the engine's: the first, which says what was run, and the last, which counts.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::engine::record::{Entry, FindingEntry};
use crate::engine::rpc::Id;

/// The version of the journal's schema. Readers skip kinds and fields they do not know, so it only grows when a known
/// field changes its meaning.
pub const SCHEMA: u32 = 1;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// `kind = "run"`: the first line.
    Run(Header),
    /// What the engine wrote down.
    Entry(Box<Entry>),
    /// `kind = "verdict"`: the line before the last.
    Verdict(VerdictLine),
    /// `kind = "closed"`: the last line; missing after a crash.
    Closed(Footer),
}

/// What was run, and with what.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Header {
    /// The version of the schema ([`SCHEMA`]).
    pub schema: u32,
    /// The version of mishap.
    pub mishap: String,
    /// When the run began: UTC, RFC 3339, to the millisecond. Every other time counts microseconds from then.
    pub started: String,
    /// The seed of every draw.
    pub seed: u64,
    /// By how much the times of rules were multiplied; none: they were as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_scale: Option<f64>,
    /// The profiles, in the order in which they decide.
    pub profiles: Vec<ProfileUse>,
    /// Further expectations, as they were written on the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<String>,
    /// The address listened on, with the real port.
    pub listen: String,
    /// The server's URL.
    pub upstream: String,
    /// The URLs of further servers, from the second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The command that ran behind the proxy, with `{url}` filled in; empty: a run in the foreground.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The shell command that started the server, with `{port}` filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serve: Option<String>,
    /// Of a journal that keeps the newest: which of its parts this is; none: it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// A part of a journal of which the newest is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Part {
    /// Its number, from 1. The one before it is in `FILE.1`.
    pub number: u64,
    /// How many lines of the parts before that are kept no more.
    pub gone: u64,
}

/// A profile as it was used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ProfileUse {
    /// The name its rules carry before the slash.
    pub name: String,
    /// The file it was read from; none if it is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its variables, as text, with the values they had.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vars: BTreeMap<String, String>,
    /// A hash of its text.
    pub hash: String,
}

/// What the run amounted to, for programs: what the verdict says on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct VerdictLine {
    /// The exit status.
    pub exit: u8,
    /// Why.
    pub why: String,
    /// Every reason not to end with 0, in order of weight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonLine>,
    /// Each rule, in written order.
    pub rules: Vec<RuleLine>,
    /// What became of the gates, a line for each rule and kind of opening, in words.
    pub gates: Vec<String>,
    /// What the eras seen and the time scale mean for the rules, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What rules did to the wire, a line for each effect, the many folded, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// What became of each expectation, in written order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<ExpectationLine>,
    /// How many of the client's requests came to each outcome, by its word.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, u64>,
    /// The client's requests, in order of arrival; of more than two thousand, answered ones are left out first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestLine>,
    /// How many requests were left out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_requests: u64,
    /// What the monitors found, the first thousand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingEntry>,
    /// How many findings were left out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_findings: u64,
    /// How many GETs and resumes there were beyond the first of each session.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reconnects: u64,
    /// The most of them within a minute.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reconnects_a_minute: u64,
}

/// What became of an expectation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ExpectationLine {
    /// Its full name, `PROFILE/NAME`.
    pub name: String,
    /// How it ended.
    pub state: ExpectationState,
    /// What was expected, and where it was not met what was seen, in words.
    pub why: String,
    /// How often it was judged.
    pub checked: u64,
}

/// How an expectation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExpectationState {
    /// It was met each time.
    #[default]
    Held,
    /// It was not.
    Failed,
    /// It was never asked.
    Vacuous,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(number: &u64) -> bool {
    *number == 0
}

/// What became of a client request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RequestLine {
    /// The exchange that carried it: session / exchange.
    pub key: String,
    /// Its JSON-RPC id, as on the wire: `1` is not `"1"`.
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    pub id: Id,
    /// Its method.
    pub method: String,
    /// What became of it, in the words of docs/outcomes.md.
    pub outcome: String,
    /// The rule that withheld it, or ended or refused its stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// When it arrived.
    pub arrived: u64,
    /// When what became of it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<u64>,
}

/// A reason not to end with 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ReasonLine {
    /// `command`, `mishap`, `expectation`, `finding`, `notice`, `rule`, `vacuous`, `gate` or `hang`.
    pub kind: String,
    /// The exit status that belongs to it.
    pub exit: u8,
    /// The full name of the rule or expectation, or the monitor, that it is about; none: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Why, in words.
    pub why: String,
    /// Whether it fails the run (`--fail-on`).
    pub counts: bool,
    /// Of one that counts: why it is known to fail (`--known`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

/// How often a rule was selected, fired and was effective.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RuleLine {
    /// The rule's full name.
    pub name: String,
    /// How many points it selected.
    pub matched: u64,
    /// How often it fired.
    pub fired: u64,
    /// How often the wire changed, or the order it stands for was ensured.
    pub effective: u64,
    /// Whether it may stay without effect.
    pub optional: bool,
}

/// How much the journal holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Footer {
    /// How many entries it holds, this line and the first not counted.
    pub written: u64,
    /// How many entries found no room in the queue and are missing.
    pub dropped: u64,
}

impl From<Entry> for Line {
    fn from(entry: Entry) -> Self {
        Self::Entry(Box::new(entry))
    }
}

/// Writes a moment as UTC in the form of RFC 3339, to the millisecond. A moment before 1970 counts as 1970.
#[must_use]
pub fn utc(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days to a civil date over eras of 400 years that begin on the first of March, so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, rest) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{rest:02}.{:03}Z", since.subsec_millis())
}

/// The moment so many microseconds after one that [`utc`] wrote, in the same form. Nothing, if that is no such moment.
#[must_use]
pub fn later(started: &str, micros: u64) -> Option<String> {
    since_1970(started).map(|since| utc(UNIX_EPOCH + since + Duration::from_micros(micros)))
}

/// How long after the beginning of 1970 a moment was that [`utc`] wrote. Nothing, if that is no such moment.
#[must_use]
pub fn since_1970(started: &str) -> Option<Duration> {
    let number = |from: usize, to: usize| started.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let of_day = Duration::from_secs(number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?);
    // The way back from the civil date above: the year begins in March.
    let (year, from_march) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let of_year = (153 * from_march + 2) / 5 + day.checked_sub(1)?;
    let days = (year * 365 + year / 4 - year / 100 + year / 400 + of_year).checked_sub(719_468)?;
    Some(Duration::from_secs(days * 86_400) + of_day + Duration::from_millis(number(20, 23)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, millis: u64) -> String {
        utc(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(millis))
    }

    // Expected values: `date -u -d @N`.
    #[test]
    fn a_moment_is_written_as_its_civil_date_in_leap_years_and_at_their_edges() {
        assert_eq!(at(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399, 0), "2000-02-28T23:59:59.000Z");
        assert_eq!(at(951_782_400, 7), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(951_868_800, 0), "2000-03-01T00:00:00.000Z");
        assert_eq!(at(1_735_689_599, 999), "2024-12-31T23:59:59.999Z");
        assert_eq!(at(4_107_542_400, 0), "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn a_moment_is_read_back_and_counted_on_from() {
        for (seconds, millis) in [(0, 0), (951_782_399, 0), (951_868_800, 1), (1_735_689_599, 999), (4_107_542_400, 0)]
        {
            let on = |micros| later(&at(seconds, millis), micros);
            assert_eq!(on(0), Some(at(seconds, millis)));
            assert_eq!(on(86_400_001_999), Some(at(seconds + 86_400, millis + 1)));
        }
        for wrong in
            ["", "now", "1970-01-01", "1969-12-31T23:59:59.000Z", "2025-00-00T00:00:00.000Z", "2025-01-01T00:00:00,ääZ"]
        {
            assert_eq!(later(wrong, 0), None, "{wrong}");
        }
    }
}
