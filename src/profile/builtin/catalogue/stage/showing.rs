//! What both legs show, in one order, a line for each thing that a peer could see.
//!
//! The one rule it keeps: it tells what was commanded, never what was meant.

use std::time::Duration;

use super::super::wire;
use super::{Played, Stage};
use crate::engine::event::{Command, Ending, ExchangeId, Fate, HeaderEdit, Moment};
use crate::engine::record::Opened;

impl Stage {
    pub(super) fn note(&mut self) {
        for (at, commands) in std::mem::take(&mut self.play.told) {
            for command in in_one_write(commands) {
                if let Command::CloseServer { exchange, unit, fate } = &command
                    && let Fate::Drain(Some(time)) | Fate::Keep(Some(time)) = fate
                {
                    self.lasting.push((at + *time, *unit, self.name(*exchange)));
                }
                for line in self.lines(&command) {
                    self.show(at, line);
                }
            }
        }
    }

    pub(super) fn show(&mut self, at: Moment, line: String) {
        let later = at.0.saturating_sub(self.shown.0);
        if !later.is_zero() {
            self.log.push(format!("{} later", words(later)));
            self.shown = at;
        }
        match self.log.last_mut() {
            Some(last) if ends(last, &line) => last.push_str(", eof"),
            _ => self.log.push(line),
        }
    }

    /// What a command shows to the peers.
    fn lines(&mut self, command: &Command) -> Vec<String> {
        match command {
            Command::Forward { exchange, to, body, headers, .. } => {
                let to = if to.server == 0 { "" } else { ", to the 2nd server" };
                vec![self.forwarded(*exchange, body.as_deref(), headers) + to]
            }
            Command::Send { exchange, length, .. } => {
                vec![format!("server {} {length} bytes", self.name(*exchange))]
            }
            Command::Post { head, body, .. } => {
                vec![format!("server also {}", wire::request(&head.method, &head.headers, body))]
            }
            Command::Head { exchange, edits, made, .. } => {
                let (name, came) = (self.name(*exchange), self.play.seen[exchange].head.clone());
                let mut head =
                    made.as_deref().cloned().or(came).expect("a head has come, or was made, before it leaves");
                head.status = edits.status.unwrap_or(head.status);
                edit(&mut head.headers, &edits.headers);
                vec![format!("client {name} {}", self.client(&name).head(&head))]
            }
            Command::Write { exchange, bytes, .. } => self.written(*exchange, bytes),
            Command::Finish { exchange, ending, inside, .. } => {
                let mut lines = inside.as_ref().map_or(Vec::new(), |part| self.written(*exchange, &part.part));
                let name = self.name(*exchange);
                lines.extend(self.client(&name).rest().map(|rest| format!("client {name} {rest}")));
                self.client(&name).over = Some(*ending);
                lines.push(format!("client {name} {}", ending_word(*ending)));
                lines
            }
            Command::CloseServer { exchange, fate, .. } => {
                let fate = match fate {
                    Fate::Close => "closed".to_owned(),
                    Fate::Reset => "reset".to_owned(),
                    Fate::Drain(None) => "drained".to_owned(),
                    Fate::Drain(Some(time)) => format!("drained for {}", words(*time)),
                    Fate::Keep(None) => "kept".to_owned(),
                    Fate::Keep(Some(time)) => format!("kept for {}", words(*time)),
                };
                vec![format!("server {} {fate}", self.name(*exchange))]
            }
            Command::ClosePost { .. } => vec!["server also closed".to_owned()],
            Command::PauseServer { exchange } => vec![format!("server {} paused", self.name(*exchange))],
            Command::ResumeServer { exchange } => vec![format!("server {} resumed", self.name(*exchange))],
            Command::CutConnection { conn, ending } => {
                let name = self.play.conn_name(*conn).to_owned();
                self.closed.push(name.clone());
                vec![format!("client connection of {name} {}", ending_word(*ending))]
            }
            Command::Admit { .. }
            | Command::Read { .. }
            | Command::Relay { .. }
            | Command::Record(_)
            | Command::Keep { .. } => Vec::new(),
        }
    }

