//! From the command line to what a run needs, before anything is started: profiles, URL, seed, the words to repeat it.
//!
//! The one rule: what is wrong with the words is found here, is exit 2, and nothing has happened yet.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use super::reports::Reports;
use super::server::free_port;
use crate::cli::{Host, QUIET_LIMIT, RunArgs, duration};
use crate::command::{Exit, check};
use crate::journal::{Header, VerdictLine};
use crate::profile::{self, Loaded, Scale, Use};
use crate::proxy::{HostPolicy, Upstream};
use crate::report::runs::Ran;
use crate::report::verdict::{FailOn, Known};
use crate::report::words::{count, shell};

/// Where a server started here is expected when `-u` does not say.
const SERVED: &str = "http://127.0.0.1:{port}/mcp";

/// A run that can begin.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) upstream: Upstream,
    /// Further servers.
    pub(super) others: Vec<Upstream>,
    /// The shell command that starts the server.
    pub(super) serve: Option<String>,
    pub(super) loaded: Loaded,
    pub(super) seed: u64,
    /// What is written at the end.
    pub(super) reports: Reports<'a>,
    /// What to type to repeat the run.
    pub(super) again: String,
    /// Of one of several runs: its known failures.
    pub(super) among: Option<Vec<Known>>,
}

impl<'a> Plan<'a> {
    /// Checks the words. What is wrong with profiles goes to `err`, a line each.
    pub(super) fn of(args: &'a RunArgs, err: &mut dyn Write) -> io::Result<Result<Self, Exit>> {
        if args.listen.ip().is_unspecified() && !args.expose {
            return Ok(Err(everywhere(args.listen)));
        }
        let loaded = match load(args) {
            Ok(loaded) => loaded,
            Err(problems) => {
                check::list(&problems, err)?;
                let number = u64::try_from(problems.len()).unwrap_or(u64::MAX);
                let place = if args.expect.is_empty() { "the profiles" } else { "the profiles and expectations" };
                return Ok(Err(Exit::because(2, format!("{} in {place}", count(number, "problem")))));
            }
        };
        check::doubts(&loaded, err)?;
        let (mut upstreams, serve) = match target(args).and_then(|found| enough(&loaded, found)) {
            Ok(found) => found,
            Err(exit) => return Ok(Err(exit)),
        };
        let (upstream, others) = (upstreams.remove(0), upstreams);
        let seed = args.seed.unwrap_or_else(drawn);
        let (reports, again) = (Reports::of(args), again(args, seed));
        Ok(Ok(Self { args, upstream, others, serve, loaded, seed, reports, again, among: None }))
    }

    /// Whether what crosses is recorded and watched. Whoever asks for nothing gets the fastest: all just passes.
    pub(super) fn is_watched(&self) -> bool {
        let told = !self.loaded.rules.is_empty() || !self.loaded.expectations.is_empty();
        // A command that hangs is told of by what it waits for.
        let told = told || self.args.timeout.is_some();
        let asked = self.args.watch || told || self.reports.journal().is_some() || !self.args.profiles.is_empty();
        // Whoever asks for the log wants to see what crosses, as whoever asks for the journal.
        asked || tracing::enabled!(tracing::Level::INFO)
    }

    /// The command with `{url}` filled in; empty: a run in the foreground.
    pub(super) fn command(&self, url: &str) -> Vec<String> {
        self.args.command.iter().map(|word| word.replace("{url}", url)).collect()
    }

    /// Whether the run starts a program, which it must leave nothing of behind.
    pub(super) fn starts_something(&self) -> bool {
        self.serve.is_some() || !self.args.command.is_empty()
    }

    /// What becomes of the `Host` header.
    pub(super) fn host(&self) -> HostPolicy {
        match self.args.host {
            Host::Map => HostPolicy::Map,
            Host::Keep => HostPolicy::Keep,
            Host::Upstream => HostPolicy::Upstream,
        }
    }

