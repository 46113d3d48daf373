//! What the engine does for a made answer: the exchange goes on as if the server had sent it, and of the server's own
//! answer, if there is one, nobody gets a byte.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Content, Respond};
use crate::engine::engine::Engine;
use crate::engine::event::{AnswerHead, Ending, ExchangeId, Moment, Source};
use crate::engine::exchange::{ClientLeg, ServerLeg};
use crate::engine::fault::Fault;
use crate::engine::record::PointFate;
use crate::engine::rpc::Kind;
use crate::engine::sse::{Block, BlockKind};
use crate::engine::unit::{LaneId, Point};

impl Engine {
    /// Answers in the server's place, unless a head has left or the client's leg is over.
    pub(in crate::engine) fn answer(&mut self, now: Moment, id: ExchangeId, rule: usize, point: &Point) {
        let plan = Arc::clone(&self.plan);
        let Fault::Respond(respond) = &plan.rules[rule].rule.fault else { return };
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if exchange.client != ClientLeg::Open || exchange.head_left || exchange.is_answered() {
            return;
        }
        let kept = exchange.kept.is_some();
        exchange.answered_by = Some(rule);
        self.disarm_cuts(id);
        self.serve_no_more(id);
        self.judge_answer(now, id, rule, respond, point);
        self.log_firing(now, rule, point);
        for lane in [LaneId::Up(id), LaneId::Down(id)] {
            self.discard_all(now, lane, PointFate::Cut);
        }
        match self.exchanges.get(&id).map(|exchange| exchange.server) {
            // Whatever the server still says, nobody gets it.
            Some(ServerLeg::Open) => self.end_server(id, respond.fate_of_server(kept)),
            Some(ServerLeg::Idle) => {
                let seq = self.next_seq();
                self.server_ended(now, id, seq);
            }
            _ => {}
        }
        let body = self.made_body(respond, point);
        let head = self.made_head(respond, &body);
        let made = self.make_head(now, id, rule, head);
        self.put(now, made);
        self.put_body(now, id, rule, respond, body);
        let made = self.make_end(now, id, rule, respond.ending);
        self.put(now, made);
    }

    /// A made answer is seen; only not as a stall where it has no body, and so ends with its head.
    fn judge_answer(&mut self, now: Moment, id: ExchangeId, rule: usize, respond: &Respond, point: &Point) {
        let head_only = self.exchanges.get(&id).is_some_and(|exchange| exchange.request.method == "HEAD");
        if respond.ending == Ending::Stall && (head_only || matches!(respond.status, 204 | 304)) {
            let name = &self.plan.rules[rule].name;
            let what = format!("the answer that \"{name}\" made has no body, and ended with its head: no stall");
            let key = self.key_of(id);
            self.remark(now, key, what);
        } else {
            // Whatever becomes of the answer: the server did not get the request, or its own answer goes nowhere.
            self.effective_once(rule, point.seq);
        }
    }

    fn put_body(&mut self, now: Moment, id: ExchangeId, rule: usize, respond: &Respond, body: Bytes) {
        if body.is_empty() || self.exchanges.get(&id).is_none_or(|exchange| exchange.is_bodyless()) {
            return;
        }
        if matches!(respond.content, Content::Events(_)) {
            for made in self.make_blocks(now, id, rule, &body) {
                self.put(now, made);
            }
        } else {
            let block = Block { kind: BlockKind::Message, id: None, data: Some(body.clone()), bytes: body };
            let made = self.make_block(now, id, rule, block);
            self.put(now, made);
        }
    }

    fn made_body(&self, respond: &Respond, point: &Point) -> Bytes {
        let rpc = |member: &str, value: Value| {
            Bytes::from(json!({ "jsonrpc": "2.0", "id": self.request_id(point), member: value }).to_string())
        };
        match &respond.content {
            Content::Empty => Bytes::new(),
            Content::Text(text) => match self.filled(&Value::from(text.as_str()), point) {
                Value::String(text) => text.into(),
                value => value.to_string().into(),
            },
            Content::Json(value) => self.filled(value, point).to_string().into(),
            Content::Result(value) => rpc("result", self.filled(value, point)),
            Content::Error(code, message) => rpc("error", json!({ "code": code, "message": message })),
            Content::Events(events) => {
                let events = events.iter().map(|event| event.bytes(|value| self.filled(value, point)));
                events.collect::<Vec<_>>().concat().into()
            }
        }
    }

    /// The id of the first request in the POST; null if it has none.
    fn request_id(&self, point: &Point) -> Value {
        let exchange = point.exchange.and_then(|id| self.exchanges.get(&id));
        let mut requests = exchange.into_iter().flat_map(|exchange| &exchange.messages).map(|spoken| &spoken.message);
        let id = requests.find(|message| message.kind == Kind::Request).and_then(|message| message.id.as_ref());
        id.map_or(Value::Null, crate::engine::rpc::Id::to_json)
    }

    fn made_head(&self, respond: &Respond, body: &Bytes) -> AnswerHead {
        let media = match respond.content {
            Content::Empty | Content::Text(_) => None,
            Content::Json(_) | Content::Result(_) | Content::Error(..) => Some("application/json"),
            Content::Events(_) => Some("text/event-stream"),
        };
        let written = |name: &str| respond.headers.iter().any(|(header, _)| header == name);
        let media = media.filter(|_| !written("content-type"));
        let mut headers: Vec<(String, Bytes)> =
            media.into_iter().map(|media| ("content-type".to_owned(), Bytes::from_static(media.as_bytes()))).collect();
        let values = respond.headers.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?.into())));
        headers.extend(values);
        if respond.ending == Ending::Eof && !matches!(respond.content, Content::Events(_)) && respond.status != 204 {
            headers.push(("content-length".to_owned(), body.len().to_string().into()));
        }
        AnswerHead { status: respond.status, headers, source: Source::Rule }
    }
}
