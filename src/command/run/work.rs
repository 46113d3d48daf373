//! What a run waits for while the proxy serves: a signal in the foreground, else the end of the command behind it.
//!
//! The one rule: stdin, stdout and the exit status are the command's alone.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;

use super::GRACE;
use super::interrupts::Interrupts;
use super::server::Server;
use super::setup::Recorder;
use crate::command::Exit;
use crate::guard::{Guard, Membership, Process, Start, Who};
use crate::proxy::{Clock, Until};
use crate::report::verdict::CommandEnd;
use crate::report::words::span;

/// How the waiting ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Ended {
    /// How the command ended; `None` in the foreground.
    pub(super) command: Option<CommandEnd>,
    /// What mishap could not do any more.
    pub(super) ours: Vec<String>,
    /// What the command waited for when it was ended because of its limit; none: it was not.
    pub(super) hung: Option<Vec<String>>,
}

/// A command that runs behind the proxy.
#[derive(Debug)]
pub(super) struct Behind {
    process: Process,
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
        death = died => Ended { ours: vec![death], ..Ended::default() },
    }
}

impl Behind {
    /// Starts the command. The exit is 127 if there is none of that name, 126 if it cannot be executed.
    pub(super) async fn start(words: Vec<String>, env: Vec<(String, String)>, guard: &Guard) -> Result<Self, Exit> {
        let name = words.first().cloned().unwrap_or_default();
        // In a group of its own it would be stopped when it reads the terminal.
        let membership = if io::stdin().is_terminal() { Membership::Shared } else { Membership::Own };
        let started = match ours() {
            Ok(stdio) => guard.run(Start { who: Who::Command, words, env, stdio, membership }).await,
            Err(error) => Err(error),
        };
        match started {
            Ok(process) => Ok(Self { process, membership }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Exit::because(127, format!("command \"{name}\" not found; is it in PATH?")))
            }
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Exit::because(125, error.to_string())),
            Err(error) => Err(Exit::because(126, format!("command \"{name}\" cannot be executed: {error}"))),
        }
    }

    /// Waits for the command's end, and ends what it left behind. The first signal is passed on to it, a limit that is
    /// reached ends it; a server that dies meanwhile is remembered.
    ///
    /// # Errors
    ///
    /// When `err` cannot be written.
    pub(super) async fn ended(
        mut self,
        interrupts: &Interrupts,
        mut limit: Limit,
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
                status = self.process.ended() => {
                    if let Err(error) = &status {
                        ended.ours.push(format!("the command cannot be waited for: {error}"));
                    }
                    ended.command = Some(limit.end().unwrap_or_else(|| how(status.ok())));
                    return Ok(ended);
                }
                signal = interrupts.nth(1), if !passed_on => {
                    passed_on = true;
                    self.pass_on(signal);
                    writeln!(err, "mishap: waiting for the command to end; a second signal aborts")?;
                }
                signal = limit.reached() => {
                    writeln!(err, "mishap: the command runs for longer than {}: {}", limit, signal_word(signal))?;
                    ended.hung.get_or_insert_with(|| limit.hangs());
                    self.process.signal(signal);
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
            self.process.signal(signal);
        }
    }
}

/// Our stdin, stdout and stderr, for the command.
fn ours() -> io::Result<[OwnedFd; 3]> {
    Ok([
        io::stdin().as_fd().try_clone_to_owned()?,
        io::stdout().as_fd().try_clone_to_owned()?,
        io::stderr().as_fd().try_clone_to_owned()?,
    ])
}

fn how(status: Option<ExitStatus>) -> CommandEnd {
    // Eight bits are all that a status or a signal's number has.
    let bits = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => CommandEnd::Exited(bits(code)),
        Some((None, signal)) => CommandEnd::Signalled(bits(signal.unwrap_or_default())),
        None => CommandEnd::Unknown,
    }
}

// === Limit ===

/// How long a command may run, and how far its end has come when that is over.
#[derive(Debug)]
pub(super) struct Limit {
    clock: Clock,
    recorder: Recorder,
    limit: Duration,
    /// When the next step is due; none: never.
    due: Option<Until>,
    sent: Option<Signal>,
}

impl Limit {
    /// Counts from now.
    pub(super) fn new(limit: Option<Duration>, clock: Clock, recorder: Recorder) -> Self {
        let due = limit.map(|limit| clock.after(limit));
        Self { clock, recorder, limit: limit.unwrap_or_default(), due, sent: None }
    }

    /// Waits until the next step is due, and says which signal it is. Cancel safe.
    async fn reached(&mut self) -> Signal {
        match &mut self.due {
            Some(due) => due.await,
            None => std::future::pending().await,
        }
        let (signal, next) = match self.sent {
            None => (Signal::TERM, Some(self.clock.after(GRACE))),
            Some(_) => (Signal::KILL, None),
        };
        (self.sent, self.due) = (Some(signal), next);
        signal
    }

    /// What the command waits for. Once it is told to end that goes with its connections.
    fn hangs(&self) -> Vec<String> {
        self.recorder.open_requests(&self.clock)
    }

    /// How the command ended, if that was because of the limit.
    fn end(&self) -> Option<CommandEnd> {
        let limit = u64::try_from(self.limit.as_micros()).unwrap_or(u64::MAX);
        self.sent.map(|signal| CommandEnd::TimedOut { limit, killed: signal == Signal::KILL })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&span(u64::try_from(self.limit.as_micros()).unwrap_or(u64::MAX)))
    }
}

fn signal_word(signal: Signal) -> &'static str {
    if signal == Signal::KILL { "SIGKILL" } else { "SIGTERM" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_command_is_asked_to_end_at_its_limit_and_killed_when_it_does_not() {
        let limit = Duration::from_secs(30);
        let mut limited = Limit::new(Some(limit), Clock::tokio(), Recorder::default());
        let begun = tokio::time::Instant::now();
        assert_eq!(limited.end(), None);
        assert_eq!((limited.reached().await, begun.elapsed()), (Signal::TERM, limit));
        assert_eq!(limited.end(), Some(CommandEnd::TimedOut { limit: 30_000_000, killed: false }));
        assert_eq!((limited.reached().await, begun.elapsed()), (Signal::KILL, limit + GRACE));
        assert_eq!(limited.end(), Some(CommandEnd::TimedOut { limit: 30_000_000, killed: true }));
    }
}
