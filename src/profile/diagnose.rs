//! What somebody may have meant: the nearest word, the same thing under another tool's name, the place a key belongs
//! to. Only texts for messages; nothing is decided here.

use super::schema::{self, Field};

/// Words of other tools, and what is written here.
const ELSEWHERE: [(&[&str], &str); 15] = [
    (&["latency", "jitter", "fixed_delay", "fixed-delay", "fixeddelay", "sleep"], "say `delay = \"300ms\"`"),
    (&["bandwidth", "rate_limit", "rate-limit"], "say `throttle`"),
    (&["timeout", "blackhole"], "say `cut = \"stall\"`"),
    (&["reset_peer", "reset-peer", "connectionreset", "connection_reset"], "say `cut = \"reset\"`"),
    (&["slow_close", "slow-close"], "say `delay` at `end`"),
    (&["limit_data", "limit-data"], "say `cut` with `when = { bytes = ... }`"),
    (&["slicer"], "say `reframe`"),
    (&["abort", "fulfill", "reply", "fault"], "say `respond` to answer, or `cut` to end"),
    (&["toxicity", "percentage"], "say `probability`, from 0 to 1"),
    (&["once"], "say `times = 1`"),
    (&["optionally"], "say `optional = true`"),
    (&["tool", "prompt", "resource", "task"], "say `name`"),
    (&["arguments", "args"], "say `params = { '/arguments/NAME' = \"…\" }`"),
    (&["url", "uri", "endpoint-path"], "say `path`"),
    (&["downstream", "upstream"], "say `leg = \"client\"` or `leg = \"server\"`"),
];

/// Words for a point that other tools use.
const POINTS_ELSEWHERE: [(&[&str], &str); 6] = [
    (&["event", "chunk", "frame", "message"], "say at = \"block\""),
    (&["response", "answer", "headers", "status"], "say at = \"head\", or message = \"answer\" for the answer itself"),
    (&["close", "closed", "finish", "eof", "response-end"], "say at = \"end\""),
    (&["disconnect", "cancel", "abort"], "say at = \"leave\""),
    (&["connection", "accept", "open"], "say at = \"connect\""),
    (&["body", "call", "request-body"], "say at = \"request\""),
];

/// What is written here for a word of another tool.
pub(super) fn elsewhere(word: &str) -> Option<&'static str> {
    find(&ELSEWHERE, word)
}

/// What is written here for a word that is no point.
pub(super) fn point_elsewhere(word: &str) -> Option<&'static str> {
    find(&POINTS_ELSEWHERE, word)
}

fn find(table: &[(&[&str], &'static str)], word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    table.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, here)| *here)
}

/// What to write instead of a key that `table` does not have; `named` is the table as the user sees it.
pub(super) fn unknown_key(key: &str, named: &str, table: &[&'static Field]) -> String {
    let faults = schema::FAULTS.iter().map(|fault| fault.name).filter(|_| named == "the rule");
    let known: Vec<&str> = table.iter().map(|field| field.key).chain(faults).collect();
    if let Some(here) = elsewhere(key) {
        return here.to_owned();
    }
    if let Some(place) = belongs_elsewhere(key, named) {
        return place;
    }
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "it takes no keys".to_owned(),
        None => format!("it takes {}", known.join(", ")),
    }
}

/// A key that is right, in another table: most often one that was opened too early.
fn belongs_elsewhere(key: &str, named: &str) -> Option<String> {
    let of = |fields: &[Field]| fields.iter().any(|field| field.key == key);
    if named == "the file" && (of(&schema::RULE) || schema::fault(key).is_some()) {
        return Some(format!("`{key}` is a rule's key: write it under [[rule]]"));
    }
    if named != "the rule" && (of(&schema::RULE) || schema::fault(key).is_some()) {
        return Some(format!(
            "`{key}` is a rule's key: write it beside {named}, not inside (a table opened too early?)"
        ));
    }
    if of(&schema::SELECTOR) {
        return Some(format!("`{key}` says which points: write it inside `match`"));
    }
    let faults: Vec<&str> = schema::FAULTS
        .iter()
        .filter(|fault| of(fault.params))
        .map(|fault| fault.name)
        .filter(|_| named == "the rule")
        .collect();
    if let [first, ..] = faults.as_slice() {
        return Some(format!("`{key}` is a parameter of {}: write {first}.{key}", faults.join(", ")));
    }
    if named == "`match`" && of(&schema::MESSAGE) {
        return Some(format!("`{key}` is about the message: write it inside `message`"));
    }
    if of(&schema::SEEN) {
        return Some(format!("`{key}` is a condition's: write it inside `until`, `from` or `when`"));
    }
    None
}

/// The nearest of some words, if one is near enough to have been meant.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase().replace('_', "-");
    let known: Vec<&str> = known.into_iter().collect();
    if let [begun] = known.iter().filter(|each| word.len() >= 3 && each.starts_with(&word)).collect::<Vec<_>>()[..] {
        return Some(begun);
    }
    let limit = (word.chars().count() / 3).clamp(1, 3);
    known.into_iter().map(|each| (distance(&word, each), each)).min_by_key(|(far, _)| *far).and_then(|(far, each)| {
        // Half of a short word is not a slip of the pen: "at" is not "id".
        (far <= limit && far < each.chars().count().max(2) - 1).then_some(each)
    })
}

/// `"a"`, `"b"` or `"c"`.
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// How many letters must be changed, added, removed or exchanged with their neighbour (optimal string alignment).
pub(super) fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows = vec![(0..=right.len()).collect::<Vec<usize>>()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let change = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanged_neighbours_are_one_slip() {
        assert_eq!(distance("atfer", "after"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_word_far_from_all_is_near_none() {
        let keys = ["at", "id", "name", "method", "params"];
        assert_eq!(nearest("methd", keys), Some("method"));
        assert_eq!(nearest("Method", keys), Some("method"));
        assert_eq!(nearest("zebra", keys), None);
        assert_eq!(nearest("to", keys), None);
    }
}
