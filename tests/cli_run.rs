//! `mishap run` and `mishap report` through the real binary: what goes to stdout, what is passed on, what is left behind.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use crate::cli_support::{answering, connect, post, post_head, refusing};
    use crate::common::mishap::{Ended, Mishap, binary};
    use crate::common::scratch::Scratch;
    use crate::common::upstream::Upstream;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    fn url() -> String {
        format!("http://{}/mcp", answering(ANSWER))
    }

    /// Whoever reads stderr slowly, or not at all, slows no stream down.
    #[test]
    fn a_stderr_that_nobody_reads_holds_nothing_up_and_what_is_missing_is_said() {
        let mut mishap = Mishap::start_unread(&["-vv", "run", "-u", &url()]);
        let printed = mishap.line();
        for _ in 0..600 {
            assert_eq!(post(&printed, PING).1, ANSWER);
        }
        mishap.signal(Signal::TERM);
        let ended = mishap.ended();
        assert_eq!(ended.last(), "mishap: exit 0: all done, no rules");
        assert!(ended.stderr.contains(" lines of the log missing: stderr was too slow\n"), "{}", ended.stderr);
    }

    /// A shell script behind the proxy.
    fn behind(script: &str) -> Ended {
        Mishap::run(&["run", "-u", &url(), "--seed", "7", "--", "sh", "-c", script])
    }

    #[test]
    fn in_the_foreground_the_url_is_the_first_and_only_line_on_stdout() {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let mut mishap = Mishap::start(&["run", "-u", &url()]);
            let printed = mishap.line();
            assert!(printed.starts_with("http://127.0.0.1:") && printed.ends_with("/mcp"), "{printed}");
            assert!(post(&printed, PING).1 == ANSWER);
            mishap.signal(signal);
            let ended = mishap.ended();
            assert_eq!((ended.code, ended.last()), (0, "mishap: exit 0: all done, no rules"));
            assert_eq!(ended.stdout, format!("{printed}\n"));
        }
    }

    #[test]
    fn around_a_command_stdout_is_the_commands_alone_and_its_status_is_passed_on() {
        let ended = behind("echo mine; exit 7");
        assert_eq!((ended.code, &*ended.stdout), (7, "mine\n"));
        assert_eq!(ended.last(), "mishap: exit 7: the command ended with status 7");
        assert_eq!(behind("true").code, 0);
    }

    #[test]
    fn the_command_is_told_the_url_in_its_arguments_and_its_environment_and_the_seed() {
        let words = ["sh", "-c", r#"echo "$1 $MISHAP_URL $MISHAP_SEED $MISHAP_PORT""#, "sh", "--at={url}"];
        let ended = Mishap::run(&[&["run", "-u", &url(), "--seed", "7", "--"][..], &words].concat());
        let [argument, environment, seed, port] = *ended.stdout.split_whitespace().collect::<Vec<_>>() else {
            panic!("four words: {}", ended.stdout)
        };
        assert_eq!(argument, format!("--at={environment}"));
        assert!(environment.starts_with("http://127.0.0.1:") && environment.ends_with("/mcp"), "{environment}");
        assert_eq!(seed, "7");
        assert!(environment.starts_with(&format!("http://127.0.0.1:{port}/")), "{environment} has not port {port}");
    }

    #[test]
    fn a_command_ended_by_a_signal_ends_the_run_as_a_shell_would_say_it() {
        let ended = behind("kill -KILL $$");
        assert_eq!((ended.code, ended.last()), (137, "mishap: exit 137: the command was ended by signal 9"));
    }

    // Its stdout is ours: while `tail` lives, stdout does not end, and the test's bound is reached.
    #[test]
    fn what_the_command_leaves_in_its_process_group_ends_with_the_run() {
        let ended = behind("tail -f /dev/null & echo started");
        assert_eq!((ended.code, &*ended.stdout), (0, "started\n"));
    }

    #[test]
    fn a_signal_is_passed_on_to_the_command_and_the_verdict_is_still_given() {
        let script = "trap 'echo asked; exit 5' TERM; echo ready; read line";
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--", "sh", "-c", script]);
        assert_eq!(mishap.line(), "ready");
        mishap.signal(Signal::TERM);
        assert_eq!(mishap.line(), "asked");
        let ended = mishap.ended();
        assert_eq!(ended.last(), "mishap: exit 5: the command ended with status 5");
        assert!(ended.stderr.contains("mishap: verdict\n"), "{}", ended.stderr);
    }

    #[test]
    fn a_second_signal_aborts_a_command_that_does_not_listen() {
        let script = "trap '' INT TERM; echo ready; exec cat";
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--", "sh", "-c", script]);
        assert_eq!(mishap.line(), "ready");
        mishap.signal(Signal::INT);
        mishap.says("mishap: waiting for the command to end; a second signal aborts");
        mishap.signal(Signal::TERM);
        let ended = mishap.ended();
        assert_eq!(ended.last(), "mishap: exit 143: aborted by a second signal, without a verdict");
    }

    #[test]
    fn the_seed_is_shown_and_the_line_that_repeats_the_run_carries_it() {
        let url = url();
        let ended = Mishap::run(&["run", "-u", &url, "--", "true"]);
        let seed =
            ended.stderr.split("seed ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("it is shown");
        assert!(
            ended.stderr.contains(&format!("  again: mishap run -u {url} --seed {seed} -- true\n")),
            "{}",
            ended.stderr
        );
    }

    // A mishap is an HTTP server, so one can serve another; that it was told to stop is its own verdict, passed on to stderr.
    #[test]
    fn a_server_is_started_on_a_free_port_waited_for_and_stopped_at_the_end() {
        let serve = format!("'{}' run -u {} -l 127.0.0.1:{{port}}", binary(), url());
        let ended = Mishap::run(&["run", "--serve", &serve, "--", "sh", "-c", "echo done"]);
        assert_eq!((ended.code, &*ended.stdout), (0, "done\n"), "{}", ended.stderr);
        assert!(ended.stderr.contains("server: mishap: exit 0: all done, no rules\n"), "{}", ended.stderr);
    }

    #[test]
    fn what_a_client_sends_reaches_the_server_started_here() {
        let serve = format!("'{}' run -u {} -l 127.0.0.1:{{port}}", binary(), url());
        let mut mishap = Mishap::start(&["run", "--serve", &serve]);
        assert!(post(&mishap.line(), PING).1 == ANSWER);
        mishap.signal(Signal::TERM);
        assert_eq!(mishap.ended().code, 0);
    }

    #[test]
    fn a_journal_is_drawn_with_its_streams_and_its_end() {
        let scratch = Scratch::new();
        let path = &*scratch.file("run.ndjson", "");
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--journal", path]);
        post(&mishap.line(), PING);
        mishap.signal(Signal::INT);
        assert_eq!(mishap.ended().code, 0);
        let drawn = Mishap::run(&["report", path]);
        assert_eq!(drawn.code, 0, "{}", drawn.stderr);
        for expected in
            ["POST ping id 1", "│──────▶│──────▶│  request ping id 1", "│◀──────│◀──────│  #1 answer to ping id 1"]
        {
            assert!(drawn.stdout.contains(expected), "{expected} is missing:\n{}", drawn.stdout);
        }
        assert!(!drawn.stdout.contains("no last line"), "{}", drawn.stdout);
    }

    #[test]
    fn an_upstream_that_is_down_is_drawn_as_a_request_that_reached_nobody_and_an_answer_of_the_proxy() {
        let scratch = Scratch::new();
        let path = &*scratch.file("run.ndjson", "");
        let (_socket, address) = refusing();
        let mut mishap = Mishap::start(&["run", "-u", &format!("http://{address}/mcp"), "--journal", path]);
        post(&mishap.line(), PING);
        mishap.signal(Signal::INT);
        assert_eq!(mishap.ended().code, 0);
        let drawn = Mishap::run(&["report", path]).stdout;
        for expected in [
            "│──────▶│       │  request ping id 1 (no server took it)",
            "│◀──────│       │  502 by the proxy, not injected: upstream-refused",
        ] {
            assert!(drawn.contains(expected), "{expected} is missing:\n{drawn}");
        }
    }

    #[test]
    fn a_journal_is_read_from_stdin_too() {
        let scratch = Scratch::new();
        let path = scratch.file("run.ndjson", "no journal\n");
        let mut report = std::process::Command::new(binary());
        report.args(["report", "-"]).stdin(std::fs::File::open(path).expect("the file is there"));
        let said = report.output().expect("the program can be started");
        let said = String::from_utf8(said.stderr).expect("it writes UTF-8");
        assert!(said.starts_with("mishap: exit 1: -: not a journal"), "{said}");
    }

    #[test]
    fn a_profile_that_is_not_there_is_not_blamed_on_a_flag_that_was_not_given() {
        let ended = Mishap::run(&["profiles", "nope"]);
        assert!(ended.stderr.starts_with("no profile is called \"nope\""), "{}", ended.stderr);
    }

    #[test]
    fn a_built_in_profile_that_was_printed_is_a_file_that_checks_and_runs() {
        let shown = Mishap::run(&["profiles", "get-opens-first"]);
        let scratch = Scratch::new();
        let copy = scratch.file("copy.toml", &shown.stdout);
        let checked = Mishap::run(&["check", &copy]);
        assert_eq!((checked.code, &*checked.stderr), (0, ""), "{}", checked.stdout);
        let ended = Mishap::run(&["run", "-u", &url(), "-p", &copy, "--", "true"]);
        assert!(ended.stderr.contains("rule \"copy/hold-call\" never fired"), "{}", ended.stderr);
        assert_eq!(Mishap::run(&["check", "no-such-profile"]).code, 2);
    }

    // `head` is gone after the first line; a report that took that for a failure would turn a pipeline red.
    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let scratch = Scratch::new();
        let header =
            r#"{"kind":"run","schema":1,"mishap":"0","started":"","seed":1,"profiles":[],"listen":"","upstream":""}"#;
        let note = r#"{"kind":"note","seq":1,"at":2,"text":"more than a pipe holds"}"#;
        let path = scratch.file("long.ndjson", &format!("{header}\n{}", format!("{note}\n").repeat(20_000)));
        let script = format!("{{ '{}' report '{}'; echo \"status $?\" >&2; }} | head -n 1", binary(), path);
        let output = std::process::Command::new("sh").arg("-c").arg(script).output().expect("there is a shell");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "status 0\n");
    }

    // The proxy ends although a client keeps its connection open: a run that waited for it would never give its verdict.
    #[test]
    fn an_open_connection_does_not_hold_up_the_verdict() {
        let upstream = Upstream::listen();
        let mut mishap = Mishap::start(&["run", "-u", &format!("http://{}/mcp", upstream.address())]);
        let mut client = connect(&mishap.line());
        client.send(post_head(PING.len()) + PING);
        let mut server = upstream.next();
        server.whole_request();
        server.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: open\n\n");
        client.answer().status();
        mishap.signal(Signal::INT);
        assert_eq!(mishap.ended().code, 0);
    }
}
