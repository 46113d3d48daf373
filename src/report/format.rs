//! The forms that a report can have, and which one a file's name asks for. A form is one file beside this one, and a line in
//! each function here.
//!
//! The one rule: no form shows more than the journal holds. Secrets are hashes there, and bodies are not in it.

use std::path::Path;

use clap::ValueEnum;

use super::{har, html, json, junit, mermaid, timeline};
use crate::journal::Line;

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A timeline for a terminal.
    Text,
    /// A sequence diagram in Mermaid's language, of what matters most; for a page or an issue.
    Mermaid,
    /// One page for a browser, complete in itself: filters, and all that is known of an event.
    Html,
    /// HTTP Archive 1.2, for the tools that read it, with events as browsers export them.
    Har,
    /// All of it as data (docs/report.schema.json).
    Json,
    /// The verdict for a CI: a case for the command, each rule and expectation, and whatever else failed.
    Junit,
}

impl Format {
    /// What the end of a file's name asks for.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Text),
            "mmd" | "md" => Some(Self::Mermaid),
            "html" | "htm" => Some(Self::Html),
            "har" => Some(Self::Har),
            "json" => Some(Self::Json),
            "xml" => Some(Self::Junit),
            _ => None,
        }
    }

    /// The ends of names that [`Format::of`] knows, for whoever wrote another one.
    pub const ENDS: &'static str = ".txt, .mmd, .md, .html, .har, .json or .xml";

    /// Writes a journal's lines in this form. In Markdown a diagram stands in a fence, which GitHub draws: that is for
    /// [`Format::write_to`], which knows the name.
    #[must_use]
    pub fn write(self, lines: &[Line]) -> String {
        match self {
            Self::Text => timeline::timeline(lines),
            Self::Mermaid => mermaid::diagram(lines),
            Self::Html => html::page(lines),
            Self::Har => har::archive(lines),
            Self::Json => json::report(lines),
            Self::Junit => junit::of_journal(lines),
        }
    }

    /// The same for a file of this name.
    #[must_use]
    pub fn write_to(self, path: &Path, lines: &[Line]) -> String {
        let text = self.write(lines);
        let markdown = path.extension().is_some_and(|end| end == "md");
        if self == Self::Mermaid && markdown { format!("```mermaid\n{text}```\n") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_files_name_says_what_is_in_it_and_no_other_does() {
        for end in Format::ENDS.replace(" or", ",").split(", ") {
            assert!(Format::of(Path::new(&format!("run{end}"))).is_some(), "{end}");
        }
        for name in ["run", "run.pdf", ".html", "html", ""] {
            assert_eq!(Format::of(Path::new(name)), None, "{name:?}");
        }
    }
}
