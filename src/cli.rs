//! The command line as types: what can be said and what each word means. What is done with it is in [`crate::command`].
//!
//! The one rule: every flag says what it takes, and every subcommand shows one line that works.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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
    /// Draw a journal as a timeline: client, proxy, server.
    Report(ReportArgs),
}

/// `mishap report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  mishap run -u http://127.0.0.1:3000/mcp --journal run.ndjson -- npm test\n  \
                        mishap report run.ndjson")]
pub struct ReportArgs {
    /// A file written by `mishap run --journal`; also one that was torn by a crash.
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_consistent_and_every_subcommand_shows_an_example() {
        Cli::command().debug_assert();
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("mishap "), "{} has no example", command.get_name());
        }
    }
}
