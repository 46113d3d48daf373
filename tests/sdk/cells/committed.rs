//! A generated table, compared with the committed one.

use std::path::Path;
use std::{env, fs};

/// Compares with the committed `tests/sdk/NAME`, or writes it when `UPDATE` is set.
pub(crate) fn assert_is_committed(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(name);
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, table).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let same = committed.lines().eq(table.lines());
    let differing = table.lines().filter(|line| !committed.lines().any(|other| other == *line));
    let differing: Vec<&str> = differing.collect();
    assert!(same, "tests/sdk/{name} says otherwise about\n{}", differing.join("\n"));
}
