//! Made-up runs and what they amount to together.

use super::*;
use crate::report::runs::known::parse;
use crate::report::verdict::Kind;

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
    ReasonLine { kind: kind.to_owned(), exit, about: None, why: format!("{kind} failed"), counts: true }
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
    assert_eq!((runs.exit().code, runs.known[0].state), (125, KnownState::NoRun));
}

#[test]
fn the_file_says_what_is_wrong_with_it() {
    let text = "[[known]]\nrun = \"a,n=1\"\nkind = \"command\"\nexit = 1\nwhy = \"#12\"\n";
    let entry = Known { run: "a,n=1".to_owned(), kind: Some(Kind::Command), exit: Some(1), why: "#12".to_owned() };
    assert_eq!(parse(text), Ok(vec![entry]));
    assert_eq!(parse("# nothing\n"), Ok(Vec::new()));
    let wrong = |text: &str| parse(text).expect_err("it is wrong");
    assert!(wrong(&text.replace("exit", "exti")).contains("line 4"));
    assert!(wrong(&text.replace("command", "commando")).contains("commando"));
    assert!(wrong(&text.replace("command", "mishap")).contains("never a known failure"));
    assert!(wrong(&text.replace("exit = 1", "exit = 0")).contains("0 is no failure"));
    assert!(wrong("[[known]]\nrun = \"a\"\nwhy = \"b\"\n").contains("neither `kind` nor `exit`"));
    assert!(wrong("[[known]]\nrun = \"a\"\nexit = 1\n").contains("why"));
    assert!(wrong("[[knwon]]\n").contains("knwon"));
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
    assert_eq!(all["runs"][0]["state"], "known");
    assert_eq!((&all["runs"][1]["row"], &all["known"][0]["state"]), (&2.into(), &"failed".into()));
}

/// docs/verdict.schema.json, made of the types.
pub(crate) fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Object<'_>>();
    schema.insert("title".to_owned(), "What mishap run --verdict writes".into());
    format!("{:#}\n", schema.as_value())
}
