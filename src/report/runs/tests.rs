//! Made-up runs and what they amount to together.

use super::*;
use crate::report::verdict::{Kind, Known};

/// A run: its name, and what it amounted to.
pub(crate) type Made = (String, Ran);

pub(crate) fn passed(name: &str) -> Made {
    let header = Header { seed: 7, ..Header::default() };
    let verdict = VerdictLine { why: "every rule was effective".to_owned(), ..VerdictLine::default() };
    (name.to_owned(), Ran { header, again: Some(format!("mishap run -p {name}")), verdict, ..Ran::default() })
}

/// A run that failed for one reason.
pub(crate) fn failed(name: &str, kind: &str, exit: u8) -> Made {
    let (name, mut ran) = passed(name);
    (ran.verdict.exit, ran.verdict.why) = (exit, format!("{kind} failed"));
    ran.verdict.reasons = vec![reason(kind, exit)];
    (name, ran)
}

fn reason(kind: &str, exit: u8) -> ReasonLine {
    ReasonLine { kind: kind.to_owned(), exit, about: None, why: format!("{kind} failed"), counts: true, known: None }
}

/// An entry that excuses an exit status.
pub(crate) fn known(run: &str, exit: u8) -> Known {
    Known { run: run.to_owned(), kind: None, exit: Some(exit), why: "it is known".to_owned() }
}

pub(crate) fn several(made: &[Made], known: &[Known]) -> Runs {
    let row = |(index, (name, ran)): (usize, &Made)| Row {
        row: index + 1,
        name: name.clone(),
        title: name.clone(),
        state: if ran.verdict.exit == 0 { RowState::Passed } else { RowState::Failed },
        known: None,
        ran: ran.clone(),
    };
    let rows = made.iter().enumerate().map(row).collect();
    Runs { asked: Some(made.len()), rows, ..Runs::default() }.excused(known)
}

fn exit(made: &[Made], known: &[Known]) -> (u8, String) {
    let Status { code, why } = several(made, known).exit();
    (code, why)
}

#[test]
fn together_they_end_with_the_commands_lowest_status_then_ours_then_the_lowest() {
    let (rule, gate) = (failed("r", "rule", 4), failed("g", "gate", 5));
    let (ours, nine, seven) = (failed("o", "mishap", 125), failed("n", "command", 9), failed("s", "command", 7));
    let code = |made: &[&Made]| exit(&made.iter().map(|made| (*made).clone()).collect::<Vec<_>>(), &[]).0;
    assert_eq!(code(&[&passed("p"), &passed("q")]), 0);
    assert_eq!(code(&[&gate, &passed("p"), &rule]), 4);
    assert_eq!(code(&[&rule, &ours, &gate]), 125);
    assert_eq!(code(&[&rule, &ours, &nine, &seven]), 7);
    assert_eq!(exit(&[passed("p"), gate, rule], &[]).1, "2 of 3 runs failed; run 3 (r): rule failed");
    assert_eq!(exit(&[passed("p")], &[]), (0, "1 run passed".to_owned()));
}

#[test]
fn one_run_by_itself_ends_as_it_did() {
    let (_, ran) = failed("x", "rule", 4);
    assert_eq!(Runs::alone(ran).exit(), Status { code: 4, why: "rule failed".to_owned() });
    let (_, ran) = passed("x");
    assert_eq!(Runs::alone(ran).exit(), Status { code: 0, why: "every rule was effective".to_owned() });
}

#[test]
fn runs_that_a_signal_ended_are_not_green() {
    let runs = Runs { asked: Some(3), signal: Some(2), ..several(&[passed("p")], &[]) };
    assert_eq!(runs.exit(), Status { code: 130, why: "ended by signal 2 after 1 of 3 runs".to_owned() });
    let red = Runs { signal: Some(2), ..several(&[failed("c", "command", 9)], &[]) };
    let why = "1 of 1 runs failed; run 1 (c): command failed; ended by signal 2 after 1 of 1 runs".to_owned();
    assert_eq!(red.exit(), Status { code: 9, why });
}

// === Known failures ===

#[test]
fn a_known_failure_is_not_red_and_what_comes_new_beside_it_is() {
    let (name, mut both) = failed("a", "command", 9);
    assert_eq!(
        exit(&[(name.clone(), both.clone()), passed("b")], &[known("a", 9)]),
        (0, "1 run passed, 1 failed as is known".to_owned())
    );
    assert_eq!(exit(&[(name.clone(), both.clone())], &[known("b", 9)]).0, 9);
    assert_eq!(exit(&[(name.clone(), both.clone())], &[known("a", 4)]).0, 9);
    both.verdict.reasons.push(reason("rule", 4));
    assert_eq!(exit(&[(name.clone(), both.clone())], &[known("a", 9)]).0, 9);
    assert_eq!(exit(&[(name.clone(), both.clone())], &[known("a", 9), known("a", 4)]).0, 0);
    both.verdict.reasons[1].counts = false;
    assert_eq!(exit(&[(name, both)], &[known("a", 9)]).0, 0);
}