    fn name(&self, exchange: ExchangeId) -> String {
        self.play.name(exchange).to_owned()
    }

    fn forwarded(&self, exchange: ExchangeId, body: Option<&[u8]>, edits: &[HeaderEdit]) -> String {
        let (name, seen) = (self.name(exchange), &self.play.seen[&exchange]);
        let body = body.unwrap_or(&seen.request);
        let mut headers = seen.asked.headers.clone();
        edit(&mut headers, edits);
        let gone = seen.asked.headers.iter().filter(|(name, _)| !headers.iter().any(|(kept, _)| kept == name));
        let gone: String = gone.map(|(name, _)| format!(", without {name}")).collect();
        format!("server {name} {}{gone}", wire::request(&seen.asked.method, &headers, body))
    }

    fn written(&mut self, exchange: ExchangeId, bytes: &[u8]) -> Vec<String> {
        let name = self.name(exchange);
        let blocks = self.client(&name).take(bytes);
        let client = self.clients.entry(name.clone()).or_default();
        self.answered.append(&mut client.answers);
        self.questions.append(&mut client.questions);
        let at_once = if blocks.len() > 1 { " at once" } else { "" };
        let blocks = counted(&blocks).join(" + ");
        if blocks.is_empty() { Vec::new() } else { vec![format!("client {name} {blocks}{at_once}")] }
    }

    pub(super) fn close(mut self) -> Played {
        for name in self.clients.keys().cloned().collect::<Vec<_>>() {
            let rest = self.client(&name).rest();
            self.log.extend(rest.map(|rest| format!("client {name} still waits after {rest}")));
        }
        let summary = self.play.engine.summary();
        let failed = |opened: &Opened| matches!(opened, Opened::Limit | Opened::Vacuous | Opened::Lost | Opened::Full);
        let broken = summary.gates.iter().filter(|gate| failed(&gate.opened));
        let broken = broken.map(|gate| format!("{gate:?}")).collect();
        Played { wire: counted(&self.log), tallies: summary.rules, broken }
    }
}

/// What one step of the engine writes to one client, without anything between, goes out in one write.
fn in_one_write(commands: Vec<Command>) -> Vec<Command> {
    let mut all: Vec<Command> = Vec::new();
    for command in commands {
        match (all.last_mut(), command) {
            (Some(Command::Write { exchange, bytes, .. }), Command::Write { exchange: same, bytes: more, .. })
                if *exchange == same =>
            {
                *bytes = [&bytes[..], &more].concat().into();
            }
            (_, Command::Record(_) | Command::Keep { .. }) => {}
            (_, command) => all.push(command),
        }
    }
    all
}

/// Whether the line is the end of an answer that the line before it has begun or made whole.
fn ends(last: &str, line: &str) -> bool {
    let whole = |name: &str| ["head", "body"].iter().any(|what| last.starts_with(&format!("{name} {what} ")));
    line.strip_suffix(" eof").is_some_and(whole)
}

/// Equal lines in a row become one.
fn counted(log: &[String]) -> Vec<String> {
    let groups = log.chunk_by(|a, b| a == b);
    groups.map(|same| if same.len() > 1 { format!("{} x{}", same[0], same.len()) } else { same[0].clone() }).collect()
}

fn edit(headers: &mut Vec<(String, bytes::Bytes)>, edits: &[HeaderEdit]) {
    for (name, value) in edits {
        headers.retain(|(known, _)| known != name);
        headers.extend(value.clone().map(|value| (name.clone(), value)));
    }
}

fn ending_word(ending: Ending) -> &'static str {
    match ending {
        Ending::Eof => "eof",
        Ending::Fin => "fin",
        Ending::Reset => "reset",
        Ending::Stall => "silent",
    }
}

fn words(time: Duration) -> String {
    let ms = time.as_millis();
    match time.as_micros().is_multiple_of(1_000) {
        true if ms.is_multiple_of(1_000) => format!("{}s", ms / 1_000),
        true => format!("{ms}ms"),
        false => format!("{time:?}"),
    }
}
