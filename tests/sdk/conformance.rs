//! The conformance runner in front of a server of ours: what it finds must be the same through the idle proxy, and what
//! `get-opens-late` breaks must be what modelcontextprotocol/conformance#407 says, and nothing else.
//!
//! Compared are whole lists of (scenario, check, status), never counts alone: a check that turned and one that vanished
//! would make up for each other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Driver, Mishap, Run, node, node_dir};

/// The SDK that the server is written on.
const SERVER: &str = "1.32.2";

/// How many checks the runner's `active` suite makes.
const ACTIVE: usize = 40;

/// The scenarios whose tool asks the client something.
const ASKING: [&str; 4] =
    ["elicitation-sep1034-defaults", "elicitation-sep1330-enums", "tools-call-elicitation", "tools-call-sampling"];

const LATE_GET: &str = "get-opens-late,limit=60s";

/// How long, in milliseconds, the server waits for a client that was not asked, or for one that was.
const SOON: u64 = 1000;
const LATE: u64 = 60_000;

/// One check of one scenario, and how it came out.
type Check = (String, String, String);

#[test]
fn all_forty_checks_come_out_the_same_directly_and_through_the_idle_proxy() {
    let server = server(Questions::InTheCall, LATE);
    let directly = active(&server.url());
    assert_eq!(directly.len(), ACTIVE, "{directly:#?}");
    assert_eq!(failed(&directly), Vec::<&Check>::new());

    let mishap = Mishap::start(&server.url(), &[]);
    let through = active(mishap.url());
    assert_eq!(through, directly);
    mishap.finish().assert_exit(0);
}

#[test]
fn a_server_that_asks_outside_its_calls_fails_every_asking_scenario_behind_get_opens_late() {
    let server = server(Questions::OutsideTheCall, SOON);
    let mishap = Mishap::start(&server.url(), &[LATE_GET]);
    for (scenario, checks) in asking(mishap.url()) {
        assert_ne!(failed(&checks), Vec::<&Check>::new(), "{scenario} passed: {checks:#?}");
    }
    // Not for any other reason: each tool waited in vain for its client.
    assert_eq!(timed_out(&server), ASKING.len());
    every_get_was_held_until_its_call_had_ended(&mishap.finish());
}

#[test]
fn a_server_that_asks_in_its_calls_passes_every_asking_scenario_behind_get_opens_late() {
    let server = server(Questions::InTheCall, LATE);
    let mishap = Mishap::start(&server.url(), &[LATE_GET]);
    for (scenario, checks) in asking(mishap.url()) {
        assert_eq!(failed(&checks), Vec::<&Check>::new(), "{scenario}");
    }
    every_get_was_held_until_its_call_had_ended(&mishap.finish());
}

// The control: the same faulty server, the other order.
#[test]
fn a_server_that_asks_outside_its_calls_passes_when_the_get_opens_first() {
    let server = server(Questions::OutsideTheCall, LATE);
    let mishap = Mishap::start(&server.url(), &["get-opens-first"]);
    for (scenario, checks) in asking(mishap.url()) {
        assert_eq!(failed(&checks), Vec::<&Check>::new(), "{scenario}");
    }
    mishap.finish().assert_exit(0);
}

// === The server ===

/// Where the server's questions travel.
#[derive(Clone, Copy, PartialEq)]
enum Questions {
    InTheCall,
    OutsideTheCall,
}

fn server(questions: Questions, timeout: u64) -> Driver {
    let faulty = questions == Questions::OutsideTheCall;
    Driver::node("conformance/server", SERVER, &json!({ "faulty": faulty, "timeout": timeout }))
}

/// How many tools asked and had no answer in time.
fn timed_out(server: &Driver) -> usize {
    let in_vain = |message: &Value| message.as_str().is_some_and(|words| words.contains("Request timed out"));
    server.places(|event| event["event"] == "failed" && in_vain(&event["message"])).len()
}

fn every_get_was_held_until_its_call_had_ended(run: &Run) {
    run.assert_exit(0);
    let gates: Vec<&Value> = run.journal.iter().filter(|line| line["kind"] == "gate").collect();
    assert_eq!(gates.len(), ASKING.len(), "{gates:#?}");
    for gate in gates {
        let by = gate["opened"]["by"].as_str().unwrap_or_default();
        assert!(by.contains("/post:") && (by.contains("/end#") || by.contains("/leave#")), "{gate}");
    }
}

// === The runner ===

/// What the `active` suite finds.
fn active(url: &str) -> Vec<Check> {
    run(url, &["--suite", "active"])
}

/// What each of the asking scenarios finds, all four at once.
fn asking(url: &str) -> Vec<(&'static str, Vec<Check>)> {
    thread::scope(|scope| {
        let runs = ASKING.map(|scenario| (scenario, scope.spawn(move || run(url, &["--scenario", scenario]))));
        runs.into_iter().map(|(scenario, checks)| (scenario, checks.join().unwrap())).collect()
    })
}

fn failed(checks: &[Check]) -> Vec<&Check> {
    checks.iter().filter(|(_, _, status)| status != "SUCCESS").collect()
}

/// Runs the runner, whose own exit status only repeats what the checks say, and reads what it wrote.
fn run(url: &str, what: &[&str]) -> Vec<Check> {
    let results = results_path();
    let runner = node_dir().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let output = node().arg(runner).args(["server", "--url", url]).args(what).arg("-o").arg(&results).output().unwrap();
    let checks = read(&results);
    assert!(
        !checks.is_empty(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    checks
}

/// All checks under `results`, in order: a folder for each scenario, a `checks.json` in each.
fn read(results: &Path) -> Vec<Check> {
    let mut checks: Vec<Check> = fs::read_dir(results)
        .into_iter()
        .flatten()
        .map(Result::unwrap)
        .flat_map(|folder| {
            let text = fs::read_to_string(folder.path().join("checks.json")).unwrap();
            let found: Vec<Value> = serde_json::from_str(&text).unwrap();
            let scenario = scenario_of(folder.file_name().to_str().unwrap()).to_owned();
            found.into_iter().map(move |check| (scenario.clone(), word(&check, "id"), word(&check, "status")))
        })
        .collect();
    checks.sort();
    checks
}

/// The scenario of a results folder, which is named `server-SCENARIO-2026-11-30T10-33-22-539Z`.
fn scenario_of(folder: &str) -> &str {
    let date = folder.len() - "-2026-11-30T10-33-22-539Z".len();
    folder[..date].strip_prefix("server-").unwrap()
}

fn word(check: &Value, field: &str) -> String {
    check[field].as_str().unwrap().to_owned()
}

fn results_path() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("conformance-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
