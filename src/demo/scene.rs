//! The scenes: for each founding bug the peers, what their application does, and what passes.
//!
//! A scene knows no proxy: it is acted against a URL, whatever stands behind that, so that `mishap demo` in one process
//! and `mishap demo serve` with `mishap demo client` in two act the same. The rule they keep: what must be ordered is
//! ordered by facts. So a scene passes each time without a fault, and fails each time with its profile.

use clap::ValueEnum;
use serde_json::{Value, json};
use std::time::Duration;

use super::client::{self, Attribution, Client, Failure, OnStreamEnd};
use super::server::{self, Routing};

/// Longer than what is expected to be lost may take, shorter than a reader's patience.
const SOON: Duration = Duration::from_secs(1);

/// A founding bug, to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scene {
    /// A tool asks before the client's GET stream is open.
    GetLate,
    /// A call's stream ends without the answer.
    LostStream,
    /// Two calls ask, and the questions come in the other order.
    Crossed,
}

/// Which of the two peers that differ in one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Make {
    /// As today's SDKs do it.
    Faulty,
    /// As it should be.
    Fixed,
}

/// What became of a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the application got what it may expect.
    pub passed: bool,
    /// What it saw.
    pub saw: String,
}

// === Scene ===

impl Scene {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::GetLate, Self::LostStream, Self::Crossed];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GetLate => "get-late",
            Self::LostStream => "lost-stream",
            Self::Crossed => "crossed",
        }
    }

    /// The bug in one line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::GetLate => "a question asked before the GET is open is lost",
            Self::LostStream => "a call whose stream ends unanswered hangs",
            Self::Crossed => "two calls that ask get each other's answers",
        }
    }

    /// Where it was reported.
    #[must_use]
    pub fn report(self) -> &'static str {
        match self {
            Self::GetLate => "modelcontextprotocol/conformance#407",
            Self::LostStream => "modelcontextprotocol/typescript-sdk#2739",
            Self::Crossed => "modelcontextprotocol/typescript-sdk#2659",
        }
    }

    /// The profile that makes it happen.
    #[must_use]
    pub fn profile(self) -> &'static str {
        match self {
            Self::GetLate => "get-opens-late",
            Self::LostStream => "post-stream-lost",
            Self::Crossed => "answers-cross",
        }
    }

    /// What the fixed peer does otherwise: the one argument.
    #[must_use]
    pub fn fix(self) -> &'static str {
        match self {
            Self::GetLate => "the server asks on the stream of the call, not on the GET",
            Self::LostStream => "the client fails a request when its stream has ended",
            Self::Crossed => "the client tells the calls apart by the stream, not by the order",
        }
    }

    /// The client of the scene.
    #[must_use]
    pub fn client(self, make: Make) -> client::Options {
        let mut options = client::Options::default();
        match (self, make) {
            (Self::LostStream, _) => options.timeout = SOON,
            // The server gives up first, and its tool says so.
            (Self::GetLate | Self::Crossed, _) => options.timeout = 5 * SOON,
        }
        match (self, make) {
            (Self::LostStream, Make::Fixed) => options.on_stream_end = OnStreamEnd::Fail,
            (Self::Crossed, Make::Fixed) => options.attribution = Attribution::ByStream,
            (Self::GetLate, _) | (_, Make::Faulty) => {}
        }
        options
    }

    /// Connects to the server at `url`, does what the scene is about, and closes.
    ///
    /// # Errors
    ///
    /// When the session cannot be opened: then there was no scene.
    pub async fn act(self, url: &str, make: Make) -> Result<Outcome, Failure> {
        let client = Client::connect(url, self.client(make)).await?;
        let outcome = match self {
            Self::GetLate => get_late(&client).await,
            Self::LostStream => lost_stream(&client).await,
            Self::Crossed => crossed(&client).await,
        };
        // The scene is over; whether the goodbye gets through is not part of it.
        let _ = client.close().await;
        Ok(outcome)
    }
}

/// One call that asks. The GET leaves before the call; the tool asks after one more round trip, a ping sent when the
/// answer's head is here. So the GET is open by then, unless something holds it back until the call has ended.
async fn get_late(client: &Client) -> Outcome {
    let mut call = client.call("ask", &json!({ "tag": "A", "wait": true }));
    call.started().await;
    if let Err(failure) = client.request("ping", &json!({})).answer().await {
        return Outcome::failed(format!("ping: {failure}"));
    }
    match text(call.answer().await) {
        Ok(_) => Outcome::passed("the question was answered"),
        Err(why) => Outcome::failed(why),
    }
}

/// One plain call. Its stream can end without the answer; then a client may not know it, but it can be told.
async fn lost_stream(client: &Client) -> Outcome {
    match client.call("echo", &json!({ "text": "hello" })).answer().await {
        Err(failure @ (Failure::StreamEnded | Failure::StreamBroke(_))) => Outcome::passed(format!("told: {failure}")),
        other => match text(other) {
            Ok(_) => Outcome::passed("answered"),
            Err(why) => Outcome::failed(why),
        },
    }
}

/// Two calls at once that ask. The second leaves when the head of the first's answer is here: then the first's tool
/// has asked already, and without a fault the questions come in the order of the calls.
async fn crossed(client: &Client) -> Outcome {
    let ask = |tag| client.call("ask", &json!({ "tag": tag, "related": true }));
    let mut first = ask("A");
    first.started().await;
    let second = ask("B");
    let (first, second) = tokio::join!(first.answer(), second.answer());
    match (text(first).as_deref(), text(second).as_deref()) {
        (Ok("A"), Ok("B")) => Outcome::passed("each call got its own answer"),
        (Ok(first), Ok(second)) => Outcome::failed(format!("call A got the answer for {first}, B that for {second}")),
        (Err(why), _) | (_, Err(why)) => Outcome::failed(why),
    }
}

/// The text of a tool's result; its error, or why there is none.
fn text(answer: Result<Value, Failure>) -> Result<String, String> {
    let result = answer.map_err(|failure| failure.to_string())?;
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    if result["isError"] == true { Err(text) } else { Ok(text) }
}

// === Make ===

impl Make {
    /// The server of this make, for every scene: its one flaw is where it asks.
    #[must_use]
    pub fn server(self) -> server::Options {
        let routing = match self {
            Self::Faulty => Routing::Unrelated,
            Self::Fixed => Routing::Related,
        };
        server::Options { routing, timeout: SOON, ..server::Options::default() }
    }
}

// === Outcome ===

impl Outcome {
    fn passed(saw: impl Into<String>) -> Self {
        Self { passed: true, saw: saw.into() }
    }

    fn failed(saw: impl Into<String>) -> Self {
        Self { passed: false, saw: saw.into() }
    }
}
