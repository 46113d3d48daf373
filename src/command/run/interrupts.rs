//! SIGINT, SIGTERM and SIGHUP as facts that a run can wait for. The first asks for the end and the verdict, the second aborts.
//!
//! They are taken by a thread, so that none is lost between two runs, each with a runtime of its own.

use std::io;

use rustix::process::Signal;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The signals that have come since [`Interrupts::listen`]. Clones see the same.
#[derive(Debug, Clone)]
pub(super) struct Interrupts {
    seen: watch::Receiver<Seen>,
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
        let (seen, receiver) = watch::channel(Seen::default());
        drop(inside);
        let listening = async move {
            loop {
                let last = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                    _ = hang_up.recv() => Signal::HUP,
                };
                seen.send_modify(|seen| *seen = Seen { number: seen.number + 1, last: Some(last) });
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(listening))?;
        Ok(Self { seen: receiver })
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
