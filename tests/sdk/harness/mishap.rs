//! The real binary, `mishap run`, in front of a server.

use std::convert::identity;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::process::{Lines, Process};

/// A running proxy.
pub(crate) struct Mishap {
    url: String,
    journal: PathBuf,
    stderr: Lines<String>,
    process: Process,
}

/// What a run amounted to.
pub(crate) struct Run {
    /// The exit status.
    pub(crate) exit: i32,
    /// The verdict, as written to stderr.
    pub(crate) verdict: String,
    /// The journal's lines, in order.
    pub(crate) journal: Vec<Value>,
    /// The journal's file.
    pub(crate) path: PathBuf,
}

impl Mishap {
    /// Puts the proxy in front of `upstream` with these profiles (as after `-p`; a file's path is from the tests' folder).
    pub(crate) fn start(upstream: &str, profiles: &[&str]) -> Self {
        Self::in_front_of(&[upstream], profiles)
    }

    /// The same with several servers, to which a rule may send requests.
    pub(crate) fn in_front_of(upstreams: &[&str], profiles: &[&str]) -> Self {
        // What the monitors find in what the peers make of a fault is each table's own claim; what a profile expects is not.
        Self::with(upstreams, profiles, &["--fail-on", "rule,vacuous,gate,expectation"])
    }

    /// Before one server, its exit status as everybody gets it.
    pub(crate) fn judging(upstream: &str, profiles: &[&str]) -> Self {
        Self::with(&[upstream], profiles, &[])
    }

    fn with(upstreams: &[&str], profiles: &[&str], more: &[&str]) -> Self {
        let journal = journal_path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mishap"));
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk"));
        command.args(["run", "--journal"]).arg(&journal).args(more);
        for upstream in upstreams {
            command.args(["-u", upstream]);
        }
        for profile in profiles {
            command.args(["-p", profile]);
        }
        let mut process = Process::start(&mut command);
        let stdout = Lines::of(process.child().stdout.take().unwrap(), identity);
        let stderr = Lines::of(process.child().stderr.take().unwrap(), identity);
        let url = stdout.until(|lines, _| lines.first().cloned());
        let url = url.unwrap_or_else(|| panic!("no URL from {command:?}\n{}", stderr.so_far().join("\n")));
        Self { url, journal, stderr, process }
    }

    /// The URL for the client.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Stops the proxy and collects what it has to say.
    pub(crate) fn finish(mut self) -> Run {
        let child = self.process.child();
        let pid = Pid::from_child(child);
        kill_process(pid, Signal::INT).unwrap();
        let verdict = self.stderr.whole().join("\n");
        let exit = child.wait().unwrap().code().unwrap_or_else(|| panic!("no exit status\n{verdict}"));
        let text = fs::read_to_string(&self.journal).unwrap_or_else(|error| panic!("no journal: {error}\n{verdict}"));
        let journal = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Run { exit, verdict, journal, path: self.journal }
    }
}

impl Run {
    /// The journal's points that fit.
    pub(crate) fn points(&self, fits: impl Fn(&Value) -> bool) -> Vec<&Value> {
        self.journal.iter().filter(|line| line["kind"] == "point" && fits(line)).collect()
    }

    /// How often a rule fired, all rules together.
    pub(crate) fn firings(&self) -> usize {
        self.journal.iter().filter(|line| line["kind"] == "decision" && line["fired"] == true).count()
    }

    /// The exit status, checked, with the verdict in the failure's message.
    pub(crate) fn assert_exit(&self, exit: i32) {
        assert_eq!(self.exit, exit, "{}", self.verdict);
    }
}

/// What the real binary says on stdout to a command that succeeds.
pub(crate) fn mishap(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mishap"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk")).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn journal_path() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("sdk-{}-{}.ndjson", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
