//! A journal as a Mermaid sequence diagram: client, mishap, server; a note for each thing a rule did.
//!
//! The one rule: it is always small enough to be drawn. Where a run is longer, what rules did and the streams they did it on
//! come first, and the diagram says how much is missing and where.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::parts::Parts;
use super::timeline::lanes::{Arrow, Mark, NO_BREAK, Row};
use super::timeline::rows::rows;
use super::words::count;
use crate::journal::Line;

/// How many rows are drawn: beyond so many nobody follows the arrows. The next smaller number where the diagram is too long.
const ROWS: [usize; 4] = [80, 40, 20, 10];

/// What Mermaid draws, in characters (its `maxTextSize`).
const LONGEST: usize = 50_000;

/// How much of a text is shown, and how many notes stand below a message.
const TEXT: usize = 100;
const FAULTS: usize = 3;

/// Writes a journal's lines as a sequence diagram.
#[must_use]
pub fn diagram(lines: &[Line]) -> String {
    let parts = Parts::of(lines);
    let rows = rows(&parts.entries);
    let mut drawn = ROWS.iter().map(|&most| draw(&parts, &rows, most));
    drawn.find(|text| text.len() < LONGEST).expect("ten rows are never that long")
}

fn draw(parts: &Parts<'_>, rows: &[Row], most: usize) -> String {
    let mut text = "sequenceDiagram\n".to_owned();
    for (name, shown) in [("C", "client"), ("P", "mishap"), ("S", "server")] {
        line(&mut text, &format!("participant {name} as {shown}"));
    }
    if let Some(run) = parts.run {
        note(&mut text, "C,S", &format!("{}, seed {}", run.started, run.seed));
    }
    messages(rows, most, &mut text);
    if let Some(verdict) = parts.verdict {
        note(&mut text, "C,S", &format!("exit {}: {}", verdict.exit, verdict.why));
    }
    text
}

/// The rows that are drawn, and a word where some are not.
fn messages(rows: &[Row], most: usize, text: &mut String) {
    let kept = kept(rows, most);
    let mut missing = 0;
    for (place, row) in rows.iter().enumerate() {
        if !kept.contains(&place) {
            missing += 1;
            continue;
        }
        left_out(std::mem::take(&mut missing), text);
        message(row, text);
    }
    left_out(missing, text);
}

/// The places of the rows that are drawn: those with a fault, then those of streams with one, then the others.
fn kept(rows: &[Row], most: usize) -> BTreeSet<usize> {
    let struck = |row: &Row| !row.faults.is_empty() || row.mark != Mark::Lane;
    let streams: BTreeSet<_> = rows.iter().filter(|row| struck(row)).filter_map(|row| row.stream.as_ref()).collect();
    let weight = |row: &Row| match &row.stream {
        _ if struck(row) => 0,
        Some(stream) if streams.contains(stream) => 1,
        _ => 2,
    };
    let mut places: Vec<_> = (0..rows.len()).collect();
    places.sort_by_key(|place| weight(&rows[*place]));
    places.into_iter().take(most).collect()
}

fn left_out(missing: u64, text: &mut String) {
    if missing > 0 {
        note(text, "C,S", &format!("{} left out", count(missing, "event")));
    }
}

fn message(row: &Row, text: &mut String) {
    let said = if row.label.is_empty() { row.text.clone() } else { format!("{}: {}", row.label, row.text) };
    let to_proxy = if row.mark == Mark::Stopped { "-x" } else { "->>" };
    match (row.client, row.server) {
        (Arrow::None, Arrow::None) => note(text, "P", &said),
        (Arrow::Right, Arrow::Right) if row.mark == Mark::Lane => arrow(text, "C->>S", &said),
        (Arrow::Left, Arrow::Left) if row.mark == Mark::Lane => arrow(text, "S->>C", &said),
        (client, server) => {
            // In the order in which it went.
            let legs = match (client, server) {
                (Arrow::Right, _) | (Arrow::None, Arrow::Right) => {
                    [(client, format!("C{to_proxy}P")), (server, "P->>S".to_owned())]
                }
                _ => [(server, format!("S{to_proxy}P")), (client, "P->>C".to_owned())],
            };
            let drawn = legs.iter().filter(|(leg, _)| *leg != Arrow::None);
            drawn.for_each(|(_, leg)| arrow(text, leg, &said));
        }
    }
    row.faults.iter().take(FAULTS).for_each(|fault| note(text, "P", &format!("! {fault}")));
}

