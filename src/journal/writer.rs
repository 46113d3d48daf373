//! The thread that writes a journal, and the bounded queue in front of it. It knows nothing of what an entry says.
//!
//! The one rule: a journal of a run that crashed is readable. The buffer is flushed whenever the queue is empty, so at
//! most the entries of a burst are missing and only the last line can be torn.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

use serde::Serialize;

use super::header::{Footer, Header, VerdictLine};
use super::parts::Parts;
use crate::engine::record::{Entry, Weight};

/// How many entries may wait for the writer; beyond that they are dropped and counted. About 10 MB at their usual size.
const CAPACITY: usize = 16 * 1024;

/// Takes entries on the data path. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sink {
    entries: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

/// The other end of a [`Sink`]: what [`Journal::create`] writes from.
#[derive(Debug)]
pub struct Queue {
    sink: Sink,
    entries: Receiver<Message>,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    sink: Sink,
    writer: JoinHandle<(Parts, u64, io::Result<()>)>,
}

/// What became of a journal.
#[derive(Debug)]
pub struct Closed {
    /// How many entries were written.
    pub written: u64,
    /// How many of them are kept no more, because only the newest are.
    pub gone: u64,
    /// Where what led to the first finding is, if it would be gone by now.
    pub found: Option<PathBuf>,
    /// How many were not: they found no room, or the file could not be written any more.
    pub dropped: u64,
    /// What stopped the writing, or where the file has gone.
    pub error: Option<io::Error>,
}

#[derive(Debug)]
enum Message {
    Entry(Box<Entry>),
    Close(Option<Box<VerdictLine>>),
}

