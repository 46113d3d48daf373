//! One MCP session of the server: its GET stream, the requests it is working on, the questions it has asked.
//!
//! It knows no HTTP. The rule it keeps: a question is written to exactly one stream, and when that is not open the
//! question is dropped without a word, while whoever asked waits for its time to be over.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use super::events::Events;
use super::note::Note;
use super::{Options, Routing};

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    options: Options,
    capabilities: Value,
    pings: watch::Sender<u64>,
    inner: Mutex<Inner>,
}

/// What changes.
#[derive(Debug, Default)]
struct Inner {
    get: Option<Events>,
    next_question: u64,
    questions: HashMap<u64, oneshot::Sender<Value>>,
    working: HashMap<String, AbortHandle>,
}

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The client did not say in `initialize` that it can answer such a question.
    NotSupported(&'static str),
    /// Nothing came within this time.
    Timeout(&'static str, Duration),
    /// The client answered with this error.
    Refused(String),
}

// === Session ===

impl Session {
    pub(super) fn new(options: Options, capabilities: Value) -> Self {
        Self { options, capabilities, pings: watch::Sender::new(0), inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn routing(&self) -> Routing {
        self.options.routing
    }

    /// Tells what happened to whoever listens.
    pub(super) fn note(&self, note: Note) {
        if let Some(notes) = &self.options.notes {
            let _ = notes.send(note);
        }
    }

    /// Makes this the session's GET stream, unless another is open; whether it did.
    pub(super) fn open_get(&self, events: Events) -> bool {
        let mut inner = self.inner();
        if inner.get.as_ref().is_some_and(Events::is_open) {
            return false;
        }
        inner.get = Some(events);
        true
    }

    /// Works on a request of the client until it is done, cancelled or the session ends.
    pub(super) fn work(self: &Arc<Self>, id: &Value, work: impl Future<Output = ()> + Send + 'static) {
        let (session, key) = (Arc::clone(self), id.to_string());
        let mut inner = self.inner(); // held while spawning, so that quick work is not removed before it is entered
        let task = tokio::spawn(async move {
            work.await;
            session.inner().working.remove(&key);
        });
        inner.working.insert(id.to_string(), task.abort_handle());
    }

    /// Stops the work on a request; its stream ends without an answer.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(task) = self.inner().working.remove(&id.to_string()) {
            task.abort();
            self.note(Note::Cancelled);
        }
    }

    /// Ends every stream.
    pub(super) fn close(&self) {
        let mut inner = self.inner();
        inner.get = None;
        inner.working.drain().for_each(|(_, task)| task.abort());
    }

    /// The client has pinged.
    pub(super) fn ping(&self) {
        self.pings.send_modify(|count| *count += 1);
    }

    /// What turns true with the next ping, counted from now.
    pub(super) fn next_ping(&self) -> watch::Receiver<u64> {
        self.pings.subscribe()
    }

    /// Takes the client's answer to a question. One that nobody waits for is ignored, as the specification asks.
    pub(super) fn answered(&self, message: Value) {
        let id = message.get("id").and_then(Value::as_u64);
        if let Some(waiting) = id.and_then(|id| self.inner().questions.remove(&id)) {
            let _ = waiting.send(message);
        }
    }

    /// Asks the client and waits for its result.
    ///
    /// `call` is the stream of the call that asks; `routing` says whether the question rides it.
    pub(super) async fn ask(
        &self,
        call: &Events,
        routing: Routing,
        capability: &'static str,
        method: &'static str,
        params: Value,
    ) -> Result<Value, Unanswered> {
        if self.capabilities.get(capability).is_none() {
            return Err(Unanswered::NotSupported(capability));
        }
        let (id, answer) = self.enter_question();
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let sent = self.send(call, routing, &question);
        self.note(match routing {
            _ if !sent => Note::Dropped(method),
            Routing::Related => Note::AskedOnCall(method),
            Routing::Unrelated => Note::AskedOnGet(method),
        });
        let Ok(Ok(message)) = tokio::time::timeout(self.options.timeout, answer).await else {
            self.give_up(call, routing, id);
            self.note(Note::Unanswered(method, self.options.timeout));
            return Err(Unanswered::Timeout(method, self.options.timeout));
        };
        message.get("result").cloned().ok_or_else(|| Unanswered::Refused(message["error"]["message"].to_string()))
    }

    fn enter_question(&self) -> (u64, oneshot::Receiver<Value>) {
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.inner();
        let id = inner.next_question;
        inner.next_question += 1;
        inner.questions.insert(id, sender);
        (id, receiver)
    }

    fn give_up(&self, call: &Events, routing: Routing, id: u64) {
        self.inner().questions.remove(&id);
        let params = json!({ "requestId": id, "reason": "request timed out" });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.send(call, routing, &cancel);
    }

    /// Writes to the one stream the message belongs on; whether that was open.
    fn send(&self, call: &Events, routing: Routing, message: &Value) -> bool {
        match routing {
            Routing::Related => call.send(message),
            Routing::Unrelated => self.inner().get.as_ref().is_some_and(|get| get.send(message)),
        }
    }
}

// === Unanswered ===

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSupported(capability) => write!(f, "the client did not declare the capability {capability}"),
            Self::Timeout(method, after) => write!(f, "no answer to {method} in {} ms", after.as_millis()),
            Self::Refused(message) => write!(f, "the client refused: {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Session;
    use crate::demo::server::{Options, events};

    /// A client that lost its GET may open another at once; a server that kept the slot would refuse it for good.
    #[test]
    fn a_get_whose_client_has_left_makes_room_for_the_next() {
        let session = Session::new(Options::default(), json!({}));
        let (first, first_body) = events::channel();
        let (second, _second_body) = events::channel();
        assert!(session.open_get(first));
        assert!(!session.open_get(second.clone()));
        drop(first_body);
        assert!(session.open_get(second));
    }
}