    /// What became of it.
    pub(super) fn judged(&self, header: Header, verdict: VerdictLine) -> Ran {
        let journal = self.args.journal.as_ref().map(|path| path.to_string_lossy().into_owned());
        Ran { header, again: Some(self.again.clone()), journal, verdict }
    }

    /// The same of a run that came to no verdict.
    pub(super) fn unjudged(&self, header: Header, exit: Exit) -> Ran {
        let Ran { header, verdict, .. } = Ran::unjudged(header, exit.code, &exit.why.unwrap_or_default());
        self.judged(header, verdict)
    }

    /// Ends a run that mishap could not begin or go on with.
    pub(super) fn could_not(&self, why: impl Into<String>) -> Exit {
        Exit::because(failure(self.args), why)
    }
}

/// Refuses to listen on all addresses, which nobody asked for in so many words.
fn everywhere(listen: SocketAddr) -> Exit {
    let (loopback, port) = (if listen.is_ipv4() { "127.0.0.1" } else { "[::1]" }, listen.port());
    let why = format!("-l {listen} listens on all addresses and there is no authentication");
    Exit::because(
        2,
        format!("{why}; write -l {loopback}:{port}, or add --expose if other machines are to reach the server"),
    )
}

/// The exit status of what mishap could not do: with a command the low ones are the command's own.
pub(in crate::command) fn failure(args: &RunArgs) -> u8 {
    if args.command.is_empty() { 1 } else { 125 }
}

