//! What the proxy's journal saw of one cell, which it knows by the path.

use serde_json::Value;

use crate::harness::Run;

/// Requests of one cell, by kind.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Seen {
    gets: Vec<Exchange>,
    resumes: Vec<Exchange>,
    initializes: usize,
}

/// When a request arrived and when its answer had ended towards the client, if it has, in microseconds.
#[derive(PartialEq, Debug)]
struct Exchange {
    arrived: u64,
    ended: Option<u64>,
}

impl Seen {
    /// What `run` saw under `slug`.
    pub(crate) fn of(run: &Run, slug: &str) -> Self {
        let end = format!("/{slug}");
        let requests =
            run.points(|it| it["point"] == "request" && it["http"].as_str().is_some_and(|it| it.ends_with(&end)));
        let exchanges = |stream: &str| {
            let of_stream = requests.iter().filter(|request| request["stream"] == stream);
            let mut exchanges: Vec<_> = of_stream.map(|request| Exchange::of(request, run)).collect();
            exchanges.sort_by_key(|exchange| exchange.arrived);
            exchanges
        };
        Self {
            gets: exchanges("get"),
            resumes: exchanges("resume"),
            initializes: requests.iter().filter(|request| request["rpc"][0]["method"] == "initialize").count(),
        }
    }

    /// Whether a stream was resumed.
    pub(crate) fn resumed(&self) -> bool {
        !self.resumes.is_empty()
    }

    /// Whether the client opened a second session.
    pub(crate) fn restarted(&self) -> bool {
        self.initializes > 1
    }

    /// The standalone GETs, in words.
    pub(crate) fn gets(&self) -> String {
        often(&self.gets, "GET")
    }

    /// The standalone GETs, in words, where there was more than the one that belongs to a session.
    pub(crate) fn more_gets(&self) -> Option<String> {
        (self.gets.len() > 1).then(|| self.gets())
    }

    /// The resumes, in words; none where there was none, and where `outcome` says as much.
    pub(crate) fn resumes(&self, outcome: &str) -> Option<String> {
        (self.resumes.len() > usize::from(outcome == "resumed")).then(|| often(&self.resumes, "resume"))
    }
}

impl Exchange {
    fn of(request: &Value, run: &Run) -> Self {
        let exchange = |point: &Value| point["key"].as_str().unwrap().rsplit_once('/').unwrap().0.to_owned();
        let key = exchange(request);
        let end = run.points(|point| point["point"] == "end" && exchange(point) == key);
        Self { arrived: request["arrived"].as_u64().unwrap(), ended: end.first().and_then(|end| end["left"].as_u64()) }
    }
}

/// Half of the shortest pause that any client makes before it reconnects, in microseconds. A timer is never early, so
/// that a client with a pause cannot fall below it; one without falls far below.
const HALF_A_PAUSE: u64 = 500_000;

/// Clients that give up do so after two tries, so that from the third on nobody has given up.
fn often(exchanges: &[Exchange], what: &str) -> String {
    let hasty = |pair: &&[Exchange]| pair[0].ended.is_some_and(|ended| pair[1].arrived < ended + HALF_A_PAUSE);
    let hasty = exchanges.windows(2).filter(hasty).count();
    match exchanges.len() {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        2 => format!("2 {what}s"),
        _ if hasty < 2 => format!("{what} repeated"),
        _ => format!("{what} storm"),
    }
}
