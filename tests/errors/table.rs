//! The table of docs/errors.md, read: what a case must say, with what status, within what bound.

use rustix::process::Signal;

use crate::common::mishap::{Ended, Mishap};

const TABLE: &str = include_str!("../../docs/errors.md");

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// What stands between its `…` is said, in that order.
    pub(crate) message: &'static str,
    /// The exit statuses: without a command, and with one.
    pub(crate) exit: Vec<i32>,
    /// In words.
    pub(crate) bound: &'static str,
}

/// All rows, with their cases.
pub(crate) fn rows() -> impl Iterator<Item = (&'static str, Row)> {
    let lines = TABLE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| case |"));
    lines.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [case, message, exit, bound] = *cells else { panic!("four cells: {line}") };
        let exit = exit.split(", ").map(|code| code.parse().expect("an exit status")).collect();
        (case, Row { message: message.trim_matches('`'), exit, bound })
    })
}

/// The row of this case.
#[track_caller]
pub(crate) fn row(case: &str) -> Row {
    rows().find(|(name, _)| *name == case).unwrap_or_else(|| panic!("docs/errors.md has no row {case:?}")).1
}

impl Row {
    /// It ended as the row says, without a command (0) or with one (1).
    #[track_caller]
    pub(crate) fn ends(&self, ended: &Ended, with: usize) {
        self.is_in(&ended.stderr);
        let code = self.exit[with];
        assert_eq!(ended.code, code, "{}", ended.stderr);
        assert!(ended.last().starts_with(&format!("mishap: exit {code}: ")), "{}", ended.stderr);
    }

    /// The message is in this text: what stands between its `…`, in that order.
    #[track_caller]
    pub(crate) fn is_in(&self, text: &str) {
        let mut rest = text;
        for part in self.message.split('…') {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in:\n{text}"));
            rest = &rest[at + part.len()..];
        }
    }

    /// The run says nothing about the case and ends as the row says.
    #[track_caller]
    pub(crate) fn is_silent(&self, mishap: Mishap) {
        assert!(self.message.starts_with("nothing: "), "the row has a message: {}", self.message);
        mishap.signal(Signal::TERM);
        let ended = mishap.ended();
        assert_eq!((ended.code, ended.last()), (self.exit[0], "mishap: exit 0: all done, no rules"));
    }
}
