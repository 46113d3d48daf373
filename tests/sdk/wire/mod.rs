//! What each client makes of each fault on the wire: `TABLE-wire.md`, cell by cell, beside what was measured by hand before
//! there was a proxy, and the same cells without the profile.
//!
//! Row by row all clients connect, and those cells are played that come to an end at once; all that have to wait for
//! something wait together, at the end.

mod get_rows;
mod modern_rows;
mod post_rows;
mod row;
mod table;

use std::collections::BTreeMap;
use std::thread;

use serde_json::json;

use crate::cells::{Ask, Cell, Seen, assert_is_committed};
use crate::harness::{Client, Driver, Mishap, PATIENCE, clients};
use row::{Row, Server, UNEXPLAINED};

#[test]
fn every_client_makes_of_every_fault_what_the_table_says() {
    let clients = clients();
    let servers = [Server::Plain, Server::Resumable, Server::Json, Server::Modern].map(Upstream::start);
    let rows: Vec<&Row> = post_rows::ROWS.iter().chain(get_rows::ROWS).chain(modern_rows::ROWS).collect();
    let mut controls = Controls::default();
    let mut scenes = Vec::new();
    for row in &rows {
        let upstream = servers.iter().find(|it| it.server == row.server).unwrap();
        controls.set(row, upstream, &clients);
        scenes.push(Scene::set(row, upstream, &clients));
    }
    thread::scope(|scope| {
        for cell in scenes.iter().flat_map(|scene| &scene.late).chain(controls.late()) {
            cell.ask();
            scope.spawn(|| cell.end());
        }
    });

    let controls = controls.outcomes(servers);
    let outcomes: Vec<Vec<String>> = scenes.into_iter().map(|scene| scene.outcomes(&clients)).collect();
    let table = table::markdown(&clients, &rows, &outcomes, &controls);
    assert_is_committed("TABLE-wire.md", &table);
    assert!(!table.contains(UNEXPLAINED), "a cell differs from what was measured, and its row does not say why");
}

/// A server, and a proxy without a profile in front of it for the controls.
struct Upstream {
    server: Server,
    driver: Driver,
    transparent: Mishap,
}

impl Upstream {
    fn start(server: Server) -> Self {
        let store = server == Server::Resumable;
        let options = json!({ "store": store, "json": server == Server::Json, "timeout": PATIENCE });
        let driver = Driver::node("server", server.version(), &options);
        let transparent = Mishap::start(&driver.url(), &[]);
        Self { server, driver, transparent }
    }
}

/// One row for all clients, with the fault.
struct Scene<'a> {
    row: &'a Row,
    faulty: Mishap,
    refused: Vec<Cell<'a>>,
    /// Played when the scene was set.
    prompt: Vec<Cell<'a>>,
    late: Vec<Cell<'a>>,
}

impl<'a> Scene<'a> {
    fn set(row: &'a Row, upstream: &Upstream, clients: &'a [Client]) -> Self {
        let url = upstream.driver.url();
        let profiles: Vec<String> = row.profiles.iter().map(|profile| profile.replace("{server}", &url)).collect();
        let profiles: Vec<&str> = profiles.iter().map(String::as_str).collect();
        let faulty = Mishap::start(&url, &profiles);
        let cell = |client| Cell::new(client, &row.slug(), row.ask, row.timeout(&client.name));
        let cells = row.server.speaks_with(clients).map(cell).collect();
        let (connected, refused) = connect(cells, faulty.url(), row.server);
        let (prompt, late): (Vec<_>, Vec<_>) = connected.into_iter().partition(|cell| row.is_prompt(&cell.client.name));
        play(&prompt);
        Self { row, faulty, refused, prompt, late }
    }

    /// In the order of `clients`.
    fn outcomes(self, clients: &[Client]) -> Vec<String> {
        let Self { row, faulty, refused, prompt, late } = self;
        let run = faulty.finish();
        run.assert_exit(0);
        let fired = run.firings();
        let cells = refused.len() + prompt.len() + late.len();
        assert!(fired >= cells, "{}: {fired} times, not once for each\n{}", row.what, run.verdict);
        let refused = refused.iter().map(|cell| (cell, "refused".to_owned()));
        let played = prompt.iter().chain(&late).map(|cell| (cell, cell.outcome(&Seen::of(&run, &cell.slug))));
        let outcomes = refused.chain(played).map(|(cell, outcome)| (&*cell.client.name, outcome));
        let outcomes: BTreeMap<&str, String> = outcomes.collect();
        row.server.speaks_with(clients).map(|client| outcomes[&*client.name].clone()).collect()
    }
}

/// The same without a profile: once for each server and each thing to ask.
#[derive(Default)]
struct Controls<'a> {
    cells: BTreeMap<(Server, Ask), Vec<Cell<'a>>>,
}

/// What the controls came to, client by client.
type Outcomes = BTreeMap<(Server, Ask), Vec<String>>;

impl<'a> Controls<'a> {
    fn set(&mut self, row: &Row, upstream: &Upstream, clients: &'a [Client]) {
        self.cells.entry((row.server, row.ask)).or_insert_with(|| {
            let situation = format!("{:?}/{:?}", row.server, row.ask).replace(['(', ')'], "-");
            let cell = |client| Cell::new(client, &situation, row.ask, PATIENCE);
            let cells = row.server.speaks_with(clients).map(cell).collect();
            let (connected, refused) = connect(cells, upstream.transparent.url(), row.server);
            assert!(refused.is_empty(), "{situation} without a profile");
            if row.ask != Ask::Meanwhile {
                play(&connected);
            }
            connected
        });
    }

    fn late(&self) -> impl Iterator<Item = &Cell<'a>> {
        self.cells.iter().filter(|((_, ask), _)| *ask == Ask::Meanwhile).flat_map(|(_, cells)| cells)
    }

    fn outcomes(self, upstreams: impl IntoIterator<Item = Upstream>) -> Outcomes {
        let mut outcomes = Outcomes::new();
        for upstream in upstreams {
            let run = upstream.transparent.finish();
            run.assert_exit(0);
            for (situation, cells) in self.cells.iter().filter(|((server, _), _)| *server == upstream.server) {
                let outcome = |cell: &Cell| cell.outcome(&Seen::of(&run, &cell.slug));
                outcomes.insert(*situation, cells.iter().map(outcome).collect());
            }
        }
        outcomes
    }
}

/// Connects all; those that came to a session, and those that did not.
fn connect<'a>(cells: Vec<Cell<'a>>, url: &str, server: Server) -> (Vec<Cell<'a>>, Vec<Cell<'a>>) {
    cells.iter().for_each(|cell| cell.connect(url, server == Server::Modern, PATIENCE));
    cells.into_iter().partition(Cell::connected)
}

fn play(cells: &[Cell]) {
    cells.iter().for_each(Cell::ask);
    cells.iter().for_each(Cell::end);
}
