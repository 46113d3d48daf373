//! The loader answers whatever it is given: profiles with pieces cut out, put in and exchanged load or are refused, and
//! every refusal names a line of the file.

#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use mishap::profile::{self, Use, builtin};
use proptest::prelude::*;
use proptest::sample::Index;

use common::scratch::Scratch;

/// Pieces that mean something to the loader.
const PIECES: [&str; 34] = [
    "",
    "\n",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    "=",
    ",",
    ".",
    "#",
    "${",
    "${call}",
    "${owner.id}",
    "[[rule]]",
    "[vars]",
    "at",
    "match",
    "hold",
    "cut",
    "until",
    "\"end\"",
    "\"never\"",
    "-1",
    "0",
    "1e99",
    "9223372036854775808",
    "true",
    "nan",
    "1979-05-27",
    "\"2s\"",
    "é",
    "\u{0}",
];

/// One edit: where, how many bytes go, what comes.
type Edit = (Index, usize, Index);

fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/language");
    let examples = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("readable").path());
    let mut examples: Vec<PathBuf> = examples.collect();
    examples.sort();
    let read = |path: &PathBuf| fs::read_to_string(path).expect("a fixture is text");
    builtin::all().iter().map(|profile| profile.text.to_owned()).chain(examples.iter().map(read)).collect()
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    for (place, length, piece) in edits {
        let boundary = |from: usize| (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let start = boundary(place.index(text.len() + 1));
        let end = boundary((start + length).min(text.len()));
        text.replace_range(start..end, PIECES[piece.index(PIECES.len())]);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_profile_loads_or_names_a_line(
        which in any::<Index>(),
        edits in proptest::collection::vec((any::<Index>(), 0_usize..12, any::<Index>()), 1..6),
    ) {
        let texts = texts();
        let text = edited(&texts[which.index(texts.len())], &edits);
        let scratch = Scratch::new();
        let lines = text.lines().count() + 1;
        for problem in profile::check(&Use::plain(&scratch.file("mutated.toml", &text))).err().unwrap_or_default() {
            prop_assert!(problem.line.is_some_and(|line| (1..=lines).contains(&line)), "{problem}\n{text}");
        }
    }
}