fn load(args: &RunArgs) -> Result<Loaded, Vec<profile::Problem>> {
    let (mut parsed, mut wrong) = (Vec::new(), Vec::new());
    for text in &args.profiles {
        match Use::parse(text) {
            Ok(used) => parsed.push(used),
            Err(problem) => wrong.push(problem),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut loaded = profile::load_at(args.time_scale, &parsed)?;
    profile::expect(&args.expect, args.time_scale, &mut loaded)?;
    Ok(loaded)
}

/// The servers, at least one, and the command that starts the first.
type Servers = (Vec<Upstream>, Option<String>);

/// Whether there are as many servers as the rules need.
fn enough(loaded: &Loaded, servers: Servers) -> Result<Servers, Exit> {
    let there = servers.0.len();
    let Some(rule) = loaded.rules.iter().find(|rule| rule.fault.servers() > there) else { return Ok(servers) };
    let (needed, urls) = (rule.fault.servers(), " -u URL".repeat(rule.fault.servers().min(9)));
    let name = &rule.name;
    Err(Exit::because(
        2,
        format!("rule \"{name}\": `route` needs {needed} servers and was given {there}; write mishap run{urls}"),
    ))
}

/// The servers' URLs and the command that starts the first, `{port}` filled in in all.
fn target(args: &RunArgs) -> Result<Servers, Exit> {
    let served_at = [SERVED.to_owned()];
    let urls = if args.upstream.is_empty() { &served_at[..] } else { &args.upstream };
    let served = args.serve.as_deref().is_some_and(|command| command.contains("{port}"));
    if let Some(url) = urls.iter().find(|url| url.contains("{port}") && !served) {
        let advice = match args.serve {
            Some(_) => "put {port} where --serve takes its port, or give -u the server's URL",
            None => "write the server's port, or start the server with --serve 'CMD {port}'",
        };
        return Err(Exit::because(2, format!("upstream URL \"{url}\": nothing says which port {{port}} is; {advice}")));
    }
    let port =
        if served { free_port().map_err(|error| Exit::because(1, format!("no free port: {error}")))? } else { 0 };
    let filled = |text: &str| text.replace("{port}", &port.to_string());
    let parsed = urls.iter().map(|url| filled(url).parse().map_err(|error| Exit::because(2, format!("{error}"))));
    let upstreams = parsed.collect::<Result<Vec<Upstream>, Exit>>()?;
    Ok((upstreams, args.serve.as_deref().map(filled)))
}

/// A seed from the system's randomness, short enough to be typed.
fn drawn() -> u64 {
    RandomState::new().hash_one(()) % 1_000_000
}

/// The words that repeat a run. What it left (a journal, bodies, reports) stays as it is: none of them is written again. Where the run was
/// watched only because of them, it is watched by another word. The files that are there while it runs may be what its command reads.
fn again(args: &RunArgs, seed: u64) -> String {
    let recorded = args.journal.is_some() || !args.report.is_empty();
    let watch = args.watch || recorded && args.profiles.is_empty() && args.expect.is_empty();
    let mut words = vec!["mishap".to_owned(), if watch { "watch" } else { "run" }.to_owned()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    args.upstream.iter().for_each(|url| option("-u", url));
    args.serve.iter().for_each(|command| option("--serve", command));
    if args.listen.port() != 0 || !args.listen.ip().is_loopback() {
        option("-l", &args.listen.to_string());
    }
    args.profiles.iter().for_each(|profile| option("-p", profile));
    args.expect.iter().for_each(|expectation| option("--expect", expectation));
    match args.host {
        Host::Map => {}
        Host::Keep => option("--host", "keep"),
        Host::Upstream => option("--host", "upstream"),
    }
    args.public_host.iter().for_each(|name| option("--public-host", name));
    option("--seed", &seed.to_string());
    if args.time_scale != Scale::FULL {
        option("--time-scale", &args.time_scale.to_string());
    }
    if args.fail_on != FailOn::default() {
        option("--fail-on", &args.fail_on.to_string());
    }
    let mut file =
        |name: &str, path: &Option<PathBuf>| path.iter().for_each(|path| option(name, &path.to_string_lossy()));
    file("--url-file", &args.url_file);
    file("--ready-file", &args.ready_file);
    args.timeout.iter().for_each(|limit| option("--timeout", &format!("{}ms", limit.as_millis())));
    if duration(QUIET_LIMIT) != Ok(args.quiet_limit) {
        option("--quiet-limit", &format!("{}ms", args.quiet_limit.as_millis()));
    }
    if args.until_stdin_closes {
        words.push("--until-stdin-closes".to_owned());
    }
    if args.expose {
        words.push("--expose".to_owned());
    }
    if !args.command.is_empty() {
        words.push("--".to_owned());
        words.extend(args.command.iter().cloned());
    }
    shell(words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn args(words: &[&str]) -> RunArgs {
        let cli = Cli::try_parse_from(["mishap", "run"].iter().chain(words)).expect("the words are right");
        let Command::Run(args) = cli.command else { panic!("not a run") };
        *args
    }

    #[test]
    fn the_line_that_repeats_a_run_says_the_same_again_with_the_seed() {
        let words = [
            "-u",
            "http://h:1/mcp",
            "-l",
            "127.0.0.1:8080",
            "-p",
            "late,plus=1s",
            "-p",
            "./a b.toml",
            "--expect",
            "settled,within=5s",
            "--host",
            "keep",
            "--public-host",
            "x",
            "--seed",
            "7",
            "--fail-on",
            "hang,gate",
            "--",
            "npm",
            "test",
            "{url}",
        ];
        let line = again(&args(&words), 7);
        assert_eq!(
            line,
            "mishap run -u http://h:1/mcp -l 127.0.0.1:8080 -p late,plus=1s -p './a b.toml' --expect settled,within=5s --host keep \
             --public-host x --seed 7 --fail-on gate,hang -- npm test '{url}'"
        );
    }

    #[test]
    fn the_line_that_repeats_a_run_writes_nothing_over_what_the_run_left() {
        let line = |words: &[&str]| again(&args(&[&["-u", "http://h:1/"], words].concat()), 7);
        let files = ["--journal", "j.ndjson", "--bodies", "b", "--journal-max", "64KiB", "--report", "r.html"];
        let kept = ["--url-file", "u", "--ready-file", "r", "-p", "late"];
        assert_eq!(
            line(&[&files[..], &kept].concat()),
            "mishap run -u http://h:1/ -p late --seed 7 --url-file u --ready-file r"
        );
        for asked in [&files[..], &files[..2], &files[6..]] {
            assert_eq!(line(asked), "mishap watch -u http://h:1/ --seed 7", "it is watched as it was");
        }
        assert_eq!(line(&[]), "mishap run -u http://h:1/ --seed 7");
    }

    #[test]
    fn all_addresses_are_listened_on_only_when_that_is_said_twice() {
        let refused = |words: &[&str]| {
            let args = args(&[&["-u", "http://h:1/"], words].concat());
            let plan = Plan::of(&args, &mut Vec::new()).expect("nothing is written");
            plan.err().map(|exit| (exit.code, exit.why.unwrap_or_default()))
        };
        for (wild, instead) in [("0.0.0.0:8080", "-l 127.0.0.1:8080"), ("[::]:0", "-l [::1]:0")] {
            let (code, why) = refused(&["-l", wild]).expect("one word is not enough");
            assert!(code == 2 && why.contains(instead) && why.contains("--expose"), "{why}");
            assert_eq!(refused(&["-l", wild, "--expose"]), None);
        }
        assert_eq!(refused(&["-l", "127.0.0.1:8080"]), None);
    }

    #[test]
    fn a_server_started_here_is_expected_on_its_port_unless_the_url_says_otherwise() {
        let (upstreams, serve) = target(&args(&["--serve", "s --port {port}"])).expect("it has a port");
        let upstream = &upstreams[0];
        let port = upstream.authority().rsplit(':').next().unwrap_or_default().to_owned();
        assert_eq!(upstream.to_string(), format!("http://127.0.0.1:{port}/mcp"));
        assert_eq!(serve, Some(format!("s --port {port}")));
        let (upstreams, _) = target(&args(&["--serve", "s", "-u", "http://h:9/x"])).expect("the URL is whole");
        assert_eq!(upstreams[0].to_string(), "http://h:9/x");
    }

    #[test]
    fn a_rule_that_needs_another_server_says_what_to_write() {
        let rule = |to| {
            let scratch = std::env::temp_dir().join(format!("mishap-route-{}-{to}.toml", std::process::id()));
            let text = format!(
                "version = 1\nsummary = \"a test\"\n[[rule]]\nname = \"r\"\nmatch = {{ at = \"request\" }}\nroute = {to}\n"
            );
            std::fs::write(&scratch, text).expect("it can be written");
            let loaded = profile::load(&[Use::plain(&scratch.to_string_lossy())]);
            std::fs::remove_file(&scratch).expect("it is there");
            loaded.expect("it is right")
        };
        let given = |loaded: &Loaded, urls: &[&str]| {
            let words: Vec<&str> = urls.iter().flat_map(|url| ["-u", url]).collect();
            let found = target(&args(&words)).expect("the URLs are right");
            enough(loaded, found).map(|(upstreams, _)| upstreams.len()).map_err(|exit| exit.why.unwrap_or_default())
        };
        let (one, two) = (&["http://h:1/"][..], &["http://h:1/", "http://h:2/"][..]);
        let loaded = rule("\"next\"");
        let why = given(&loaded, one).expect_err("there is no other");
        assert!(why.ends_with("needs 2 servers and was given 1; write mishap run -u URL -u URL"), "{why}");
        assert_eq!(given(&loaded, two), Ok(2));
        assert!(given(&rule("3"), two).expect_err("there is no third").contains("needs 3 servers and was given 2"));
        assert_eq!(given(&rule("1"), one), Ok(1));
    }

    #[test]
    fn a_port_that_nothing_gives_is_refused_with_what_to_write() {
        let why = |words: &[&str]| target(&args(words)).expect_err("nothing gives it").why.unwrap_or_default();
        assert!(why(&["-u", "http://h:{port}/"]).contains("start the server with --serve"));
        assert!(why(&["--serve", "node server.js"]).contains("put {port} where --serve takes its port"));
    }
}
