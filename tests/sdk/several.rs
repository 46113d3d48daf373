//! `examples/ten-profiles`: ten profiles in front of the published server-everything by one `--matrix`, with a real client's own
//! test as the command; and the JUnit file read by a parser of that format which is not ours.

use std::path::{Path, PathBuf};
use std::process;

use serde_json::{Value, json};

use crate::examples::{example, succeeds};
use crate::harness::{node_dir, python};

/// As in the script.
const EVERYTHING: &str =
    "PORT={port} node node_modules/@modelcontextprotocol/server-everything/dist/index.js streamableHttp";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sdk-several-{}-{name}", process::id()))
}

/// The suites in a JUnit file, as a Python package reads them.
fn read(junit: &Path) -> Vec<Value> {
    let mut reader = python("junitparser-5.0.3");
    let output = reader.arg(node_dir().with_file_name("python").join("junit.py")).arg(junit).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn is_red(suite: &&Value) -> bool {
    suite["numbers"][1] != json!(0) || suite["numbers"][2] != json!(0)
}

#[test]
fn ten_profiles_over_server_everything_are_ten_suites_and_none_is_red() {
    let junit = file("ten.xml");
    let mut script = example("./ten-profiles");
    succeeds(script.arg(&junit));
    let suites = read(&junit);
    let red: Vec<_> = suites.iter().filter(is_red).collect();
    assert_eq!((suites.len(), red), (10, vec![]), "{suites:#?}");
}

/// The control: with a profile that is not withstood the same line is red, as a parser of the file sees it.
#[test]
fn a_profile_that_is_not_withstood_is_a_red_suite_with_what_repeats_it() {
    let junit = file("red.xml");
    let mut command = example("mishap");
    command
        .args(["run", "--serve", EVERYTHING, "--matrix", "transparent,answer-lost-after-work", "--junit"])
        .arg(&junit);
    let output = command.args(["--", "node", "clients/tour.mjs", "{url}"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let why = "mishap: exit 1: 1 of 2 runs failed; run 2 (answer-lost-after-work): the command ended";
    assert!(said.contains(why), "{said}");
    let suites = read(&junit);
    let names: Vec<&Value> = suites.iter().filter(is_red).map(|suite| &suite["name"]).collect();
    assert_eq!((suites.len(), names), (2, vec![&json!("answer-lost-after-work")]), "{suites:#?}");
    let last = &suites[1];
    assert_eq!(last["cases"][0]["name"], "command");
    assert_eq!(last["cases"][0]["results"][0][0], "Failure");
    assert_eq!(last["cases"][0]["results"][0][3], "the command ended with status 1");
    assert_eq!(last["cases"][1]["results"], json!([]), "its rule did what it was to do");
    let property = |name: &str| {
        let all = last["properties"].as_array().unwrap();
        all.iter().find(|property| property[0] == name).map(|property| property[1].clone()).unwrap_or_default()
    };
    assert_eq!(property("profile"), "answer-lost-after-work");
    let again = property("again");
    assert!(again.as_str().unwrap().contains(" -p answer-lost-after-work --seed "), "{again}");
}
