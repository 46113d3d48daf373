//! What a row is.

use crate::cells::{Ask, WINDOW};
use crate::harness::{Client, PATIENCE};

/// A row.
pub(super) struct Row {
    /// What the client gets.
    pub(super) what: &'static str,
    /// The profiles that do it, as after `-p`; `{server}` is the server's own URL.
    pub(super) profiles: &'static [&'static str],
    pub(super) server: Server,
    pub(super) ask: Ask,
    /// What was measured by hand, as the parts that a cell has to have; empty where nothing was. In the order of
    /// [`MEASURED`].
    pub(super) measured: [&'static str; 5],
    /// Where a cell is expected to differ from that.
    pub(super) differs: &'static [Differs],
}

/// A cell that is another than what was measured.
pub(super) struct Differs {
    /// The clients, by the beginning of their names.
    pub(super) who: &'static str,
    /// The parts that the cell has instead.
    pub(super) cell: &'static str,
    /// The reason.
    pub(super) because: &'static str,
}

/// The server of a row: sdk 1.32.2, where nothing else is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Server {
    /// Without an event store: no event has an id.
    Plain,
    /// With an event store.
    Resumable,
    /// It answers calls with one JSON body.
    Json,
    /// 2.4.0, asked in the era of 2026-07-28.
    Modern,
}

impl Server {
    pub(super) fn version(self) -> &'static str {
        if self == Self::Modern { "2.4.0" } else { "1.32.2" }
    }

    /// The clients that it is shown to, in the order of the columns.
    pub(super) fn speaks_with(self, clients: &[Client]) -> impl Iterator<Item = &Client> {
        let modern = ["client 2.4.0", "python 2.3.0", "rmcp 3.11.0"];
        clients.iter().filter(move |client| self != Self::Modern || modern.contains(&&*client.name))
    }
}

/// The clients that were measured by hand, by the beginning of their names here: one version of each.
pub(super) const MEASURED: [&str; 5] = ["sdk 1.", "client 2.", "python 1.", "python 2.", "rmcp"];

/// What the table says of a difference that no row explains.
pub(super) const UNEXPLAINED: &str = "Not explained.";

impl Row {
    /// Its name as a part of a path.
    pub(super) fn slug(&self) -> String {
        let fits = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        format!("{:?} {}", self.server, self.what).chars().map(fits).collect()
    }

    /// How long this client waits for its request: as long as it may take, unless it is expected to be lost.
    pub(super) fn timeout(&self, client: &str) -> u64 {
        if self.expected(client).starts_with("waited") { WINDOW } else { PATIENCE }
    }

    /// Whether this cell is expected to come to its end at once.
    pub(super) fn is_prompt(&self, client: &str) -> bool {
        let expected = self.expected(client);
        self.ask != Ask::Meanwhile && !expected.starts_with("waited") && !expected.contains("resume")
    }

    fn expected(&self, client: &str) -> &'static str {
        self.differs(client).map_or_else(|| self.measured(client), |differs| differs.cell)
    }

    /// Why `cell` is another than what was measured; none if it is the same.
    pub(super) fn difference(&self, client: &str, cell: &str) -> Option<&'static str> {
        if has(cell, self.measured(client)) {
            return None;
        }
        let differs = self.differs(client).filter(|differs| has(cell, differs.cell));
        Some(differs.map_or(UNEXPLAINED, |differs| differs.because))
    }

    /// What was measured for the client of that name; empty if nothing.
    fn measured(&self, client: &str) -> &'static str {
        let place = MEASURED.iter().position(|it| client.starts_with(it)).unwrap();
        self.measured[place]
    }

    fn differs(&self, client: &str) -> Option<&'static Differs> {
        self.differs.iter().find(|differs| client.starts_with(differs.who))
    }
}

/// Whether a cell has all these parts.
fn has(cell: &str, parts: &str) -> bool {
    let mut parts = parts.split(", ");
    parts.all(|said| cell.split(", ").any(|part| part.contains(said)))
}
