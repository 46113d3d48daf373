//! What is written of one run or several at their end, beside the journal: `--verdict`, `--junit`, and what GitHub is told.
//!
//! The one rule: a file that cannot be written is found out before anything is started, and what an earlier run left in it is
//! gone from then on.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::{ManyArgs, RunArgs};
use crate::command::Exit;
use crate::report::github::{SUMMARY, annotations, summary};
use crate::report::junit::junit;
use crate::report::runs::Runs;

/// Two outputs in one file, of which one would be lost: what is wrong with the words.
pub(super) fn clash(args: &RunArgs) -> Option<Exit> {
    let many = &args.many;
    let single = [
        ("--journal", &args.journal),
        ("--url-file", &args.url_file),
        ("--ready-file", &args.ready_file),
        ("--verdict", &many.verdict),
        ("--junit", &many.junit),
    ];
    let single = single.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    let reports = args.report.iter().map(|report| ("--report", &report.path));
    let mut taken = BTreeMap::new();
    // What is no file, such as /dev/null, takes as many as come.
    let mut files = single.chain(reports).filter(|(_, path)| path.metadata().map_or(true, |there| there.is_file()));
    files.find_map(|(option, path)| {
        let first = taken.insert(path, option)?;
        let why = format!("{first} and {option} would both write {}; give each a file of its own", path.display());
        Some(Exit::because(2, why))
    })
}

/// The files that were asked for.
#[derive(Debug)]
pub(super) struct Files {
    verdict: Option<Output>,
    junit: Option<Output>,
}

#[derive(Debug)]
struct Output {
    what: &'static str,
    path: PathBuf,
    file: File,
}

impl Files {
    /// Makes them, empty. Returns which cannot be made.
    pub(super) fn create(args: &ManyArgs) -> Result<Self, String> {
        let verdict = args.verdict.as_deref().map(|path| Output::create("verdict", path)).transpose()?;
        let junit = args.junit.as_deref().map(|path| Output::create("JUnit", path)).transpose()?;
        Ok(Self { verdict, junit })
    }

    /// Fills them. Returns what could not be written.
    pub(super) fn write(self, runs: &Runs) -> Vec<String> {
        let verdict = self.verdict.map(|output| output.write(&runs.json()));
        let junit = self.junit.map(|output| output.write(&junit(runs)));
        [verdict, junit].into_iter().flatten().filter_map(Result::err).collect()
    }
}

impl Output {
    fn create(what: &'static str, path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| format!("{what} {}: {error}", path.display()))?;
        Ok(Self { what, path: path.to_owned(), file })
    }

    fn write(mut self, text: &str) -> Result<(), String> {
        let Self { what, path, file } = &mut self;
        file.write_all(text.as_bytes()).map_err(|error| format!("{what} {}: {error}", path.display()))
    }
}

/// Tells GitHub, if this is one of its workflows. Its runner reads commands from stderr as from stdout, which is not ours.
pub(super) fn tell_github(runs: &Runs, err: &mut dyn Write) -> io::Result<()> {
    if std::env::var_os("GITHUB_ACTIONS").is_none_or(|value| value != "true") {
        return Ok(());
    }
    write!(err, "{}", annotations(runs))?;
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return Ok(()) };
    match summarize(runs, Path::new(&path)) {
        // The run is as it is, and the table is in the log too.
        Err(error) => writeln!(err, "mishap: GITHUB_STEP_SUMMARY {}: {error}", path.display()),
        Ok(()) => Ok(()),
    }
}

fn summarize(runs: &Runs, path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let room = SUMMARY.saturating_sub(file.metadata()?.len());
    file.write_all(summary(runs, usize::try_from(room).unwrap_or(usize::MAX)).as_bytes())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn two_outputs_do_not_share_a_file() {
        let told = |words: &[&str]| {
            let all = ["mishap", "run", "-u", "http://h:1/"].iter().chain(words);
            let Command::Run(args) = Cli::try_parse_from(all).expect("the words are right").command else {
                panic!("not a run")
            };
            clash(&args).map(|exit| (exit.code, exit.why.unwrap_or_default()))
        };
        let why = "--journal and --verdict would both write same.x; give each a file of its own";
        assert_eq!(told(&["--verdict", "same.x", "--journal", "same.x"]), Some((2, why.to_owned())));
        assert_eq!(told(&["--verdict", "a.json", "--report", "b.json", "--journal", "c.json"]), None);
        assert_eq!(told(&["--verdict", "/dev/null", "--journal", "/dev/null"]), None);
        assert!(told(&["--report", "b.html", "--report", "b.html"]).is_some());
    }
}
