//! Files that take turns, through real files: what is kept, what a reader finds at any moment, whose files are left alone.

use super::super::read::read;
use super::*;
use crate::engine::record::{Entry, NoteEntry};

const MAX: u64 = 4096;

/// A folder that is gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mishap-parts-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("there is room for a folder");
        Self(path)
    }

    fn journal(&self) -> PathBuf {
        self.0.join("run.ndjson")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn header() -> Header {
    Header { started: "2026-01-02T03:04:05.678Z".to_owned(), ..Header::default() }
}

fn note(parts: &mut Parts, seq: u64) {
    let entry = Entry::Note(NoteEntry { seq, at: 0, text: "of some length, as a line of a journal has".to_owned() });
    let mut line = serde_json::to_vec(&entry).expect("a note is JSON");
    line.push(b'\n');
    parts.write_all(&line).expect("there is room");
    parts.flush().expect("there is room");
}

/// The part that the lines begin with, and the sequence numbers of the notes.
fn read_back(path: &Path) -> (Part, Vec<u64>) {
    let lines = read(path).expect("it is a journal");
    let (Some(Line::Run(header)), notes) = (lines.first(), &lines[1..]) else { panic!("no first line") };
    let seqs = notes.iter().map(|line| match line {
        Line::Entry(entry) => match &**entry {
            Entry::Note(note) => note.seq,
            other => panic!("no note: {other:?}"),
        },
        other => panic!("no entry: {other:?}"),
    });
    (header.part.expect("it takes turns"), seqs.collect())
}

#[test]
fn the_newest_is_found_whole_after_every_line_and_all_of_it_stays_within_the_limit() {
    let scratch = Scratch::new("newest");
    let path = scratch.journal();
    let mut parts = Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    for seq in 0..500 {
        note(&mut parts, seq);
        let (part, seqs) = read_back(&path);
        assert_eq!(part.gone, parts.gone());
        assert_eq!(seqs, (part.gone..=seq).collect::<Vec<_>>(), "part {}", part.number);
        let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
        assert!(size(&path) + size(&older(&path)) <= MAX);
    }
    let (part, seqs) = read_back(&path);
    assert!(part.number > 10 && seqs.len() > 20, "it took turns, and kept some: {part:?}, {seqs:?}");
    assert_eq!(fs::read_dir(&scratch.0).expect("it is there").count(), 2);
}

#[test]
fn without_a_limit_everything_is_in_one_file() {
    let scratch = Scratch::new("one");
    let mut parts = Parts::create(&scratch.journal(), header(), None).expect("it can be created");
    (0..500).for_each(|seq| note(&mut parts, seq));
    assert_eq!(read(&scratch.journal()).expect("it is a journal").len(), 501);
    assert_eq!(fs::read_dir(&scratch.0).expect("it is there").count(), 1);
}

#[test]
fn a_crash_between_the_turns_leaves_the_older_part_to_be_found() {
    let scratch = Scratch::new("between");
    let path = scratch.journal();
    let mut parts = Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    (0..3).for_each(|seq| note(&mut parts, seq));
    fs::rename(&path, older(&path)).expect("it is there");
    assert_eq!(read_back(&path).1, [0, 1, 2]);
}

#[test]
fn an_older_part_of_another_run_is_not_taken_for_one_of_this_and_goes_with_the_next() {
    let scratch = Scratch::new("stale");
    let path = scratch.journal();
    let mut parts = Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    (0..100).for_each(|seq| note(&mut parts, seq));
    drop(parts);
    assert!(older(&path).exists());
    let mut next = Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    assert!(!older(&path).exists());
    note(&mut next, 7);
    assert_eq!(read_back(&path), (Part { number: 1, gone: 0 }, vec![7]));
}

#[test]
fn a_file_that_is_no_part_is_left_alone() {
    let scratch = Scratch::new("other");
    let path = scratch.journal();
    fs::write(older(&path), "mine\n").expect("there is room");
    let error = Parts::create(&path, header(), Some(MAX)).expect_err("it is in the way");
    assert!(error.to_string().ends_with("run.ndjson.1 is in the way: it is no part of a journal"), "{error}");
    assert_eq!(fs::read(older(&path)).expect("it is there"), b"mine\n");
    assert!(Parts::create(&path, header(), None).is_ok(), "it is in nobody's way");
    let device = Parts::create(Path::new("/dev/null"), header(), Some(MAX)).expect_err("it cannot take turns");
    assert!(device.to_string().starts_with("it is no file"), "{device}");
}

#[test]
fn a_file_that_was_replaced_takes_no_turn() {
    let scratch = Scratch::new("replaced");
    let path = scratch.journal();
    let mut parts = Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    let other = scratch.0.join("other");
    fs::write(&other, "mine\n").and_then(|()| fs::rename(&other, &path)).expect("there is room");
    let line = [&[b'x'; 1023][..], b"\n"].concat();
    let error = (0..3).find_map(|_| parts.write_all(&line).err()).expect("it is not ours any more");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(fs::read(&path).expect("it is there"), b"mine\n");
}

#[test]
fn what_led_to_the_first_finding_stays_under_a_name_of_its_own() {
    let scratch = Scratch::new("found");
    let path = scratch.journal();
    let mut parts = Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    for seq in 0..500 {
        note(&mut parts, seq);
        if [100, 300].contains(&seq) {
            parts.has_found();
        }
        assert_eq!(parts.kept_found().is_some(), found(&path).exists());
    }
    let kept = found(&path);
    assert_eq!(parts.kept_found(), Some(kept.clone()));
    let (_, seqs) = read_back(&kept);
    assert!(seqs.contains(&100) && !seqs.contains(&300), "{seqs:?}");
    assert!(seqs.len() > 20 && seqs[0] < 90, "what came before it is there: {seqs:?}");
    assert!(read_back(&path).1.contains(&499));
    assert_eq!(fs::read_dir(&scratch.0).expect("it is there").count(), 4);
    drop(parts);
    Parts::create(&path, header(), Some(MAX)).expect("it can be created");
    assert_eq!(fs::read_dir(&scratch.0).expect("it is there").count(), 1, "those of an earlier run are gone");
}
