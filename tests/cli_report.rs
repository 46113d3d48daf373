//! `mishap report` and `mishap run --report` through the real binary: each form, from the same journal, where it was asked for.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use boon::{Compiler, Schemas};
    use serde_json::Value;

    use crate::cli_support::{answering, post};
    use crate::common::mishap::{Ended, Mishap, binary};
    use crate::common::scratch::Scratch;

    /// A scene of the demo in which its fault does its work, with more words for `mishap run`.
    fn played(more: &[&str]) -> Ended {
        let serve = format!("'{}' demo serve -l {{port}}", binary());
        let run = ["run", "--serve", &serve, "-p", "post-stream-lost,ending=reset", "--seed", "7"];
        let ended = Mishap::run(&[&run, more, &["--", binary(), "demo", "client", "{url}", "lost-stream"]].concat());
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        ended
    }

    fn report(words: &[&str]) -> String {
        let ended = Mishap::run(&[&["report"], words].concat());
        assert_eq!((ended.code, &*ended.stderr), (0, ""));
        ended.stdout
    }

    fn files(scratch: &Scratch) -> Vec<String> {
        let entries = std::fs::read_dir(scratch.path("")).expect("it is there");
        let names = entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The ends of the reports' names, in order.
    const ENDS: [&str; 6] = ["har", "html", "json", "md", "mmd", "txt"];

    fn names() -> [String; 6] {
        ENDS.map(|end| format!("run.{end}"))
    }

    #[test]
    fn a_run_writes_its_reports_and_leaves_no_journal_that_nobody_asked_for() {
        let scratch = Scratch::new();
        let paths = names().map(|name| scratch.path(&name).display().to_string());
        let words: Vec<_> = paths.iter().flat_map(|path| ["--report", path]).collect();
        let ended = played(&words);
        assert_eq!(files(&scratch), names(), "and nothing else");
        assert!(!ended.stderr.contains("journal"), "{}", ended.stderr);
        for path in &paths {
            assert!(ended.stderr.contains(&format!("\n  report: {path}\n")), "{}", ended.stderr);
        }
        let read = |end: &str| std::fs::read_to_string(scratch.path(&format!("run.{end}"))).expect("it was written");
        let text = read("txt");
        assert!(text.contains("  exit 1: the command ended with status 1"), "{text}");
        assert!(read("html").starts_with("<!doctype html>"));
        assert_eq!(read("md"), format!("```mermaid\n{}```\n", read("mmd")));
        assert!(read("mmd").contains("P: ! "), "{}", read("mmd"));
        valid(&serde_json::from_str(&read("json")).expect("it is JSON"));
        let archive: Value = serde_json::from_str(&read("har")).expect("it is JSON");
        let entries = archive["log"]["entries"].as_array().expect("it has entries");
        let calls = entries.iter().filter(|entry| entry["request"]["method"] == "POST");
        assert!(
            calls.count() >= 3 && entries.iter().any(|entry| entry["response"]["_error"].is_string()),
            "{archive:#}"
        );
    }

    fn valid(report: &Value) {
        let schema = serde_json::from_str(include_str!("../docs/report.schema.json")).expect("it is JSON");
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("report.schema.json", schema).expect("it is a schema");
        let index = compiler.compile("report.schema.json", &mut schemas).expect("it is a schema");
        assert_eq!(schemas.validate(report, index).map_err(|error| format!("{error:#}")), Ok(()));
        assert!(report["events"].as_array().is_some_and(|events| events.len() > 10), "{report}");
    }

    #[test]
    fn what_a_run_writes_is_what_report_makes_of_its_journal() {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path(name).display().to_string();
        let journal = path("run.ndjson");
        let reports = names().map(|name| path(&name));
        let words: Vec<_> = reports.iter().flat_map(|path| ["--report", path]).collect();
        let ended = played(&[&["--journal", &journal][..], &words].concat());
        assert!(ended.stderr.contains(&format!("  journal: {journal}, ")), "it stays: {}", ended.stderr);
        for (name, written) in names().iter().zip(&reports) {
            let again = path(&format!("again-{name}"));
            assert_eq!(report(&[&journal, "-o", &again]), "");
            let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
            assert!(read(written) == read(&again), "{name}");
        }
        for (format, name) in [
            ("text", "run.txt"),
            ("mermaid", "run.mmd"),
            ("html", "run.html"),
            ("har", "run.har"),
            ("json", "run.json"),
        ] {
            let written = std::fs::read_to_string(path(name)).expect("it was written");
            assert!(report(&[&journal, "--format", format]) == written, "{format}");
        }
        assert!(report(&[&journal]).contains("client  proxy  server"), "text, where nothing is asked for");
    }

    #[test]
    fn a_report_that_cannot_be_written_is_a_failure_of_ours_and_a_form_that_is_none_is_refused() {
        let scratch = Scratch::new();
        let nowhere = scratch.path("none/run.html").display().to_string();
        let url = "http://127.0.0.1:9/mcp";
        let ended = Mishap::run(&[
            "run",
            "-u",
            url,
            "--journal",
            &scratch.path("j").display().to_string(),
            "--report",
            &nowhere,
            "--",
            "true",
        ]);
        let why = format!("mishap: exit 125: report {nowhere}: No such file or directory (os error 2) (and 1 more)");
        assert_eq!(ended.last(), why, "that nothing crossed is the other");
        let pipe = Mishap::run(&[
            "run",
            "-u",
            url,
            "--journal",
            "/dev/null",
            "--report",
            &scratch.path("a.html").display().to_string(),
            "--",
            "true",
        ]);
        assert!(
            pipe.last().starts_with("mishap: exit 125: no report: journal /dev/null: it is no file"),
            "{}",
            pipe.stderr
        );
        let unknown = Mishap::run(&["run", "-u", url, "--report", "run.pdf", "--", "true"]);
        assert!(
            unknown.code == 2 && unknown.stderr.contains("its name must say what is to be in it: .txt"),
            "{}",
            unknown.stderr
        );
    }

    // The first proxy answers one of two calls itself: so would a gateway that the second is behind.
    #[test]
    fn two_journals_say_what_one_saw_and_the_other_did_not() {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path(name).display().to_string();
        let url = format!("http://{}/mcp", answering(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        let lossy = "version = 1\nsummary = \"Answer it\"\n[[rule]]\nname = \"answer\"\n\
                     match = { at = \"request\", method = \"ping\" }\nrespond = { status = 503 }\n";
        let profile = scratch.file("lossy.toml", lossy);
        let mut behind = Mishap::start(&["run", "-u", &url, "--journal", &path("behind")]);
        let mut before = Mishap::start(&["run", "-u", &behind.line(), "-p", &profile, "--journal", &path("before")]);
        let url = before.line();
        post(&url, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        post(&url, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        before.finish();
        behind.finish();
        let text = report(&[&path("before"), "--beside", &path("behind")]);
        assert!(text.contains("POST ping id 2        │──────▶│       │       │       │  request ping id 2"), "{text}");
        assert!(text.contains("? only before: the exchange and all of it"), "{text}");
        assert!(text.ends_with("\n1 difference: 1 only before, 0 only behind\n"), "{text}");
        let other = Mishap::run(&["report", &path("before"), "--beside", &path("behind"), "-o", "two.html"]);
        assert_eq!((other.code, other.last().starts_with("mishap: exit 2: --beside draws text")), (2, true));
    }

    /// As `run --report` has it; the form may also be named.
    #[test]
    fn a_name_that_does_not_say_what_is_to_be_in_it_is_refused() {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path(name).display().to_string();
        played(&["--journal", &path("run.ndjson")]);
        let refused = Mishap::run(&["report", &path("run.ndjson"), "-o", &path("run.pdf")]);
        assert_eq!(refused.code, 2);
        assert!(
            refused.last().contains("run.pdf: its name must say what is to be in it: .txt, "),
            "{}",
            refused.stderr
        );
        assert!(!scratch.path("run.pdf").exists());
        assert_eq!(report(&[&path("run.ndjson"), "-o", &path("run.pdf"), "--format", "text"]), "");
        assert!(scratch.path("run.pdf").exists());
    }
}
