//! Ten profiles in front of the published server-everything by one `--matrix`, with a real client's own test as the command, and
//! the JUnit file read by a parser of that format which is not ours.

use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};

use serde_json::{Value, json};

use crate::harness::{Driver, node, node_dir, python};

/// What the client withstands, and at the end what it does not: the answer to a call that was done is lost.
const PROFILES: &str = "control,get-opens-late,get-refused,sse-noise,sse-reframed,ack-not-202,sse-body-buffered,\
                        gateway-holds-heads,answer-lost-after-work";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sdk-several-{}-{name}", process::id()))
}

fn run(profiles: &str, junit: &Path) -> Output {
    let server = Driver::server_everything();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mishap"));
    command.args(["run", "-u", &server.url(), "--matrix", profiles, "--junit"]).arg(junit).env_remove("GITHUB_ACTIONS");
    let client = node_dir().join("everything-client.mjs");
    command.arg("--").arg(node().get_program()).arg(client).output().unwrap()
}

/// The suites in a JUnit file, as a Python package reads them.
fn read(junit: &Path) -> Vec<Value> {
    let mut reader = python("junitparser-5.0.3");
    let output = reader.arg(node_dir().with_file_name("python").join("junit.py")).arg(junit).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn ten_profiles_over_server_everything_are_ten_suites_and_the_one_that_is_not_withstood_is_red() {
    let junit = file("ten.xml");
    let output = run(PROFILES, &junit);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("mishap: exit 1: 1 of 10 runs failed; run 10 (answer-lost-after-work): the command ended"),
        "{said}"
    );
    let suites = read(&junit);
    let red = |suite: &&Value| suite["numbers"][1] != json!(0) || suite["numbers"][2] != json!(0);
    let names: Vec<&Value> = suites.iter().filter(red).map(|suite| &suite["name"]).collect();
    assert_eq!((suites.len(), names), (10, vec![&json!("answer-lost-after-work")]), "{suites:#?}");
    let last = &suites[9];
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

/// The control: without the one that is not withstood nothing is red, as each parser of the file sees it.
#[test]
fn profiles_that_are_withstood_are_green() {
    let junit = file("green.xml");
    let output = run("control", &junit);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers: Vec<Value> = read(&junit).into_iter().map(|suite| suite["numbers"].clone()).collect();
    assert_eq!(numbers, [json!([2, 0, 0, 0]), json!([1, 0, 0, 0])]);
}
