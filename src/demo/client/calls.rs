//! The client's requests that have no answer yet, and which of them a question is taken to belong to.
//!
//! Ids are numbers from 0 on, in the order of sending. The rule it keeps: a request is settled once.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::sync::oneshot;

use super::{Attribution, Carrier, Failure};

/// The open requests.
#[derive(Debug, Default)]
pub(super) struct Calls {
    next: u64,
    open: BTreeMap<u64, Open>,
}

/// An open request.
#[derive(Debug)]
struct Open {
    settle: oneshot::Sender<Result<Value, Failure>>,
    /// For a tool call, its argument `tag`: how a question's answer names it.
    tag: Option<String>,
    /// Whether a question has been given to it.
    asked: bool,
}

impl Calls {
    /// Enters a request: its id, and where its outcome comes.
    pub(super) fn enter(&mut self, method: &str, params: &Value) -> (u64, oneshot::Receiver<Result<Value, Failure>>) {
        let (settle, outcome) = oneshot::channel();
        let tag = params["arguments"]["tag"].as_str().unwrap_or_default().to_owned();
        let tag = (method == "tools/call").then_some(tag);
        let id = self.next;
        self.next += 1;
        self.open.insert(id, Open { settle, tag, asked: false });
        (id, outcome)
    }

    /// Settles a request; one that is settled already, or unknown, is left alone.
    pub(super) fn settle(&mut self, id: u64, outcome: Result<Value, Failure>) {
        if let Some(open) = self.open.remove(&id) {
            let _ = open.settle.send(outcome);
        }
    }

    /// The tag of the tool call that a question is taken to belong to.
    pub(super) fn owner(&mut self, attribution: Attribution, carrier: Carrier) -> Option<String> {
        let open = match (attribution, carrier) {
            (Attribution::ByStream, Carrier::Call(id)) => self.open.get_mut(&id),
            (Attribution::ByStream, Carrier::Get) => None,
            (Attribution::ByArrival, _) => self.open.values_mut().find(|open| open.tag.is_some() && !open.asked),
        }?;
        open.asked = true;
        open.tag.clone()
    }
}

/// What an answer amounts to.
pub(super) fn outcome(answer: &Value) -> Result<Value, Failure> {
    if let Some(result) = answer.get("result") {
        return Ok(result.clone());
    }
    let error = answer.get("error").ok_or(Failure::NotJsonRpc)?;
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    Err(Failure::Error { code: error["code"].as_i64().unwrap_or_default(), message })
}
