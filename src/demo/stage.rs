//! The stage: plays a scene in this process, with nothing or with the real proxy between its peers.
//!
//! It decides nothing about the scene and simulates nothing: a profile is loaded and run as `mishap run` does it. The
//! rule it keeps: a take in which no rule had an effect is none, whatever its outcome.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::scene::{Make, Outcome, Scene};
use super::server::Server;
use crate::engine::engine::{Engine, Setup};
use crate::engine::record::{Entry, Summary};
use crate::profile::{self, Use};
use crate::proxy::{Clock, Config, HostPolicy, Proxy, Stop};

/// Who plays, and what stands between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    /// The faulty peers, nothing between them.
    Direct,
    /// The faulty peers, the scene's profile between them.
    Profile,
    /// The fixed peers, the scene's profile between them.
    Fixed,
}

/// A scene that was played.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// Who played.
    pub cast: Cast,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
    /// Whether each rule of the profile had an effect; true where there was no profile.
    pub effective: bool,
    /// What the proxy recorded.
    pub entries: Vec<Entry>,
}

/// Why a scene could not be played.
#[derive(Debug)]
pub struct Unplayed(String);

// === Cast ===

impl Cast {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Direct, Self::Profile, Self::Fixed];

    /// Whether the scene passes.
    #[must_use]
    pub fn passes(self) -> bool {
        match self {
            Self::Direct | Self::Fixed => true,
            Self::Profile => false,
        }
    }

    fn make(self) -> Make {
        match self {
            Self::Direct | Self::Profile => Make::Faulty,
            Self::Fixed => Make::Fixed,
        }
    }
}

// === Take ===

impl Take {
    /// Whether it came out as promised.
    #[must_use]
    pub fn as_promised(&self) -> bool {
        self.effective && self.outcome.passed == self.cast.passes()
    }
}

/// Plays a scene. Needs a tokio runtime with time and IO; one thread is enough, and keeps the peers' order best.
///
/// # Errors
///
/// When loopback cannot be listened on, or a session cannot be opened.
pub async fn play(scene: Scene, cast: Cast) -> Result<Take, Unplayed> {
    let server = Server::bind(cast.make().server()).await.map_err(|error| unplayed("server", &error))?;
    let began = Instant::now();
    let (outcome, effective, entries) = match cast {
        Cast::Direct => (act(scene, &server.url(), cast).await?, true, Vec::new()),
        Cast::Profile | Cast::Fixed => behind_proxy(scene, &server.url(), cast).await?,
    };
    Ok(Take { cast, outcome, took: began.elapsed(), effective, entries })
}

async fn act(scene: Scene, url: &str, cast: Cast) -> Result<Outcome, Unplayed> {
    scene.act(url, cast.make()).await.map_err(|failure| unplayed("client", &failure))
}

async fn behind_proxy(scene: Scene, server: &str, cast: Cast) -> Result<(Outcome, bool, Vec<Entry>), Unplayed> {
    let records: Arc<Mutex<Vec<Entry>>> = Arc::default();
    let proxy = Proxy::bind(config(scene, server, Arc::clone(&records))?).await;
    let proxy = proxy.map_err(|error| unplayed("proxy", &error))?;
    let url = proxy.url();
    let (stop, stopped) = oneshot::channel();
    let acting = async {
        let outcome = act(scene, &url, cast).await;
        drop(stop);
        outcome
    };
    let (summary, outcome) = tokio::join!(proxy.serve(async { stopped.await.unwrap_or(Stop::Asked) }), acting);
    let entries = std::mem::take(&mut *records.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((outcome?, all_effective(&summary), entries))
}

fn config(scene: Scene, server: &str, records: Arc<Mutex<Vec<Entry>>>) -> Result<Config, Unplayed> {
    let loaded = profile::load(&[Use::plain(scene.profile())])
        .map_err(|problems| Unplayed(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    let setup = Setup { rules: loaded.rules, record: true, ..Setup::default() };
    Ok(Config {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        upstream: server.parse().map_err(|error| unplayed("proxy", &error))?,
        others: Vec::new(),
        engine: Engine::new(setup),
        records: Box::new(move |entry| records.lock().unwrap_or_else(PoisonError::into_inner).push(entry)),
        host: HostPolicy::Map,
        public_hosts: Vec::new(),
        clock: Clock::system().map_err(|error| unplayed("clock", &error))?,
    })
}

fn all_effective(summary: &Summary) -> bool {
    !summary.rules.is_empty() && summary.rules.iter().all(|rule| rule.effective > 0 || rule.optional)
}

// === Unplayed ===

fn unplayed(part: &str, why: &dyn fmt::Display) -> Unplayed {
    Unplayed(format!("the demo's {part}: {why}"))
}

impl fmt::Display for Unplayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unplayed {}
