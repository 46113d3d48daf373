//! The guard's side: starts what it is told to, reports its end, and when it is told so or mishap is gone ends all of it.
//!
//! It takes no part in the run: it knows neither why something runs nor what its end means. The one rule: single-threaded
//! and the parent of all, it sends no signal to a process that it has waited for, except by a group of its own.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
use tokio::signal::unix::{self, SignalKind};

use super::talk::{Order, Report, Talk, Who};

/// How long all may take to end when mishap is gone and they are asked to; then they are killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long something that was killed may take to be gone. One that hangs in the system cannot be ended by anybody.
const KILLED: Duration = Duration::from_secs(5);
/// How soon it is looked again for children that were left by what was killed.
const AGAIN: Duration = Duration::from_millis(20);

/// What the guard has started.
#[derive(Debug, Default)]
struct Flock {
    started: BTreeMap<Who, Started>,
}

#[derive(Debug)]
struct Started {
    pid: Pid,
    /// Whether it leads a process group.
    leads: bool,
    ended: bool,
}

/// Whether there are children left.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    Some,
    None,
}

/// Is the guard of whoever holds the other end of stdin, which is a socket.
pub(super) fn keep() -> io::Result<()> {
    // Whoever ends all that is called mishap must leave its guard.
    #[cfg(target_os = "linux")]
    rustix::thread::set_name(c"run-guard")?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let socket = io::stdin().as_fd().try_clone_to_owned()?.into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(watch(socket))
}

async fn watch(socket: std::os::unix::net::UnixStream) -> io::Result<()> {
    // Taken, and so no end of this process. They are not passed on: what mishap makes of them reaches us by the socket.
    let deaf = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
    let _taken = deaf.map(unix::signal);
    let mut children = unix::signal(SignalKind::child())?;
    let mut talk = Talk::over(socket)?;
    let mut flock = Flock::default();
    loop {
        let reports = tokio::select! {
            order = talk.hear() => match order {
                Ok(Some(Order::Start { who, words, env, group })) => {
                    let stdio = talk.stdio();
                    vec![flock.start(who, &words, env, group, stdio)]
                }
                Ok(Some(Order::Signal { who, signal })) => {
                    flock.signal(who, signal);
                    Vec::new()
                }
                Ok(Some(Order::End)) => break,
                Ok(None) | Err(_) => {
                    flock.ask_to_end(&mut children).await;
                    break;
                }
            },
            _ = children.recv() => flock.reap().1,
        };
        for report in &reports {
            // Where nobody hears it the socket has ended, which is heard next.
            let _ = talk.say(report, None).await;
        }
    }
    flock.kill(&mut children).await;
    Ok(())
}

impl Flock {
    fn start(
        &mut self,
        who: Who,
        words: &[String],
        env: Vec<(String, String)>,
        group: Option<i32>,
        stdio: Option<[OwnedFd; 3]>,
    ) -> Report {
        match spawn(words, env, group, stdio) {
            Ok(pid) => {
                self.started.insert(who, Started { pid, leads: group.is_none(), ended: false });
                Report::Started { who, pid: pid.as_raw_pid() }
            }
            Err(error) => Report::Refused { who, error: error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error()) },
        }
    }

    fn signal(&self, who: Who, signal: i32) {
        if let (Some(started), Some(signal)) = (self.started.get(&who), Signal::from_named_raw(signal)) {
            started.signal(signal);
        }
    }

    /// Waits for all that has ended, adopted ones too.
    fn reap(&mut self) -> (Left, Vec<Report>) {
        let mut reports = Vec::new();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let one = self.started.iter_mut().find(|(_, started)| started.pid == pid && !started.ended);
                    if let Some((who, started)) = one {
                        started.ended = true;
                        reports.push(Report::Ended { who: *who, status: status.as_raw() });
                    }
                }
                Ok(None) => return (Left::Some, reports),
                Err(Errno::INTR) => {}
                Err(_) => return (Left::None, reports),
            }
        }
    }

    /// Asks all to end, and gives them time to.
    async fn ask_to_end(&mut self, children: &mut unix::Signal) {
        self.started.values().for_each(|started| started.signal(Signal::TERM));
        let gone = async {
            while self.reap().0 == Left::Some {
                children.recv().await;
            }
        };
        // Whoever has not ended by then is killed.
        let _ = tokio::time::timeout(GRACE, gone).await;
    }

    /// Ends what is left: the groups, then what was adopted of them, until there is nothing more.
    async fn kill(&mut self, children: &mut unix::Signal) {
        let gone = async {
            loop {
                self.started.values().for_each(|started| started.signal(Signal::KILL));
                // An error means that it has ended meanwhile: it is ours until it is waited for, and its id with it.
                adopted().into_iter().for_each(|pid| _ = kill_process(pid, Signal::KILL));
                if self.reap().0 == Left::None {
                    return;
                }
                let _ = tokio::time::timeout(AGAIN, children.recv()).await;
            }
        };
        let _ = tokio::time::timeout(KILLED, gone).await;
    }
}

impl Started {
    /// Sends it a signal, and what is in a group of its own also after its end.
    fn signal(&self, signal: Signal) {
        // An error means that there is nothing left that it could reach.
        let _ = match (self.leads, self.ended) {
            (true, _) => kill_process_group(self.pid, signal),
            (false, false) => kill_process(self.pid, signal),
            (false, true) => Ok(()),
        };
    }
}

fn spawn(
    words: &[String],
    env: Vec<(String, String)>,
    group: Option<i32>,
    stdio: Option<[OwnedFd; 3]>,
) -> io::Result<Pid> {
    let (name, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let [stdin, stdout, stderr] = stdio.ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command.args(arguments).envs(env).process_group(group.unwrap_or(0));
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    Ok(Pid::from_child(&command.spawn()?))
}

/// Our children, started or adopted. Where the system does not list them there are none beyond the groups.
fn adopted() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let ids = lists.flat_map(|list| list.split_whitespace().map(str::parse).collect::<Vec<_>>());
    ids.flatten().filter_map(Pid::from_raw).collect()
}
