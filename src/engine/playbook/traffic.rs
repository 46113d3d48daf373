//! Any traffic: what clients and servers might do, and what of it the server sent.
//!
//! The one rule it keeps: a server speaks only where it was asked, and once.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;

use super::super::engine::Setup;
use super::super::event::Ending;
use super::Play;
use super::tools::{answer, notification, question};

/// One thing that a peer does; exchanges are chosen among those there are.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Call,
    Get,
    /// A GET that goes on behind the last event id that an exchange was given.
    Resume(usize),
    Reply(u64),
    Cancel(u64),
    Stream(usize),
    Json(usize),
    Refuse(usize),
    Data(usize, Vec<usize>),
    End(usize, Ending),
    Leave(usize),
    Wait(u64),
}

/// What servers send: whole blocks, pieces of blocks, all sorts of line ends.
pub(super) fn piece(n: usize) -> String {
    match n % 12 {
        0 => notification(n as u64),
        1 => question(n as u64 % 5),
        2 => answer(n as u64 % 7),
        3 => "id: e1\r\ndata:\r\n\r\n".into(),
        4 => ": ping\n\n".into(),
        5 => "data: {\"method\":\"x\"}\r\r".into(),
        6 => "data: {\"meth".into(),
        7 => "od\":\"y\"}\n".into(),
        8 => "\n".into(),
        9 => "\r\n".into(),
        10 => "\u{feff}".into(),
        _ => "event: ping\ndata: z\n\n".into(),
    }
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let which = 0..6usize;
    prop_oneof![
        3 => Just(Step::Call),
        1 => Just(Step::Get),
        1 => which.clone().prop_map(Step::Resume),
        1 => (0..5u64).prop_map(Step::Reply),
        1 => (0..7u64).prop_map(Step::Cancel),
        5 => which.clone().prop_map(Step::Stream),
        1 => which.clone().prop_map(Step::Json),
        1 => which.clone().prop_map(Step::Refuse),
        9 => (which.clone(), prop::collection::vec(0..24usize, 1..5)).prop_map(|(of, pieces)| Step::Data(of, pieces)),
        3 => (which.clone(), ending()).prop_map(|(of, ending)| Step::End(of, ending)),
        1 => which.prop_map(Step::Leave),
        2 => (1..80u64).prop_map(Step::Wait),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![4 => Just(Ending::Eof), 1 => Just(Ending::Fin), 1 => Just(Ending::Reset)]
}

/// What the server sent on an exchange, and how it ended.
pub(super) type Sent = (String, Option<Ending>);

/// Traffic on its way through a run.
struct Traffic {
    play: Play,
    /// By exchange, in order of their names.
    sent: BTreeMap<String, Sent>,
    names: Vec<String>,
    left: Vec<String>,
    /// Where the server's answer has begun; one that a rule made is not its.
    begun: BTreeSet<String>,
    /// How many posts there were beside.
    others: usize,
    /// Into how many bytes data is split; `None`: it comes as it was sent.
    split: Option<usize>,
}

/// Plays the traffic to its end; returns what the server sent to clients that did not leave.
pub(super) fn run(setup: Setup, steps: &[Step], split: Option<usize>) -> (Play, BTreeMap<String, Sent>) {
    let (names, left) = (Vec::new(), Vec::new());
    let play = Play::with(setup).in_front_of(2);
    let mut traffic = Traffic { play, begun: BTreeSet::new(), sent: BTreeMap::new(), names, left, others: 0, split };
    for step in steps {
        traffic.take(step);
    }
    traffic.play.waits(10_000);
    for name in traffic.names.clone() {
        traffic.end(&name, Ending::Eof);
    }
    traffic.play.waits(10_000);
    let Traffic { play, mut sent, left, .. } = traffic;
    sent.retain(|name, _| !left.contains(name));
    (play, sent)
}

impl Traffic {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Call | Step::Get => self.ask(step),
            Step::Resume(n) => {
                if let Some(name) = self.nth(*n) {
                    self.resume(&name);
                }
            }
            Step::Reply(id) => self.post(&format!(r#"{{"id":{id},"result":{{}}}}"#)),
            Step::Cancel(id) => {
                self.post(&format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
            }
            Step::Stream(n) | Step::Json(n) | Step::Refuse(n) => {
                if let Some(name) = self.nth(*n) {
                    self.begin(&name, step);
                }
            }
            Step::Data(n, pieces) => {
                if let Some(name) = self.nth(*n) {
                    self.data(&name, &pieces.iter().map(|n| piece(*n)).collect::<String>());
                }
            }
            Step::End(n, ending) => {
                if let Some(name) = self.nth(*n) {
                    self.end(&name, *ending);
                }
            }
            Step::Leave(n) => {
                let stays = |name: &String| !self.left.contains(name) && self.play.of(name).ending.is_none();
                if let Some(name) = self.nth(*n).filter(stays) {
                    self.play.leaves(&name);
                    self.left.push(name);
                }
            }
            Step::Wait(time) => {
                self.play.waits(*time);
            }
        }
    }

    fn nth(&self, n: usize) -> Option<String> {
        self.names.get(n % self.names.len().max(1)).cloned()
    }

    fn ask(&mut self, step: &Step) {
        let name = format!("x{}", self.names.len());
        if matches!(step, Step::Call) {
            self.play.calls(&name, self.names.len() as u64);
        } else {
            self.play.gets(&name);
        }
        self.asked(name);
    }

    fn resume(&mut self, of: &str) {
        // A rule may just have parted a character.
        let body = String::from_utf8_lossy(&self.play.of(of).body);
        let Some(id) = body.split(['\r', '\n']).filter_map(|line| line.strip_prefix("id: ")).next_back() else {
            return;
        };
        let (id, name) = (id.to_owned(), format!("x{}", self.names.len()));
        self.play.sends(&name, "GET", &[("mcp-session-id", "S"), ("last-event-id", &id)], "");
        self.asked(name);
    }

    fn asked(&mut self, name: String) {
        self.sent.insert(name.clone(), Sent::default());
        self.names.push(name);
    }

    fn post(&mut self, body: &str) {
        self.others += 1;
        self.play.posts(&format!("other{}", self.others), body);
    }

    fn begin(&mut self, name: &str, step: &Step) {
        if !self.server_may_speak(name, false) {
            return;
        }
        self.begun.insert(name.to_owned());
        match step {
            Step::Stream(_) => self.play.streams(name),
            Step::Json(_) => self.play.head(name, 200, &[("content-type", "application/json")]),
            _ => self.play.head(name, 503, &[]),
        };
    }

    /// Whether the server has the request, its leg is open, and its answer has begun as it should have.
    fn server_may_speak(&self, name: &str, begun: bool) -> bool {
        self.play.server_is_open(name) && self.begun.contains(name) == begun
    }

    fn data(&mut self, name: &str, data: &str) {
        if !self.server_may_speak(name, true) || self.sent[name].1.is_some() {
            return;
        }
        self.sent.get_mut(name).expect("it was sent").0.push_str(data);
        for chunk in data.as_bytes().chunks(self.split.unwrap_or(data.len())) {
            self.play.bytes(name, Bytes::copy_from_slice(chunk));
        }
    }

    fn end(&mut self, name: &str, ending: Ending) {
        if self.server_may_speak(name, true) && self.sent[name].1.is_none() {
            self.sent.get_mut(name).expect("it was sent").1 = Some(ending);
            self.play.ends_as(name, ending);
        }
    }
}
