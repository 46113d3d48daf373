//! docs/monitors.md, as the table of the monitors has it; and the words of docs/outcomes.md.

use std::fmt::Write as _;

use mishap::engine::record::Weight;
use mishap::monitor::{MONITORS, Monitor, Outcome};

use crate::tests::{drift, page};

const OPENING: &str = "# Monitors

Small machines that look at what crosses, in every run with a profile or a journal and in `mishap watch`. Each holds it against one clause
of the specification. What they find is in the verdict and in the journal (`finding`).

A **failure** ends the run with exit 3. There are two, and they stand for what a proxy cannot see: that a program still waits.
A **notice** is told and fails nothing by itself. What a rule made is nobody's fault and not looked at; where a rule had acted on what
was found, the words say so: `(after RULE acted)`.

| monitor | is a | finds |
|---|---|---|
";

fn made() -> String {
    let mut text = OPENING.to_owned();
    for monitor in MONITORS {
        let _ = writeln!(text, "| [`{0}`](#{0}) | {1} | {2} |", monitor.name, weight(monitor), monitor.finds);
    }
    for Monitor { name, means, clause, versions, .. } in MONITORS {
        let _ = write!(text, "\n## {name}\n\n{means}\n\n- checks: {clause}\n- protocol versions: {versions}\n");
    }
    text
}

fn weight(monitor: &Monitor) -> &'static str {
    match monitor.weight {
        Weight::Failure => "failure",
        Weight::Notice => "notice",
    }
}

/// `MISHAP_WRITE_DOCS=1 cargo test --test docs` writes it.
#[test]
fn the_page_of_monitors_is_what_their_table_says() {
    drift("docs/monitors.md", &made());
}

#[test]
fn the_page_of_outcomes_has_the_words_of_the_verdict() {
    let page = page("docs/outcomes.md");
    let wire = page.split("## On the wire").nth(1).and_then(|rest| rest.split("## In a program").next());
    let rows: Vec<&str> =
        wire.expect("it has the section").lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let words: Vec<String> =
        Outcome::ALL.iter().map(|outcome| format!("| {} | {} |", outcome.word(), outcome.means())).collect();
    assert_eq!(rows, words);
}
