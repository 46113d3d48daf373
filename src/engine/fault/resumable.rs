//! `resumable`: a rule owns a stream's ids, keeps what the stream carries and answers its resumes, whatever the server can.

mod serving;
mod streams;

use super::event_text::{EventData, EventText};
use super::{Act, Fault, FaultTable, Turn};
use crate::engine::effects::{Did, Instead, Outcome};
use crate::engine::engine::Engine;
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, Kind, Need, RETRY, Spot, field};
use crate::engine::record::PointFate;
use crate::engine::selector::At;

pub(in crate::engine) use streams::Streams;

/// The status of a resume that would need what is kept no more.
const REFUSED: u16 = 400;

/// An id's prefix may have so many bytes: what is longer is nothing a client should have to repeat.
const PREFIX: usize = 256;

/// `resumable`: head.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resumable {
    /// The reconnection time that the priming event tells, in milliseconds.
    pub retry: Option<u64>,
    /// Whether the stream begins with an empty event with an id.
    pub priming: bool,
    /// What every id begins with.
    pub prefix: String,
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "resumable",
    at: &[At::Head],
    main: None,
    doc: "gives an event stream ids of its own, keeps what the stream carries, and answers its resumes",
    params: &[
        RETRY,
        field("priming", Kind::Bool, Need::Default("true"), "whether it begins with an empty event with an id"),
        field("ids", Kind::Text, Need::Optional, "what the ids begin with"),
    ],
    make: |params, _| Some(Fault::Resumable(make(params))),
    check,
};

fn make(params: &Params) -> Resumable {
    Resumable {
        retry: params.number("retry"),
        priming: params.flag("priming"),
        prefix: params.text("ids").unwrap_or_default(),
    }
}

fn check(params: &Params, _: At, _: &Spot, slips: &mut Complaints) {
    if let Some(retry) = params.written("retry").filter(|_| !params.flag("priming")) {
        slips.wrong(
            retry,
            "`retry` without a priming event: nothing would carry it",
            "remove it, or write priming = true",
        );
    }
    let prefix = params.text("ids").unwrap_or_default();
    let fits = prefix.len() <= PREFIX && prefix.bytes().all(|byte| byte.is_ascii_graphic());
    if let Some(ids) = params.written("ids").filter(|_| !fits) {
        let instead = format!("write at most {PREFIX} printable ASCII characters without blanks");
        slips.wrong(ids, "`ids` begins values of a header, Last-Event-ID", instead);
    }
}

impl Resumable {
    /// The event with which a stream begins.
    fn priming(&self, id: &str) -> EventText {
        let data = Some(EventData::Text(String::new()));
        EventText { id: Some(id.to_owned()), retry: self.retry, data, ..EventText::default() }
    }
}

impl Act for Resumable {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        engine.own_stream(turn.now, turn.rule, self, turn.parcel);
    }

    fn changes(&self, _: At) -> bool {
        true
    }

    fn reaches_the_body(&self) -> bool {
        true
    }

    fn takes_the_blocks(&self) -> bool {
        true
    }

    /// The first block with an id of ours has left.
    fn told(&self, _: &Engine, outcome: &Outcome<'_>, rule: usize) -> Option<Did> {
        let begins = outcome.point.changed.contains(&rule) && outcome.fate == PointFate::Passed;
        begins.then_some(Did::Owned)
    }

    /// The event with which its stream begins, or the head of a resume.
    fn made(&self, engine: &Engine, outcome: &Outcome<'_>) -> Option<Did> {
        let point = outcome.point;
        if point.maker.is_some_and(|maker| point.changed.contains(&maker)) {
            return Some(Did::Owned);
        }
        let status = engine.status_instead(outcome)?;
        let server = if status == REFUSED { Instead::Unasked } else { Instead::Kept };
        Some(Did::Answered { status, server })
    }

    fn explain(&self) -> String {
        let retry = self.retry.map(|retry| format!(" and the reconnection time {retry} ms")).unwrap_or_default();
        let priming = if self.priming { format!("a priming event{retry}, and ") } else { String::new() };
        format!("give its stream {priming}ids of ours, keep what it carries, and answer its resumes")
    }
}
