//! `mishap run` several times, and what is written of one run or several for programs and for a CI.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// How often to run, and what to write of it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several runs and a CI")]
pub struct ManyArgs {
    /// Run the command so many times; without --seed or --seeds each with a seed of its own. Each run has a fresh proxy, and a
    /// fresh server with --serve. They come one after the other, and a table of them all comes at the end.
    #[arg(long, value_name = "N", requires = "command", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// Run the command once with each of these seeds, both ends included.
    #[arg(long, value_name = "A..B", requires = "command", conflicts_with = "seed")]
    pub seeds: Option<Seeds>,
    /// Run the command once with each of these profiles, beside those of -p: the built-in ones of that name or group, with * and
    /// ? also in GROUP/NAME, or files. Values apply to what they follow: 'get/*,post-stream-lost,ending=fin'.
    #[arg(long, value_name = "PROFILES", requires = "command")]
    pub matrix: Vec<String>,
    /// Failures that are known, in TOML: a run that fails as it says there is not red, and an entry that is gone is.
    #[arg(long, value_name = "FILE", requires = "command")]
    pub known: Option<PathBuf>,
    /// Write the verdict to this file, as JSON (docs/verdict.schema.json).
    #[arg(long, value_name = "FILE")]
    pub verdict: Option<PathBuf>,
    /// Write a JUnit file: a suite for each run, a case for the command, each rule and whatever else failed.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Seeds from one to another, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeds(pub RangeInclusive<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ends = text.split_once("..").and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        match ends {
            Some((first, last)) if first <= last => Ok(Self(first..=last)),
            Some((first, last)) => Err(format!("write the smaller seed first: {last}..{first}")),
            None => Err("write two seeds, for example 1..20; both ends are included".to_owned()),
        }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0.start(), self.0.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_two_numbers_the_smaller_first_both_included() {
        assert_eq!("3..5".parse::<Seeds>().map(|seeds| seeds.0.count()), Ok(3));
        assert_eq!("3..3".parse::<Seeds>().map(|seeds| seeds.0.count()), Ok(1));
        assert_eq!("5..3".parse::<Seeds>(), Err("write the smaller seed first: 3..5".to_owned()));
        for wrong in ["", "3", "3..", "..5", "3..=5", "a..b", "-1..5"] {
            assert!(wrong.parse::<Seeds>().is_err(), "{wrong}");
        }
    }
}
