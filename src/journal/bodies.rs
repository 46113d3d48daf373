//! Bodies beside a journal, on request: each in a file that is called like its hash, which the points name.
//!
//! They hold whatever crossed, secrets too, and so belong to nobody but the user (mode 0700). The one rule is the
//! journal's: [`Shelf::keep`] never waits. What finds no room in its bounded queue is dropped and counted.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How many bodies may wait to be written, and how many bytes of them.
const CAPACITY: usize = 4096;
const BYTES: u64 = 32 * 1024 * 1024;

/// Takes bodies on the data path. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shelf {
    bodies: SyncSender<Message>,
    shared: Arc<Shared>,
}

/// Bodies that are being written.
#[derive(Debug)]
pub struct Bodies {
    shelf: Shelf,
    writer: JoinHandle<io::Result<()>>,
}

/// What became of the bodies.
#[derive(Debug)]
pub struct Shelved {
    /// How many were not kept: they found no room, or could not be written.
    pub dropped: u64,
    /// What stopped the writing.
    pub error: Option<io::Error>,
}

#[derive(Debug, Default)]
struct Shared {
    /// How many bytes wait.
    waiting: AtomicU64,
    dropped: AtomicU64,
}

#[derive(Debug)]
enum Message {
    Body(u64, Box<[u8]>),
    Close,
}

/// The folder, and what of this run is in it.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    limit: Option<Limit>,
}

/// The newest of the bodies, in so many bytes.
#[derive(Debug)]
struct Limit {
    max: u64,
    size: u64,
    used: u64,
    /// Hash and size, by when it came last.
    by_age: BTreeMap<u64, (u64, u64)>,
    ages: BTreeMap<u64, u64>,
}

// === Shelf ===

impl Shelf {
    /// Hands a copy of a body over under its hash: of a part of a larger buffer all of that would have to wait. Never waits.
    pub fn keep(&self, hash: u64, body: &[u8]) {
        let size = size(body);
        let waiting = self.shared.waiting.fetch_add(size, Ordering::Relaxed) + size;
        if waiting > BYTES || self.bodies.try_send(Message::Body(hash, body.into())).is_err() {
            self.shared.waiting.fetch_sub(size, Ordering::Relaxed);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// === Bodies ===

impl Bodies {
    /// Makes the folder, unless it is there, and goes on in a thread of its own. With a maximum (bytes) only the newest of this
    /// run's bodies are kept.
    ///
    /// # Errors
    ///
    /// When there is no such folder and none can be made.
    pub fn create(path: &Path, max: Option<u64>) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let (bodies, waiting) = sync_channel(CAPACITY);
        let shared = Arc::new(Shared::default());
        let (limit, of_writer) = (max.map(Limit::new), Arc::clone(&shared));
        let mut folder = Folder { path: path.to_owned(), limit };
        let writer = std::thread::Builder::new()
            .name("bodies".to_owned())
            .spawn(move || folder.take_all(&waiting, &of_writer))?;
        Ok(Self { shelf: Shelf { bodies, shared }, writer })
    }

    /// Where bodies are handed over.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        self.shelf.clone()
    }

    /// Writes what waits and ends the thread.
    #[must_use]
    pub fn close(self) -> Shelved {
        // Waits for room: this is not the data path. An error means the writer is gone; join says why.
        let _ = self.shelf.bodies.send(Message::Close);
        let ended = self.writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer of bodies panicked")));
        Shelved { dropped: self.shelf.shared.dropped.load(Ordering::Relaxed), error: ended.err() }
    }
}

// === Folder ===

impl Folder {
    /// Writes until it is told to close. After an error the rest is counted as dropped.
    fn take_all(&mut self, bodies: &Receiver<Message>, shared: &Shared) -> io::Result<()> {
        let mut result = Ok(());
        while let Ok(Message::Body(hash, body)) = bodies.recv() {
            if result.is_ok() {
                result = self.put(hash, &body);
            }
            shared.waiting.fetch_sub(size(&body), Ordering::Relaxed);
            if result.is_err() {
                shared.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        result
    }

    /// Writes it under another name first: under its own it is whole, whatever happens.
    fn put(&mut self, hash: u64, body: &[u8]) -> io::Result<()> {
        let file = self.file(hash);
        if !file.exists() {
            let part = self.path.join(format!(".{}.part", std::process::id()));
            let mut writing = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
            writing.write_all(body)?;
            fs::rename(part, file)?;
        }
        let old = self.limit.as_mut().map(|limit| limit.makes_room(hash, size(body))).unwrap_or_default();
        old.into_iter().try_for_each(|hash| fs::remove_file(self.file(hash)))
    }

    fn file(&self, hash: u64) -> PathBuf {
        self.path.join(format!("{hash:016x}"))
    }
}

impl Limit {
    fn new(max: u64) -> Self {
        Self { max, size: 0, used: 0, by_age: BTreeMap::new(), ages: BTreeMap::new() }
    }

    /// Takes one more, the newest now, and returns those for which there is no room any more.
    fn makes_room(&mut self, hash: u64, size: u64) -> Vec<u64> {
        self.used += 1;
        match self.ages.insert(hash, self.used).and_then(|age| self.by_age.remove(&age)) {
            Some(known) => _ = self.by_age.insert(self.used, known),
            None => {
                // A small one takes room as well: a block of the disk, and its place here.
                let size = size.max(512);
                self.size += size;
                self.by_age.insert(self.used, (hash, size));
            }
        }
        let mut old = Vec::new();
        while self.size > self.max && self.by_age.len() > 1 {
            let Some((_, (hash, size))) = self.by_age.pop_first() else { break };
            self.ages.remove(&hash);
            self.size -= size;
            old.push(hash);
        }
        old
    }
}

fn size(body: &[u8]) -> u64 {
    u64::try_from(body.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_bodies_beyond_the_limit_those_that_came_last_are_kept() {
        let mut limit = Limit::new(2048);
        assert_eq!((limit.makes_room(1, 1000), limit.makes_room(2, 1000)), (vec![], vec![]));
        // It came again, and so is newer than 2.
        assert_eq!(limit.makes_room(1, 1000), Vec::<u64>::new());
        assert_eq!(limit.makes_room(3, 1000), [2]);
        assert_eq!(limit.makes_room(4, 10_000), [1, 3], "one that is too large alone is kept until the next");
        assert_eq!(limit.makes_room(5, 1), [4]);
    }

    // A shelf that waited would hang here: nobody takes from it.
    #[test]
    fn a_body_that_finds_no_room_is_dropped_and_counted_without_waiting() {
        let (bodies, _waiting) = sync_channel(2);
        let shelf = Shelf { bodies, shared: Arc::default() };
        let large = vec![0; usize::try_from(BYTES).expect("it is small") + 1];
        shelf.keep(0, &large);
        for hash in 1..4 {
            shelf.keep(hash, b"small");
        }
        assert_eq!(shelf.shared.dropped.load(Ordering::Relaxed), 2, "the large one, and the one beyond two");
        assert_eq!(shelf.shared.waiting.load(Ordering::Relaxed), 10);
    }
}
