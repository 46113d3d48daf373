//! The command line as types: what can be said and what each word means. What is done with it is in [`crate::command`].
//!
//! The one rule: every flag says what it takes, and every subcommand shows one line that works.

mod many;
mod report;
mod values;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::demo::scene::Scene;
use crate::demo::server::described;
use crate::profile::Scale;
use crate::report::verdict::FailOn;
pub use many::{ManyArgs, Seeds};
pub use report::{ReportArgs, Reported};
pub(crate) use values::duration;
use values::{address, journal_max};

/// After how long a request on which nothing happens is named.
pub const QUIET_LIMIT: &str = "30s";

/// Makes MCP's race and lifecycle bugs happen on demand: a transparent proxy for Streamable HTTP that holds, reorders,
/// moves and cuts what crosses it, by rule.
#[derive(Debug, Parser)]
#[command(
    name = "mishap",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Start here:\n  mishap demo                   see three bugs, no other program needed\n  \
                  mishap profiles               what can be provoked\n  \
                  mishap run -u http://127.0.0.1:3000/mcp -p get-opens-late -- npm test"
)]
pub struct Cli {
    /// Say more on stderr: -v faults and lifecycle, -vv every event. RUST_LOG overrides it.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Stand in front of a server, in the foreground or around a command.
    Run(Box<RunArgs>),
    /// Watch what crosses, without a fault: what becomes of each request, who hangs, what the protocol forbids.
    #[command(
        mut_arg("profiles", |arg| arg.hide(true)),
        after_help = "Examples:\n  mishap watch -u http://127.0.0.1:3000/mcp\n  \
                      mishap watch --serve 'node server.js --port {port}' -- npm test -- --url {url}"
    )]
    Watch(Box<RunArgs>),
    /// List the built-in profiles, or show one whole, to be copied and changed.
    Profiles(ProfilesArgs),
    /// Say whether profiles can be used, and what their rules were understood to do. Nothing is started.
    Check(CheckArgs),
    /// Print the JSON Schema of profile files, for editors and for programs that write profiles.
    Schema(SchemaArgs),
    /// Draw a journal as a timeline of client, proxy and server, or write it as a diagram, page, archive or data.
    Report(ReportArgs),
    /// Show three bugs with a small server and client of its own.
    Demo(DemoArgs),
    /// Say whether a run is up: exit 0 and its URL, or exit 1.
    Health(HealthArgs),
    /// Print a script that completes the command line in a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each subcommand.
    Man(ManArgs),
}

/// `mishap run`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Exit status, the first that applies:
  the command's own, if it is not 0; 128+n: signal n ended it; 124: it ran for longer than --timeout;
       126, 127: it could not be started
  1    could not run (125 with a command)
  2    usage or profile
  3    an expectation failed, or a monitor found what fails a run (docs/monitors.md)
  4    a rule never had an effect, a hold waited for what was not under way, an expectation was never asked, or
       nothing that the command did crossed the proxy
  5    a request was open at the end, its client still there; or a hold reached its limit with what it waits for
       under way
  0    all done, every rule effective, every expectation met
Of several runs the same: a command's own, of several the lowest, comes first, and a known failure that is gone is a 3.

Examples:
  mishap run -u http://127.0.0.1:3000/mcp -p get-opens-late
  mishap run -u http://127.0.0.1:3000/mcp -p post-stream-lost,ending=fin -- npm test
  mishap run -u http://127.0.0.1:3000/mcp --expect no-repeat --expect 'gets,count=\"<=4\",per=10s' -- npm test
  mishap run --serve 'node server.js --port {port}' -p answers-cross -- pytest --url {url}
  mishap run --serve 'node server.js --port {port}' --matrix 'get/*' --junit mishap.xml -- npm test")]
