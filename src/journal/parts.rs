//! Where a journal's lines go: into one file, or, where only the newest are kept, into two that take turns.
//!
//! With a limit the file that is written is never larger than half of it. Then it becomes `FILE.1`, in the place of the one
//! before, and a new one begins with the run's first line: each is a journal by itself, and both together are what is
//! kept. What led to the first finding stays under names of its own, `FILE.found` and `FILE.found.1`, whatever follows. The one
//! rule: it is handed whole lines, and no line is ever split between files.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::header::{Header, Part};
use super::read::parse;
use super::{Line, writer::framed_header};

/// The file or files of a journal.
#[derive(Debug)]
pub(super) struct Parts {
    file: BufWriter<File>,
    path: PathBuf,
    /// What is at the path; none where that is no file but a pipe or a device.
    metadata: Option<Metadata>,
    turns: Option<Turns>,
}

/// What is known of files that take turns.
#[derive(Debug)]
struct Turns {
    header: Header,
    /// The size of a part, in bytes.
    limit: u64,
    /// The size of this one.
    size: u64,
    /// How many lines it has, the first not counted.
    lines: u64,
    /// How many the one before had.
    before: u64,
    found: Found,
}

/// Whether there was a finding, and whether what led to it is kept already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    InThisPart,
    Kept,
}

/// Where what led to the first finding is.
pub(super) fn found(path: &Path) -> PathBuf {
    beside(path, ".found")
}

/// The file that was written before `path`.
pub(super) fn older(path: &Path) -> PathBuf {
    beside(path, ".1")
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Parts {
    /// Creates the file (an older one is overwritten) with its first line. `max` bytes are kept, if it says how many.
    pub(super) fn create(path: &Path, mut header: Header, max: Option<u64>) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        let metadata = file.metadata()?;
        let regular = metadata.is_file();
        if max.is_some() {
            may_take_turns(path, &metadata)?;
            header.part = Some(Part { number: 1, gone: 0 });
        }
        if regular {
            claim(&file)?;
        }
        let mut file = BufWriter::new(file);
        let size = begin(&mut file, &header)?;
        let turns = max.map(|max| Turns { header, limit: max / 2, size, lines: 0, before: 0, found: Found::Nothing });
        Ok(Self { file, path: path.to_owned(), metadata: regular.then_some(metadata), turns })
    }

    /// The line written last is a finding. With the end of its part, what led to it would be on its way out.
    pub(super) fn has_found(&mut self) {
        if let Some(turns) = self.turns.as_mut().filter(|turns| turns.found == Found::Nothing) {
            turns.found = Found::InThisPart;
        }
    }

    /// Where what led to the first finding is, if that is under a name of its own.
    pub(super) fn kept_found(&self) -> Option<PathBuf> {
        self.turns.as_ref().filter(|turns| turns.found == Found::Kept).map(|_| found(&self.path))
    }

    /// How many lines were written and are kept no more.
    pub(super) fn gone(&self) -> u64 {
        self.turns.as_ref().and_then(|turns| turns.header.part).map_or(0, |part| part.gone)
    }

    /// Whether what was written is still where it was put.
    pub(super) fn check(&self) -> io::Result<()> {
        match &self.metadata {
            Some(file) if !is_at(&self.path, file) => {
                Err(io::Error::new(ErrorKind::NotFound, "it was removed or replaced during the run and is lost"))
            }
            _ => Ok(()),
        }
    }

    /// Makes room for a line of so many bytes: the file takes the place of the older one, and a new one begins.
    fn turn(&mut self, line: u64) -> io::Result<()> {
        let Some(turns) = self.turns.as_mut().filter(|it| it.lines > 0 && it.size + line > it.limit) else {
            return Ok(());
        };
        let last = turns.header.part.unwrap_or_default();
        turns.header.part = Some(Part { number: last.number + 1, gone: last.gone + turns.before });
        (turns.before, turns.lines) = (turns.lines, 0);
        self.file.flush()?;
        self.check()?;
        let next = beside(&self.path, &format!(".{}.part", std::process::id()));
        let begun = self.begin_next(&next);
        if begun.is_err() {
            // It is in nobody's way, or was never there.
            let _ = fs::remove_file(&next);
        }
        begun
    }

    fn begin_next(&mut self, next: &Path) -> io::Result<()> {
        let Some(turns) = &mut self.turns else { return Ok(()) };
        let file = OpenOptions::new().write(true).create_new(true).open(next)?;
        claim(&file)?;
        let metadata = file.metadata()?;
        let mut file = BufWriter::new(file);
        turns.size = begin(&mut file, &turns.header)?;
        if turns.found == Found::InThisPart {
            keep(&self.path)?;
            turns.found = Found::Kept;
        }
        fs::rename(&self.path, older(&self.path))?;
        fs::rename(next, &self.path)?;
        (self.file, self.metadata) = (file, Some(metadata));
        Ok(())
    }
}

impl Write for Parts {
    /// Takes a whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let size = u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.turn(size)?;
        self.file.write_all(line)?;
        if let Some(turns) = &mut self.turns {
            (turns.size, turns.lines) = (turns.size + size, turns.lines + 1);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Gives both parts a second name, under which they stay.
fn keep(path: &Path) -> io::Result<()> {
    let kept = found(path);
    second_name(path, &kept)?;
    match second_name(&older(path), &older(&kept)) {
        // This part is the first.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn second_name(path: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(path, name) {
        // There are file systems without links.
        Err(error) if error.kind() != ErrorKind::NotFound => fs::copy(path, name).map(drop),
        done => done,
    }
}

/// Writes the first line, so that it is there whatever happens next; returns its size.
fn begin(file: &mut BufWriter<File>, header: &Header) -> io::Result<u64> {
    let line = framed_header(header)?;
    file.write_all(&line)?;
    file.flush()?;
    Ok(u64::try_from(line.len()).unwrap_or(u64::MAX))
}

/// Whether two files can take turns under this name, without harm to one that is not ours.
fn may_take_turns(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no file, and so the newest of it cannot be kept"));
    }
    let kept = found(path);
    [older(path), older(&kept), kept].iter().try_for_each(|path| of_an_earlier_run(path))
}

/// Removes what an earlier run has left under a name that this one will use.
fn of_an_earlier_run(older: &Path) -> io::Result<()> {
    let ours = |text: &[u8]| matches!(parse(text).first(), Some(Line::Run(header)) if header.part.is_some());
    match fs::read(older) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // Of an earlier run.
        Ok(text) if ours(&text) => fs::remove_file(older),
        Ok(_) => {
            let why = format!("{} is in the way: it is no part of a journal", older.display());
            Err(io::Error::new(ErrorKind::AlreadyExists, why))
        }
        Err(error) => Err(error),
    }
}

/// Empties the file, unless another run is writing it. The lock goes with the file's last handle.
fn claim(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let why = "another run is writing it; give each run a journal of its own";
            Err(io::Error::new(ErrorKind::ResourceBusy, why))
        }
        // There are file systems without locks.
        Ok(()) | Err(TryLockError::Error(_)) => file.set_len(0),
    }
}

/// Whether the path still leads to that file.
fn is_at(path: &Path, file: &Metadata) -> bool {
    fs::metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests;
