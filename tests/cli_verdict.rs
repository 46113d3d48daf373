//! The verdict of whole runs through the real binary: what the rules did decides the exit status, and nothing else does.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use crate::cli_support::{connect, post_head};
    use crate::common::mishap::{Ended, Mishap};
    use crate::common::peer::Peer;
    use crate::common::scratch::Scratch;
    use crate::common::upstream::Upstream;

    const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#;
    const GET: &str = "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
    const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

    /// A run with a profile of one rule, which holds the GET until a tools/call has ended.
    struct Run {
        mishap: Mishap,
        url: String,
        upstream: Upstream,
        scratch: Scratch,
    }

    impl Run {
        fn with(rule: &str) -> Self {
            let scratch = Scratch::new();
            let profile = scratch.file("mine.toml", &format!("version = 1\n[[rule]]\nname = \"late\"\n{rule}"));
            let journal = scratch.file("run.ndjson", "");
            let upstream = Upstream::listen();
            let url = format!("http://{}/mcp", upstream.address());
            let mut mishap = Mishap::start(&["run", "-u", &url, "-p", &profile, "-v", "--journal", &journal]);
            let url = mishap.line();
            Self { mishap, url, upstream, scratch }
        }

        /// A rule that holds the GET for a call's end, so long at most.
        fn holding(limit: &str) -> Self {
            Self::with(&format!(
                "match = {{ stream = \"get\", at = \"request\" }}\n\
                 hold = {{ until = {{ at = \"end\", method = \"tools/call\", same = \"run\" }}, limit = \"{limit}\" }}\n"
            ))
        }

        fn get(&self) -> Peer {
            let mut client = connect(&self.url);
            client.send(GET);
            client
        }

        /// The server's end of the next request, which was read.
        fn request(&self) -> (String, Peer) {
            let mut server = self.upstream.next();
            let (head, _) = server.whole_request();
            (head.start(), server)
        }

        /// A call that the server has begun to answer.
        fn call(&self) -> (Peer, Peer) {
            let mut client = connect(&self.url);
            client.send(post_head(CALL.len()) + CALL);
            let (_, mut server) = self.request();
            server.send(STREAM);
            client.answer();
            (client, server)
        }

        fn ended(self) -> (Ended, Scratch) {
            self.mishap.signal(Signal::TERM);
            (self.mishap.ended(), self.scratch)
        }
    }

    #[track_caller]
    fn assert_ends(ended: &Ended, code: i32, why: &str) {
        assert_eq!((ended.code, ended.last()), (code, &*format!("mishap: exit {code}: {why}")), "{}", ended.stderr);
    }

    #[test]
    fn a_run_without_traffic_is_not_green_if_it_had_a_rule() {
        let (ended, _) = Run::holding("10s").ended();
        let never = "rule \"mine/late\" never fired: nothing crossed the proxy: does the client use its URL?";
        assert_ends(&ended, 4, never);
    }

    #[test]
    fn a_rule_that_nothing_matched_says_where_to_see_what_crossed() {
        let run = Run::holding("10s");
        let _call = run.call();
        let (ended, scratch) = run.ended();
        assert_eq!(ended.code, 4);
        let look = format!("see what crossed with mishap report {}", scratch.path("run.ndjson").display());
        let never = format!("rule \"mine/late\" never fired: nothing that crossed matched it; {look} (and 1 more)");
        assert!(ended.last().ends_with(&never), "{}", ended.stderr);
    }

    /// The client that forgot the URL, and the same that did not.
    #[test]
    fn a_command_that_went_past_the_proxy_tested_nothing() {
        let url = format!("http://{}/mcp", Upstream::listen().address());
        let through = |profile: &[&str], script: &str| {
            let mishap = env!("CARGO_BIN_EXE_mishap");
            Mishap::run(&[&["run", "-u", &url], profile, &["--", "sh", "-c", script, mishap, "{url}"]].concat())
        };
        let transparent = ["-p", "transparent"];
        let past = through(&transparent, "true");
        assert_ends(&past, 4, "nothing crossed the proxy: does the command use {url} or MISHAP_URL?");
        assert!(past.stderr.contains("\n  no rules, and nothing crossed the proxy\n"), "{}", past.stderr);
        // Nobody listens there, so that the proxy answers and the client fails.
        let ask = "\"$0\" demo client \"$1\" get-late || true";
        let crossed = through(&transparent, ask);
        assert_ends(&crossed, 0, "all done, no rules");
        assert_ends(&through(&[], "true"), 0, "all done, no rules");
    }

    #[test]
    fn an_optional_rule_may_stay_unfired() {
        let (ended, _) = Run::with("match = { at = \"request\" }\noptional = true\ndelay = \"1ms\"\n").ended();
        assert_ends(&ended, 0, "every rule was effective");
    }

    // The order is a fact: the call's answer ends when the log says that the GET is held.
    #[test]
    fn a_hold_that_its_condition_opened_is_green_and_the_timeline_says_what_opened_it() {
        let mut run = Run::holding("20s");
        let (mut client, mut server) = run.call();
        let _get = run.get();
        run.mishap.logs("hold rule=\"mine/late\"");
        server.send_last_chunk();
        client.end();
        assert_eq!(run.request().0, "GET /mcp HTTP/1.1");
        let (ended, scratch) = run.ended();
        assert_ends(&ended, 0, "every rule was effective");
        assert!(ended.stderr.contains("  gate mine/late: 1 opened by end of POST tools/call id 7"), "{}", ended.stderr);
        let journal = scratch.path("run.ndjson");
        let drawn = Mishap::run(&["report", journal.to_str().expect("the path is text")]).stdout;
        for expected in [
            "verdict\n  mine/late: matched 1, fired 1, effective 1\n  gate mine/late: 1 opened by ",
            "\n  exit 0: every rule was effective\n",
            "  GET                   │",
            "  POST tools/call id 7  │◀──────│◀──────│  end: eof",
            "! late: held ",
            "end of POST tools/call id 7",
        ] {
            assert!(drawn.contains(expected), "{expected:?} is missing:\n{drawn}");
        }
    }

    #[test]
    fn a_cut_is_told_with_what_it_ended_on_the_screen_and_in_the_report() {
        let run = Run::with("match = { at = \"block\", method = \"tools/call\" }\ncut = \"eof\"\n");
        let (mut client, mut server) = run.call();
        let event = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n";
        server.send(format!("{:x}\r\n{event}\r\n", event.len()));
        client.end();
        let (ended, scratch) = run.ended();
        // How long after its head depends on the machine.
        let told =
            ended.stderr.lines().find(|line| line.starts_with("  did  mine/late: cut POST tools/call id 7: eof "));
        let did = told.unwrap_or_else(|| panic!("{}", ended.stderr));
        assert!(did.ends_with("after its head, before its answer; the server's leg closed"), "{did}");
        let journal = scratch.path("run.ndjson");
        let drawn = Mishap::run(&["report", journal.to_str().expect("the path is text")]).stdout;
        assert!(drawn.contains(did), "{drawn}");
    }

    #[test]
    fn a_rule_that_matched_nothing_is_told_what_is_doubtful_in_it() {
        let slip = "match = { at = \"request\", method = \"tool/call\" }\ndelay = \"1ms\"\n";
        let (ended, _) = Run::with(slip).ended();
        let doubt =
            "mine.toml:4: rule \"late\": warning: MCP has no method \"tool/call\"; did you mean \"tools/call\"?\n";
        assert_eq!(ended.stderr.matches(doubt).count(), 2, "at the start and in the verdict: {}", ended.stderr);
    }

    #[test]
    fn a_hold_at_its_limit_with_the_call_under_way_is_a_hang() {
        let run = Run::holding("50ms");
        let _call = run.call();
        let _get = run.get();
        assert_eq!(run.request().0, "GET /mcp HTTP/1.1");
        let (ended, _) = run.ended();
        assert_eq!(ended.code, 5);
        let hang = "rule \"mine/late\": its hold reached the limit (";
        assert!(ended.last().contains(hang), "{}", ended.stderr);
        assert!(ended.last().ends_with("while what it waits for was still under way (and 1 more)"), "{}", ended.stderr);
        assert!(ended.stderr.contains("\n  exit 5: tools/call id 7 has no answer: open "), "{}", ended.stderr);
    }

    #[test]
    fn a_hold_at_its_limit_with_nothing_under_way_tested_nothing() {
        let run = Run::holding("50ms");
        let _get = run.get();
        assert_eq!(run.request().0, "GET /mcp HTTP/1.1");
        let (ended, _) = run.ended();
        assert_eq!(ended.code, 4);
        assert!(ended.last().ends_with(" for something that was never under way"), "{}", ended.stderr);
    }

    /// The same run with and without: what does not count is told all the same.
    #[test]
    fn what_kinds_of_reasons_fail_a_run_can_be_chosen() {
        let url = format!("http://{}/mcp", Upstream::listen().address());
        let with = |fail_on: &[&str], script: &str| {
            let words = ["run", "-u", &url, "-p", "get-opens-late"];
            Mishap::run(&[&words, fail_on, &["--", "sh", "-c", script]].concat())
        };
        let never = "rule \"get-opens-late/hold-get\" never fired";
        assert_eq!(with(&[], "true").code, 4);
        assert_eq!(with(&["--fail-on", "rule"], "true").code, 4);
        assert_eq!(with(&["--fail-on", "vacuous"], "true").code, 4);
        let ended = with(&["--fail-on", "gate,hang"], "true");
        assert_ends(&ended, 0, "nothing that counts went wrong (2 reasons that do not)");
        assert!(ended.stderr.contains(&format!("\n  not counted (rule): {never}")), "{}", ended.stderr);
        assert!(ended.stderr.contains(" --fail-on gate,hang -- sh -c true\n"), "{}", ended.stderr);
        assert_ends(&with(&["--fail-on", "none"], "exit 3"), 3, "the command ended with status 3");
        let refused = with(&["--fail-on", "rules"], "true");
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("\"rules\" is no kind; write some of rule, vacuous,"), "{}", refused.stderr);
    }

    #[test]
    fn a_command_that_fails_comes_before_a_rule_that_never_fired_and_both_are_listed() {
        let url = format!("http://{}/mcp", Upstream::listen().address());
        let ended = Mishap::run(&["run", "-u", &url, "-p", "get-opens-late", "--", "sh", "-c", "exit 3"]);
        assert_ends(&ended, 3, "the command ended with status 3 (and 2 more)");
        assert!(ended.stderr.contains("\n  exit 4: rule \"get-opens-late/hold-get\" never fired"), "{}", ended.stderr);
    }
}