pub struct RunArgs {
    /// The server's URL. It names the origin; paths pass as they come, and its path completes the URL that is printed.
    /// {port} is the port given to --serve; with --serve it may be left out and is then http://127.0.0.1:{port}/mcp.
    /// Repeat it for further servers, to which a `route` rule may send requests; all others go to the first.
    #[arg(short, long, value_name = "URL", required_unless_present = "serve")]
    pub upstream: Vec<String>,
    /// The address to listen on: IP:PORT, or a port on 127.0.0.1. Port 0 takes a free one.
    #[arg(short, long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = address)]
    pub listen: SocketAddr,
    /// Allow -l to listen on all addresses (0.0.0.0 and ::). There is no authentication: whoever reaches the port reaches
    /// the server behind it.
    #[arg(long)]
    pub expose: bool,
    /// A profile: a built-in name or a file, with values for its variables. Repeat it for several.
    #[arg(short, long = "profile", value_name = "NAME_OR_FILE[,KEY=VALUE]...")]
    pub profiles: Vec<String>,
    /// What must be seen, as in a profile's `expect`: KEY=VALUE,... or a named check with its keys. Rules are named in full,
    /// PROFILE/RULE. Repeat it for several.
    #[arg(long, value_name = "EXPECTATION")]
    pub expect: Vec<String>,
    /// The seed of every draw. Without it one is drawn and shown.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Multiply the times of rules by this: 0.01 makes an idle time of 5m one of 3s. Not their limits, nor the timers of
    /// client and server.
    #[arg(long, value_name = "F", default_value_t = Scale::FULL)]
    pub time_scale: Scale,
    /// Write the proxy's URL to this file once it listens. It appears whole, and is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub url_file: Option<PathBuf>,
    /// The same once the run is ready: with --serve when the server has answered as well.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// Write what crossed and what was decided to this file (NDJSON; see `mishap report`).
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Write the bodies that cross into this folder, beside the journal: each in a file that is called like the hash of its point.
    /// They are whatever was sent, secrets too; the folder is made for you alone (mode 0700).
    #[arg(long, value_name = "DIR", requires = "journal")]
    pub bodies: Option<PathBuf>,
    /// Keep only the newest of the journal, in at most so many bytes (64KiB or more): FILE and, before it, FILE.1. For runs
    /// without an end. Of --bodies the newest are kept in as many bytes.
    #[arg(long, value_name = "SIZE", requires = "journal", value_parser = journal_max)]
    pub journal_max: Option<u64>,
    /// The kinds of reasons that fail the run: rule, vacuous, gate, hang, expectation, finding, notice; or none. The others
    /// are listed and do not count. The command's own status and what mishap cannot do always count.
    #[arg(long, value_name = "KIND[,KIND]...", default_value_t = FailOn::default())]
    pub fail_on: FailOn,
    /// Write a report at the end: .txt a timeline, .mmd or .md a Mermaid diagram, .html a page, .har an HTTP Archive, .json
    /// all of it as data, .xml JUnit. Repeat it for several.
    #[arg(long, value_name = "FILE")]
    pub report: Vec<Reported>,
    /// Start the server with this shell command, {port} being a free port, and stop it at the end. It must stay in the
    /// foreground.
    #[arg(long, value_name = "CMD")]
    pub serve: Option<String>,
    /// How long --serve may take until it answers HTTP.
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "serve", value_parser = duration)]
    pub serve_timeout: Duration,
    /// End the command if it runs longer than this: SIGTERM, 5 s later SIGKILL. The verdict names the requests that were open,
    /// and the exit status is 124.
    #[arg(long, value_name = "TIME", requires = "command", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// End the run, with its verdict, when stdin ends: with the program that started it, however that ends. Not with a
    /// command, whose stdin it is.
    #[arg(long, conflicts_with = "command")]
    pub until_stdin_closes: bool,
    /// What becomes of the Host header.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Host::Map)]
    pub host: Host,
    /// Another name under which clients reach the proxy, treated as its own in Host. Repeat it for several.
    #[arg(long, value_name = "NAME")]
    pub public_host: Vec<String>,
    /// Name a request, while the run goes on, that has no answer and on which neither leg said anything but comments for
    /// so long.
    #[arg(long, value_name = "TIME", default_value = QUIET_LIMIT, value_parser = duration)]
    pub quiet_limit: Duration,
    /// Whether it is watched without a profile or a journal too: `mishap watch`.
    #[arg(skip)]
    pub watch: bool,
    /// A command to run behind the proxy, which then ends with it. {url} in its arguments is the proxy's URL;
    /// MISHAP_URL, MISHAP_PORT and MISHAP_SEED are in its environment. Nothing that it started outlives the run.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// How often, and what is written of it.
    #[command(flatten)]
    pub many: ManyArgs,
}

/// What becomes of the `Host` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Host {
    /// A name of the proxy becomes the server's; any other passes to a local server.
    Map,
    /// It passes as it came.
    Keep,
    /// It always becomes the server's.
    Upstream,
}

/// `mishap profiles`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  mishap profiles get-opens-late > mine.toml\n  \
                        mishap profiles --json | jq -r '.[] | select(.group == \"answer\") | .name'")]
pub struct ProfilesArgs {
    /// The one to show.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Write them as JSON, for the matrix of a CI: name, group, summary, what is provoked, variables.
    #[arg(long)]
    pub json: bool,
}

