//! Mishap's side of its guard: what it starts is a [`Process`] here, to be waited for and signalled.
//!
//! The one rule: whoever lets go of a [`Process`] ends it, and whoever lets go of a [`Guard`] ends all.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};

use super::WORD;
use super::talk::{Order, Report, Talk, Who};

/// A guard that runs.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    asks: UnboundedSender<Ask>,
}

/// What is to be started.
#[derive(Debug)]
pub struct Start {
    /// What it is to the run.
    pub who: Who,
    /// Its name and its arguments.
    pub words: Vec<String>,
    /// Variables beside those of our own environment.
    pub env: Vec<(String, String)>,
    /// Its stdin, stdout and stderr.
    pub stdio: [OwnedFd; 3],
    /// Whose process group it is in.
    pub membership: Membership,
}

/// Whose process group a process is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// One of its own.
    Own,
    /// Ours, because it reads the terminal, which would stop it in another one.
    Shared,
}

/// Something that the guard has started.
#[derive(Debug)]
pub struct Process {
    who: Who,
    asks: UnboundedSender<Ask>,
    ended: watch::Receiver<Option<i32>>,
}

/// What is asked of the guard, and where its answers go.
#[derive(Debug)]
enum Ask {
    Start { order: Order, stdio: [OwnedFd; 3], held: Held },
    Order(Order),
}

/// What is known here of something started.
#[derive(Debug)]
struct Held {
    started: Option<oneshot::Sender<io::Result<()>>>,
    ended: watch::Sender<Option<i32>>,
    pid: Option<Pid>,
    membership: Membership,
}

// === Guard ===

impl Guard {
    /// Starts the guard. Call it inside the runtime.
    ///
    /// # Errors
    ///
    /// When the system gives no socket or does not start the process.
    pub fn start() -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program()?);
        command.arg0("mishap").arg(WORD).process_group(0);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        let (asks, asked) = unbounded_channel();
        tokio::spawn(relay(Talk::over(ours)?, asked));
        Ok(Self { child, asks })
    }

    /// Has something started.
    ///
    /// # Errors
    ///
    /// The system's own, as if it had been started here: `NotFound`, `PermissionDenied`; `BrokenPipe` when the guard is gone.
    pub async fn run(&self, start: Start) -> io::Result<Process> {
        let Start { who, words, env, stdio, membership } = start;
        let group = (membership == Membership::Shared).then(|| getpgrp().as_raw_pid());
        let (started, answer) = oneshot::channel();
        let (ending, ended) = watch::channel(None);
        let held = Held { started: Some(started), ended: ending, pid: None, membership };
        // An error means that the guard is gone, as does one of the answer.
        let _ = self.asks.send(Ask::Start { order: Order::Start { who, words, env, group }, stdio, held });
        answer.await.map_err(|_| gone())??;
        Ok(Process { who, asks: self.asks.clone(), ended })
    }

    /// Ends all that is left, and waits until the guard has seen to it.
    pub async fn end(mut self) {
        let _ = self.asks.send(Ask::Order(Order::End));
        // An error means that it is gone already.
        let _ = self.child.wait().await;
    }
}

/// This very program, also when its file has been replaced.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the guard process is gone")
}

// === Process ===

impl Process {
    /// Waits until it has ended; what it started may live on. Cancel safe.
    ///
    /// # Errors
    ///
    /// When the guard is gone, and so nobody knows; it has been killed then.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        let status = self.ended.wait_for(Option::is_some).await.map_err(|_| gone())?;
        status.map(ExitStatus::from_raw).ok_or_else(gone)
    }

    /// Sends a signal to it, and to its group if that is its own.
    pub fn signal(&self, signal: Signal) {
        // An error means that it is gone with its guard.
        let _ = self.asks.send(Ask::Order(Order::Signal { who: self.who, signal: signal.as_raw() }));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

// === Between them ===

/// Takes what is asked to the guard, and what it says to who waits for it, until one of them is gone.
async fn relay(mut talk: Talk, mut asked: UnboundedReceiver<Ask>) {
    let mut held: BTreeMap<Who, Held> = BTreeMap::new();
    let mut over = false;
    loop {
        tokio::select! {
            ask = asked.recv() => {
                let (order, stdio) = match ask {
                    Some(Ask::Start { order, stdio, held: new }) => {
                        if let Order::Start { who, .. } = &order {
                            held.insert(*who, new);
                        }
                        (order, Some(stdio))
                    }
                    Some(Ask::Order(order)) => (order, None),
                    // Nobody is left who could ask; the guard hears the socket end and sees to the rest.
                    None => return,
                };
                over |= matches!(order, Order::End);
                // An error means that the guard is gone, which is heard next.
                let _ = talk.say(&order, stdio.as_ref()).await;
            }
            report = talk.hear() => match report {
                Ok(Some(report)) => take(report, &mut held),
                Ok(None) | Err(_) => break,
            },
        }
    }
    if !over {
        held.values().for_each(Held::kill);
    }
}

fn take(report: Report, held: &mut BTreeMap<Who, Held>) {
    let (Report::Started { who, .. } | Report::Refused { who, .. } | Report::Ended { who, .. }) = report;
    let Some(one) = held.get_mut(&who) else { return };
    // Whoever does not wait any more needs no answer.
    let mut answer = |answer| _ = one.started.take().map(|started| started.send(answer));
    match report {
        Report::Started { pid, .. } => {
            answer(Ok(()));
            one.pid = Pid::from_raw(pid);
            tracing::info!(pid, "started: {who:?}");
        }
        Report::Refused { error, .. } => answer(Err(io::Error::from_raw_os_error(error))),
        Report::Ended { status, .. } => _ = one.ended.send(Some(status)),
    }
}

impl Held {
    /// The guard was killed: what it can no longer end is ended from here.
    fn kill(&self) {
        let Some(pid) = self.pid.filter(|_| self.ended.borrow().is_none()) else { return };
        // An error means that it has ended by itself.
        let _ = match self.membership {
            Membership::Own => kill_process_group(pid, Signal::KILL),
            Membership::Shared => kill_process(pid, Signal::KILL),
        };
    }
}
