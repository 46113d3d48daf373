//! A process and all that it starts, so that nothing is left behind.
//!
//! The one rule: whoever lets go of a [`Group`] ends it. (A `kill -9` of mishap itself cannot be survived from in here.)

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

/// Whose process group a process is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Membership {
    /// One of its own: it is ended with everything it started.
    Own,
    /// Ours, because it reads the terminal, which would stop it in another one; only itself is ended.
    Shared,
}

/// A started process, ended on drop.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    leader: Option<Pid>,
    membership: Membership,
}

impl Group {
    /// Starts a process.
    pub(super) fn spawn(command: &mut Command, membership: Membership) -> io::Result<Self> {
        if membership == Membership::Own {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, leader, membership })
    }

    /// Waits until the process has ended; what it started may live on until [`Group::kill`]. Cancel safe.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Sends a signal to all of it.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(leader) = self.leader else { return };
        // An error means that it has ended already, which is what a signal is for.
        let _ = match self.membership {
            Membership::Own => kill_process_group(leader, signal),
            Membership::Shared => kill_process(leader, signal),
        };
    }

    /// Ends all of it now. The id is given up with it: once nothing of the group is left, the system may give it away.
    pub(super) fn kill(&mut self) {
        // A leader that was waited for is gone; in a shared group only it was ours.
        let waited_for = self.child.id().is_none();
        if self.membership == Membership::Own || !waited_for {
            self.signal(Signal::KILL);
        }
        self.leader = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