/// `mishap check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  mishap check ./mine.toml post-stream-lost,ending=fin")]
pub struct CheckArgs {
    /// Profiles as `run -p` takes them: files or built-in names, with values for their variables.
    #[arg(value_name = "NAME_OR_FILE[,KEY=VALUE]...", required = true)]
    pub profiles: Vec<String>,

    /// Say of each rule which points of this recorded run it would have hit, with that run's seed. `-` is stdin.
    #[arg(long, value_name = "JOURNAL")]
    pub against: Option<PathBuf>,
}

/// `mishap schema`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  mishap schema > profile.schema.json")]
pub struct SchemaArgs {}

/// `mishap health`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  mishap run -u http://127.0.0.1:3000/mcp --ready-file mishap.ready &\n  \
                        mishap health mishap.ready")]
pub struct HealthArgs {
    /// The file given to `mishap run --ready-file`, which is there while the run is ready.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `mishap completions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  mishap completions bash > ~/.local/share/bash-completion/completions/mishap\n  \
                        mishap completions zsh > ~/.zfunc/_mishap")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `mishap man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  mishap man | man -l -\n  mishap man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write a page for mishap and one for each subcommand into this folder, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// `mishap demo`.
#[derive(Debug, Clone, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  mishap demo\n  mishap demo serve\n  \
                  mishap run -u http://127.0.0.1:3000/mcp -p get-opens-late -- mishap demo client {url} get-late"
)]
pub struct DemoArgs {
    /// The scene to show: directly, with its profile, and fixed. Without it, all of them.
    #[arg(value_enum)]
    pub scene: Option<Scene>,
    /// Or keep one of its peers up.
    #[command(subcommand)]
    pub part: Option<DemoPart>,
}

/// One of the demo's peers, as a program of its own.
#[derive(Debug, Clone, Subcommand)]
pub enum DemoPart {
    /// Keep the demo's server up until Ctrl-C. Its URL is the first line on stdout, what happens in it goes to stderr.
    #[command(after_help = serve_help())]
    Serve {
        /// The address to listen on: IP:PORT, or a port on 127.0.0.1. Port 0 takes a free one.
        #[arg(short, long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = address)]
        listen: SocketAddr,
        /// Ask on the stream of the call that asks, not on the GET.
        #[arg(long)]
        fixed: bool,
    },
    /// Do the client's part of a scene: exit 0 if it went well, 1 if not.
    #[command(after_help = "Example:\n  mishap demo client http://127.0.0.1:3000/mcp get-late")]
    Client {
        /// The URL of the demo's server, or of a proxy before it.
        url: String,
        /// The scene.
        #[arg(value_enum, default_value = "get-late")]
        scene: Scene,
        /// Be the client in which the scene's flaw is fixed, if it is the client's.
        #[arg(long)]
        fixed: bool,
    },
}

impl Cli {
    /// Reads the words of a command line, the program's name first.
    ///
    /// # Errors
    ///
    /// When they cannot be understood, or `--` announces a command and none follows.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.into_iter().collect();
        let dashes = words.iter().position(|word| word == "--");
        let mut cli = Self::try_parse_from(&words);
        let bare = dashes.is_none() && words.get(1).is_some_and(|word| word == "run" || word == "watch");
        if let Some(error) = cli.as_mut().err().filter(|error| bare && error.kind() == ErrorKind::UnknownArgument) {
            let advice = "write -- before the command that is to run behind the proxy".into();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice]));
        }
        let nowhere = |error: &&mut clap::Error| match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(lacking)) => lacking.iter().any(|name| name.starts_with("--upstream")),
            _ => false,
        };
        let missing = |error: &&mut clap::Error| error.kind() == ErrorKind::MissingRequiredArgument;
        if let Some(error) = cli.as_mut().err().filter(missing).filter(nowhere) {
            let advice = "write -u URL if the server runs, or let --serve 'CMD {port}' start it".into();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice]));
        }
        // An empty variable in a script must not become a run in the foreground that never ends.
        match cli {
            Ok(Self { command: Command::Run(_) | Command::Watch(_), .. }) if dashes == Some(words.len() - 1) => {
                let why = "no command follows --; write one, or leave -- out for a run in the foreground\n";
                Err(Self::command().error(ErrorKind::MissingRequiredArgument, why))
            }
            Ok(Self { command: Command::Watch(args), .. }) if !args.profiles.is_empty() => {
                let why = "watch takes no profile: it does nothing to what crosses; write mishap run -p\n";
                Err(Self::command().error(ErrorKind::ArgumentConflict, why))
            }
            read => read,
        }
    }
}

