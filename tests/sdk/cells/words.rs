//! The words of `docs/outcomes.md`: the one for a request that has come to an end, and that tables use no others.

use std::collections::BTreeSet;

use serde_json::Value;

use super::seen::Seen;

/// The list.
const PAGE: &str = include_str!("../../../docs/outcomes.md");

/// The word for a request that has settled, with the error's code.
pub(super) fn main(settled: &Value, seen: &Seen) -> String {
    match settled["outcome"].as_str().unwrap() {
        "ok" if seen.restarted() => "restarted".to_owned(),
        "ok" if seen.resumed() => "resumed".to_owned(),
        "ok" => "answered".to_owned(),
        "timeout" => "waited".to_owned(),
        "crash" => "crashed".to_owned(),
        _ => format!("told{}", code_of(settled)),
    }
}

/// The word for a request that has settled, whatever else was seen of it.
pub(crate) fn word(settled: &Value) -> String {
    main(settled, &Seen::default())
}

/// The code of a settled request's error, for the table.
fn code_of(settled: &Value) -> String {
    match &settled["code"] {
        Value::Null => String::new(),
        Value::String(code) => format!(" `{code}`"),
        code => format!(" `{code}`"),
    }
}

/// Checks that every word of a cell is on the list, apart from codes, counts and what they count.
pub(crate) fn assert_published(cell: &str) {
    const BESIDE: [&str; 8] = ["then", "no", "GET", "GETs", "resume", "resumes", "initialize", "at"];
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let words: BTreeSet<&str> = rows.map(|(word, _)| word).collect();
    let plain = cell.split('`').step_by(2).collect::<String>();
    for word in plain.split([' ', ',', ':', '(', ')']).filter(|word| !word.is_empty()) {
        let known = words.contains(word) || BESIDE.contains(&word) || word.parse::<u32>().is_ok();
        assert!(known, "{cell}: {word} is not in docs/outcomes.md");
    }
}
