//! What a watched run says through the real binary: outcomes, findings, requests that hang; and what is not watched.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use crate::cli_support::{answering, connect, post, post_head};
    use crate::common::messages::{ACCEPTED, SSE_HEAD, answer, event, json_head};
    use crate::common::mishap::{Ended, Mishap};
    use crate::common::peer::Peer;
    use crate::common::scratch::Scratch;
    use crate::common::upstream::Upstream;

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const NOT_WATCHED: &str = "  not watched; add a profile, --journal, or use mishap watch\n";

    /// A `mishap watch` between peers that the test plays.
    struct Watch {
        mishap: Mishap,
        url: String,
        upstream: Upstream,
    }

    impl Watch {
        fn with(more: &[&str]) -> Self {
            let upstream = Upstream::listen();
            let url = format!("http://{}/mcp", upstream.address());
            let mut mishap = Mishap::start(&[&["watch", "-u", &url][..], more].concat());
            let url = mishap.line();
            Self { mishap, url, upstream }
        }

        /// A message that has reached the server: both ends.
        fn post(&self, message: &str) -> (Peer, Peer) {
            let mut client = connect(&self.url);
            client.send(post_head(message.len()) + message);
            let mut server = self.upstream.next();
            server.whole_request();
            (client, server)
        }

        /// A call whose event stream has begun.
        fn call(&self, id: u32) -> (Peer, Peer) {
            let (mut client, mut server) =
                self.post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#));
            server.send(SSE_HEAD);
            client.answer();
            (client, server)
        }

        /// Opens the session's version, which tells that it has a handshake.
        fn opened(self) -> Self {
            let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
            let (mut client, mut server) = self.post(begin);
            let result = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
            server.send(json_head(result.len(), "") + result);
            client.whole_answer();
            self
        }

        fn cancel(&self, id: u32) {
            let params = format!(r#"{{"requestId":{id}}}"#);
            let message = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
            let (mut client, mut server) = self.post(&message);
            server.send(ACCEPTED);
            client.whole_answer();
        }

        fn ended(self) -> Ended {
            self.mishap.signal(Signal::TERM);
            self.mishap.ended()
        }
    }

    #[test]
    fn a_run_for_which_nothing_was_asked_says_that_it_was_not_watched_and_any_other_is() {
        let url = format!("http://{}/mcp", answering(ANSWER));
        let plain = Mishap::run(&["run", "-u", &url, "--", "true"]).stderr;
        assert!(plain.contains(NOT_WATCHED), "{plain}");
        let scratch = Scratch::new();
        let journal = scratch.file("run.ndjson", "");
        for more in [&["run", "-p", "transparent"][..], &["run", "--journal", &journal], &["run", "-v"], &["watch"]] {
            let mut mishap = Mishap::start(&[more, &["-u", &url]].concat());
            post(&mishap.line(), PING);
            mishap.signal(Signal::TERM);
            let ended = mishap.ended();
            assert!(ended.stderr.contains("\n  requests: 1 answered\n"), "{more:?}: {}", ended.stderr);
            assert!(!ended.stderr.contains(NOT_WATCHED) && ended.code == 0, "{more:?}: {}", ended.stderr);
        }
    }

    #[test]
    fn a_request_that_is_open_at_the_end_hangs_unless_its_client_has_left() {
        let watch = Watch::with(&[]);
        let (_client, _server) = watch.call(7);
        let ended = watch.ended();
        assert_eq!(ended.code, 5, "{}", ended.stderr);
        assert!(ended.last().starts_with("mishap: exit 5: tools/call id 7 has no answer: open "), "{}", ended.stderr);
        assert!(ended.stderr.contains("\n  requests: 1 open\n    tools/call id 7: open "), "{}", ended.stderr);

        let watch = Watch::with(&[]);
        let (client, mut server) = watch.call(7);
        client.leave();
        server.closed();
        let ended = watch.ended();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("tools/call id 7: left after "), "{}", ended.stderr);
        assert!(ended.stderr.contains("closed by the client first (fin)"), "{}", ended.stderr);
    }

    /// The command has read the head when it exits: its connection goes with it, and so does its request.
    #[test]
    fn what_a_command_leaves_open_when_it_ends_was_left_by_it() {
        let upstream = Upstream::listen();
        let address = upstream.address();
        let server = std::thread::spawn(move || {
            let mut server = upstream.next();
            server.whole_request();
            server.send(SSE_HEAD);
            server.closed();
        });
        let request = post_head(PING.len()) + PING;
        let script = "a=${MISHAP_URL#http://}; a=${a%%/*}; exec 3<>/dev/tcp/${a%%:*}/${a##*:}; printf %s \"$1\" >&3; read -r line <&3";
        let words = ["watch", "-u", &format!("http://{address}/mcp"), "--", "bash", "-c", script, "bash", &request];
        let ended = Mishap::run(&words);
        server.join().expect("the server saw the client go");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("\n  requests: 1 left\n"), "{}", ended.stderr);
    }

    /// When the command is ended its requests are left: what it hung on is told before that.
    #[test]
    fn a_command_that_runs_too_long_is_ended_and_what_it_waits_for_is_told() {
        let upstream = Upstream::listen();
        let url = format!("http://{}/mcp", upstream.address());
        let request = post_head(PING.len()) + PING;
        let script = "a=${MISHAP_URL#http://}; a=${a%%/*}; exec 3<>/dev/tcp/${a%%:*}/${a##*:}; printf %s \"$1\" >&3; exec cat <&3";
        let ended =
            Mishap::run(&["watch", "-u", &url, "--timeout", "2s", "--", "bash", "-c", script, "bash", &request]);
        assert_eq!(ended.code, 124, "{}", ended.stderr);
        assert!(ended.stderr.contains("\n  hung: ping id 1: open "), "{}", ended.stderr);
        assert!(ended.stderr.contains("\n  requests: 1 left\n"), "{}", ended.stderr);
    }

    #[test]
    fn a_request_on_which_nothing_happens_is_named_while_the_run_goes_on() {
        let mut watch = Watch::with(&["--quiet-limit", "50ms"]);
        let (mut client, mut server) = watch.call(7);
        let named = watch.mishap.logs("tools/call id 7 has no answer and is quiet: open ");
        assert!(named.contains("(s1/post:7); last on the client's leg: head "), "{named}");
        let last = event(&answer(7));
        server.send_chunk(&last);
        server.send_last_chunk();
        client.sees(&last);
        client.end();
        assert_eq!(watch.ended().code, 0);
    }

    /// So much time has passed when a later request is named that a client which cancels then has waited.
    #[test]
    fn a_cancel_long_after_the_end_of_the_stream_fails_the_run_and_without_it_all_is_well() {
        let waits = |cancels: bool| {
            let scratch = Scratch::new();
            let journal = scratch.file("run.ndjson", "");
            let mut watch = Watch::with(&["--quiet-limit", "150ms", "--journal", &journal]);
            let (mut client, mut server) = watch.call(7);
            server.send_last_chunk();
            client.end();
            let (next, mut next_server) = watch.call(8);
            watch.mishap.logs("tools/call id 8 has no answer and is quiet");
            if cancels {
                watch.cancel(7);
            }
            next.leave();
            next_server.closed();
            let ended = watch.ended();
            (ended, std::fs::read_to_string(journal).expect("it was written"))
        };
        let (ended, journal) = waits(true);
        assert_eq!(ended.code, 3, "{}", ended.stderr);
        assert!(
            ended.last().starts_with("mishap: exit 3: late-cancel: tools/call id 7: its stream ended"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("\n  finding late-cancel (s1/post:7): "), "{}", ended.stderr);
        assert!(
            journal.contains(r#"{"kind":"finding","seq":"#) && journal.contains(r#""weight":"failure""#),
            "{journal}"
        );
        assert!(journal.contains(r#""outcome":"told""#), "{journal}");
        let (ended, journal) = waits(false);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(!journal.contains("finding"), "{journal}");
    }

    #[test]
    fn a_servers_cancel_of_what_crossed_no_stream_fails_the_run_and_of_what_crossed_it_does_not() {
        let cancels = |asks: bool| {
            let watch = Watch::with(&[]).opened();
            let (mut client, mut server) = watch.call(7);
            let question = event(r#"{"jsonrpc":"2.0","id":3,"method":"roots/list"}"#);
            let gives_up = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
            let all = if asks { question } else { String::new() } + &event(gives_up) + &event(&answer(7));
            server.send_chunk(&all);
            server.send_last_chunk();
            client.sees(&all);
            client.end();
            watch.ended()
        };
        let ended = cancels(false);
        assert_eq!(ended.code, 3, "{}", ended.stderr);
        let why = "mishap: exit 3: lost-request: the server cancelled its request id 3, which had crossed no stream";
        assert!(ended.last().starts_with(why), "{}", ended.stderr);
        assert_eq!(cancels(true).code, 0);
    }
}