#[test]
fn a_known_failure_that_is_gone_is_red_and_one_without_a_run_is_told() {
    let gone = exit(&[passed("a")], &[known("a", 9)]);
    assert_eq!(gone, (3, "known failure a (exit 9) is gone: remove it from the file (it is known)".to_owned()));
    let runs = several(&[passed("a")], &[known("b", 9)]);
    assert_eq!((runs.exit().code, runs.known[0].state), (0, KnownState::NoRun));
    // It failed once of two times: it is not gone.
    assert_eq!(exit(&[passed("a"), failed("a", "command", 9)], &[known("a", 9)]).0, 0);
}

#[test]
fn what_mishap_could_not_do_is_never_known_and_says_nothing_of_what_is() {
    let runs = several(&[failed("a", "mishap", 125)], &[known("a", 125)]);
    assert_eq!((runs.exit().code, runs.known[0].state), (125, KnownState::Untested));
}

/// Each beside a run that did test something, which shows that the failure is gone.
#[test]
fn a_run_that_tested_nothing_shows_nothing_gone() {
    let what = |made: &[Made], entry: Known| several(made, &[entry]).known[0].state;
    let of = |kind| Known { kind: Some(kind), exit: None, ..known("a", 0) };
    for (kind, exit) in [("rule", 4), ("vacuous", 4), ("mishap", 125), ("command", 126), ("command", 127)] {
        for entry in [of(Kind::Expectation), of(Kind::Finding), known("a", 1), of(Kind::Command)] {
            assert_eq!(what(&[failed("a", kind, exit)], entry.clone()), KnownState::Untested, "{kind} {exit}");
            assert_eq!(what(&[failed("a", kind, exit), passed("a")], entry), KnownState::Gone, "{kind} {exit}");
        }
    }
    assert_eq!(what(&[failed("a", "command", 1)], of(Kind::Finding)), KnownState::Gone);
    assert_eq!(what(&[failed("a", "rule", 4)], of(Kind::Rule)), KnownState::Failed);
    let (name, mut away) = failed("a", "rule", 4);
    (away.verdict.exit, away.verdict.reasons[0].counts) = (0, false);
    assert_eq!(what(&[(name, away)], of(Kind::Finding)), KnownState::Untested, "chosen away, it is still so");
}

#[test]
fn that_a_command_could_not_be_started_is_excused_only_by_its_status() {
    let command = Known { kind: Some(Kind::Command), exit: None, ..known("a", 0) };
    for status in [126, 127] {
        assert_eq!(exit(&[failed("a", "command", status)], std::slice::from_ref(&command)).0, status);
        let named = Known { exit: Some(status), ..command.clone() };
        assert_eq!(exit(&[failed("a", "command", status)], &[named]).0, 0);
    }
    assert_eq!(exit(&[failed("a", "command", 1)], &[command]).0, 0);
}

#[test]
fn an_entry_that_names_no_run_is_told_with_the_names_that_there_were() {
    let words = |number: usize| {
        let rows: Vec<Made> = (0..number).flat_map(|n| [passed(&format!("p{n}")), passed(&format!("p{n}"))]).collect();
        several(&rows, &[known("p", 9)]).known[0].words()
    };
    assert_eq!(words(2), "known failure p (exit 9): no run of that name was done; there were: p0; p1");
    assert!(words(12).ends_with("; p11") && words(14).ends_with("; p11; and 2 more"), "{}", words(14));
}

// === The object of --verdict ===

#[test]
fn one_run_is_an_object_and_several_are_its_runs() {
    let (_, ran) = failed("x", "rule", 4);
    let read = |runs: &Runs| serde_json::from_str::<serde_json::Value>(&runs.json()).expect("it is JSON");
    let one = read(&Runs::alone(ran));
    assert_eq!((one["exit"].as_u64(), one["reasons"][0]["kind"].as_str()), (Some(4), Some("rule")));
    let all = read(&several(&[failed("x", "rule", 4), passed("y")], &[known("x", 4)]));
    assert_eq!((all["exit"].as_u64(), all["runs"][0]["exit"].as_u64()), (Some(0), Some(4)));
    assert_eq!(
        (&all["runs"][0]["state"], &all["runs"][0]["reasons"][0]["known"]),
        (&"known".into(), &"it is known".into())
    );
    assert_eq!((&all["runs"][1]["row"], &all["known"][0]["state"]), (&2.into(), &"failed".into()));
}

/// docs/verdict.schema.json, made of the types.
pub(crate) fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Object<'_>>();
    schema.insert("title".to_owned(), "What mishap run --verdict writes".into());
    format!("{:#}\n", schema.as_value())
}
