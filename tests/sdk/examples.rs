//! The examples, run as they stand: the three scripts, the suites of three test frameworks, the step of the GitHub Action,
//! and the conformance runner's line for either role.
//!
//! The one rule: nothing is done to an example but to put the programs on the path that its first lines ask for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::{node, node_dir};

/// A command in the examples' folder, with what they ask for at hand.
pub(crate) fn example(program: &str) -> Command {
    command(program, "examples")
}

/// The same in this folder of the project.
fn command(program: &str, folder: &str) -> Command {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mishap = Path::new(env!("CARGO_BIN_EXE_mishap")).parent().unwrap();
    let node = PathBuf::from(node().get_program());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let beside = [mishap, node.parent().unwrap_or(Path::new(""))].map(Path::to_path_buf);
    let all = beside.into_iter().filter(|folder| folder.is_absolute()).chain(std::env::split_paths(&path));
    let mut command = Command::new(program);
    command.current_dir(project.join(folder)).env("PATH", std::env::join_paths(all).unwrap());
    let python = ["py-2.3.0", "pytest"].map(|name| project.join("tests/sdk/.cache").join(name));
    command.env("PYTHONPATH", std::env::join_paths(python).unwrap()).env_remove("GITHUB_ACTIONS");
    command
}

fn words(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs it to its end, which must be a success; what it wrote.
#[track_caller]
pub(crate) fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, words(&output));
    words(&output)
}

/// The exit statuses that a script's runs ended with, in order.
fn exits(words: &str) -> Vec<&str> {
    let lines = words.lines().filter_map(|line| line.strip_prefix("mishap: exit "));
    lines.filter_map(|rest| rest.split(':').next()).collect()
}

#[test]
fn conformance_407_is_lost_by_the_broken_server_and_by_no_other() {
    let words = succeeds(&mut example("./conformance-407"));
    assert_eq!(exits(&words), ["0", "1", "0", "0"], "{words}");
}

#[test]
fn typescript_sdk_2739_is_red_on_typescript_and_green_on_python_and_rmcp() {
    let words = succeeds(&mut example("./typescript-sdk-2739"));
    assert_eq!(exits(&words), ["0", "0", "0", "1"], "{words}");
}

#[test]
fn the_suite_of_node_test_passes() {
    let mut suite = example("node");
    suite.args(["--test", "--test-reporter=tap", "node-test/greet.test.mjs"]);
    let words = succeeds(&mut suite);
    assert!(words.contains("# pass 2\n") && words.contains("# fail 0\n"), "{words}");
}

#[test]
fn the_suite_of_vitest_passes() {
    let mut suite = example("node");
    suite.args(["node_modules/vitest/vitest.mjs", "run", "--dir", "vitest", "--reporter=json"]);
    let words = succeeds(&mut suite);
    let report: Value = serde_json::from_str(words.lines().next().unwrap()).unwrap_or_else(|_| panic!("{words}"));
    assert_eq!((&report["numPassedTests"], &report["numFailedTests"]), (&3.into(), &0.into()), "{words}");
}

#[test]
fn the_suite_of_pytest_passes() {
    let mut suite = command("python3", "");
    suite.args(["-m", "pytest", "-p", "no:cacheprovider", "-q", "examples/pytest"]);
    let words = succeeds(&mut suite);
    assert!(words.contains("2 passed"), "{words}");
}

// === The conformance runner ===

/// The runner's line for this role in docs/workshop.md, with `npx` and the reader's own program in place.
fn documented(role: &str) -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/workshop.md")).unwrap();
    let called = format!("npx @modelcontextprotocol/conformance {role} ");
    let line = page.lines().find(|line| line.contains(&called)).unwrap_or_else(|| panic!("no line with {called}"));
    let runner = node_dir().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    line.replace("npx @modelcontextprotocol/conformance", &format!("node '{}'", runner.display()))
}

#[test]
fn the_conformance_runner_tests_a_server_and_a_client_with_the_documented_lines() {
    for role in ["server", "client"] {
        let mut shell = example("sh");
        shell.args(["-c", &documented(role)]);
        let words = succeeds(&mut shell);
        assert!(words.contains("mishap: exit 0:") || role == "client", "{words}");
    }
}

// === The GitHub Action ===

#[test]
fn the_actions_step_runs_the_command_with_its_inputs_from_the_environment() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("action-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    let (output, hostile) = (scratch.join("output"), scratch.join("hostile"));
    let mut step = example("../action.sh");
    step.env("RUNNER_TEMP", &scratch).env("GITHUB_OUTPUT", &output);
    step.env("INPUT_UPSTREAM", "").env("INPUT_SERVE", "node servers/asking.mjs {port} --fixed");
    step.env("INPUT_PROFILES", "get-opens-late\n").env("INPUT_COMMAND", "node clients/greet.mjs \"$MISHAP_URL\"");
    step.env("INPUT_ARGUMENTS", format!("--seed\n7\n--journal\n{}/$(touch hostile).ndjson\n", scratch.display()));
    succeeds(&mut step);
    let named = fs::read_to_string(&output).unwrap();
    let verdict = fs::read_to_string(named.trim_end().strip_prefix("verdict=").unwrap()).unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!((&verdict["exit"], &verdict["seed"]), (&0.into(), &7.into()), "{verdict}");
    assert!(!hostile.exists() && scratch.join("$(touch hostile).ndjson").exists());
    fs::remove_dir_all(&scratch).unwrap();
}

#[test]
fn the_action_is_one_by_githubs_own_schema_and_a_broken_one_is_not() {
    let validate = |file: &Path| {
        let mut validator = node();
        validator.arg(node_dir().join("node_modules/@action-validator/cli/cli.mjs")).arg(file);
        validator.output().unwrap()
    };
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    let valid = validate(&action);
    assert!(valid.status.success(), "{}", words(&valid));

    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("broken-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    let broken = scratch.join("action.yml");
    fs::write(&broken, fs::read_to_string(&action).unwrap().replace("using: composite", "using: nothing")).unwrap();
    assert!(!validate(&broken).status.success());
    fs::remove_dir_all(&scratch).unwrap();
}
