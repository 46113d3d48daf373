//! The rows, as they are written in tests/catalogue.
//!
//! The one rule it keeps: an unknown key is an error, as in a profile.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::engine::rule::Rule;
use crate::profile::Scale;
use crate::profile::file::{load, read_profile};
use crate::profile::{Problem, Use};

const SECTIONS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    row: Vec<Row>,
}

/// A report.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Row {
    pub(super) key: String,
    /// `OWNER/REPOSITORY#N`, and others of the same bug.
    pub(super) report: String,
    pub(super) url: String,
    /// What had become of it when the catalogue was made.
    pub(super) state: String,
    /// What no HTTP proxy can show of it: all, if there is no case.
    pub(super) not_shown: Option<String>,
    /// The test with a real SDK that shows it too.
    pub(super) sdk: Option<String>,
    /// The row whose cases these are too.
    pub(super) like: Option<String>,
    #[serde(default)]
    pub(super) case: Vec<Case>,
}

/// One way to reproduce it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Case {
    /// What to type after `-p`, with ` -p ` between two.
    pub(super) profile: Option<String>,
    /// A profile of one's own.
    pub(super) rules: Option<String>,
    /// The name of a scripted exchange.
    pub(super) traffic: String,
    /// What is seen, in a sentence.
    pub(super) seen: String,
    /// What both legs show, in one order.
    pub(super) wire: String,
    /// The same without the rules.
    pub(super) without: Option<String>,
}

impl Row {
    pub(super) fn cases(&self) -> impl Iterator<Item = &Case> {
        self.case.iter()
    }
}

/// A file of tests/catalogue.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogue").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A file of tests/catalogue, as TOML.
pub(super) fn read<T: DeserializeOwned>(name: &str) -> T {
    toml::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All rows, in the order of the catalogue.
pub(super) fn all() -> Vec<Row> {
    let mut rows: Vec<Row> =
        SECTIONS.iter().flat_map(|section| read::<Section>(&format!("{section}.toml")).row).collect();
    for n in 0..rows.len() {
        if let Some(like) = rows[n].like.clone() {
            let other = rows.iter().find(|row| row.key == like).unwrap_or_else(|| panic!("no row {like}"));
            assert!(rows[n].case.is_empty() && other.like.is_none(), "{} is like {like}", rows[n].key);
            rows[n].case = other.case.clone();
        }
    }
    rows
}

/// The keys that there must be, and the address of the report of each.
pub(super) fn keys() -> Vec<(String, String)> {
    let text = text("keys.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| line.split_once(' ').map(|(key, url)| (key.to_owned(), url.to_owned()));
    lines.map(|line| pair(line).unwrap_or_else(|| panic!("KEY URL, not {line:?}"))).collect()
}

/// The lines of a text that say something.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Profiles as a user types them, with ` -p ` between two.
pub(super) fn profile(line: &str) -> Result<Vec<Rule>, Vec<Problem>> {
    let uses = line.split(" -p ").map(Use::parse).collect::<Result<Vec<_>, _>>().map_err(|problem| vec![problem])?;
    load(&uses).map(|loaded| loaded.rules)
}

/// A profile of one's own, without the line that says `version = 1`; a slip that `check` would warn of is an error here.
pub(super) fn own(text: &str) -> Result<Vec<Rule>, Vec<Problem>> {
    let text = format!("version = 1\n{text}");
    let (_, parts) = read_profile(&Use::plain("own.toml"), "own", &text, Scale::FULL)?;
    let doubts = parts.doubts;
    if doubts.is_empty() { Ok(parts.rules) } else { Err(doubts.into_iter().map(|doubt| doubt.problem).collect()) }
}
