//! `mishap completions` and `mishap man`: what a shell and `man` need, made of the definition that reads the command line.
//!
//! The one rule: nothing here is written by hand, so nothing can say other than `--help`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory as _;

use super::Exit;
use crate::cli::{Cli, CompletionsArgs, ManArgs};

/// Writes the completions of a shell.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> io::Result<Exit> {
    // clap_complete panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mishap", &mut script);
    out.write_all(&script)?;
    Ok(Exit::DONE)
}

/// Writes the manual's first page, or all pages as files.
///
/// # Errors
///
/// When `out` cannot be written; what is wrong with the folder is an exit of 1.
pub fn man(args: &ManArgs, out: &mut dyn Write) -> io::Result<Exit> {
    match &args.dir {
        None => clap_mangen::Man::new(whole()).render(out).map(|()| Exit::DONE),
        Some(folder) => match pages(folder) {
            Ok(()) => Ok(Exit::DONE),
            Err(error) => Ok(Exit::because(1, format!("man pages in {}: {error}", folder.display()))),
        },
    }
}

fn pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(whole(), folder)
}

/// The definition with what every subcommand takes from it filled in.
fn whole() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}
