//! Several runs and what is written of them, through the real binary, with the demo's server and client where a bug is needed.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use boon::{Compiler, Schemas};
    use roxmltree::Document;
    use rustix::process::Signal;
    use serde_json::Value;

    use crate::cli_support::answering;
    use crate::common::mishap::{Ended, Mishap, binary};
    use crate::common::scratch::Scratch;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn url() -> String {
        format!("http://{}/mcp", answering(ANSWER))
    }

    /// Runs of a shell script in front of a server that nobody asks.
    fn script(words: &[&str], script: &str) -> Ended {
        Mishap::run(&[&["run", "-u", &url()][..], words, &["--", "sh", "-c", script]].concat())
    }

    /// Whether the published schema takes a verdict, and the verdict.
    fn verdict(path: &Path) -> Value {
        let written = read(path);
        let verdict: Value = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        if let Some(problem) = problem(&verdict) {
            panic!("{problem} in {written}");
        }
        verdict
    }

    fn problem(verdict: &Value) -> Option<String> {
        let schema = serde_json::from_str(include_str!("../docs/verdict.schema.json")).expect("it is JSON");
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("verdict.schema.json", schema).expect("it is a schema");
        let index = compiler.compile("verdict.schema.json", &mut schemas).expect("it is a schema");
        schemas.validate(verdict, index).err().map(|error| format!("{error:#}"))
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn text(path: &Path) -> &str {
        path.to_str().expect("cargo's directories have UTF-8 names")
    }

    /// The lines of the table: what stands in its columns run, profiles, seed and exit.
    fn table(ended: &Ended) -> Vec<String> {
        let lines = ended.stderr.lines().skip_while(|line| !line.starts_with("  run  profiles")).skip(1);
        let rows = lines.take_while(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
        rows.map(|line| {
            line.split("  ").filter(|cell| !cell.is_empty()).take(4).map(str::trim).collect::<Vec<_>>().join("|")
        })
        .collect()
    }

    // === A matrix over the demo ===

    struct Matrix {
        scratch: Scratch,
        ended: Ended,
    }

    /// Two profiles, one of which the demo's client does not withstand, unless the server is the fixed one.
    fn matrix(fixed: &str) -> Matrix {
        let scratch = Scratch::new();
        let serve = format!("'{}' demo serve {fixed} -l {{port}}", binary());
        let file = |name: &str| text(&scratch.path(name)).to_owned();
        let (journal, junit, verdict) = (file("run.ndjson"), file("mishap.xml"), file("verdict.json"));
        let words = ["run", "--serve", &serve, "--matrix", "transparent,get-opens-late", "--seed", "7"];
        let files = ["--journal", &journal, "--junit", &junit, "--verdict", &verdict];
        let command = ["--", binary(), "demo", "client", "{url}", "get-late"];
        let ended = Mishap::run(&[&words[..], &files, &command].concat());
        Matrix { scratch, ended }
    }

    #[test]
    fn each_profile_of_a_matrix_has_a_run_of_its_own_and_one_that_fails_can_be_repeated() {
        let Matrix { scratch, ended } = matrix("");
        assert_eq!(table(&ended), ["1|transparent|7|0", "2|get-opens-late|7|1"], "{}", ended.stderr);
        let why = "mishap: exit 1: 1 of 2 runs failed; run 2 (get-opens-late): the command ended with status 1 \
                   (and 1 more)";
        assert_eq!((ended.code, ended.last()), (1, why));
        assert_eq!(ended.stderr.matches("mishap: verdict\n").count(), 2, "{}", ended.stderr);
        let journal = scratch.path("run.2-get-opens-late.ndjson");
        assert!(
            read(&journal).contains("get-opens-late")
                && !read(&scratch.path("run.1-transparent.ndjson")).contains("get-opens-late")
        );
        let red = |journal: &Path| {
            let xml = Mishap::run(&["report", text(journal), "--format", "junit"]).stdout;
            let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
            document.root_element().attribute("failures").map(str::to_owned)
        };
        assert_eq!(
            [red(&journal), red(&scratch.path("run.1-transparent.ndjson"))].map(Option::unwrap_or_default),
            ["2", "0"]
        );
        let again = ended.stderr.lines().find_map(|line| line.strip_prefix("  again 2: mishap ")).expect("it is told");
        let evidence = read(&journal);
        let repeated =
            Command::new("sh").args(["-c", &format!("'{}' {again}", binary())]).output().expect("there is a shell");
        let said = String::from_utf8_lossy(&repeated.stderr).into_owned();
        assert_eq!(repeated.status.code(), Some(1), "{said}");
        assert!(said.contains("get-opens-late/hold-get") && said.contains(" seed 7\n"), "{said}");
        assert!(read(&journal) == evidence, "what is to be looked into was written over");
    }

    /// The control: with a server that withstands it, nothing is red.
    #[test]
    fn a_matrix_that_is_withstood_is_green_in_every_form() {
        let Matrix { scratch, ended } = matrix("--fixed");
        assert_eq!(table(&ended), ["1|transparent|7|0", "2|get-opens-late|7|0"], "{}", ended.stderr);
        assert_eq!((ended.code, ended.last()), (0, "mishap: exit 0: 2 runs passed"));
        assert!(!ended.stderr.contains("  again 2: "), "{}", ended.stderr);
        let xml = read(&scratch.path("mishap.xml"));
        let document = Document::parse(&xml).expect("it is well-formed");
        assert_eq!(document.root_element().attribute("failures"), Some("0"), "{xml}");
        assert_eq!(verdict(&scratch.path("verdict.json"))["exit"], 0);
    }

    #[test]
    fn a_matrix_is_one_junit_file_and_one_verdict_with_all_that_the_runs_said() {
        let Matrix { scratch, ended } = matrix("");
        let xml = read(&scratch.path("mishap.xml"));
        let document = Document::parse(&xml).expect("it is well-formed");
        let suites: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testsuite")).collect();
        let names: Vec<_> = suites.iter().filter_map(|suite| suite.attribute("name")).collect();
        assert_eq!(names, ["transparent", "get-opens-late"], "{xml}");
        let cases: Vec<_> = suites[1].children().filter(|node| node.has_tag_name("testcase")).collect();
        let told: Vec<_> = cases.iter().map(|case| (case.attribute("name"), case.has_children())).collect();
        let [command, rule, lost] = ["command", "rule get-opens-late/hold-get", "finding lost-request"].map(Some);
        assert_eq!(told, [(command, true), (rule, false), (lost, true)], "{xml}");
        assert!(
            xml.contains("<property name=\"seed\" value=\"7\"/>") && xml.contains("name=\"get-opens-late."),
            "{xml}"
        );
        let verdict = verdict(&scratch.path("verdict.json"));
        let run = &verdict["runs"][1];
        assert_eq!((&verdict["exit"], &run["exit"], &run["name"]), (&1.into(), &1.into(), &"get-opens-late".into()));
        assert_eq!(
            (&run["reasons"][0]["kind"], &run["rules"][0]["effective"]),
            (&"command".into(), &1.into()),
            "{run:#}"
        );
        assert_eq!((&run["seed"], &run["profiles"][0]["name"]), (&7.into(), &"get-opens-late".into()));
        assert!(ended.stderr.contains(run["again"].as_str().expect("it is text")));
    }

    // === Seeds and repetitions ===

    #[test]
    fn seeds_include_both_ends_and_each_is_repeated() {
        let ended = script(&["--seeds", "3..4", "--repeat", "2"], "echo $MISHAP_SEED");
        assert_eq!((ended.code, &*ended.stdout), (0, "3\n3\n4\n4\n"), "{}", ended.stderr);
        assert_eq!(table(&ended)[3], "4|no profile seed 4 run 2|4|0");
        let drawn = script(&["--repeat", "2", "--seed", "9"], "echo $MISHAP_SEED");
        assert_eq!(drawn.stdout, "9\n9\n");
    }

    #[test]
    fn of_several_commands_the_lowest_status_is_returned_and_of_none_zero() {
        let exits = |seeds: &str| script(&["--seeds", seeds], "exit $((MISHAP_SEED % 4))").code;
        assert_eq!(exits("2..4"), 2);
        assert_eq!(exits("1..3"), 1);
        assert_eq!(exits("4..4"), 0);
        let never = script(&["--seeds", "0..1", "-p", "get-opens-late"], "exit $((MISHAP_SEED * 9))");
        assert_eq!(table(&never), ["1|get-opens-late seed 0|0|4", "2|get-opens-late seed 1|1|9"]);
        assert_eq!(never.code, 9, "a command's own comes first: {}", never.stderr);
    }

    #[test]
    fn several_runs_need_a_command_and_words_that_are_right_before_any_is_begun() {
        let refused = Mishap::run(&["run", "-u", &url(), "--repeat", "2"]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("COMMAND"), "{}", refused.stderr);
        for words in
            [&["--matrix", "nothing-*"][..], &["--matrix", "transparent,get-opens-late,pluss=1s"], &["--seeds", "2..1"]]
        {
            let ended = script(words, "echo started");
            assert_eq!((ended.code, &*ended.stdout), (2, ""), "{}", ended.stderr);
        }
    }

    #[test]
    fn a_signal_ends_the_run_at_hand_and_those_that_would_follow() {
        let words = ["run", "-u", &url(), "--repeat", "3", "--", "sh", "-c", "echo ready; exec cat"];
        let mut mishap = Mishap::start(&words);
        assert_eq!(mishap.line(), "ready");
        mishap.signal(Signal::TERM);
        let ended = mishap.ended();
        assert_eq!((ended.code, &*ended.stdout), (143, "ready\n"), "{}", ended.stderr);
        assert_eq!(table(&ended).len(), 1, "{}", ended.stderr);
        assert!(ended.stderr.contains("\nmishap: 1 of 3 runs\n"), "{}", ended.stderr);
        let mut whole = Mishap::start(&words);
        assert_eq!(whole.line(), "ready");
        whole.close_stdin();
        assert_eq!(whole.ended().stdout, "ready\nready\nready\n");
    }

    #[test]
    fn runs_that_a_signal_ended_are_not_green_although_the_command_was() {
        let quiet = "trap 'exit 0' TERM; echo ready; read line";
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--repeat", "2", "--", "sh", "-c", quiet]);
        assert_eq!(mishap.line(), "ready");
        mishap.signal(Signal::TERM);
        assert_eq!(mishap.ended().last(), "mishap: exit 143: ended by signal 15 after 1 of 2 runs");
    }

    // === Known failures ===

    #[test]
    fn a_known_failure_is_green_until_it_is_gone() {
        let scratch = Scratch::new();
        let entry = |run: &str| {
            let text = format!("[[known]]\nrun = \"{run}\"\nkind = \"command\"\nexit = 1\nwhy = \"issue 12\"\n");
            scratch.file("known.toml", &text)
        };
        let run = |seeds: &str, known: &str| script(&["--seeds", seeds, "--known", known], "exit $((MISHAP_SEED % 3))");
        let known = entry("no profile seed 1");
        let ended = run("0..1", &known);
        assert_eq!(
            (ended.code, ended.last()),
            (0, "mishap: exit 0: 1 run passed, 1 failed as is known"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("1  known: issue 12: the command ended with status 1\n"), "{}", ended.stderr);
        assert_eq!(run("0..2", &known).code, 2, "what is not known is red");
        let absent = run("0..0", &known);
        assert_eq!(absent.code, 0);
        assert!(
            absent.stderr.contains(
                "known failure no profile seed 1 (command, exit 1): no run of that name was done; there were: no profile\n"
            ),
            "{}",
            absent.stderr
        );
        let gone = run("0..0", &entry("no profile"));
        let why = "known failure no profile (command, exit 1) is gone: remove it from the file (issue 12)";
        assert_eq!((gone.code, gone.last()), (3, &*format!("mishap: exit 3: {why}")), "{}", gone.stderr);
        let wrong = run("0..0", &scratch.file("wrong.toml", "[[known]]\nrun = \"x\"\n"));
        assert_eq!((wrong.code, wrong.last()), (2, "mishap: exit 2: the known failures cannot be read"));
        assert!(wrong.stderr.contains("wrong.toml: "), "{}", wrong.stderr);
    }

    /// One entry excuses the command, and none the rule that had no effect.
    #[test]
    fn what_is_known_is_marked_in_every_form_also_beside_what_is_new() {
        let scratch = Scratch::new();
        let entry = "[[known]]\nrun = \"get-opens-late\"\nkind = \"command\"\nexit = 3\nwhy = \"issue 12\"\n";
        let known = scratch.file("known.toml", entry);
        let (junit, json) = (scratch.path("mishap.xml"), scratch.path("verdict.json"));
        let words = ["-p", "get-opens-late", "--known", &known, "--junit", text(&junit), "--verdict", text(&json)];
        let ended = script(&words, "exit 3");
        assert_eq!(ended.code, 3, "{}", ended.stderr);
        let said =
            ["  exit 3: known (issue 12): the command ended", "  exit 4: rule \"get-opens-late/hold-get\" never"];
        assert!(said.iter().all(|said| ended.stderr.contains(said)), "{}", ended.stderr);
        let row = ended.stderr.lines().find(|line| line.starts_with("    1  get-opens-late")).expect("it is a row");
        assert!(row.ends_with("; known (issue 12): the command ended with status 3"), "{row}");
        let reasons = &verdict(&json)["runs"][0]["reasons"];
        assert_eq!((&reasons[0]["known"], &reasons[1]["known"]), (&"issue 12".into(), &Value::Null));
        let xml = read(&junit);
        let document = Document::parse(&xml).expect("it is well-formed");
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        let became: Vec<_> = cases
            .filter_map(|case| Some((case.attribute("name")?, case.first_element_child()?.tag_name().name())))
            .collect();
        let new = [("rule get-opens-late/hold-get", "failure"), ("vacuous", "failure")];
        assert_eq!(became, [[("command", "skipped")].as_slice(), &new].concat(), "{xml}");
    }

    #[test]
    fn a_command_that_is_not_there_is_not_known_and_shows_nothing_gone() {
        let scratch = Scratch::new();
        let run = |rest: &str, command: &[&str]| {
            let entry = format!("[[known]]\nrun = \"no profile\"\nkind = \"command\"\n{rest}why = \"issue 12\"\n");
            let known = scratch.file("known.toml", &entry);
            Mishap::run(&[&["run", "-u", &url(), "--known", &known, "--"], command].concat())
        };
        let (none, told) = (&["no-such-command"][..], "(command, exit 1): no run tested enough to show it\n");
        assert_eq!((run("", none).code, run("", &["false"]).code), (127, 0));
        let ended = run("exit = 1\n", none);
        assert!(ended.code == 127 && ended.stderr.contains(told), "{}", ended.stderr);
        assert_eq!(run("exit = 1\n", &["true"]).code, 3, "it is gone");
        let refused = run("exit = 0\n", &["true"]);
        assert_eq!((refused.code, refused.last()), (2, "mishap: exit 2: the known failures cannot be read"));
    }

    /// A run by itself has it in its last line alone.
    #[test]
    fn the_only_reason_of_one_of_several_runs_is_in_its_verdict() {
        let reasons = |words: &[&str]| script(words, "exit 3").stderr.matches("\n  exit 3: the command ended").count();
        assert_eq!([reasons(&["--repeat", "2"]), reasons(&[])], [2, 0]);
    }

    // === One run for programs ===

    #[test]
    fn the_verdict_of_one_run_is_an_object_of_the_published_form() {
        let scratch = Scratch::new();
        let path = scratch.path("verdict.json");
        let ended = script(&["-p", "get-opens-late", "--seed", "7", "--verdict", text(&path)], "exit 3");
        assert_eq!(ended.code, 3);
        let one = verdict(&path);
        assert_eq!((&one["exit"], &one["schema"], &one["seed"]), (&3.into(), &1.into(), &7.into()));
        let kinds: Vec<_> = one["reasons"].as_array().into_iter().flatten().map(|reason| &reason["kind"]).collect();
        assert_eq!(kinds, ["command", "vacuous", "rule"]);
        for (key, value) in [("exit", Value::from("3")), ("reasons", Value::from(1)), ("rules", Value::Null)] {
            let mut wrong = one.clone();
            wrong[key] = value;
            assert!(problem(&wrong).is_some(), "the schema takes everything: {key}");
        }
    }

    #[test]
    fn a_run_that_could_not_begin_has_a_verdict_too_and_what_an_earlier_one_left_is_gone() {
        let scratch = Scratch::new();
        let (path, xml) = (scratch.file("verdict.json", "old"), scratch.file("mishap.xml", "old"));
        let files = ["--verdict", &path, "--junit", &xml];
        let ended = Mishap::run(&[&["run", "-u", &url()][..], &files, &["--", "no-such-command"]].concat());
        assert_eq!(ended.code, 127);
        let one = verdict(Path::new(&path));
        assert_eq!((&one["exit"], &one["reasons"][0]["kind"]), (&127.into(), &"command".into()));
        let xml = read(Path::new(&xml));
        assert!(Document::parse(&xml).is_ok() && xml.contains("no-such-command"), "{xml}");
    }

    #[test]
    fn github_is_told_on_stderr_and_in_the_summary_only_in_its_workflows() {
        let scratch = Scratch::new();
        let summary = scratch.file("summary", "before\n");
        let url = url();
        let run = |actions: Option<&str>| {
            let mut mishap = Command::new(binary());
            mishap.args(["run", "-u", &url, "--seed", "7", "--", "sh", "-c", "echo mine; exit 3"]);
            mishap.env_remove("GITHUB_ACTIONS").env("GITHUB_STEP_SUMMARY", &summary);
            if let Some(actions) = actions {
                mishap.env("GITHUB_ACTIONS", actions);
            }
            let output = mishap.output().expect("the binary was built");
            (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (out, err) = run(Some("true"));
        let told = "::error title=mishap no profile%3A exit 3::the command ended with status 3%0Aagain: mishap run -u ";
        assert_eq!(out, "mine\n");
        assert_eq!(err.lines().filter(|line| line.starts_with(told)).count(), 1, "{err}");
        assert!(err.ends_with("\nmishap: exit 3: the command ended with status 3\n"), "{err}");
        let written = read(Path::new(&summary));
        assert!(
            written.starts_with("before\n### mishap\n") && written.contains("| 1 | no profile | 7 | ✗ 3 |"),
            "{written}"
        );
        let (_, err) = run(None);
        assert!(!err.contains("::error"), "{err}");
        assert_eq!(read(Path::new(&summary)), written, "nothing more is told");
    }
}
