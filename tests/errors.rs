//! Every row of docs/errors.md through the real binary: message, exit status and bound are taken from there, so that the
//! page and the program cannot drift apart.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;
#[cfg(test)]
#[path = "errors/table.rs"]
mod table;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::path::Path;

    use rustix::process::{Resource, Rlimit, Signal, prlimit};

    use crate::cli_support::{answering, connect, post, post_head, refusing};
    use crate::common::mishap::{Mishap, binary};
    use crate::common::peer::{End, Peer};
    use crate::common::scratch::Scratch;
    use crate::common::upstream::Upstream;
    use crate::common::wire::Closed;
    use crate::table::{Row, row, rows};

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":"call-7","result":{}}"#;
    const CALL: &str = r#"{"jsonrpc":"2.0","id":"call-7","method":"tools/call","params":{"name":"echo"}}"#;

    #[test]
    fn every_row_of_the_table_is_a_test() {
        let tests = include_str!("errors.rs");
        let missing: Vec<_> =
            rows().map(|(case, _)| case).filter(|case| !tests.contains(&format!("row(\"{case}\")"))).collect();
        assert!(missing.is_empty(), "no test takes its expectation from {missing:?}");
        assert!(rows().count() > 20, "the table was not read");
    }

    /// The words of a run with a command that must not be started, or must make no difference.
    fn around<'a>(words: &[&'a str]) -> Vec<&'a str> {
        [words, &["--", "echo", "started"]].concat()
    }

    /// The row holds without a command and with one, and the command is not started.
    #[track_caller]
    fn never_begins(row: &Row, words: &[&str]) {
        row.ends(&Mishap::run(words), 0);
        let ended = Mishap::run(&around(words));
        row.ends(&ended, row.exit.len() - 1);
        assert_eq!(ended.stdout, "", "the command was started");
    }

    // === Words ===

    const SOMEWHERE: &str = "http://127.0.0.1:9/mcp";

    #[test]
    fn a_profile_with_a_mistake_is_refused_with_its_line_and_the_right_word() {
        let scratch = Scratch::new();
        let text = "version = 1\n[[rule]]\nname = \"late\"\nlatency = \"1s\"\nmatch = { at = \"request\" }\n";
        let path = scratch.file("mine.toml", text);
        let row = row("a profile with a mistake");
        never_begins(&row, &["run", "-u", SOMEWHERE, "-p", &path]);
    }

    #[test]
    fn an_unknown_profile_is_refused_with_the_nearest() {
        never_begins(&row("an unknown profile"), &["run", "-u", SOMEWHERE, "-p", "get-open-late"]);
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_nearest() {
        let row = row("an unknown parameter of a profile");
        never_begins(&row, &["run", "-u", SOMEWHERE, "-p", "get-opens-late,pluss=1s"]);
    }

    #[test]
    fn a_profile_file_that_is_not_there_is_named() {
        never_begins(&row("a profile's file that is not there"), &["run", "-u", SOMEWHERE, "-p", "./none.toml"]);
    }

    #[test]
    fn a_url_that_names_no_http_origin_is_refused_with_what_to_write() {
        never_begins(&row("a URL without a scheme"), &["run", "-u", "127.0.0.1:3000"]);
        never_begins(&row("an https URL"), &["run", "-u", "https://example.com/mcp"]);
        never_begins(&row("a URL that is only a path"), &["run", "-u", "/mcp"]);
        never_begins(&row("no URL"), &["run"]);
        never_begins(&row("a `{port}` that nothing gives"), &["run", "-u", "http://127.0.0.1:{port}/"]);
    }

    // === What the system refuses ===

    #[test]
    fn a_port_in_use_is_named_before_anything_is_started() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = taken.local_addr().expect("it is bound").to_string();
        never_begins(&row("a port in use"), &["run", "-u", SOMEWHERE, "-l", &address]);
    }

    #[test]
    fn a_journal_that_cannot_be_written_is_named_before_anything_is_started() {
        let path = Scratch::new().path("none/run.ndjson");
        let path = path.to_str().expect("the path is text");
        never_begins(&row("a journal that cannot be created"), &["run", "-u", SOMEWHERE, "--journal", path]);
        never_begins(&row("a journal on a full disk"), &["run", "-u", SOMEWHERE, "--journal", "/dev/full"]);
    }

    #[test]
    fn a_verdict_that_cannot_be_written_is_named_at_the_start_or_at_the_end() {
        let path = Scratch::new().path("none/verdict.json");
        let path = path.to_str().expect("the path is text");
        never_begins(&row("a verdict's file that cannot be made"), &["run", "-u", SOMEWHERE, "--verdict", path]);
        let row = row("a verdict on a full disk");
        let words = ["run", "-u", SOMEWHERE, "--verdict", "/dev/full"];
        let mut mishap = Mishap::start(&words);
        mishap.line();
        row.ends(&mishap.finish(), 0);
        row.ends(&Mishap::run(&[&words[..], &["--", "true"]].concat()), 1);
    }

    /// Runs a proxy with a journal, without a command and with one, to its end; something happens to the journal meanwhile.
    #[track_caller]
    fn loses_its_journal(row: &Row, meanwhile: impl Fn(&Mishap, &Path)) {
        let upstream = answering(ANSWER);
        let up = format!("http://{upstream}/mcp");
        for (with, command) in [&[][..], &["--", "cat"]].into_iter().enumerate() {
            let scratch = Scratch::new();
            let path = scratch.path("run.ndjson");
            let words = ["run", "-u", &up, "--journal", path.to_str().expect("the path is text")];
            let mut mishap = Mishap::start(&[&words, command].concat());
            let said = mishap.says("mishap: http://");
            meanwhile(&mishap, &path);
            let url = said.split_whitespace().nth(1).expect("it says where it is");
            assert_eq!(post(url, CALL).1, ANSWER);
            mishap.close_stdin();
            if with == 0 {
                mishap.signal(Signal::TERM);
            }
            let ended = mishap.ended();
            row.ends(&ended, with);
            assert!(!ended.stderr.contains("draw it with mishap report"), "{}", ended.stderr);
        }
    }

    #[test]
    fn a_folder_for_bodies_that_cannot_be_made_is_named_before_anything_is_started() {
        let scratch = Scratch::new();
        let (journal, row) = (scratch.file("run.ndjson", ""), row("a folder for bodies that cannot be made"));
        let bodies = format!("{journal}/bodies");
        never_begins(&row, &["run", "-u", SOMEWHERE, "--journal", &journal, "--bodies", &bodies]);
    }

    #[test]
    fn a_journal_of_another_run_is_left_alone() {
        let scratch = Scratch::new();
        let path = scratch.file("run.ndjson", "");
        let words = ["run", "-u", SOMEWHERE, "--journal", &path];
        let mut first = Mishap::start(&words);
        first.line();
        never_begins(&row("a journal that another run is writing"), &words);
        first.signal(Signal::TERM);
        assert_eq!(first.ended().code, 0);
        assert!(mishap::journal::read(Path::new(&path)).is_ok(), "the first run's journal was touched");
    }

    #[test]
    fn a_journal_that_is_removed_is_not_said_to_be_kept() {
        let row = row("a journal that is removed during the run");
        loses_its_journal(&row, |_, path| std::fs::remove_file(path).expect("it is there"));
    }

    #[test]
    fn a_journal_at_the_limit_of_file_sizes_is_an_error_and_no_end_of_the_process() {
        let row = row("a journal that reaches a limit of file sizes");
        loses_its_journal(&row, |mishap, _| {
            let pid = i32::try_from(mishap.pid()).ok().and_then(rustix::process::Pid::from_raw);
            let limit = Rlimit { current: Some(1), maximum: Some(1) };
            prlimit(pid, Resource::Fsize, limit).expect("a limit can be lowered");
        });
    }

    #[test]
    fn a_file_that_is_no_journal_is_refused_with_what_to_give() {
        let scratch = Scratch::new();
        let path = scratch.file("notes.txt", "hello\n");
        row("a file that is no journal").ends(&Mishap::run(&["report", &path]), 0);
    }

    // === The server's side ===

    #[test]
    fn an_upstream_that_is_down_is_a_502_with_a_marker_and_the_requests_own_id() {
        let row = row("an upstream that is down");
        let (_socket, address) = refusing();
        let mut mishap = Mishap::start(&["run", "-u", &format!("http://{address}/mcp")]);
        let url = mishap.line();
        for _ in 0..2 {
            let (head, body) = post(&url, CALL);
            row.is_in(&format!("{}\n{body}", head.lines().join("\n")));
            let message: serde_json::Value = serde_json::from_str(&body).expect("the answer is JSON");
            assert_eq!((message["jsonrpc"].as_str(), message["error"].is_object()), (Some("2.0"), true));
        }
        mishap.signal(Signal::TERM);
        assert_eq!(mishap.ended().code, row.exit[0]);
    }

    /// A proxy in front of a scripted upstream.
    fn in_front_of(upstream: &Upstream, words: &[&str]) -> (Mishap, String) {
        let url = format!("http://{}/mcp", upstream.address());
        let mut mishap = Mishap::start(&[&["run", "-u", &url], words].concat());
        let url = mishap.line();
        (mishap, url)
    }

    /// A call on its way: the client's end and the server's, which has read the request.
    fn call(upstream: &Upstream, url: &str) -> (Peer, Peer) {
        let mut client = connect(url);
        client.send(post_head(CALL.len()) + CALL);
        let mut server = upstream.next();
        server.whole_request();
        (client, server)
    }

    const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

    #[test]
    fn an_upstream_that_resets_before_it_answers_resets_the_client() {
        let row = row("an upstream that resets before it answers");
        let upstream = Upstream::listen();
        let (mishap, url) = in_front_of(&upstream, &[]);
        let (mut client, server) = call(&upstream, &url);
        server.reset();
        assert_eq!(client.closed(), Closed::Reset);
        assert!(upstream.is_idle(), "the request was sent again");
        row.is_silent(mishap);
    }

    #[test]
    fn an_upstream_that_resets_in_its_answer_resets_the_client_after_what_had_come() {
        let row = row("an upstream that resets in its answer");
        let upstream = Upstream::listen();
        let (mishap, url) = in_front_of(&upstream, &[]);
        let (mut client, mut server) = call(&upstream, &url);
        server.send(STREAM);
        server.send_chunk(": first\n\n");
        client.answer();
        client.sees(": first\n\n");
        server.reset();
        assert_eq!(client.end(), End::Reset);
        row.is_silent(mishap);
    }

    #[test]
    fn a_client_that_leaves_midway_is_seen_by_the_server() {
        let row = row("a client that leaves midway");
        let upstream = Upstream::listen();
        let (mishap, url) = in_front_of(&upstream, &[]);
        let (mut client, mut server) = call(&upstream, &url);
        server.send(STREAM);
        client.answer();
        client.leave();
        assert_eq!(server.closed(), Closed::Fin);
        row.is_silent(mishap);
    }

    #[test]
    fn a_body_of_32_mib_passes_whole_in_bounded_memory_both_ways() {
        let row = row("a body of 32 MiB, both ways");
        let limits: Vec<u64> = row.bound.split(' ').filter_map(|word| word.parse().ok()).collect();
        let body: Vec<u8> = (0..32_u32 << 18).flat_map(|word| word.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
        let scratch = Scratch::new();
        let journal = scratch.file("run.ndjson", "");
        // Passed through, and with an engine that sees all of it.
        for (words, limit) in [&[][..], &["--journal", &journal]].into_iter().zip(limits) {
            let upstream = Upstream::listen();
            let (mishap, url) = in_front_of(&upstream, words);
            both_ways(&body, connect(&url), &upstream);
            let used = peak_memory(mishap.pid()) >> 10;
            assert!(used < limit, "{used} MiB of memory with {words:?}");
            row.is_silent(mishap);
        }
    }

    /// The body as a request's and as its answer's.
    fn both_ways(body: &[u8], mut client: Peer, upstream: &Upstream) {
        client.send(post_head(body.len()));
        let sent = client.send_beside(body);
        let mut server = upstream.next();
        let (_, received) = server.whole_request();
        sent.join().expect("the sender ends").expect("the proxy reads all of it");
        assert!(received == body, "the request's body was changed");
        server.send(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        ));
        let sent = server.send_beside(body);
        let (_, received) = client.whole_answer();
        sent.join().expect("the sender ends").expect("the proxy reads all of it");
        assert!(received == body, "the answer's body was changed");
    }

    /// The most memory the process has had at any time, in KiB.
    fn peak_memory(pid: u32) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel counts it");
        line.trim().trim_end_matches(" kB").parse().expect("it is a number")
    }

    // === A server started here ===

    #[test]
    fn a_server_that_dies_before_it_answers_is_quoted() {
        let row = row("a server started here that dies at once");
        never_begins(&row, &["run", "--serve", "echo boom >&2; exit 3 # {port}"]);
    }

    /// The shell ends at once, before the server it has started answers or after.
    #[test]
    fn a_server_that_goes_to_the_background_is_told_to_stay() {
        let row = row("a server started here that goes to the background");
        let url = format!("http://{}/mcp", answering(ANSWER));
        let serve = format!("'{}' run -u {url} -l 127.0.0.1:{{port}} &", binary());
        row.ends(&Mishap::run(&["run", "--serve", &serve]), 0);
        let mut mishap = Mishap::start(&["run", "--serve", &serve, "--", "cat"]);
        mishap.close_stdin();
        row.ends(&mishap.ended(), 1);
    }

    #[test]
    fn a_server_that_never_answers_is_given_up_and_ended() {
        let row = row("a server started here that never answers");
        let words = ["run", "--serve-timeout", "50ms", "--serve", "tail -f /dev/null # {port}"];
        never_begins(&row, &words);
    }

    /// A server that says its process id before it becomes another mishap.
    fn mortal() -> String {
        let url = format!("http://{}/mcp", answering(ANSWER));
        format!("echo pid=$$; exec '{}' run -u {url} -l 127.0.0.1:{{port}}", binary())
    }

    #[track_caller]
    fn kill_the_server(mishap: &mut Mishap) {
        let [said, _] = mishap.says_both(["server: pid=", "mishap: http://"]);
        let pid = said.rsplit('=').next().and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.expect("it said its id"), Signal::KILL).expect("it is there");
    }

    #[test]
    fn a_server_that_dies_later_ends_a_run_in_the_foreground() {
        let row = row("a server started here that dies later");
        let mut mishap = Mishap::start(&["run", "--serve", &mortal()]);
        kill_the_server(&mut mishap);
        row.ends(&mishap.ended(), 0);
    }

    #[test]
    fn a_server_that_dies_later_is_the_verdict_over_a_command_that_succeeds() {
        let row = row("a server started here that dies later");
        let mut mishap = Mishap::start(&["run", "--serve", &mortal(), "--", "cat"]);
        kill_the_server(&mut mishap);
        mishap.says("mishap: --serve: the server was ended by signal 9");
        mishap.close_stdin();
        row.ends(&mishap.ended(), 1);
    }

    // === A command ===

    #[test]
    fn a_command_that_cannot_be_started_is_told_apart_as_a_shell_does() {
        let url = format!("http://{}/mcp", answering(ANSWER));
        let words = ["run", "-u", &url, "--", "no-such-command"];
        row("a command that is not found").ends(&Mishap::run(&words), 0);
        let scratch = Scratch::new();
        let plain = scratch.file("plain.txt", "hello\n");
        row("a command that cannot be executed").ends(&Mishap::run(&["run", "-u", &url, "--", &plain]), 0);
    }
}
