//! The words of `mishap report` and of `mishap run --report`: which journal, what is made of it, and where that goes.
//!
//! The one rule: what a file is to hold can be said by its name.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::report::format::Format;

/// `mishap report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  mishap run -u http://127.0.0.1:3000/mcp --journal run.ndjson -- npm test\n  \
                        mishap report run.ndjson\n  mishap report run.ndjson -o run.html\n  \
                        mishap report front.ndjson --beside back.ndjson")]
pub struct ReportArgs {
    /// A file written by `mishap run --journal`; also one that was torn by a crash. `-` is stdin.
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
    /// Draw another journal in the same timeline: this one taken before a gateway, that one behind it. What one saw and the
    /// other did not is marked. Exchanges are joined by trace context (`traceparent`), else by session, method and id.
    #[arg(long, value_name = "JOURNAL")]
    pub beside: Option<PathBuf>,
    /// What to write. Without it the end of -o's name says it (.txt, .mmd, .md, .html, .har, .json, .xml); on stdout it is text.
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// Write to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A file for a report, and what the end of its name says is to be in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Where it goes.
    pub path: PathBuf,
    /// What it is written as.
    pub format: Format,
}

impl FromStr for Reported {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let format =
            Format::of(&path).ok_or_else(|| format!("its name must say what is to be in it: {}", Format::ENDS))?;
        Ok(Self { path, format })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_what_the_end_of_its_files_name_says() {
        let format = |name: &str| name.parse::<Reported>().map(|reported| reported.format);
        assert_eq!((format("a.html"), format("b/c.har")), (Ok(Format::Html), Ok(Format::Har)));
        let refused = format("a.pdf").expect_err("there is no such report");
        assert!(refused.starts_with("its name must say what is to be in it: .txt"), "{refused}");
    }
}
