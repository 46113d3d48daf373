//! What a run waits for while the proxy serves: a signal in the foreground, else the end of the command behind it.
//!
//! The one rule: stdin, stdout and the exit status are the command's alone.

use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::Signal;
use tokio::process::Command;

use super::group::{Group, Membership};
use super::interrupts::Interrupts;
use super::server::Server;
use crate::command::Exit;
use crate::report::verdict::CommandEnd;

/// How the waiting ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Ended {
    /// How the command ended; `None` in the foreground.
    pub(super) command: Option<CommandEnd>,
    /// What mishap could not do any more.
    pub(super) ours: Vec<String>,
}

/// A command that runs behind the proxy.
#[derive(Debug)]
pub(super) struct Behind {
    group: Group,
    membership: Membership,
}

/// Waits for the first signal; a server started here that dies ends the run as well.
pub(super) async fn foreground(interrupts: &Interrupts, server: Option<&mut Server>) -> Ended {
    let died = async {
        match server {
            Some(server) => server.died().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = interrupts.nth(1) => Ended::default(),
        death = died => Ended { command: None, ours: vec![death] },
    }
}

impl Behind {
    /// Starts the command. The exit is 127 if there is none of that name, 126 if it cannot be executed.
    pub(super) fn start(words: &[String], url: &str, seed: u64) -> Result<Self, Exit> {
        let (name, arguments) = words.split_first().ok_or_else(|| Exit::because(2, "the command is empty"))?;
        let mut command = Command::new(name);
        command.args(arguments).env("MISHAP_URL", url).env("MISHAP_SEED", seed.to_string());
        // In a group of its own it would be stopped when it reads the terminal.
        let membership = if io::stdin().is_terminal() { Membership::Shared } else { Membership::Own };
        match Group::spawn(&mut command, membership) {
            Ok(group) => Ok(Self { group, membership }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Exit::because(127, format!("command \"{name}\" not found; is it in PATH?")))
            }
            Err(error) => Err(Exit::because(126, format!("command \"{name}\" cannot be executed: {error}"))),
        }
    }

    /// Waits for the command's end, and ends what it left behind. The first signal is passed on to it; a server that dies meanwhile is remembered.
    ///
    /// # Errors
    ///
    /// When `err` cannot be written.
    pub(super) async fn ended(
        mut self,
        interrupts: &Interrupts,
        mut server: Option<&mut Server>,
        err: &mut dyn Write,
    ) -> io::Result<Ended> {
        let mut ended = Ended::default();
        let mut passed_on = false;
        loop {
            let died = async {
                match &mut server {
                    Some(server) => server.died().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                status = self.group.ended() => {
                    match status {
                        Ok(status) => ended.command = Some(how(status)),
                        Err(error) => ended.ours.push(format!("the command cannot be waited for: {error}")),
                    }
                    return Ok(ended);
                }
                signal = interrupts.nth(1), if !passed_on => {
                    passed_on = true;
                    self.pass_on(signal);
                    writeln!(err, "mishap: waiting for the command to end; a second signal aborts")?;
                }
                death = died => {
                    writeln!(err, "mishap: {death}")?;
                    ended.ours.push(death);
                    server = None;
                }
            }
        }
    }

    /// A keyboard's SIGINT has reached a command in our own group already.
    fn pass_on(&self, signal: Signal) {
        if self.membership == Membership::Own || signal != Signal::INT {
            self.group.signal(signal);
        }
    }
}

fn how(status: ExitStatus) -> CommandEnd {
    // Eight bits are all that a status or a signal's number has.
    let bits = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(bits(code)),
        (None, signal) => CommandEnd::Signalled(bits(signal.unwrap_or_default())),
    }
}
