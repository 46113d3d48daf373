//! The log's way to stderr: a thread and a bounded queue in front of it. It does not choose what is logged.
//!
//! The one rule: whoever logs never waits for stderr, because streams would wait with it. A line that finds no room is
//! dropped and counted, and the next line that is written says how many there were.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tracing_subscriber::fmt::MakeWriter;

use crate::report::words::count;

/// How many lines may wait for stderr. About 200 KB at their usual length.
const CAPACITY: usize = 1024;

/// Takes lines of the log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Log {
    lines: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

/// Writes to stderr itself, behind every line of the log that came before.
#[derive(Debug)]
pub struct Behind(Log);

#[derive(Debug)]
enum Message {
    Line(Box<[u8]>),
    /// Answered when everything before it is written.
    Drain(SyncSender<()>),
}

impl Log {
    /// Starts the thread, which lives as long as the process.
    ///
    /// # Errors
    ///
    /// When the system cannot start a thread.
    pub fn to_stderr() -> io::Result<Self> {
        let (log, waiting) = Self::with_capacity(CAPACITY);
        let dropped = Arc::clone(&log.dropped);
        let thread = std::thread::Builder::new().name("log".to_owned());
        thread.spawn(move || write_all(&mut io::stderr(), &waiting, &dropped))?;
        Ok(log)
    }

    fn with_capacity(capacity: usize) -> (Self, Receiver<Message>) {
        let (lines, waiting) = sync_channel(capacity);
        (Self { lines, dropped: Arc::default() }, waiting)
    }

    /// What is not the log's and must not stand inside it.
    #[must_use]
    pub fn behind(&self) -> Behind {
        Behind(self.clone())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Log {
    /// Takes a whole line. Never waits and never fails.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(Message::Line(line.into())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (drained, wait) = sync_channel(1);
        if self.0.lines.send(Message::Drain(drained)).is_ok() {
            // An error means that the thread is gone, and with it all that could stand before this.
            let _ = wait.recv();
        }
        // A stderr that is gone is no reason to end a run, nor to give it another status.
        Ok(io::stderr().write(bytes).unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(out: &mut impl Write, waiting: &Receiver<Message>, dropped: &AtomicU64) {
    for message in waiting {
        // A stderr that is gone is nobody's who could be told.
        if let Message::Line(line) = &message {
            let _ = out.write_all(line);
        }
        let missing = dropped.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = out.write_all(
                format!("mishap: {} of the log missing: stderr was too slow\n", count(missing, "line")).as_bytes(),
            );
        }
        if let Message::Drain(drained) = message {
            let _ = drained.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A log that waited would hang here: nobody takes from the queue.
    #[test]
    fn a_line_that_finds_no_room_is_dropped_without_waiting_and_said_with_the_next() {
        let (mut log, waiting) = Log::with_capacity(2);
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            log.write_all(line.as_bytes()).expect("it never fails");
        }
        let dropped = Arc::clone(&log.dropped);
        drop(log);
        let mut written = Vec::new();
        write_all(&mut written, &waiting, &dropped);
        let written = String::from_utf8(written).expect("it is text");
        assert_eq!(written, "one\nmishap: 2 lines of the log missing: stderr was too slow\ntwo\n");
    }
}
