//! One file for each subcommand, and what they have in common: where they write and what they end with.
//!
//! The one rule: a subcommand writes data to `out` and everything else to `err`, and returns its exit status; nothing
//! but `main` ends the process.

pub mod check;
pub mod demo;
pub mod health;
pub mod profiles;
pub mod report;
pub mod run;
pub mod schema;
pub mod shell;

use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cli::{Cli, Command, RunArgs};

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
/// `BrokenPipe`: the reader of `out` had enough.
pub fn execute(cli: Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let code = if let Command::Run(args) | Command::Watch(args) = &cli.command { run::failure(args) } else { 1 };
    or_failed(code, || dispatch(cli, out, err))
}

/// What could not be done is a failure of ours, under the status that stands for it; so is a panic, in whatever task of a
/// run: what was started is ended on its way here.
fn or_failed(code: u8, work: impl FnOnce() -> io::Result<Exit>) -> io::Result<Exit> {
    let ended = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        Ok(Exit::because(code, format!("a bug in mishap, please report it: {}", text.unwrap_or("a panic"))))
    });
    match ended {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Ok(Exit::because(code, error.to_string())),
        ended => ended,
    }
}

fn dispatch(cli: Cli, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    match cli.command {
        Command::Run(args) => run::run(&args, out, err),
        Command::Watch(args) => run::run(&RunArgs { watch: true, ..*args }, out, err),
        Command::Profiles(args) => profiles::run(&args, out, err),
        Command::Check(args) => check::run(&args, out, err),
        Command::Schema(_) => schema::run(out),
        Command::Report(args) => report::run(&args, out),
        Command::Demo(args) => demo::run(&args, out, err),
        Command::Health(args) => health::run(&args, out),
        Command::Completions(args) => shell::completions(&args, out),
        Command::Man(args) => shell::man(&args, out),
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;
    use tokio::task::JoinSet;

    use super::*;
    use crate::report::{json, runs};

    /// `MISHAP_WRITE_DOCS=1 cargo test --lib` writes them.
    #[test]
    fn the_published_schemas_are_made_of_the_types_that_are_written() {
        for (name, made) in [("verdict", runs::tests::schema()), ("report", json::tests::schema())] {
            let path = format!("{}/docs/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("MISHAP_WRITE_DOCS").is_some() {
                std::fs::write(path, made).expect("the page can be written");
            } else {
                let written = std::fs::read_to_string(&path).unwrap_or_default();
                assert!(written == made, "write {path} anew: MISHAP_WRITE_DOCS=1 cargo test --lib");
            }
        }
    }

    #[test]
    fn a_panic_is_a_failure_of_ours_with_its_text() {
        let exit = or_failed(125, || panic!("no such {}", "place"));
        let why = "a bug in mishap, please report it: no such place";
        assert_eq!(exit.expect("nothing was written"), Exit::because(125, why));
        assert_eq!(or_failed(1, || Ok(Exit::DONE)).expect("nothing was written"), Exit::DONE);
    }

    // As the proxy's tasks do it: their panics are resumed where they are joined.
    #[test]
    fn so_is_one_in_a_task() {
        let runtime = Builder::new_current_thread().build().expect("there is a runtime");
        let mut tasks = JoinSet::new();
        tasks.spawn_on(async { panic!("in a task") }, runtime.handle());
        let exit = or_failed(1, || {
            runtime.block_on(async { tasks.join_all().await }).into_iter().next().unwrap_or(Ok(Exit::DONE))
        });
        assert_eq!(
            exit.expect("nothing was written"),
            Exit::because(1, "a bug in mishap, please report it: in a task")
        );
    }
}
