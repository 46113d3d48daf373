//! The whole grammar is read: every profile of the language's examples loads. `tests/profiles/language` holds them; most are
//! from reports of real bugs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use mishap::profile::{self, Problem, Use, schema};

/// Each example and why it does not load, if it does not.
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
fn every_example_of_the_language_loads() {
    let problems: Vec<String> =
        examples().into_iter().flat_map(|(_, problems)| problems).map(|problem| problem.to_string()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_fault_has_an_example() {
    let texts: String = fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/language"))
        .expect("the folder is there")
        .map(|entry| fs::read_to_string(entry.expect("readable").path()).expect("a fixture is text"))
        .collect();
    let used =
        |fault: &&&schema::FaultTable| texts.lines().any(|line| line.split(['=', '.', ' ']).next() == Some(fault.name));
    let without: BTreeSet<&str> = schema::FAULTS.iter().filter(|fault| !used(fault)).map(|fault| fault.name).collect();
    assert_eq!(without, BTreeSet::new());
}
