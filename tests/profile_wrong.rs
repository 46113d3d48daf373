//! Wrong profiles: each says exactly what is wrong and what to write, and is right once that is written.
//!
//! A file of `tests/profiles/wrong` carries its claims as comments: `# says: LINE: TEXT` for each problem, in order, and
//! `# line LINE: TEXT` for what is to stand there instead (`⏎` begins a new line).

use std::fs;
use std::path::PathBuf;

use mishap::profile::{self, Problem, ProblemKind, Use};

/// One wrong profile and what it claims.
struct Wrong {
    path: PathBuf,
    text: String,
    says: Vec<String>,
}

fn wrong_profiles() -> Vec<Wrong> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/wrong");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").map(|it| it.expect("readable").path()).collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Wrong {
    let text = fs::read_to_string(&path).expect("a fixture is text");
    let says = text.lines().filter_map(|line| line.strip_prefix("# says: ")).map(str::to_owned).collect();
    Wrong { path, text, says }
}

fn load(path: &str) -> Result<profile::Loaded, Vec<Problem>> {
    profile::load(&[Use::plain(path)])
}

/// What a problem says, without the path of this checkout.
fn said(problem: &Problem) -> String {
    let line = problem.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let shown = problem.to_string();
    let rest = shown.strip_prefix(&problem.file).expect("a problem begins with its file");
    let rest = rest.strip_prefix(&format!(":{line}")).unwrap_or(rest);
    format!("{line}{rest}")
}

/// The text with the replacements that its comments name.
fn corrected(wrong: &Wrong) -> String {
    let mut lines: Vec<String> = wrong.text.lines().map(str::to_owned).collect();
    for line in wrong.text.lines().filter_map(|line| line.strip_prefix("# line ")) {
        let (number, text) = line.split_once(':').expect("# line LINE: TEXT");
        let index: usize = number.parse().expect("a line number");
        lines[index - 1] = text.trim_start().replace(" ⏎ ", "\n");
    }
    lines.join("\n")
}

#[test]
fn a_wrong_profile_says_what_is_wrong_and_what_to_write() {
    for wrong in wrong_profiles() {
        let found = load(&wrong.path.to_string_lossy()).expect_err("a wrong profile does not load");
        let said: Vec<String> = found.iter().map(said).collect();
        assert_eq!(said, wrong.says, "{}", wrong.path.display());
    }
}

#[test]
fn it_loads_once_that_is_written() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("corrected");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    for wrong in wrong_profiles() {
        let path = folder.join(wrong.path.file_name().expect("a file"));
        fs::write(&path, corrected(&wrong)).expect("the target folder can be written");
        let problems = load(&path.to_string_lossy()).err().unwrap_or_default();
        let left: Vec<String> =
            problems.iter().filter(|it| it.kind == ProblemKind::Wrong).map(ToString::to_string).collect();
        assert!(left.is_empty(), "{left:#?}");
    }
}

#[test]
fn there_are_enough_of_them() {
    assert!(wrong_profiles().len() >= 40, "a fixture for each way of going wrong");
}
