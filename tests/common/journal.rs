//! A journal read while it is written: what the proxy has decided is a fact a test can wait for.
//!
//! The file is a named pipe, so nothing is polled.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver};

use mishap::engine::record::{DecisionEntry, Entry, GateEntry, PointEntry};
use mishap::journal::{Line, parse};

use super::wire::PATIENCE;

/// The lines of a journal, as they come.
#[derive(Debug)]
pub(crate) struct Live {
    coming: Receiver<(Vec<u8>, Line)>,
    seen: Vec<Line>,
    text: Vec<u8>,
}

impl Live {
    /// Makes a pipe at `path` and reads what is written into it.
    pub(crate) fn at(path: &Path) -> Self {
        let made = Command::new("mkfifo").arg(path).status().expect("mkfifo is a standard command");
        assert!(made.success(), "no named pipe at {}", path.display());
        let (sender, coming) = mpsc::channel();
        let path = PathBuf::from(path);
        std::thread::spawn(move || {
            let Ok(file) = std::fs::File::open(path) else { return };
            let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
            let known = lines.flat_map(|line| parse(&line).into_iter().map(move |known| (line.clone(), known)));
            known.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
        });
        Self { coming, seen: Vec::new(), text: Vec::new() }
    }

    /// Waits for the first line, written already or to come, of which `pick` makes something.
    #[track_caller]
    pub(crate) fn wait<T>(&mut self, what: &str, pick: impl Fn(&Line) -> Option<T>) -> T {
        if let Some(found) = self.seen.iter().find_map(&pick) {
            return found;
        }
        loop {
            let line = self.coming.recv_timeout(PATIENCE);
            let (text, line) =
                line.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}; journalled: {:#?}", self.seen));
            self.text.extend([&text[..], b"\n"].concat());
            let found = pick(&line);
            self.seen.push(line);
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// All lines, once the writer has closed the journal.
    #[track_caller]
    pub(crate) fn whole(mut self) -> Journal {
        self.wait("the journal's last line", |line| matches!(line, Line::Closed(_)).then_some(()));
        Journal { lines: self.seen, text: String::from_utf8(self.text).expect("it is JSON") }
    }
}

/// A whole journal.
#[derive(Debug)]
pub(crate) struct Journal {
    lines: Vec<Line>,
    text: String,
}

impl Journal {
    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// All of it, as it was written.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The point with this key.
    #[track_caller]
    pub(crate) fn point(&self, key: &str) -> PointEntry {
        let mut points = self.points(|point| point.key == key);
        assert_eq!(points.len(), 1, "points {key:?}: {points:#?} among {:#?}", self.lines);
        points.remove(0)
    }

    /// The points that `pick` takes, in order of arrival.
    pub(crate) fn points(&self, pick: impl Fn(&PointEntry) -> bool) -> Vec<PointEntry> {
        let mut points: Vec<_> = self.entries().filter_map(point).filter(|it| pick(it)).cloned().collect();
        points.sort_by_key(|point| point.seq);
        points
    }

    /// How its gates of one rule ended, in order.
    pub(crate) fn gates(&self, rule: &str) -> Vec<GateEntry> {
        let all = self.entries().filter_map(|entry| if let Entry::Gate(gate) = entry { Some(gate) } else { None });
        all.filter(|gate| gate.rule == rule).cloned().collect()
    }

    /// The decisions of one rule, in order.
    pub(crate) fn decisions(&self, rule: &str) -> Vec<DecisionEntry> {
        let all = self.entries().filter_map(decision);
        all.filter(|decision| decision.rule == rule).cloned().collect()
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.lines.iter().filter_map(entry)
    }
}

fn entry(line: &Line) -> Option<&Entry> {
    if let Line::Entry(entry) = line { Some(entry) } else { None }
}

fn point(entry: &Entry) -> Option<&PointEntry> {
    if let Entry::Point(point) = entry { Some(point) } else { None }
}

fn decision(entry: &Entry) -> Option<&DecisionEntry> {
    if let Entry::Decision(decision) = entry { Some(decision) } else { None }
}

/// Picks a decision of `rule` that made it fire.
pub(crate) fn fired(rule: &str) -> impl Fn(&Line) -> Option<DecisionEntry> {
    move |line| entry(line).and_then(decision).filter(|it| it.rule == rule && it.fired).cloned()
}

/// Picks the point with this key.
pub(crate) fn crossed(key: &str) -> impl Fn(&Line) -> Option<PointEntry> {
    move |line| entry(line).and_then(point).filter(|it| it.key == key).cloned()
}
