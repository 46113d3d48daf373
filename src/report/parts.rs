//! A journal's lines by what they are: the form in which every report begins. It judges nothing and leaves nothing out.

use crate::engine::record::{DecisionEntry, Entry, GateEntry, PointEntry, SessionEntry};
use crate::journal::{Footer, Header, Line, VerdictLine};

/// The lines of a journal, sorted by kind; within a kind in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) run: Option<&'a Header>,
    pub(super) entries: Vec<&'a Entry>,
    pub(super) verdict: Option<&'a VerdictLine>,
    /// Missing where a run did not end by itself.
    pub(super) closed: Option<&'a Footer>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(lines: &'a [Line]) -> Self {
        let mut parts = Self::default();
        for line in lines {
            match line {
                Line::Run(header) => parts.run = Some(header),
                Line::Entry(entry) => parts.entries.push(&**entry),
                Line::Verdict(verdict) => parts.verdict = Some(verdict),
                Line::Closed(footer) => parts.closed = Some(footer),
            }
        }
        parts
    }

    /// The points, in order of arrival.
    pub(super) fn points(&self) -> Vec<&'a PointEntry> {
        let mut points: Vec<_> = self.pick(|entry| if let Entry::Point(point) = entry { Some(point) } else { None });
        points.sort_by_key(|point| point.seq);
        points
    }

    pub(super) fn decisions(&self) -> Vec<&'a DecisionEntry> {
        self.pick(|entry| if let Entry::Decision(decision) = entry { Some(decision) } else { None })
    }

    pub(super) fn gates(&self) -> Vec<&'a GateEntry> {
        self.pick(|entry| if let Entry::Gate(gate) = entry { Some(gate) } else { None })
    }

    pub(super) fn sessions(&self) -> Vec<&'a SessionEntry> {
        self.pick(|entry| if let Entry::Session(session) = entry { Some(session) } else { None })
    }

    fn pick<T>(&self, of: impl Fn(&'a Entry) -> Option<&'a T>) -> Vec<&'a T> {
        self.entries.iter().filter_map(|entry| of(entry)).collect()
    }
}
