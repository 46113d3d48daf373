//! One file for each subcommand, and what they have in common: where they write and what they end with.
//!
//! The one rule: a subcommand writes data to `out` and everything else to `err`, and returns its exit status; nothing
//! but `main` ends the process.

pub mod check;
pub mod demo;
pub mod profiles;
pub mod report;
pub mod run;

use std::io::{self, Write};

use crate::cli::{Cli, Command};

/// What a subcommand ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The exit status (README.md, "The verdict and the exit status").
    pub code: u8,
    /// Why, for the last line on stderr; none where a 0 needs no word.
    pub why: Option<String>,
}

impl Exit {
    /// Done, and nothing to say about it.
    pub const DONE: Self = Self { code: 0, why: None };

    /// Ends with this status for that reason.
    #[must_use]
    pub fn because(code: u8, why: impl Into<String>) -> Self {
        Self { code, why: Some(why.into()) }
    }
}

/// Does what the command line says.
///
/// # Errors
///
/// When `out` or `err` cannot be written; `BrokenPipe` means that the reader had enough.
pub fn execute(cli: Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    match cli.command {
        Command::Run(args) => run::run(&args, out, err),
        Command::Profiles(args) => profiles::run(args.name.as_deref(), out, err),
        Command::Check(args) => check::run(&args.profiles, out, err),
        Command::Report(args) => report::run(&args, out),
        Command::Demo(args) => demo::run(&args, out, err),
    }
}
