//! Expectations of whole runs through the real binary: what each ends with, and that the last line, the verdict and the
//! journal say what was expected and what was seen.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use crate::cli_support::{answering, post};
    use crate::common::mishap::{Ended, Mishap, binary};
    use crate::common::scratch::Scratch;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

    fn url() -> String {
        format!("http://{}/mcp", answering(ANSWER))
    }

    /// A run in the foreground with these words, through which these messages are posted.
    fn posted(words: &[&str], messages: &[&str]) -> Ended {
        let url = url();
        let mut mishap = Mishap::start(&[&["run", "-u", &url, "--seed", "7"], words].concat());
        let url = mishap.line();
        messages.iter().for_each(|message| assert_eq!(post(&url, message).1, ANSWER));
        mishap.signal(Signal::TERM);
        mishap.ended()
    }

    #[track_caller]
    fn assert_ends(ended: &Ended, code: i32, why: &str) {
        assert_eq!((ended.code, ended.last()), (code, &*format!("mishap: exit {code}: {why}")), "{}", ended.stderr);
    }

    const ONE_CALL: &str = r#"match={ at = "request", method = "tools/call" },count=1,name=once"#;

    #[test]
    fn one_that_is_met_is_green_and_one_that_is_not_is_3_with_what_was_seen() {
        let met = posted(&["--expect", ONE_CALL], &[PING, CALL]);
        assert_ends(&met, 0, "every expectation was met");
        let line = "\n  expect expect/once: held, 1 time: exactly 1 request (method tools/call)\n";
        assert!(met.stderr.contains(line), "{}", met.stderr);
        let failed = posted(&["--expect", ONE_CALL], &[PING]);
        let why = "exactly 1 request (method tools/call); saw none after the first that crossed";
        assert_ends(&failed, 3, &format!("expectation \"expect/once\" failed: expected {why}"));
        assert!(
            failed.stderr.contains(&format!("\n  expect expect/once: FAILED: expected {why}\n")),
            "{}",
            failed.stderr
        );
    }

    #[test]
    fn one_that_was_never_asked_is_4_although_everything_else_went_well() {
        let words = ["--expect", r#"after={ at = "end", method = "tools/call" },match={ at = "request" },count=0"#];
        let never = "expectation \"expect/1\" was never asked: it was never true that end (method tools/call) was seen";
        assert_ends(&posted(&words, &[PING]), 4, never);
        assert_ends(&posted(&words, &[CALL]), 0, "every expectation was met");
        let broken = posted(&words, &[CALL, PING]);
        let saw = "expected no request; saw 1 after end of POST tools/call id 1: request of POST ping id 1 (2) ";
        let why = format!("mishap: exit 3: expectation \"expect/1\" failed: {saw}");
        assert!(broken.code == 3 && broken.last().starts_with(&why), "{}", broken.stderr);
    }

    #[test]
    fn a_check_by_its_name_takes_its_keys_as_a_profiles_variables() {
        assert_ends(&posted(&["--expect", "no-repeat"], &[CALL]), 0, "every expectation was met");
        let twice = posted(&["--expect", "no-repeat"], &[CALL, CALL]);
        assert_eq!(twice.code, 3, "{}", twice.stderr);
        assert!(twice.last().contains("its id was used before, by s1/post:1"), "{}", twice.stderr);
        let none = posted(&["--expect", "gets,count=\"<=1\",per=10s", "--expect", "closed"], &[CALL]);
        assert_ends(&none, 0, "every expectation was met");
        assert!(
            none.stderr.contains(
                "\n  expect expect/gets: held, 1 time: at most 1 request (stream get or resume) in any 10s\n"
            )
        );
    }

    #[test]
    fn a_profiles_expectation_stands_beside_its_rules_and_all_reasons_are_listed() {
        let scratch = Scratch::new();
        let profile = scratch.file(
            "mine.toml",
            "version = 1\n[[rule]]\nname = \"no\"\nmatch = { at = \"head\", method = \"tools/call\" }\ndelay = \"1ms\"\n\
             [[expect]]\nname = \"again\"\nafter = { fired = \"no\" }\nmatch = { at = \"request\", method = \"tools/call\" }\n",
        );
        let journal = scratch.file("run.ndjson", "");
        let ended = posted(&["-p", &profile, "--journal", &journal, "--expect", "resume-id"], &[CALL]);
        let why = "expectation \"mine/again\" failed: expected at least 1 request (method tools/call); saw none after head of POST \
                   tools/call id 1 (and 1 more)";
        assert_ends(&ended, 3, why);
        assert!(
            ended.stderr.contains("\n  exit 4: expectation \"expect/resume-id\" was never asked: "),
            "{}",
            ended.stderr
        );
        let again = ["again: mishap run -u ", " --expect resume-id --seed 7"];
        assert!(again.iter().all(|text| ended.stderr.contains(text)), "{}", ended.stderr);
        let text = std::fs::read_to_string(scratch.path("run.ndjson")).expect("it was written");
        for expected in [
            r#""kind":"expectation","seq":"#,
            r#""name":"mine/again","after":"s1/post:1/head#1","session":1,"#,
            r#""expectations":[{"name":"mine/again","state":"failed","why":"expected at least 1 request"#,
            r#"{"name":"expect/resume-id","state":"vacuous","#,
            r#""expect":["resume-id"]"#,
        ] {
            assert!(text.contains(expected), "{expected} is missing:\n{text}");
        }
        let drawn = Mishap::run(&["report", &journal]).stdout;
        assert!(drawn.contains("\n  expect mine/again: FAILED: expected at least 1 request"), "{drawn}");
        assert!(drawn.contains("│  not met: mine/again: saw 0, asked after\n"), "{drawn}");
        let unfired = posted(&["-p", &profile], &[PING]);
        assert!(unfired.last().ends_with("with mishap report FILE"), "the rule is the one reason: {}", unfired.stderr);
        assert!(unfired.stderr.contains("\n  expect mine/again: vacuous: it was never true that mine/no has acted\n"));
    }

    #[test]
    fn what_became_of_each_request_is_judged_when_the_run_is_over() {
        let all = ["settled", "no-late-cancel", "no-lost-request"].map(|check| ["--expect", check]).concat();
        assert_ends(&posted(&all, &[CALL]), 0, "every expectation was met");
        let late = posted(&["--expect", "settled,within=1us"], &[CALL]);
        let line = "\n  expect expect/settled: FAILED: expected each client request answered, cancelled, left or told within 1us; ";
        assert!(late.code == 3 && late.stderr.contains(line), "{}", late.stderr);
        assert!(late.stderr.contains("tools/call id 1 was answered after "), "{}", late.stderr);
        let nothing = "nothing crossed that could tell: each client request answered, cancelled, left or told";
        let none = posted(&["--expect", "settled"], &[]);
        assert_ends(&none, 4, &format!("expectation \"expect/settled\" was never asked: {nothing}"));
    }

    /// The demo's client behind the proxy.
    fn behind(expectation: &str) -> Ended {
        let serve = format!("'{}' demo serve -l {{port}}", binary());
        let words = ["run", "--serve", &serve, "--expect", expectation, "--", binary(), "demo", "client", "{url}"];
        Mishap::run(&words)
    }

    #[test]
    fn the_end_of_the_command_is_awaited_and_in_the_foreground_there_is_none() {
        assert_ends(&behind(r#"match="exit",within="60s",name=soon"#), 0, "every expectation was met");
        let late = behind(r#"match="exit",within="1us",name=soon"#);
        assert_ends(
            &late,
            3,
            "expectation \"expect/soon\" failed: expected the end of the command within 1us; saw none after the \
            first that crossed",
        );
        let none = posted(&["--expect", r#"match="exit",within="60s",name=soon"#], &[CALL]);
        assert_ends(&none, 4, "expectation \"expect/soon\" was never asked: no command ran behind the proxy");
    }

    /// What a process had open is closed with it, and that is seen before the run is judged.
    #[test]
    fn what_the_command_had_open_is_closed_when_it_has_ended() {
        assert_ends(&behind("connections-closed"), 0, "every expectation was met");
        assert_ends(&behind("closed"), 0, "every expectation was met");
    }

    #[test]
    fn a_wrong_one_is_2_and_nothing_is_started() {
        let url = url();
        for (expectation, says) in [
            ("no-repeats", "`that` cannot be \"no-repeats\"; did you mean \"no-repeat\"?"),
            ("match={ at = \"requets\" }", "`at` cannot be \"requets\"; did you mean \"request\"?"),
            (
                "after={ fired = \"get-opens-late/hold\" },match={ at = \"request\" }",
                "`fired` names no rule: \"get-opens-late/hold\"; \
             did you mean \"get-opens-late/hold-get\"?",
            ),
            ("no-repeat,5s", "\"5s\" is no key=value; write KEY=VALUE,KEY=VALUE or a named check"),
            ("", "it says nothing; write --expect settled or --expect 'match={ ... }'"),
        ] {
            let ended =
                Mishap::run(&["run", "-u", &url, "-p", "get-opens-late", "--expect", expectation, "--", "false"]);
            assert_ends(&ended, 2, "1 problem in the profiles and expectations");
            assert_eq!(ended.stderr.lines().next(), Some(&*format!("--expect {expectation}: {says}")));
        }
    }
}