/// A line with its kind, as it is written. [`Entry`] brings its own.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Framed<'a> {
    Run(&'a Header),
    Verdict(&'a VerdictLine),
    Closed(&'a Footer),
}

/// Makes a queue before there is a journal: the proxy that fills it must be bound before the header can name its port.
#[must_use]
pub fn queue() -> (Sink, Queue) {
    with_capacity(CAPACITY)
}

fn with_capacity(capacity: usize) -> (Sink, Queue) {
    let (sender, entries) = sync_channel(capacity);
    let sink = Sink { entries: sender, dropped: Arc::new(AtomicU64::new(0)) };
    (sink.clone(), Queue { sink, entries })
}

// === Sink ===

impl Sink {
    /// Hands an entry to the writer. Never waits: an entry that finds no room is dropped and counted.
    pub fn record(&self, entry: Entry) {
        match self.entries.try_send(Message::Entry(Box::new(entry))) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

// === Journal ===

impl Journal {
    /// Creates the file (an older one is overwritten), writes its first line and goes on in a thread of its own. With a
    /// maximum (bytes) only the newest lines are kept, the older half of them in `FILE.1`.
    ///
    /// # Errors
    ///
    /// When the file cannot be created, another run is writing it, or its first line cannot be written.
    pub fn create(path: &Path, header: Header, max: Option<u64>, queue: Queue) -> io::Result<Self> {
        let mut parts = Parts::create(path, header, max)?;
        let Queue { sink, entries } = queue;
        let dropped = Arc::clone(&sink.dropped);
        let writer = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let (written, result) = write_all(&mut parts, &entries, &dropped);
            (parts, written, result)
        })?;
        Ok(Self { sink, writer })
    }

    /// Writes what waits, the verdict if there is one, and the footer, and ends the thread. What is recorded later is lost.
    #[must_use]
    pub fn close(self, verdict: Option<VerdictLine>) -> Closed {
        // Waits for room in the queue: this is not the data path. An error means the writer is gone; join says why.
        let _ = self.sink.entries.send(Message::Close(verdict.map(Box::new)));
        let dropped = || self.sink.dropped.load(Ordering::Relaxed);
        match self.writer.join() {
            Ok((parts, written, result)) => {
                let error = result.and_then(|()| parts.check()).err();
                Closed { written, gone: parts.gone(), found: parts.kept_found(), dropped: dropped(), error }
            }
            Err(_) => {
                let error = Some(io::Error::other("the journal's writer panicked"));
                Closed { written: 0, gone: 0, found: None, dropped: dropped(), error }
            }
        }
    }
}

/// Where lines go.
trait Lines: Write {
    /// The line written last is a finding.
    fn has_found(&mut self);
}

impl Lines for Parts {
    fn has_found(&mut self) {
        Self::has_found(self);
    }
}

/// Writes until it is told to close. After an error it goes on taking entries and counts them as dropped, so that a full
/// disk does not look like a slow one.
fn write_all(file: &mut impl Lines, entries: &Receiver<Message>, dropped: &AtomicU64) -> (u64, io::Result<()>) {
    let mut written = 0;
    let mut result = Ok(());
    let mut verdict = None;
    while let Some(message) = next(file, entries, &mut result) {
        let entry = match message {
            Message::Entry(entry) => entry,
            Message::Close(last) => {
                verdict = last;
                break;
            }
        };
        if result.is_ok() {
            result = line(file, &entry);
            if matches!(&*entry, Entry::Finding(finding) if finding.weight == Weight::Failure) {
                file.has_found();
            }
        }
        match result {
            Ok(()) => written += 1,
            Err(_) => _ = dropped.fetch_add(1, Ordering::Relaxed),
        }
    }
    let footer = Footer { written, dropped: dropped.load(Ordering::Relaxed) };
    if let (Ok(()), Some(verdict)) = (&result, &verdict) {
        result = line(file, &Framed::Verdict(verdict));
    }
    let result = result.and_then(|()| line(file, &Framed::Closed(&footer))).and_then(|()| file.flush());
    (written, result)
}

/// The next message; before it waits for one, what was written so far is flushed.
fn next(file: &mut impl Write, entries: &Receiver<Message>, result: &mut io::Result<()>) -> Option<Message> {
    match entries.try_recv() {
        Ok(message) => return Some(message),
        Err(TryRecvError::Disconnected) => return None,
        Err(TryRecvError::Empty) => {}
    }
    if result.is_ok() {
        *result = file.flush();
    }
    entries.recv().ok()
}

/// Writes a line in one piece.
fn line(file: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    file.write_all(&whole(value)?)
}

fn whole(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// A journal's first line.
pub(super) fn framed_header(header: &Header) -> io::Result<Vec<u8>> {
    whole(&Framed::Run(header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::NoteEntry;

    fn note(seq: u64) -> Entry {
        Entry::Note(NoteEntry { seq, at: 0, text: "x".to_owned() })
    }

    #[derive(Default)]
    struct Full {
        room: usize,
        text: Vec<u8>,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.text.len() + bytes.len() > self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.text.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Lines for Full {
        fn has_found(&mut self) {}
    }

    // A sink that waited would hang here: nobody takes from the queue.
    #[test]
    fn an_entry_that_finds_no_room_is_dropped_and_counted_without_waiting() {
        let (sink, queue) = with_capacity(2);
        for seq in 0..5 {
            sink.record(note(seq));
        }
        assert_eq!(queue.sink.dropped.load(Ordering::Relaxed), 3);
        assert!(matches!(queue.entries.try_recv(), Ok(Message::Entry(first)) if *first == note(0)));
    }

    #[test]
    fn a_full_disk_is_reported_and_every_entry_after_it_is_counted() {
        let (sink, queue) = with_capacity(8);
        for seq in 0..3 {
            sink.record(note(seq));
        }
        sink.entries.send(Message::Close(None)).expect("there is room");
        let one_line = serde_json::to_vec(&note(0)).expect("a note is JSON").len() + 1;
        let mut disk = Full { room: one_line, text: Vec::new() };
        let (written, result) = write_all(&mut disk, &queue.entries, &queue.sink.dropped);
        assert_eq!((written, queue.sink.dropped.load(Ordering::Relaxed)), (1, 2));
        assert_eq!(result.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
    }
}
