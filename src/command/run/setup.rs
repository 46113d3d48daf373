//! What a run's parts are made with: the proxy's configuration, the journal's first line, where the engine's entries go.
//!
//! The one rule: nothing is decided here; the plan is put into the words of the parts.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use super::plan::Plan;
use super::watching::Watching;
use crate::engine::engine::{Engine, Setup};
use crate::engine::expectation::What;
use crate::engine::record::{Entry, PointFate, Summary};
use crate::journal::{Header, ProfileUse, SCHEMA, Shelf, Sink, utc};
use crate::monitor::Watched;
use crate::monitor::expected::judge;
use crate::profile::Scale;
use crate::proxy::{Clock, Config, Records};
use crate::report::verdict::gate_words;

/// Where the engine's entries go: the watcher, the journal, and the log.
#[derive(Debug, Clone, Default)]
pub(super) struct Recorder {
    pub(super) journal: Option<Sink>,
    pub(super) bodies: Option<Shelf>,
    pub(super) watching: Option<Arc<Watching>>,
}

impl Recorder {
    /// Tells the watcher the time whenever it asks for that.
    pub(super) async fn keep_time(&self, clock: &Clock) -> Infallible {
        match &self.watching {
            Some(watching) => watching.keep_time(clock).await,
            None => std::future::pending().await,
        }
    }

    /// The requests for which a client waits, a line each.
    pub(super) fn open_requests(&self, clock: &Clock) -> Vec<String> {
        self.watching.as_ref().map(|watching| watching.open_requests(clock.now())).unwrap_or_default()
    }

    /// What the run came to, after its last entry.
    pub(super) fn finish(&self, clock: &Clock) -> Option<Watched> {
        let (watched, found) = self.watching.as_ref()?.finish(clock.now());
        found.into_iter().for_each(|found| self.record(Entry::Finding(found)));
        Some(watched)
    }

    /// Judges what the profiles expect of the client's requests, now that it is known what became of them.
    pub(super) fn expect(&self, plan: &Plan<'_>, watched: &Watched, summary: &mut Summary) {
        for (expectation, tally) in plan.loaded.expectations.iter().zip(&mut summary.expectations) {
            if let What::Requests(check) = expectation.what {
                judge(watched, check, expectation.within, tally);
                tally.failures.iter().for_each(|failed| self.record(Entry::Expectation(failed.clone())));
            }
        }
    }
}

impl Records for Recorder {
    fn record(&self, entry: Entry) {
        match &entry {
            Entry::Decision(made) if made.fired => tracing::info!(rule = made.rule, key = made.key, "{}", made.what),
            Entry::Gate(gate) => {
                tracing::info!(rule = gate.rule, key = gate.key, held = gate.held, "gate: {}", gate_words(gate));
            }
            Entry::Session(session) => tracing::info!(session = session.session, "session began"),
            Entry::Note(note) => tracing::info!("{}", note.text),
            Entry::Expectation(failed) => tracing::warn!(expectation = failed.name, seen = failed.seen, "not met"),
            Entry::Finding(found) => tracing::info!(monitor = found.monitor, key = found.key, "{}", found.words),
            Entry::Disconnect(gone) => tracing::debug!(conn = gone.conn, ending = gone.ending, "disconnected"),
            Entry::Point(point) => tracing::debug!(key = point.key, bytes = point.bytes, "{}", fate(point.fate)),
            Entry::Decision(made) => tracing::debug!(rule = made.rule, key = made.key, "not fired: {}", made.what),
        }
        let found = self.watching.as_ref().map(|watching| watching.take(&entry)).unwrap_or_default();
        if let Some(journal) = &self.journal {
            journal.record(entry);
        }
        found.into_iter().for_each(|found| self.record(Entry::Finding(found)));
    }

    fn keep(&self, hash: u64, body: &[u8]) {
        if let Some(bodies) = &self.bodies {
            bodies.keep(hash, body);
        }
    }
}

fn fate(fate: PointFate) -> &'static str {
    match fate {
        PointFate::Passed => "passed",
        PointFate::Ended => "ended",
        PointFate::Cut => "cut",
        PointFate::Moved => "moved",
        PointFate::Dropped => "dropped",
        PointFate::Gone => "gone",
        PointFate::Withheld => "withheld",
    }
}

/// What the proxy is made of.
pub(super) fn config(plan: &Plan<'_>, recorder: Recorder, clock: Clock) -> Config {
    let record = recorder.watching.is_some();
    let loaded = &plan.loaded;
    let setup =
        Setup { rules: loaded.rules.clone(), expectations: loaded.expectations.clone(), seed: plan.seed, record };
    let engine = Engine::new(setup).in_front_of(1 + plan.others.len());
    Config {
        listen: plan.args.listen,
        upstream: plan.upstream.clone(),
        others: plan.others.clone(),
        engine: if recorder.bodies.is_some() { engine.keeping_bodies() } else { engine },
        records: Box::new(recorder),
        host: plan.host(),
        public_hosts: plan.args.public_host.clone(),
        clock,
    }
}

/// The journal's first line.
pub(super) fn header(plan: &Plan<'_>, listen: SocketAddr, url: &str) -> Header {
    let profiles = plan.loaded.sources.iter().map(|source| ProfileUse {
        name: source.name.clone(),
        path: source.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
        vars: source.vars.iter().map(|var| (var.name.clone(), var.value.clone())).collect(),
        hash: source.hash.clone(),
    });
    Header {
        schema: SCHEMA,
        mishap: env!("CARGO_PKG_VERSION").to_owned(),
        started: utc(SystemTime::now()),
        seed: plan.seed,
        time_scale: Some(plan.args.time_scale.factor()).filter(|_| plan.args.time_scale != Scale::FULL),
        profiles: profiles.collect(),
        expect: plan.args.expect.clone(),
        listen: listen.to_string(),
        upstream: plan.upstream.to_string(),
        others: plan.others.iter().map(ToString::to_string).collect(),
        command: plan.command(url),
        serve: plan.serve.clone(),
        part: None,
    }
}

/// An address that a client on this machine can connect to: a wildcard is none.
pub(super) fn reachable(bound: SocketAddr) -> SocketAddr {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bound.port())
}
