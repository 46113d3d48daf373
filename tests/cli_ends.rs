//! How runs end through the real binary: nothing that a run started outlives it, whichever side dies, and the status is right.
//!
//! That something is gone is a fact: a pipe that it held has ended, a connection to it is closed.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use mishap::engine::hash::digest;
    use rustix::process::{Pid, Signal, getpgid, kill_process};
    use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

    use crate::cli_support::{answering, connect, post};
    use crate::common::mishap::{Mishap, binary};
    use crate::common::peer::Peer;
    use crate::common::scratch::Scratch;
    use crate::common::wire::Closed;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    /// A command that leaves processes of every kind: in its group, in a session of their own, orphaned; each holds stdout.
    const FAMILY: &str = "tail -f /dev/null & setsid tail -f /dev/null &
        (setsid sh -c 'tail -f /dev/null & tail -f /dev/null' &)
        echo $$; exec tail -f /dev/null";

    fn url() -> String {
        format!("http://{}/mcp", answering(ANSWER))
    }

    /// A shell command that serves on `{port}`: a mishap is an HTTP server too.
    fn serve() -> String {
        format!("exec '{}' run -u {} -l 127.0.0.1:{{port}}", binary(), url())
    }

    /// A run around a server and a family of processes; returns also a connection to the server, and the command's id.
    fn around_all(mut mishap: Mishap) -> (Mishap, Peer, Pid) {
        let said = mishap.says("mishap: http://");
        let server = said.split(" in front of ").nth(1).and_then(|rest| rest.split(',').next()).expect("it is said");
        let pid = mishap.line().parse().ok().and_then(Pid::from_raw).expect("it says its id");
        (mishap, connect(server), pid)
    }

    fn words(serve: &str) -> Vec<&str> {
        vec!["run", "--serve", serve, "--", "sh", "-c", FAMILY]
    }

    /// Waits until a server that was connected to is there no more: a connection that it had not taken yet is reset.
    fn gone(mut server: Peer) {
        assert!(matches!(server.closed(), Closed::Fin | Closed::Reset));
    }

    fn kill(pid: Pid) {
        kill_process(pid, Signal::KILL).expect("it is there");
    }

    /// The process between a run and what it started.
    fn guard(mishap: &Mishap) -> Pid {
        let pid = mishap.pid();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it is there");
        children.trim().parse().ok().and_then(Pid::from_raw).unwrap_or_else(|| panic!("one child: {children:?}"))
    }

    // === A side dies ===

    #[test]
    fn nothing_outlives_a_mishap_that_is_killed() {
        let serve = serve();
        let (mishap, server, _) = around_all(Mishap::start(&words(&serve)));
        mishap.killed();
        gone(server);
    }

    /// As a CI ends a step: everything that is in one group with mishap is gone at once.
    #[test]
    fn nor_one_whose_process_group_is_killed() {
        let mut command = Command::new(binary());
        let serve = serve();
        command.args(words(&serve)).process_group(0);
        let (mishap, server, _) = around_all(Mishap::spawn(command, Stdio::piped()));
        let group = Pid::from_raw(i32::try_from(mishap.pid()).expect("an id")).expect("an id");
        rustix::process::kill_process_group(group, Signal::KILL).expect("it is there");
        mishap.killed();
        gone(server);
    }

    /// Behind a terminal a command is in mishap's own group, or it could not read.
    #[test]
    fn nor_one_at_a_terminal() {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = openpt(flags).expect("there are terminals");
        unlockpt(&terminal).expect("it is ours");
        let stdin = ioctl_tiocgptpeer(&terminal, flags).expect("it has another end");
        let (mut command, serve) = (Command::new(binary()), serve());
        command.args(words(&serve));
        let (mishap, server, pid) = around_all(Mishap::spawn(command, stdin.into()));
        assert_eq!(getpgid(Some(pid)), getpgid(None), "it is in the group that the test gave to mishap");
        mishap.killed();
        gone(server);
    }

    #[test]
    fn a_mishap_that_is_killed_takes_what_ignores_sigterm_along() {
        let script = "trap '' TERM; echo ready; cat; exec tail -f /dev/null";
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--", "sh", "-c", script]);
        assert_eq!(mishap.line(), "ready");
        mishap.killed();
    }

    #[test]
    fn what_a_killed_command_leaves_ends_with_the_run() {
        let serve = serve();
        let (mishap, server, command) = around_all(Mishap::start(&words(&serve)));
        kill(command);
        let ended = mishap.ended();
        assert_eq!((ended.code, ended.last()), (137, "mishap: exit 137: the command was ended by signal 9"));
        gone(server);
    }

    #[test]
    fn a_killed_server_is_a_failure_of_the_run_and_the_command_comes_to_its_end() {
        let serve = format!("echo id $$; {}", serve());
        let words = ["run", "--serve", &serve, "--", "sh", "-c", "echo ready; read line; echo done"];
        let mut mishap = Mishap::start(&words);
        let said = mishap.says("server: id ");
        assert_eq!(mishap.line(), "ready");
        kill(said.rsplit(' ').next().and_then(|id| Pid::from_raw(id.parse().ok()?)).expect("it says its id"));
        mishap.says("mishap: --serve: the server was ended by signal 9");
        mishap.close_stdin();
        let ended = mishap.ended();
        assert_eq!((ended.code, &*ended.stdout), (125, "ready\ndone\n"));
        assert!(
            ended.last().starts_with("mishap: exit 125: --serve: the server was ended by signal 9"),
            "{}",
            ended.stderr
        );
    }

    /// Then nobody is left to adopt what has gone elsewhere; the groups are ended from here.
    #[test]
    fn a_killed_guard_is_a_failure_of_the_run_and_ends_the_command() {
        let script = "tail -f /dev/null & echo ready; exec tail -f /dev/null";
        let mut mishap = Mishap::start(&["run", "-v", "-u", &url(), "--", "sh", "-c", script]);
        assert_eq!(mishap.line(), "ready");
        // Until the guard has said whom it started, nobody else knows.
        mishap.logs("started: Command");
        kill(guard(&mishap));
        let ended = mishap.ended();
        let last = "mishap: exit 125: the command cannot be waited for: the guard process is gone";
        assert_eq!((ended.code, ended.last()), (125, last));
    }

    #[test]
    fn a_guard_ends_by_no_signal_that_one_can_refuse() {
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--", "sh", "-c", "echo ready; read line; exit 7"]);
        assert_eq!(mishap.line(), "ready");
        for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
            kill_process(guard(&mishap), signal).expect("it is there");
        }
        mishap.close_stdin();
        assert_eq!(mishap.ended().code, 7);
    }

    #[test]
    fn what_has_left_the_commands_group_ends_with_the_run_too() {
        let script = "setsid sh -c 'echo left; exec tail -f /dev/null' & read line";
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--", "sh", "-c", script]);
        assert_eq!(mishap.line(), "left");
        mishap.close_stdin();
        let ended = mishap.ended();
        assert_eq!((ended.code, ended.last()), (1, "mishap: exit 1: the command ended with status 1"));
    }

    // === Told to end ===

    #[test]
    fn two_signals_abort_a_run_whose_server_does_not_listen() {
        let serve = format!("trap '' TERM INT; {}; exec tail -f /dev/null", serve().trim_start_matches("exec "));
        let mut mishap = Mishap::start(&["run", "--serve", &serve]);
        mishap.line();
        mishap.signal(Signal::INT);
        mishap.signal(Signal::TERM);
        let ended = mishap.ended();
        assert!(ended.last().ends_with(": aborted by a second signal, without a verdict"), "{}", ended.stderr);
        assert!([130, 143].contains(&ended.code), "{}", ended.stderr);
    }

    #[test]
    fn a_run_can_end_with_its_stdin() {
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--until-stdin-closes"]);
        assert_eq!(post(&mishap.line(), PING).1, ANSWER);
        mishap.close_stdin();
        let ended = mishap.ended();
        assert_eq!((ended.code, ended.last()), (0, "mishap: exit 0: all done, no rules"));
        assert!(ended.stderr.contains("mishap: verdict\n"), "{}", ended.stderr);
    }

    #[test]
    fn and_does_not_unless_it_is_asked_to() {
        let mut mishap = Mishap::start(&["run", "-u", &url()]);
        let url = mishap.line();
        mishap.close_stdin();
        assert_eq!(post(&url, PING).1, ANSWER);
        assert_eq!(mishap.finish().code, 0);
    }

    #[test]
    fn a_commands_stdin_is_its_own() {
        let ended = Mishap::run(&["run", "-u", &url(), "--until-stdin-closes", "--", "true"]);
        assert_eq!((ended.code, ended.last()), (2, "mishap: exit 2: the command line is not understood"));
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
        let words = ["run", "-u", &url(), "--timeout", "300ms", "--", "sh", "-c", FAMILY];
        let ended = Mishap::run(&words);
        assert_eq!(
            (ended.code, ended.last()),
            (124, "mishap: exit 124: the command ran for longer than 300 ms (and 1 more)")
        );
        assert!(ended.stderr.contains("mishap: verdict\n"), "{}", ended.stderr);
    }

    #[test]
    fn one_that_hung_on_nothing_that_crossed_is_told_so() {
        let ended = Mishap::run(&["run", "-u", &url(), "--timeout", "100ms", "--", "tail", "-f", "/dev/null"]);
        assert_eq!(ended.code, 124);
        assert!(ended.stderr.contains("\n  hung: no request was open; "), "{}", ended.stderr);
    }

    #[test]
    fn one_that_ends_in_time_is_not() {
        let ended = Mishap::run(&["run", "-u", &url(), "--timeout", "5m", "--", "sh", "-c", "exit 7"]);
        assert_eq!(ended.last(), "mishap: exit 7: the command ended with status 7 (and 1 more)");
    }

    // === Nobody reads ===

    /// Runs it through a shell that does this to its descriptors, and returns its status.
    fn redirected(words: &str, how: &str) -> i32 {
        let script = format!("'{}' run -u {} {words} {how}", binary(), url());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().expect("there is a shell").code().expect("it ends by itself")
    }

    #[test]
    fn a_closed_stdout_or_stderr_changes_no_status() {
        for how in [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"] {
            assert_eq!(redirected("-- sh -c 'echo out; echo err >&2; exit 7'", how), 7, "{how}");
            assert_eq!(redirected("--until-stdin-closes", how), 0, "{how}");
            assert_eq!(redirected("-p no-such-profile", how), 2, "{how}");
        }
    }

    #[test]
    fn a_reader_of_stderr_that_goes_away_changes_none_either() {
        let run = format!("'{}' run -u {} -- sh -c 'exit 7'", binary(), url());
        let script = format!("exec 3>&1; {{ {run}; echo $? >&3; }} 2>&1 >/dev/null | true");
        let ended = Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "7\n");
    }

    #[test]
    fn nor_does_a_reader_of_stdout() {
        let script =
            format!("{{ '{}' run -u {} --until-stdin-closes </dev/null; echo $? >&3; }} 3>&2 | true", binary(), url());
        let ended = Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.ends_with("mishap: exit 0: all done, no rules\n0\n"), "{said}");
    }

    // === What is left to read ===

    #[test]
    fn the_journal_of_a_run_is_read_while_it_is_written_and_after_it_was_killed() {
        let scratch = Scratch::new();
        let path = scratch.file("run.ndjson", "");
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--journal", &path, "--journal-max", "64KiB"]);
        let url = mishap.line();
        let report = || Mishap::run(&["report", &path]).stdout;
        for number in 1..=60 {
            post(&url, &PING.replace("\"id\":1", &format!("\"id\":{number}")));
        }
        // It is written by a thread of its own; that it has come so far is seen by the report itself.
        assert!((0..1000).any(|_| report().contains("ping id 60")), "{}", report());
        mishap.killed();
        let drawn = report();
        for expected in ["the newest only: ", "ping id 60", "no last line: "] {
            assert!(drawn.contains(expected), "{expected:?} is missing:\n{drawn}");
        }
        assert!(!drawn.contains("request ping id 1\n"), "it is kept no more:\n{drawn}");
    }

    #[test]
    fn bodies_are_kept_beside_the_journal_under_the_hashes_of_its_points_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = Scratch::new();
        let (journal, bodies) = (scratch.file("run.ndjson", ""), scratch.path("bodies"));
        let words =
            ["run", "-u", &url(), "--journal", &journal, "--bodies", bodies.to_str().expect("the path is text")];
        let mut mishap = Mishap::start(&words);
        post(&mishap.line(), PING);
        let ended = mishap.finish();
        assert!(ended.stderr.contains(&format!("; bodies in {}\n", bodies.display())), "{}", ended.stderr);
        let mode = |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let kept = |body: &str| {
            let file = bodies.join(digest(body.as_bytes()));
            assert_eq!((std::fs::read_to_string(&file).expect("it is kept"), mode(&file)), (body.to_owned(), 0o600));
            std::fs::read_to_string(&journal).expect("it is there").contains(&digest(body.as_bytes()))
        };
        assert!(kept(PING) && kept(ANSWER));
        assert_eq!(mode(&bodies), 0o700);
        assert_eq!(std::fs::read_dir(&bodies).expect("it is there").count(), 2);
    }

    // === Where it is ===

    #[test]
    fn files_tell_where_it_is_when_it_listens_and_when_it_is_ready_and_are_gone_with_it() {
        let scratch = Scratch::new();
        let (listens, ready) = (scratch.file("url", "of an earlier run"), scratch.file("ready", "of an earlier run"));
        let serve = format!("grep http '{listens}'; test ! -e '{ready}' && echo not ready; {}", serve());
        let words = ["run", "--serve", &serve, "--url-file", &listens, "--ready-file", &ready];
        let mut mishap = Mishap::start(&words);
        let told = mishap.says("server: http://");
        mishap.says("server: not ready");
        let url = mishap.line();
        assert_eq!(told, format!("server: {url}"));
        for file in [&listens, &ready] {
            assert_eq!(std::fs::read_to_string(file).expect("it is there"), format!("{url}\n"));
        }
        assert_eq!(mishap.finish().code, 0);
        let left: Vec<_> = std::fs::read_dir(scratch.path("")).expect("it is there").collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn health_says_whether_a_run_is_ready_and_touches_no_connection() {
        let scratch = Scratch::new();
        let ready = scratch.path("ready").to_string_lossy().into_owned();
        let health = || Mishap::run(&["health", &ready]);
        assert_eq!(health().code, 1, "nothing runs yet");
        let journal = scratch.path("journal").to_string_lossy().into_owned();
        let mut mishap = Mishap::start(&["run", "-u", &url(), "--ready-file", &ready, "--journal", &journal]);
        let printed = mishap.line();
        let asked = health();
        assert_eq!((asked.code, asked.stdout), (0, format!("{printed}\n")));
        mishap.finish();
        let after = health();
        assert_eq!(after.code, 1);
        assert!(after.last().starts_with(&format!("mishap: exit 1: not ready: {ready}: ")), "{}", after.stderr);
        let text = std::fs::read_to_string(journal).expect("there is a journal");
        assert!(!text.contains("\"connect\""), "{text}");
    }

    #[test]
    fn one_that_cannot_be_written_ends_the_run_before_anything_is_started() {
        let scratch = Scratch::new();
        let folder = scratch.path("");
        let nowhere = scratch.path("none/url");
        for (path, why) in [(&folder, "it is there and is no file"), (&nowhere, "No such file or directory")] {
            let path = path.to_str().expect("the path is text");
            for option in ["--url-file", "--ready-file"] {
                let words = ["run", "-u", &url(), option, path, "--", "echo", "started"];
                let ended = Mishap::run(&words);
                assert_eq!((ended.code, &*ended.stdout), (125, ""), "{}", ended.stderr);
                assert!(ended.last().starts_with(&format!("mishap: exit 125: {option} ")), "{}", ended.stderr);
                assert!(ended.last().contains(why), "{}", ended.stderr);
            }
        }
    }
}
