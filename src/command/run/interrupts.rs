//! SIGINT, SIGTERM and SIGHUP as facts that a run can wait for. The first asks for the end and the verdict, the second aborts.

use std::io;

use rustix::process::Signal;
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
    /// Begins to take these signals, which from now on do not end the process. Call it inside the runtime.
    pub(super) fn listen() -> io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // A terminal or a remote session that closes: what was started must not stay behind.
        let mut hang_up = signal(SignalKind::hangup())?;
        // A file at its size limit: taken, and so no end of the process but an error of the write, which is reported.
        drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
        let (seen, receiver) = watch::channel(Seen::default());
        tokio::spawn(async move {
            loop {
                let last = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                    _ = hang_up.recv() => Signal::HUP,
                };
                seen.send_modify(|seen| *seen = Seen { number: seen.number + 1, last: Some(last) });
            }
        });
        Ok(Self { seen: receiver })
    }

    /// Waits for the `nth` signal of all kinds together, from 1. Cancel safe.
    pub(super) async fn nth(&self, nth: u32) -> Signal {
        let mut seen = self.seen.clone();
        match seen.wait_for(|seen| seen.number >= nth).await.map(|seen| seen.last) {
            Ok(Some(signal)) => signal,
            // The task that listens lives as long as the runtime, and so longer than whoever waits here.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }
}
