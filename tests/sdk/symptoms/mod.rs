//! The symptom that each profile promises, seen with a real client and a real server: `TABLE-profiles.md`.
//!
//! Every row is played twice at the same time, with its profile and without: the second is its control, in which nothing
//! may go wrong. All rows run at once, each behind a proxy of its own.

mod plays;
mod questions;
mod raw;
mod rows;
mod scene;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use mishap::profile::builtin;
use serde_json::json;

use crate::cells::assert_is_committed;
use crate::harness::{Client, Driver, PATIENCE, client};
use rows::{ROWS, Row};
use scene::Scene;

/// The one switch: whether the profile of a row acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    On,
    Off,
}

#[test]
fn every_profile_shows_its_symptom_and_nothing_shows_it_without() {
    let names: BTreeSet<_> = ROWS.iter().map(|row| row.client).collect();
    let clients: BTreeMap<&str, Client> = names.into_iter().map(|name| (name, client(name))).collect();
    let names: BTreeSet<_> = ROWS.iter().flat_map(|row| [Some(row.server), row.replica]).flatten().collect();
    let servers: BTreeMap<&str, Driver> = names.into_iter().map(|name| (name, server(name))).collect();
    let play = |row: &'static Row, profile| (row.play)(Scene::set(row, &clients, &servers, profile));
    let outcomes: Vec<[String; 2]> = thread::scope(|scope| {
        let played = |row| [Profile::On, Profile::Off].map(|profile| scope.spawn(move || play(row, profile)));
        let played: Vec<_> = ROWS.iter().map(played).collect();
        played.into_iter().map(|both| both.map(|one| one.join().unwrap())).collect()
    });
    assert_is_committed("TABLE-profiles.md", &table::markdown(&outcomes));
    for (row, [with, without]) in ROWS.iter().zip(outcomes) {
        // What takes a symptom away has it the other way round.
        let (symptom, none) = if row.beside.is_empty() { (with, without) } else { (without, with) };
        assert!(!is_clean(&symptom), "{} shows nothing: {symptom}", row.profile);
        assert!(is_clean(&none), "{} is not what shows it: {none}", row.profile);
    }
}

/// Whether an outcome is that of a session in which nothing went wrong.
fn is_clean(outcome: &str) -> bool {
    outcome.split(", ").all(|part| ["answered", "worked", "1 GET"].contains(&part))
}

#[test]
fn every_built_in_profile_has_a_row() {
    let names = builtin::all().iter().map(|profile| profile.name);
    let missing = names.filter(|name| *name != "transparent" && ROWS.iter().all(|row| row.profile != *name));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

/// The server of that name: package, version and what it is told to do otherwise.
fn server(name: &str) -> Driver {
    let (package, version) = name.split_once(' ').unwrap();
    let (version, extra) = version.split_once(", ").unwrap_or((version, ""));
    let options = json!({ "store": extra == "event store", "json": extra == "JSON", "timeout": PATIENCE });
    match package {
        "python" => Driver::python("server", version, &options),
        "rmcp" => Driver::rmcp("server", &options),
        _ => Driver::node("server", version, &options),
    }
}
