//! What each client makes of a POST whose stream ends, breaks or falls silent before the answer: the two tables of
//! `TABLE-001.md` (modelcontextprotocol/typescript-sdk#2739), cell by cell, and the same cells without the profile.
//!
//! A cell is the kind of outcome, never a time. All cells run at once, each in a session of its own; where the server's
//! tool must still be at work, it goes on when the server itself has seen what it has to outlive.

mod cell;
mod rows;
mod table;

use std::thread;

use serde_json::json;

use crate::harness::{Client, Driver, Mishap, PATIENCE, clients};
use cell::Cell;
use rows::{ROWS, Row, Server};

#[test]
fn every_client_loses_what_the_table_says_and_nothing_without_the_profile() {
    let stage = Stage::set();
    let rows: Vec<(&Row, Vec<String>)> = thread::scope(|scope| {
        let rows: Vec<_> = ROWS.iter().map(|row| (row, scope.spawn(|| stage.play(row)))).collect();
        rows.into_iter().map(|(row, cells)| (row, cells.join().unwrap())).collect()
    });
    let names: Vec<&str> = stage.clients.iter().map(|client| client.name.as_str()).collect();
    table::assert_is_committed(&table::markdown(&names, &rows));
}

/// The processes that all cells share.
struct Stage {
    clients: Vec<Client>,
    servers: Vec<(Server, Driver, Mishap)>,
}

impl Stage {
    fn set() -> Self {
        let servers = [Server::Plain, Server::Resumable, Server::OldResumable].map(|server| {
            let options = json!({ "store": server != Server::Plain, "timeout": PATIENCE });
            let driver = Driver::node("server", server.version(), &options);
            let transparent = Mishap::start(&driver.url(), &[]);
            (server, driver, transparent)
        });
        Self { clients: clients(), servers: servers.into() }
    }

    /// One row: all clients at once, each once with the fault and once without. Returns the cells with the fault.
    fn play(&self, row: &Row) -> Vec<String> {
        let (_, server, transparent) = self.servers.iter().find(|(server, ..)| *server == row.server).unwrap();
        let faulty = row.profile.map(|profile| Mishap::start(&server.url(), &[profile]));
        let url =
            faulty.as_ref().map_or_else(|| format!("{}?refuse=ping", transparent.url()), |it| it.url().to_owned());

        let (cells, controls): (Vec<String>, Vec<String>) = thread::scope(|scope| {
            let spawn = |client| {
                let cell = Cell { row, client, server };
                let url = &url;
                (scope.spawn(move || cell.play(url)), scope.spawn(move || cell.control(transparent.url())))
            };
            let played: Vec<_> = self.clients.iter().map(spawn).collect();
            played.into_iter().map(|(cell, control)| (cell.join().unwrap(), control.join().unwrap())).unzip()
        });

        assert_eq!(controls, vec!["ok"; controls.len()], "without the profile: {}", row.what);
        if let Some(faulty) = faulty {
            let run = faulty.finish();
            run.assert_exit(0);
            assert_eq!(run.firings(), self.clients.len(), "each session meets the fault once\n{}", run.verdict);
        }
        cells
    }
}
