//! SIGINT, SIGTERM and SIGHUP as facts that a run can wait for. The first asks for the end and the verdict, the second aborts.
//!
//! They are taken by a thread, so that none is lost between two runs, each with a runtime of its own. The end of stdin can stand
//! for the first, where a run is to end with whoever holds the other end.

use std::io;
use std::sync::Arc;

use rustix::process::Signal;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::RunArgs;

/// The signals that have come since [`Interrupts::listen`]. Clones see the same.
#[derive(Debug, Clone)]
pub(super) struct Interrupts {
    seen: watch::Receiver<Seen>,
    sender: Arc<watch::Sender<Seen>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    number: u32,
    last: Option<Signal>,
}

impl Interrupts {
    /// Begins to take these signals, which from now on do not end the process.
    pub(super) fn listen() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let inside = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // A terminal or a remote session that closes: what was started must not stay behind.
        let mut hang_up = signal(SignalKind::hangup())?;
        // A file at its size limit: taken, and so no end of the process but an error of the write, which is reported.
        drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
        let (sender, seen) = watch::channel(Seen::default());
        let sender = Arc::new(sender);
        let sees = Arc::clone(&sender);
        drop(inside);
        let listening = async move {
            loop {
                let last = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                    _ = hang_up.recv() => Signal::HUP,
                };
                sees.send_modify(|seen| *seen = Seen { number: seen.number + 1, last: Some(last) });
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(listening))?;
        Ok(Self { seen, sender })
    }

    /// The same, and the end of stdin with them if this run is to end with it.
    pub(super) fn of(args: &RunArgs) -> io::Result<Self> {
        let interrupts = Self::listen()?;
        if args.until_stdin_closes {
            interrupts.hang_up_when_stdin_ends()?;
        }
        Ok(interrupts)
    }

    /// From now on the end of stdin counts as a hangup, unless something has asked for the end already. What is read until
    /// then is left out.
    fn hang_up_when_stdin_ends(&self) -> io::Result<()> {
        let sender = Arc::clone(&self.sender);
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            // An error is an end too: nothing more will come.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            sender.send_if_modified(|seen| {
                let first = seen.number == 0;
                if first {
                    *seen = Seen { number: 1, last: Some(Signal::HUP) };
                }
                first
            });
        })?;
        Ok(())
    }

    /// The last one that has come.
    pub(super) fn last(&self) -> Option<Signal> {
        self.seen.borrow().last
    }

    /// Waits for the `nth` signal of all kinds together, from 1. Cancel safe.
    pub(super) async fn nth(&self, nth: u32) -> Signal {
        let mut seen = self.seen.clone();
        match seen.wait_for(|seen| seen.number >= nth).await.map(|seen| seen.last) {
            Ok(Some(signal)) => signal,
            // The thread that listens lives as long as the process, and so longer than whoever waits here.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }
}
