//! The real binary in the foreground: started, its URL read, told to finish, its verdict collected.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use rustix::process::{Pid, Signal, kill_process};

use super::wire::PATIENCE;

/// A running `mishap run`.
#[derive(Debug)]
pub(crate) struct Mishap {
    child: Child,
    address: SocketAddr,
    stderr: Receiver<String>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The exit status.
    pub(crate) status: i32,
    /// All that was written to stderr.
    pub(crate) stderr: String,
}

impl Mishap {
    /// Starts `mishap run` in front of `upstream`, on a free port, with `args` besides, and reads where it listens.
    #[track_caller]
    pub(crate) fn run(upstream: SocketAddr, args: &[String]) -> Self {
        let origin = format!("http://{upstream}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mishap"));
        command.args(["run", "-u", &origin, "-l", "127.0.0.1:0"]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("cargo built the binary");
        let mut pipe = child.stderr.take().expect("stderr is piped");
        let stderr = beside(move || {
            let mut all = String::new();
            drop(pipe.read_to_string(&mut all));
            all
        });
        let out = child.stdout.take().expect("stdout is piped");
        let first = beside(move || BufReader::new(out).lines().next().and_then(Result::ok));
        let line = first.recv_timeout(PATIENCE).expect("the first line of stdout comes in time");
        let address = line.as_deref().and_then(authority);
        let address = address.unwrap_or_else(|| {
            panic!("no URL but {line:?} on stdout; stderr: {:?}", stderr.recv_timeout(PATIENCE));
        });
        Self { child, address, stderr }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells it to finish and waits for its verdict.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Verdict {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it is still running");
        let stderr = self.stderr.recv_timeout(PATIENCE).expect("it ends when told to");
        let status = self.child.wait().expect("a child can be waited for");
        let status = status.code().unwrap_or_else(|| panic!("it died of {status}; stderr: {stderr}"));
        Verdict { status, stderr }
    }
}

impl Drop for Mishap {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn authority(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.split('/').next()?.parse().ok()
}

/// Runs it on a thread of its own, so that the result can be waited for with a bound.
fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(work())));
    receiver
}
