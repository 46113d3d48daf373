//! What two runs are compared by: all that their journals tell, but for what no two runs have in common.
//!
//! The one rule: nothing is left out for being inconvenient; what is, is named here with its reason.

use std::collections::{BTreeMap, BTreeSet};

use mishap::engine::record::Entry;

/// The entries in the order of what they are about, with places in place of sequence numbers: those of bytes that are
/// nobody's have no line. A hash is of something that is not here, and a timer comes as late as the machine made it.
pub(crate) fn told(entries: &[Entry]) -> Vec<Entry> {
    // A finding is a monitor's, which the engine does not know.
    let mut told: Vec<Entry> = entries.iter().filter(|entry| !matches!(entry, Entry::Finding(_))).cloned().collect();
    let mut numbers = BTreeSet::new();
    told.iter_mut().for_each(|entry| numbered(entry, &mut |number| _ = numbers.insert(*number)));
    let places: BTreeMap<u64, u64> = numbers.into_iter().zip(1..).collect();
    for entry in &mut told {
        numbered(entry, &mut |number| *number = places[number]);
        match entry {
            Entry::Point(point) => {
                point.hash = None;
                let secrets = point.headers.iter_mut().filter(|(_, value)| value.starts_with('#'));
                secrets.for_each(|(_, value)| value.truncate(1));
            }
            Entry::Gate(gate) => (gate.at, gate.held) = (0, 0),
            Entry::Decision(_)
            | Entry::Session(_)
            | Entry::Note(_)
            | Entry::Disconnect(_)
            | Entry::Finding(_)
            | Entry::Expectation(_) => {}
        }
    }
    told.sort_by_key(|entry| {
        let mut first = None;
        numbered(&mut entry.clone(), &mut |number| _ = first.get_or_insert(*number));
        first
    });
    told
}

fn numbered(entry: &mut Entry, take: &mut dyn FnMut(&mut u64)) {
    match entry {
        Entry::Point(point) => {
            take(&mut point.seq);
            point.by.iter_mut().chain(&mut point.left_seq).for_each(take);
        }
        Entry::Decision(made) => take(&mut made.seq),
        Entry::Gate(gate) => take(&mut gate.seq),
        Entry::Session(session) => take(&mut session.seq),
        Entry::Note(note) => take(&mut note.seq),
        Entry::Expectation(failed) => take(&mut failed.seq),
        Entry::Disconnect(gone) => take(&mut gone.seq),
        Entry::Finding(found) => take(&mut found.seq),
    }
}
