//! The demo's MCP client: calls in parallel, answers the server's questions, opens the GET without waiting for it.
//!
//! It does what today's SDKs do, and no more: no resume, no second GET, a connection for each request. The rule it
//! keeps: how it behaves where SDKs differ is one argument each ([`OnStreamEnd`], [`Attribution`]); the path is one.

mod calls;
mod events;
mod failure;
mod http;
mod questions;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::PROTOCOL;
use calls::Calls;
pub use failure::Failure;
use http::{Endpoint, Reply};

/// What becomes of a request whose answer's stream ends without the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnStreamEnd {
    /// It stays pending until its timeout: every TypeScript client (typescript-sdk#2739).
    KeepWaiting,
    /// It fails at once: the fixed way.
    Fail,
}

/// How the client decides which of its calls a server's question belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// The first question to the first call, and so on: all that a handler can do that is not told
    /// (typescript-sdk#2659).
    ByArrival,
    /// To the call on whose stream it came: the fixed way.
    ByStream,
}

/// How a client is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long a request may take.
    pub timeout: Duration,
    /// What becomes of a request whose stream ends.
    pub on_stream_end: OnStreamEnd,
    /// Whose a question is.
    pub attribution: Attribution,
}

impl Default for Options {
    /// Five seconds, and the faulty way of both.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            on_stream_end: OnStreamEnd::KeepWaiting,
            attribution: Attribution::ByArrival,
        }
    }
}

/// A connected client; dropping it closes all its connections and says nothing to the server.
#[derive(Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

/// A request under way.
#[derive(Debug)]
pub struct Call {
    inner: Arc<Inner>,
    id: u64,
    deadline: Instant,
    started: Option<oneshot::Receiver<()>>,
    answer: oneshot::Receiver<Result<Value, Failure>>,
}

/// What the client's tasks share.
#[derive(Debug)]
struct Inner {
    endpoint: Endpoint,
    options: Options,
    session: OnceLock<http::Session>,
    calls: Mutex<Calls>,
    /// What reads streams: it ends with the client.
    reading: Mutex<JoinSet<()>>,
    /// What only sends: a goodbye waits for it.
    sending: Mutex<JoinSet<()>>,
}

/// What brought a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// The answer to this request.
    Call(u64),
    /// The standalone GET stream.
    Get,
}

// === Client ===

impl Client {
    /// Connects to the endpoint and opens a session. The standalone GET is sent, and not waited for.
    ///
    /// # Errors
    ///
    /// When the URL is none, or `initialize` or `notifications/initialized` fails.
    pub async fn connect(url: &str, options: Options) -> Result<Self, Failure> {
        let inner = Arc::new(Inner {
            endpoint: Endpoint::parse(url)?,
            options,
            session: OnceLock::new(),
            calls: Mutex::default(),
            reading: Mutex::default(),
            sending: Mutex::default(),
        });
        let client = Self { inner };
        client.initialize().await?;
        spawn(&client.inner.reading, Arc::clone(&client.inner).listen());
        Ok(client)
    }

    async fn initialize(&self) -> Result<(), Failure> {
        let params = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": { "elicitation": {}, "sampling": {}, "roots": {} },
            "clientInfo": { "name": "mishap-demo-client", "version": env!("CARGO_PKG_VERSION") },
        });
        self.request("initialize", &params).answer().await?;
        self.inner.notify("notifications/initialized", None).await
    }

    /// Starts a request. It is under way when this returns, whether or not the call is awaited.
    pub fn request(&self, method: &str, params: &Value) -> Call {
        let (started, starts) = oneshot::channel();
        let (id, answer) = self.inner.calls().enter(method, params);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        spawn(&self.inner.reading, Arc::clone(&self.inner).carry(id, message, started));
        let deadline = Instant::now() + self.inner.options.timeout;
        Call { inner: Arc::clone(&self.inner), id, deadline, started: Some(starts), answer }
    }

    /// Starts a call of a tool.
    pub fn call(&self, tool: &str, arguments: &Value) -> Call {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Ends the session at the server, after what the client still has to say.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or refuses.
    pub async fn close(self) -> Result<(), Failure> {
        let sending = std::mem::take(&mut *locked(&self.inner.sending));
        let _ = tokio::time::timeout(self.inner.options.timeout, sending.join_all()).await;
        self.inner.endpoint.send(Method::DELETE, self.inner.session.get(), None).await?.accepted().await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        locked(&self.inner.reading).abort_all();
        locked(&self.inner.sending).abort_all();
    }
}

