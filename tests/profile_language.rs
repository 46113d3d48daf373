//! The whole grammar is read: every profile of the language's examples loads, or is refused only for what this version
//! cannot do yet. `tests/profiles/language` holds them; most are from reports of real bugs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use mishap::profile::{self, Problem, ProblemKind, Use, schema};

/// Each example and why it is refused, if it is.
fn examples() -> Vec<(String, Vec<Problem>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/language");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        (name, profile::check(&Use::plain(&path.to_string_lossy())).err().unwrap_or_default())
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn every_example_of_the_language_is_right() {
    let wrong = |problems: Vec<Problem>| problems.into_iter().filter(|problem| problem.kind == ProblemKind::Wrong);
    let wrong: Vec<String> =
        examples().into_iter().flat_map(|(_, problems)| wrong(problems).map(|problem| problem.to_string())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_can_be_done_today_loads() {
    let loads: Vec<String> =
        examples().into_iter().filter(|(_, problems)| problems.is_empty()).map(|(name, _)| name).collect();
    assert_eq!(loads, TODAY);
}

/// The examples that need nothing which is not built yet.
const TODAY: &[&str] = &[
    "answer-lost-after-work",
    "bs-events-on-as-resumed-stream",
    "cancel-against-the-answer-swept",
    "client-vanishes-mid-call",
    "events-out-of-order-progress-after-the-answer",
    "events-out-of-order",
    "first-byte-withheld-until-the-server-has-emitted-a-message",
    "get-headers-held",
    "get-opens-first-whole",
    "get-opens-late-whole",
    "get-opens-late",
    "get-opens-then-ends",
    "idle-connection-dies-as-the-next-request-arrives",
    "initialized-and-the-next-request-released-together",
    "initialized-late-or-lost",
    "legacy-the-stream-on-which-the-answer-would-come-is-cut-while-one-call-is-out",
    "lifecycle-races-answer-against-cancel",
    "lifecycle-races-two-first-calls-together",
    "modern-era-the-input-required-result-is-lost-after-the-server-has-made-it",
    "pooled-connection-black-holed-new-ones-work",
    "post-stream-lost",
    "post-stream-stalls",
    "random-uptime-then-a-zombie",
    "release-the-held-post-the-instant-the-gets-head-passes",
    "server-request-on-other-stream",
    "stream-open-after-response",
    "the-end-of-the-body-comes-t-after-the-answer",
    "the-final-event-is-lost-downstream-read-upstream-then-resumed",
    "the-servers-leg-lingers-after-the-client-has-left",
];

#[test]
fn every_fault_has_an_example() {
    let texts: String = fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/language"))
        .expect("the folder is there")
        .map(|entry| fs::read_to_string(entry.expect("readable").path()).expect("a fixture is text"))
        .collect();
    let used =
        |fault: &&&schema::FaultTable| texts.lines().any(|line| line.split(['=', '.', ' ']).next() == Some(fault.name));
    let without: BTreeSet<&str> = schema::FAULTS.iter().filter(|fault| !used(fault)).map(|fault| fault.name).collect();
    assert_eq!(without, BTreeSet::from(["throttle"]));
}
