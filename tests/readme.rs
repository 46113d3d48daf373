//! The commands of README.md, docs/ci.md and docs/reports.md, run as they stand there: those on the demo's programs as they
//! are, those on the reader's own programs with the demo's in the part of `node`, `npm` and `pytest`.
//!
//! A block's lines that are not commands are what the reader is told to expect; `…` stands for any text.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    use crate::common::mishap::{BOUND, Mishap};
    use crate::common::scratch::Scratch;

    const README: &str = include_str!("../README.md");
    const CI: &str = include_str!("../docs/ci.md");
    const REPORTS: &str = include_str!("../docs/reports.md");

    /// A command and what it is said to write.
    #[derive(Debug, PartialEq)]
    struct Shown {
        command: String,
        output: Vec<String>,
    }

    /// The commands in the blocks of this language, in order.
    fn shown(language: &str, prompt: &str) -> Vec<Shown> {
        let mut all: Vec<Shown> = Vec::new();
        let pages = [README, CI, REPORTS].into_iter();
        for block in pages.flat_map(|page| page.split(&format!("```{language}\n")).skip(1).collect::<Vec<_>>()) {
            for line in block.split("```").next().unwrap_or_default().lines() {
                match (line.strip_prefix(prompt), all.last_mut()) {
                    (Some(command), _) => all.push(Shown { command: command.to_owned(), output: Vec::new() }),
                    (None, Some(last)) => last.output.push(line.to_owned()),
                    (None, None) => panic!("output before any command: {line}"),
                }
            }
        }
        all
    }

    /// A reader's machine: a directory to work in, with the files that the pages show, and programs on the path.
    fn machine() -> Scratch {
        let scratch = Scratch::new();
        for (name, page) in [("mine.toml", README), ("known.toml", CI)] {
            let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
            scratch.file(name, shown.expect("the page shows one"));
        }
        let binary = env!("CARGO_BIN_EXE_mishap");
        for (name, script) in [
            ("mishap", format!("exec '{binary}' \"$@\"")),
            ("cargo", format!("[ \"$1 $2 $3\" = 'run --release --' ] || exit 99; shift 3; exec '{binary}' \"$@\"")),
            ("node", format!("exec '{binary}' demo serve -l \"$3\"")),
            ("npm", format!("exec '{binary}' demo client \"$4\" get-late")),
            ("pytest", format!("exec '{binary}' demo client \"$MISHAP_URL\" lost-stream")),
        ] {
            let path = scratch.file(name, &format!("#!/bin/sh\n{script}\n"));
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("a script can be made executable");
        }
        scratch
    }

    /// Runs a command there and returns its exit status and all it wrote.
    fn run(machine: &Scratch, command: &str) -> (i32, String) {
        let directory = machine.path("");
        let path = std::env::var("PATH").expect("there is a path");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} 2>&1")]).current_dir(&directory).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{path}", directory.display())).env_remove("GITHUB_ACTIONS");
        let (sender, done) = mpsc::channel();
        std::thread::spawn(move || drop(sender.send(shell.output())));
        let output = done.recv_timeout(BOUND).unwrap_or_else(|_| panic!("not done within {BOUND:?}: {command}"));
        let output = output.expect("there is a shell");
        let code = output.status.code().unwrap_or_else(|| panic!("{command}: {}", output.status));
        (code, String::from_utf8(output.stdout).expect("it writes UTF-8"))
    }

    /// The lines stand in the output in this order, whatever stands between them.
    #[track_caller]
    fn says(output: &str, expected: &[String]) {
        let mut lines = output.lines();
        for line in expected {
            let parts: Vec<_> = line.split('…').collect();
            assert!(lines.any(|written| fits(written, &parts)), "no line {line:?} (in this place) in\n{output}");
        }
    }

    /// Whether a line consists of these parts with any text between them.
    fn fits(line: &str, parts: &[&str]) -> bool {
        let Some(mut rest) = line.strip_prefix(parts[0]) else { return false };
        for part in &parts[1..] {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.is_empty() || parts.last() == Some(&"")
    }

    /// The exit status that a run announces in its last line; 0 where there is none.
    fn announced(output: &str) -> i32 {
        let last = output.lines().last().and_then(|line| line.strip_prefix("mishap: exit "));
        last.and_then(|rest| rest.split(':').next()).map_or(0, |code| code.parse().expect("a status is a number"))
    }

    #[test]
    fn the_commands_on_the_demos_programs_do_what_the_page_says() {
        let machine = machine();
        let all = shown("console", "$ ");
        assert!(all.len() >= 7, "only {} commands: the test looks in the wrong place", all.len());
        for Shown { command, output: expected } in all {
            let (code, output) = run(&machine, &command);
            says(&output, &expected);
            assert_eq!(code, announced(&output), "{command}\n{output}");
            assert!(!expected.is_empty() || code == 0, "{command}\n{output}");
        }
    }

    /// With the demo's programs in the part of the reader's the profile does its work, and the run ends as the command.
    #[test]
    fn the_commands_on_the_readers_own_programs_work() {
        let machine = machine();
        let mut server = Mishap::start(&["demo", "serve"]);
        let url = server.line();
        let all = shown("sh", "");
        let commands: Vec<_> = all.iter().map(|shown| shown.command.as_str()).collect();
        let (mishap, others): (Vec<_>, Vec<_>) = commands.into_iter().partition(|it| it.starts_with("mishap "));
        assert_eq!(others, ["tests/run"], "a command that is neither run here nor by .ci/run");
        assert!(
            include_str!("../.ci/run").contains("\ntests/run "),
            "CI runs another test command than the page names"
        );
        for command in mishap {
            let (code, output) = run(&machine, &command.replace("http://127.0.0.1:3000/mcp", &url));
            assert_eq!(code, announced(&output), "{command}\n{output}");
            assert_eq!(code, i32::from(command.contains(" -p ")), "the fault did its work: {command}\n{output}");
        }
    }
}