/// A test of the demo's server begins with what it can be asked for.
fn serve_help() -> String {
    let tools = described();
    format!(
        "Tools (`kind`: elicitation, sampling, roots; `related`: ask on the call's own stream; `wait`: for the client's next \
         ping):\n{tools}\n\nIt keeps no events, so that nothing can be resumed in front of it but with `resumable`.\n\nExample:\n  \
         mishap demo serve -l 3000"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        let words = ["mishap", "run", "-u", "http://h"].iter().chain(words).map(OsString::from);
        Cli::read(words).expect_err("it is not understood").to_string()
    }

    #[test]
    fn two_dashes_without_a_command_are_refused_and_a_command_without_them_is_told_of_them() {
        assert!(refused(&["--"]).contains("no command follows --"), "{}", refused(&["--"]));
        let told = refused(&["node", "client.js"]);
        assert!(told.contains("unexpected argument 'node'") && told.contains("write -- before the command"), "{told}");
        let behind = ["mishap", "run", "-u", "http://h", "--", "sh", "--"].map(OsString::from);
        assert!(Cli::read(behind).is_ok(), "the second pair is the command's own");
    }

    #[test]
    fn watch_takes_what_run_takes_but_no_profile_and_its_help_names_none() {
        let read = |words: &[&str]| Cli::read(["mishap", "watch"].iter().chain(words).map(OsString::from));
        let read_well = read(&["-u", "http://h", "--journal", "x", "--", "true"]).expect("it is understood");
        assert!(matches!(read_well.command, Command::Watch(args) if args.command == ["true"]));
        let refused = read(&["-u", "http://h", "-p", "get-opens-late"]).expect_err("a profile").to_string();
        assert!(refused.contains("watch takes no profile"), "{refused}");
        let help = read(&["--help"]).expect_err("the help").to_string();
        assert!(help.contains("mishap watch -u") && !help.contains("--profile"), "{help}");
    }

    fn run(words: &[&str]) -> Result<RunArgs, clap::Error> {
        let words = ["mishap", "run"].iter().chain(words);
        Cli::try_parse_from(words).map(|cli| {
            let Command::Run(args) = cli.command else { panic!("not a run") };
            *args
        })
    }

    #[test]
    fn the_definition_is_consistent_and_every_subcommand_shows_an_example() {
        Cli::command().debug_assert();
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("mishap "), "{} has no example", command.get_name());
        }
    }

    #[test]
    fn a_profile_keeps_its_commas_and_braces_in_one_word() {
        let args = run(&["-u", "http://h", "-p", "cut,when={ idle = \"5s\", nth = 2 },ending=reset", "-p", "b"]);
        let expected = ["cut,when={ idle = \"5s\", nth = 2 },ending=reset", "b"];
        assert_eq!(args.expect("it parses").profiles, expected);
    }

    #[test]
    fn what_follows_two_dashes_is_the_command_with_its_own_flags() {
        let args = run(&["-u", "http://h", "--", "npm", "test", "-p", "--url={url}"]).expect("it parses");
        assert_eq!(args.command, ["npm", "test", "-p", "--url={url}"]);
        assert!(args.profiles.is_empty());
    }

    #[test]
    fn the_upstream_is_required_unless_the_server_is_started_here() {
        assert!(run(&[]).is_err());
        assert!(run(&["--serve", "s {port}"]).is_ok());
        let refused = |words: &[&str]| Cli::read(words.iter().map(OsString::from)).expect_err("no URL").to_string();
        let advice = "write -u URL if the server runs, or let --serve 'CMD {port}' start it";
        for command in ["run", "watch"] {
            assert!(refused(&["mishap", command, "--", "npm", "test"]).contains(advice));
        }
        assert!(!refused(&["mishap", "report"]).contains(advice), "that lacks something else");
    }

    #[test]
    fn an_address_is_one_or_a_port_on_loopback() {
        let listen = |text: &str| run(&["-u", "http://h", "-l", text]).map(|args| args.listen.to_string());
        assert_eq!(listen("8080").expect("a port"), "127.0.0.1:8080");
        assert_eq!(listen("localhost:81").expect("a name"), "127.0.0.1:81");
        assert_eq!(listen("[::1]:0").expect("an address"), "[::1]:0");
        assert!(listen("example.org:80").expect_err("a name").to_string().contains("write IP:PORT"));
    }
}