fn arrow(text: &mut String, between: &str, said: &str) {
    line(text, &format!("{between}: {}", escaped(said)));
}

fn note(text: &mut String, over: &str, said: &str) {
    line(text, &format!("Note over {over}: {}", escaped(said)));
}

fn line(text: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "    {line}");
}

/// Text that Mermaid takes as text, shortened. Written as entities: what ends a statement (`;`, a line's end) or begins an
/// entity, a directive (`%%{`), a comment, markup or a formula (`$$`). `style` and `classDef` are broken up because a `#`
/// after them on the same line loses the next `;` (Mermaid's `encodeEntities` mends CSS there).
fn escaped(text: &str) -> String {
    let mut written = String::new();
    for (place, letter) in text.replace(NO_BREAK, " ").chars().enumerate() {
        match letter {
            _ if place == TEXT => {
                written.push('…');
                break;
            }
            '#' | ';' | '%' | '<' | '>' | '&' | '$' | '\\' => {
                _ = write!(written, "#{};", u32::from(letter));
            }
            _ if letter.is_control() => written.push(' '),
            _ => written.push(letter),
        }
    }
    written.replace("style", "styl#101;").replace("classDef", "classDe#102;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::{Entry, NoteEntry, PointEntry, RpcEntry};
    use crate::journal::Header;

    fn request(seq: u64, id: u64, rules: &[&str]) -> Line {
        let rpc = RpcEntry { kind: "request".into(), method: Some("ping".into()), ..RpcEntry::default() };
        Line::from(Entry::Point(PointEntry {
            seq,
            left: Some(seq),
            by: Some(seq),
            left_seq: Some(seq),
            key: format!("s1/post:{id}/request#1"),
            point: "request".into(),
            stream: Some("post".into()),
            dir: "c2s".into(),
            rpc: vec![rpc],
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
            ..PointEntry::default()
        }))
    }

    #[test]
    fn what_passes_is_one_arrow_and_what_a_rule_did_is_a_note() {
        let run = Header { started: "2026".into(), seed: 7, ..Header::default() };
        let text = diagram(&[Line::Run(run), request(1, 1, &[]), request(2, 2, &["p/late"])]);
        let expected = "\
sequenceDiagram
    participant C as client
    participant P as mishap
    participant S as server
    Note over C,S: 2026, seed 7
    C->>S: POST ping id 1: request ping
    C->>S: POST ping id 2: request ping
    Note over P: ! late
";
        assert_eq!(text, expected);
    }

    // Without the escapes the first is a directive, the second ends its statement, the third is markup.
    #[test]
    fn text_from_the_wire_cannot_leave_its_message() {
        let hostile = "%%{init: {}}%%\n; C->>S: x # <b>&amp;</b> $$x$$ style a:b#c \\n";
        let note = Entry::Note(NoteEntry { seq: 1, at: 1, text: hostile.into() });
        let text = diagram(&[Line::from(note)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        let said = lines[4].strip_prefix("    Note over P: ").expect("it is a note");
        let bare =
            said.split('#').skip(1).all(|rest| rest.split(';').next().is_some_and(|code| code.parse::<u32>().is_ok()));
        assert!(bare && !said.contains(['<', '>', '&', '%', '$', '\\']) && !said.contains("style"), "{said}");
    }

    #[test]
    fn a_long_run_is_shortened_to_what_rules_did_and_says_where_something_is_missing() {
        let lines: Vec<_> = (1..=1_000).map(|n| request(n, n, if n == 900 { &["p/late"] } else { &[] })).collect();
        let text = diagram(&lines);
        assert!(text.contains("id 900: request ping\n    Note over P: ! late\n"), "{text}");
        let missing = text.lines().filter_map(|line| line.split(": ").nth(1)?.strip_suffix(" events left out"));
        assert_eq!(missing.map(|number| number.parse().unwrap_or(0)).collect::<Vec<u32>>(), [820, 100]);
    }

    // `maxTextSize` of Mermaid.
    #[test]
    fn no_diagram_is_longer_than_what_mermaid_draws() {
        let note = |seq| Line::from(Entry::Note(NoteEntry { seq, at: 0, text: "<".repeat(1_000) }));
        let text = diagram(&(1..=1_000).map(note).collect::<Vec<_>>());
        assert!(text.contains('…') && text.len() < 50_000, "{}", text.len());
    }
}
