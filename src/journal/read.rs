//! Reads a journal back. Not a validator: it skips what it does not know, so that an older mishap reads a newer journal.
//!
//! The one rule: the journal of a run that crashed is read to its last whole line.

use std::io::{self, Read as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::header::Line;
use super::parts::older;
use crate::engine::record::Entry;

/// How often it is looked again, while the parts of a journal take turns under the reader.
const TURNS: u32 = 3;

/// Reads a journal's lines, in order (those of stdin for the path `-`), and leaves out those it does not know. Of one that
/// keeps the newest, both parts.
///
/// # Errors
///
/// When the file cannot be read, or (`InvalidData`) when it does not begin with a run's first line.
pub fn read(path: &Path) -> io::Result<Vec<Line>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        io::stdin().lock().read_to_end(&mut text)?;
        return parsed(&text);
    }
    for _ in 0..TURNS {
        // The newer first: if they take turns in between, it is read twice, which shows in the numbers.
        let (newer, older) = (newer(path)?, std::fs::read(older(path)));
        let Some(number) = part(&newer).filter(|number| *number > 1) else { return Ok(newer) };
        let older = older.map(|text| parse(&text)).unwrap_or_default();
        if part(&older) == Some(number - 1) && begins_as(&newer, &older) {
            let (first, rest) = newer.split_at(1);
            return Ok([first, &older[1..], rest].concat());
        }
        if part(&older).is_none_or(|older| older < number) {
            return Ok(newer);
        }
    }
    newer(path)
}

/// The part that is written; in the moment in which they take turns there is only the other.
fn newer(path: &Path) -> io::Result<Vec<Line>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            parsed(&std::fs::read(older(path)).map_err(|_| error)?)
        }
        text => parsed(&text?),
    }
}

fn parsed(text: &[u8]) -> io::Result<Vec<Line>> {
    let lines = parse(text);
    match lines.first() {
        Some(Line::Run(_)) => Ok(lines),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "not a journal: its first line is not a run's; give a file written by `mishap run --journal FILE`",
        )),
    }
}

/// Which part of a journal these lines are.
fn part(lines: &[Line]) -> Option<u64> {
    match lines.first() {
        Some(Line::Run(header)) => header.part.map(|part| part.number),
        _ => None,
    }
}

/// Whether both are of one run.
fn begins_as(one: &[Line], other: &[Line]) -> bool {
    let run = |lines: &[Line]| match lines.first() {
        Some(Line::Run(header)) => Some((header.started.clone(), header.listen.clone())),
        _ => None,
    };
    run(one) == run(other)
}

/// Reads the lines in this text and leaves out those it does not know.
#[must_use]
pub fn parse(text: &[u8]) -> Vec<Line> {
    text.split(|&byte| byte == b'\n').filter_map(line).collect()
}

/// One line, or nothing if it is torn or of a kind or shape not known here. The kind is dispatched by hand: serde's
/// tagged enums cannot read numbers back while serde_json keeps their text (`arbitrary_precision`, serde_json#559).
fn line(text: &[u8]) -> Option<Line> {
    let value: Value = serde_json::from_slice(text).ok()?;
    let kind = value.get("kind")?.as_str()?.to_owned();
    match kind.as_str() {
        "run" => shaped(value).map(Line::Run),
        "verdict" => shaped(value).map(Line::Verdict),
        "closed" => shaped(value).map(Line::Closed),
        "point" => shaped(value).map(Entry::Point).map(Line::from),
        "decision" => shaped(value).map(Entry::Decision).map(Line::from),
        "gate" => shaped(value).map(Entry::Gate).map(Line::from),
        "session" => shaped(value).map(Entry::Session).map(Line::from),
        "disconnect" => shaped(value).map(Entry::Disconnect).map(Line::from),
        "finding" => shaped(value).map(Entry::Finding).map(Line::from),
        "note" => shaped(value).map(Entry::Note).map(Line::from),
        "expectation" => shaped(value).map(Entry::Expectation).map(Line::from),
        _ => None,
    }
}

fn shaped<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}
