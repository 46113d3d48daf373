//! What each client makes of a POST whose stream ends, breaks or falls silent before the answer: the two tables of
//! `TABLE-001.md` (modelcontextprotocol/typescript-sdk#2739), cell by cell, and the same cells without the profile.
//!
//! A cell is the kind of outcome, never a time. All cells run at once, each in a session of its own; where the server's
//! tool must still be at work, it goes on when the server itself has seen what it has to outlive.

mod rows;
mod session;
mod table;

use std::thread;

use serde_json::json;

use crate::cells::assert_is_committed;
use crate::harness::{Client, Driver, Mishap, PATIENCE, clients};
use rows::{ROWS, Row, Server};
use session::Session;

#[test]
fn every_client_loses_what_the_table_says_and_nothing_without_the_profile() {
    let clients = clients();
    let servers = [Server::Plain, Server::Resumable, Server::OldResumable].map(Upstream::start);
    let scenes: Vec<Scene> = ROWS.iter().map(|row| Scene::set(row, &servers, &clients)).collect();
    let cells: Vec<Vec<String>> = thread::scope(|scope| {
        let played: Vec<_> = scenes.into_iter().map(|scene| scope.spawn(|| scene.play())).collect();
        played.into_iter().map(|cells| cells.join().unwrap()).collect()
    });
    let names: Vec<&str> = clients.iter().map(|client| client.name.as_str()).collect();
    assert_is_committed("TABLE-001.md", &table::markdown(&names, ROWS, &cells));
}

/// A server, and a proxy without a profile in front of it for the controls.
struct Upstream {
    server: Server,
    driver: Driver,
    transparent: Mishap,
}

impl Upstream {
    fn start(server: Server) -> Self {
        let options = json!({ "store": server != Server::Plain, "timeout": PATIENCE });
        let driver = Driver::node("server", server.version(), &options);
        let transparent = Mishap::start(&driver.url(), &[]);
        Self { server, driver, transparent }
    }
}

/// One row for all clients, each once with the fault and once without.
struct Scene<'a> {
    row: &'a Row,
    /// None where the server itself refuses.
    faulty: Option<Mishap>,
    faults: Vec<Session<'a>>,
    controls: Vec<Session<'a>>,
}

impl<'a> Scene<'a> {
    fn set(row: &'a Row, servers: &'a [Upstream], clients: &'a [Client]) -> Self {
        let upstream = servers.iter().find(|it| it.server == row.server).unwrap();
        let plain = upstream.transparent.url();
        let faulty = row.profile.map(|profile| Mishap::start(&upstream.driver.url(), &[profile]));
        let url = faulty.as_ref().map_or_else(|| format!("{plain}?refuse=ping"), |it| it.url().to_owned());
        let session = |client, kind| Session { row, client, server: &upstream.driver, kind };
        let faults: Vec<_> = clients.iter().map(|client| session(client, "fault")).collect();
        let controls: Vec<_> = clients.iter().map(|client| session(client, "control")).collect();
        faults.iter().for_each(|session| session.connect(&url, row.timeout));
        controls.iter().for_each(|session| session.connect(plain, PATIENCE));
        // Connecting is the heavy part: one row at a time, and no request before all are done. A timeout that ran
        // meanwhile would measure the machine.
        faults.iter().chain(&controls).for_each(Session::wait_until_connected);
        Self { row, faulty, faults, controls }
    }

    /// Returns the cells with the fault.
    fn play(self) -> Vec<String> {
        let (cells, controls): (Vec<String>, Vec<String>) = thread::scope(|scope| {
            let faults: Vec<_> = self.faults.iter().map(|it| scope.spawn(|| it.play())).collect();
            let controls: Vec<_> = self.controls.iter().map(|it| scope.spawn(|| it.control())).collect();
            let pairs = faults.into_iter().zip(controls);
            pairs.map(|(fault, control)| (fault.join().unwrap(), control.join().unwrap())).unzip()
        });
        assert_eq!(controls, vec!["ok"; controls.len()], "without the profile: {}", self.row.what);
        if let Some(faulty) = self.faulty {
            let run = faulty.finish();
            run.assert_exit(0);
            assert_eq!(run.firings(), cells.len(), "{}: once in each session\n{}", self.row.what, run.verdict);
        }
        cells
    }
}
