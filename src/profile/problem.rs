//! What is wrong with a profile, where, and what to write instead. Nothing here decides whether something is wrong;
//! a reader reports everything it finds, so that one look at the list mends the whole file.

use std::fmt;

use crate::engine::language::{Complaints, Spot};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is wrong.
    Wrong,
    /// The text is right, and this version cannot do it yet.
    NotBuilt,
    /// The text is right, and most likely not what was meant: it keeps nobody from using the profile.
    Doubtful,
}

/// One thing that is wrong or doubtful in a profile. Displays as `FILE:LINE: rule "R": what; what to write`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file as the user named it; a built-in profile's name; or the argument of `-p`.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The rule or expectation it stands in, as `rule "NAME"`.
    pub part: Option<String>,
    /// Wrong, or not built yet.
    pub kind: ProblemKind,
    /// What is wrong, in lower case, without a full stop, quoting the user's own words.
    pub what: String,
    /// What to write instead.
    pub instead: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if let Some(part) = &self.part {
            write!(f, "{part}: ")?;
        }
        f.write_str(&self.what)?;
        if let Some(instead) = &self.instead {
            write!(f, "; {instead}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Report {
    file: String,
    /// The argument of `-p`, which values of variables come from that stand in no line.
    argument: String,
    /// The rule or expectation being read.
    pub(super) part: Option<String>,
    found: Vec<Problem>,
    doubts: Vec<Problem>,
}

impl Report {
    pub(super) fn new(file: &str, argument: &str) -> Self {
        Self { file: file.to_owned(), argument: argument.to_owned(), part: None, found: Vec::new(), doubts: Vec::new() }
    }

    /// Something is wrong.
    pub(super) fn wrong(&mut self, spot: &Spot, what: impl Into<String>, instead: impl Into<String>) {
        self.push(spot, ProblemKind::Wrong, what.into(), Some(instead.into()));
    }

    /// Something is wrong, and there is nothing to add.
    pub(super) fn broken(&mut self, spot: &Spot, what: impl Into<String>) {
        self.push(spot, ProblemKind::Wrong, what.into(), None);
    }

    /// Something is right, but this version cannot do it.
    pub(super) fn not_built(&mut self, spot: &Spot, what: &str) {
        self.push(spot, ProblemKind::NotBuilt, format!("{what} is not built yet in this version"), None);
    }

    /// The same, and what does nearly as much.
    pub(super) fn not_built_but(&mut self, spot: &Spot, what: &str, instead: &str) {
        let what = format!("{what} is not built yet in this version");
        self.push(spot, ProblemKind::NotBuilt, what, Some(instead.to_owned()));
    }

    /// Something is right, and most likely not what was meant.
    pub(super) fn doubt(&mut self, spot: &Spot, what: &str, instead: &str) {
        let instead = Some(instead.to_owned()).filter(|instead| !instead.is_empty());
        let doubt = self.problem(spot, ProblemKind::Doubtful, format!("warning: {what}"), instead);
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Takes the doubts found so far.
    pub(super) fn take_doubts(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.doubts)
    }

    fn push(&mut self, spot: &Spot, kind: ProblemKind, what: String, instead: Option<String>) {
        let problem = self.problem(spot, kind, what, instead);
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    fn problem(&self, spot: &Spot, kind: ProblemKind, mut what: String, instead: Option<String>) -> Problem {
        if let Some(variable) = &spot.variable {
            what.push_str(&format!(" (the value of variable \"{variable}\")"));
        }
        let line = (spot.line > 0).then_some(spot.line);
        let file = if line.is_none() && spot.variable.is_some() { &self.argument } else { &self.file };
        Problem { file: file.clone(), line, part: self.part.clone(), kind, what, instead }
    }

    /// What a fault complains of.
    pub(super) fn complain(&mut self, slips: Complaints) {
        for slip in slips.0 {
            match slip.instead {
                Some(instead) => self.wrong(&slip.spot, slip.what, instead),
                None => self.not_built(&slip.spot, &slip.what),
            }
        }
    }

    /// How many were found so far: equal before and after means that what was read between is right.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Forgets what was found since there were `count`, and returns it.
    pub(super) fn undo(&mut self, count: usize) -> Vec<Problem> {
        self.found.split_off(count)
    }

    /// Takes back what [`undo`](Self::undo) returned.
    pub(super) fn redo(&mut self, problems: Vec<Problem>) {
        self.found.extend(problems);
    }

    /// All of them, in the order of the lines.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| problem.line);
        self.found
    }
}