// === Call ===

impl Call {
    /// Waits until the answer's head is here: the server has the request, and works on it.
    ///
    /// # Cancel safety
    ///
    /// May be dropped and called again.
    pub async fn started(&mut self) {
        if let Some(started) = &mut self.started {
            let _ = started.await;
            self.started = None;
        }
    }

    /// Waits for the answer.
    ///
    /// # Errors
    ///
    /// A request that was not answered in time is cancelled at the server and fails; others fail as [`Failure`] says.
    pub async fn answer(mut self) -> Result<Value, Failure> {
        match tokio::time::timeout_at(self.deadline, &mut self.answer).await {
            Ok(answer) => answer.unwrap_or(Err(Failure::Closed)),
            Err(_) => {
                self.inner.calls().settle(self.id, Err(Failure::Closed));
                let params = json!({ "requestId": self.id, "reason": "request timed out" });
                let inner = Arc::clone(&self.inner);
                let cancel = async move { drop(inner.notify("notifications/cancelled", Some(params)).await) };
                spawn(&self.inner.sending, cancel);
                Err(Failure::Timeout(self.inner.options.timeout))
            }
        }
    }
}

// === Inner ===

impl Inner {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        locked(&self.calls)
    }

    /// Sends a message that no answer comes to.
    async fn post(&self, message: Value) -> Result<(), Failure> {
        self.endpoint.send(Method::POST, self.session.get(), Some(message)).await?.accepted().await
    }

    async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), Failure> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.post(message).await
    }

    /// Sends a request and takes in what comes back on its stream.
    async fn carry(self: Arc<Self>, id: u64, message: Value, started: oneshot::Sender<()>) {
        let initialize = message["method"] == "initialize";
        let reply = match self.endpoint.send(Method::POST, self.session.get(), Some(message)).await {
            Ok(reply) => reply,
            Err(failure) => return self.calls().settle(id, Err(failure)),
        };
        if initialize && let Some(session) = reply.session() {
            let _ = self.session.set(session);
        }
        let _ = started.send(());
        let failure = match self.take_in(Carrier::Call(id), reply).await {
            Ok(()) => Failure::StreamEnded,
            Err(failure) => failure,
        };
        match (&failure, self.options.on_stream_end) {
            (Failure::StreamEnded | Failure::StreamBroke(_), OnStreamEnd::KeepWaiting) => {}
            _ => self.calls().settle(id, Err(failure)),
        }
    }

    /// Opens the standalone GET stream and takes in what comes on it. A server may have none (405).
    async fn listen(self: Arc<Self>) {
        if let Ok(reply) = self.endpoint.send(Method::GET, self.session.get(), None).await {
            let _ = self.take_in(Carrier::Get, reply).await;
        }
    }

    async fn take_in(self: &Arc<Self>, carrier: Carrier, mut reply: Reply) -> Result<(), Failure> {
        while let Some(message) = reply.next().await? {
            self.received(carrier, &message);
        }
        Ok(())
    }

    /// Takes an answer wherever it comes from, answers a question, ignores a notification.
    fn received(self: &Arc<Self>, carrier: Carrier, message: &Value) {
        match (message["method"].as_str(), message.get("id")) {
            (None, Some(id)) => {
                if let Some(id) = id.as_u64() {
                    self.calls().settle(id, calls::outcome(message));
                }
            }
            (Some(_), Some(_)) => {
                let owner = self.calls().owner(self.options.attribution, carrier);
                let answer = questions::answer(message, owner.as_deref());
                let inner = Arc::clone(self);
                spawn(&self.sending, async move { drop(inner.post(answer).await) });
            }
            (_, None) => {}
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a task in a set, and forgets those that are done.
fn spawn(tasks: &Mutex<JoinSet<()>>, task: impl Future<Output = ()> + Send + 'static) {
    let mut tasks = locked(tasks);
    while tasks.try_join_next().is_some() {}
    tasks.spawn(task);
}
