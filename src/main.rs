//! Parses the command line, runs it, and ends with the documented exit status.

use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::process::ExitCode;

use clap::error::ErrorKind as Usage;
use mishap::cli::Cli;
use mishap::command::{Exit, execute};
use mishap::log::Log;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    if let Some(status) = mishap::guard::instead(std::env::args_os()) {
        return status;
    }
    let Ok(log) = Log::to_stderr() else { return ExitCode::FAILURE };
    // Whole lines: behind `run` the command's and the server's stand between them, and none may stand inside one.
    let mut err = io::LineWriter::new(log.behind());
    let exit = match Cli::read(std::env::args_os()) {
        Ok(cli) => {
            begin(log, cli.verbose);
            // A reader that has seen enough is no failure.
            execute(cli, &mut io::stdout(), &mut err).unwrap_or_else(|error| match error.kind() {
                ErrorKind::BrokenPipe => Exit::DONE,
                _ => Exit::because(1, error.to_string()),
            })
        }
        Err(error) => usage(&error),
    };
    if let Some(why) = exit.why {
        // In one piece: others write there too. Where stderr is gone there is nobody left to tell.
        let _ = err.write_all(format!("mishap: exit {}: {why}\n", exit.code).as_bytes());
    }
    ExitCode::from(exit.code)
}

/// Prints clap's text: help and version as data, anything else as an error.
fn usage(error: &clap::Error) -> Exit {
    let printed = error.print();
    match error.kind() {
        Usage::DisplayHelp | Usage::DisplayVersion => match printed {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Exit::because(1, error.to_string()),
            _ => Exit::DONE,
        },
        _ => Exit::because(2, "the command line is not understood"),
    }
}

/// Begins to log.
fn begin(log: Log, verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "mishap=info,warn",
        _ => "mishap=debug,warn",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(log).with_ansi(colour).with_target(false).init();
}
