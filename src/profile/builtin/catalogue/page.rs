//! docs/catalogue.md, written from the rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::row::{self, Row};
use super::script::{self, Traffic};
use crate::report::words::shell;

const OPENING: &str = "# The catalogue

166 public reports of MCP transport bugs, each with the profile that makes its wire happen and what is then seen. Every row is played
against the engine, with its rules and without, by `cargo test --lib catalogue`; what both legs must show is in `tests/catalogue`,
line by line. States are those of the day the catalogue was made; who is at fault is the reporters' claim.

Type the profile after `mishap run -u URL -p` as it stands, it is quoted for a POSIX shell. *Server* is what the one has that the row is played
with; a rule that asks for event ids, progress or a standalone GET needs one that has them, and `mishap demo serve -h` lists the tools of the
demo's. *Rules* are a profile of one's own, below the tables: put `version = 1`
and the rules in a file, and name the file after `-p`.

";

const SECTIONS: [&str; 6] = [
    "The answer's leg of a POST is lost",
    "The standalone GET: opening, racing, dying, reconnecting",
    "Idle timeouts, buffering gateways, connection pools, streams that never end",
    "SSE framing and content",
    "Status codes, headers, sessions, authorization",
    "Identity, order, cancellation, duplicates",
];

/// The page as the rows have it.
fn page() -> String {
    let mut text = OPENING.to_owned();
    let (mut tables, mut own) = (String::new(), String::new());
    let traffic = script::library();
    let (mut section, mut titles) = (' ', ('A'..).zip(SECTIONS));
    for row in row::all() {
        if !row.key.starts_with(section)
            && let Some((letter, title)) = titles.next()
        {
            section = letter;
            let _ = write!(
                tables,
                "\n## {letter}. {title}\n\n| key | report | profile | server | seen | real SDK |\n|---|---|---|---|---|---|\n"
            );
        }
        table(&mut tables, &row, &traffic);
        rules(&mut own, &row);
    }
    let _ = write!(text, "{}\n\n{}\n## Rules\n{own}", counts(), tables.trim_start());
    text
}

fn counts() -> String {
    let rows = row::all();
    let played = rows.iter().filter(|row| !row.case.is_empty()).count();
    let profiles = rows.iter().filter(|row| row.cases().any(|case| case.profile.is_some())).count();
    let sdk = rows.iter().filter(|row| row.sdk.is_some()).count();
    let in_part = rows.iter().filter(|row| row.not_shown.is_some()).count();
    format!(
        "{played} rows are played, {profiles} of them with built-in profiles. Of {in_part} an HTTP proxy cannot show everything, and \
         they say what. {sdk} name a test in which real SDKs meet the same fault."
    )
}

fn table(text: &mut String, row: &Row, traffic: &BTreeMap<String, Traffic>) {
    let report = format!("[{}]({}); {}", row.report, row.url, row.state).replace('|', "\\|");
    let sdk = row.sdk.clone().unwrap_or_default();
    if let (Some(why), true) = (&row.not_shown, row.case.is_empty()) {
        let _ = writeln!(text, "| {} | {report} | | | not shown: {why} | {sdk} |", row.key);
    }
    for (n, case) in (1..).zip(row.cases()) {
        let (key, report, sdk) = if n == 1 { (&*row.key, &*report, &*sdk) } else { ("", "", "") };
        let what = match &case.profile {
            Some(line) => format!("`{}`", typed(line).replace('|', "\\|")),
            None => format!("[rules](#{})", anchor(row, n)),
        };
        let limits = row.not_shown.as_ref().filter(|_| n == row.case.len());
        let limits = limits.map(|why| format!("; not shown: {why}")).unwrap_or_default();
        let (server, seen) = (traffic[&case.traffic].server().join(", "), case.seen.replace('|', "\\|"));
        let _ = writeln!(text, "| {key} | {report} | {what} | {server} | {seen}{limits} | {sdk} |");
    }
}

/// Profiles as they are typed in a shell. Strings in them are written in double quotes where they can be, so that single ones go
/// round it.
fn typed(line: &str) -> String {
    let part = |part: &str| {
        let plain = !part.contains(['"', '\\']);
        if plain { shell([&*part.replace('\'', "\"")]) } else { shell([part]) }
    };
    line.split(" -p ").map(part).collect::<Vec<_>>().join(" -p ")
}

fn anchor(row: &Row, n: usize) -> String {
    let key = row.like.as_ref().unwrap_or(&row.key).to_lowercase();
    if row.case.len() > 1 { format!("{key}-{n}") } else { key }
}

fn rules(text: &mut String, row: &Row) {
    for (n, case) in (1..).zip(row.cases()).filter(|_| row.like.is_none()) {
        if let Some(rules) = &case.rules {
            let _ = write!(text, "\n### {}\n\n```toml\n{}\n```\n", anchor(row, n), rules.trim());
        }
    }
}

/// `MISHAP_WRITE_DOCS=1 cargo test --lib catalogue` writes it.
#[test]
fn the_page_is_what_the_rows_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/catalogue.md");
    if std::env::var_os("MISHAP_WRITE_DOCS").is_some() {
        std::fs::write(path, page()).expect("the page can be written");
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page(), "write it anew: MISHAP_WRITE_DOCS=1 cargo test --lib catalogue");
}

#[test]
fn what_is_typed_is_what_the_row_is_played_with() {
    for row in row::all() {
        for line in row.cases().filter_map(|case| case.profile.as_ref()) {
            let script = format!("printf '%s\\n' {}", typed(line));
            let read = Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
            let words = String::from_utf8(read.stdout).expect("the profiles are text").trim_end().replace('\n', " ");
            assert_eq!(row::profile(&words), row::profile(line), "{words}");
        }
    }
}
