//! Plays a scripted exchange against the engine and notes what both legs show.
//!
//! The server says what it has to say on an exchange as soon as the request has come to it and its leg is open; the
//! client acts at its line of the script. The one rule it keeps: nobody says what they could not have said.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::script::{Guard, Item, Said, Step, Traffic};
use super::wire::{self, Received};
use crate::engine::event::{Command, Ending, Event, ExchangeId, Fate, HeaderEdit, Moment, UnitId};
use crate::engine::playbook::Play;
use crate::engine::record::{Opened, RuleTally};
use crate::engine::rule::Rule;

/// What a play came to.
pub(super) struct Played {
    pub(super) wire: Vec<String>,
    pub(super) tallies: Vec<RuleTally>,
    /// Gates that opened at their limit.
    pub(super) broken: Vec<String>,
}

/// Something the server has yet to say, and what it waits for.
type Due = (Item, Option<Guard>);

struct Stage {
    play: Play,
    log: Vec<String>,
    shown: Moment,
    clients: BTreeMap<String, Received>,
    /// What the server has yet to say on each exchange, in the order in which the script named them.
    says: Vec<(String, VecDeque<Due>)>,
    /// Exchanges on which the server has begun an event stream.
    streams: Vec<String>,
    /// Exchanges on which the server has said all.
    ended: Vec<String>,
    /// What the server keeps for a resume: each event with an id, by the exchange it was made on.
    kept: Vec<(String, Said)>,
    /// The ids whose answers the client has got.
    answered: Vec<String>,
    /// The ids of the server's requests that the client has got and not answered.
    questions: Vec<String>,
    /// Client connections that were ended for it, by the request that opened them.
    closed: Vec<String>,
    /// Server legs that are let go at a time.
    lasting: Vec<(Moment, UnitId, String)>,
}

/// Plays the traffic with these rules.
pub(super) fn play(traffic: &Traffic, rules: Vec<Rule>) -> Played {
    let mut stage = Stage {
        play: Play::new(rules),
        log: Vec::new(),
        shown: Moment::default(),
        clients: BTreeMap::new(),
        says: Vec::new(),
        streams: Vec::new(),
        ended: Vec::new(),
        kept: traffic.steps.iter().flat_map(kept).collect(),
        answered: Vec::new(),
        questions: Vec::new(),
        closed: Vec::new(),
        lasting: Vec::new(),
    };
    for step in &traffic.steps {
        stage.take(step);
        stage.go_on();
    }
    stage.close()
}

impl Stage {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Sends { name, request, with, guard } if self.holds(guard.as_ref()) => self.sends(name, request, with),
            Step::Leaves { name, guard } if self.holds(guard.as_ref()) => {
                if self.clients.get(name).is_some_and(|client| client.over.is_none_or(|end| end == Ending::Stall)) {
                    self.show(self.play.now, format!("client {name} leaves"));
                    self.play.leaves(name);
                    self.client(name).over = Some(Ending::Fin);
                }
            }
            Step::Sends { .. } | Step::Leaves { .. } => {}
            Step::Says { name, items, guard: Some(Guard::Now) } => {
                if self.may_speak(name) && self.streams.contains(name) {
                    items.iter().for_each(|item| self.say(name, item));
                }
            }
            Step::Says { name, items, guard } => {
                let items = items.iter().map(|item| (item.clone(), guard.clone()));
                match self.says.iter_mut().find(|(known, _)| known == name) {
                    Some((_, queue)) => queue.extend(items),
                    None => self.says.push((name.clone(), items.collect())),
                }
            }
            Step::Wait(time) => self.wait(*time),
        }
    }

    /// What the client knows; of what the server has, `held` and `gone`.
    fn holds(&self, guard: Option<&Guard>) -> bool {
        let Some(Guard::If(name, word)) = guard else { return true };
        match word.as_str() {
            "pending" => return !self.answered.contains(name),
            "due" => return self.questions.contains(name),
            _ => {}
        }
        let Some(client) = self.clients.get(name) else { return false };
        let ended = matches!(client.over, Some(Ending::Eof | Ending::Fin | Ending::Reset));
        let refused = client.status.is_some_and(|status| status >= 400);
        match word.as_str() {
            "lost" => (ended || refused) && !client.answered,
            "resumable" => (ended || refused) && !client.answered && client.id.is_some(),
            "over" => ended || refused,
            "refused" => refused,
            "redirected" => client.status.is_some_and(|status| (300..400).contains(&status)),
            "unanswered" => !client.answered,
            "answered" => client.answered,
            "mute" => !client.begun,
            "waiting" => !ended && !refused && !client.answered,
            "open" => !ended && !refused && client.status.is_some(),
            "held" => self.may_speak(name) && !self.ended.contains(name),
            "gone" => !self.may_speak(name) || self.ended.contains(name),
            _ => panic!("no such word: is {word}"),
        }
    }

    fn client(&mut self, name: &str) -> &mut Received {
        self.clients.entry(name.to_owned()).or_default()
    }

    // --- the client ---

    fn sends(&mut self, name: &str, request: &str, with: &[(String, String)]) {
        if let Some(id) = request.strip_prefix("answer ") {
            self.questions.retain(|question| question != id);
        }
        let (method, body, mut headers) = self.request(name, request);
        for (key, value) in with {
            headers.retain(|(known, _)| known != key);
            let closed = key == ":conn" && self.closed.contains(value);
            if value != "none" && !closed {
                headers.push((key.clone(), value.clone()));
            }
        }
        // A stream that continues another goes on from its id.
        let id = headers.iter().find(|(key, _)| key == "last-event-id").map(|(_, id)| id.clone());
        self.client(name).id = id;
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.play.sends(name, method, &headers, &body);
    }

    /// HTTP method, body and headers of a request.
    fn request(&self, name: &str, request: &str) -> (&'static str, String, Vec<(String, String)>) {
        let own = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let mut session: Vec<(String, String)> = own(&[("mcp-session-id", "S")]);
        let events: Vec<(String, String)> = own(&[("accept", "text/event-stream")]);
        match request.split_once(' ').unwrap_or((request, "")) {
            ("GET", after) => {
                session.extend(events);
                let id = after.strip_prefix("after ").and_then(|name| self.clients.get(name)?.id.clone());
                session.extend(id.map(|id| ("last-event-id".to_owned(), id)));
                ("GET", String::new(), session)
            }
            ("SSE", _) => ("GET", String::new(), [events, own(&[(":target", "/sse")])].concat()),
            ("DELETE", _) => ("DELETE", String::new(), session),
            ("OPTIONS", _) => ("OPTIONS", String::new(), own(&[("origin", "http://page.example")])),
            _ => {
                let many: Vec<_> = request.split(" + ").map(|request| message(name, request)).collect();
                let body = if many.len() > 1 { format!("[{}]", many.join(",")) } else { many.concat() };
                let outside = ["initialize", "server/", "subscriptions/"].iter().any(|word| request.starts_with(word));
                ("POST", body, if outside { Vec::new() } else { session })
            }
        }
    }

    // --- the server ---

    /// Whether the server has the request and the leg is open for it.
    fn may_speak(&self, name: &str) -> bool {
        self.clients.contains_key(name) && {
            let seen = self.play.of(name);
            let closed = matches!(seen.server, Some(Fate::Close | Fate::Reset | Fate::Keep(_)));
            seen.forwarded.is_some() && !closed && !seen.paused
        }
    }

    /// Lets the server say all that it can say now.
    fn go_on(&mut self) {
        self.note();
        while let Some((name, item)) = self.next() {
            self.say(&name, &item);
            self.note();
        }
    }

    fn next(&mut self) -> Option<(String, Item)> {
        for at in 0..self.says.len() {
            let name = self.says[at].0.clone();
            while self.may_speak(&name) {
                let Some((_, guard)) = self.says[at].1.front() else { break };
                if let Some(Guard::Once(other)) = guard
                    && !(self.clients.contains_key(other) && self.play.of(other).forwarded.is_some())
                {
                    break;
                }
                let holds = self.holds(guard.as_ref());
                let item = self.says[at].1.pop_front().map(|(item, _)| item);
                if let Some(item) = item.filter(|_| holds) {
                    return Some((name, item));
                }
            }
        }
        None
    }

    fn say(&mut self, name: &str, item: &Item) {
        match item {
            Item::Head { status, media, session, allows } => {
                let kind = match media.as_deref() {
                    Some("sse") => Some("text/event-stream"),
                    Some("json") => Some("application/json"),
                    Some("html") => Some("text/html"),
                    _ => None,
                };
                let kind = kind.map(|kind| ("content-type", kind));
                let allows = allows
                    .then_some(("access-control-allow-headers", "content-type, mcp-session-id, mcp-protocol-version"));
                let session = session.as_deref().map(|session| ("mcp-session-id", session));
                self.streams.extend((media.as_deref() == Some("sse")).then(|| name.to_owned()));
                self.play.head(name, *status, &kind.into_iter().chain(session).chain(allows).collect::<Vec<_>>());
                if media.is_none() {
                    self.end(name, Ending::Eof);
                }
            }
            Item::Say(said) => {
                let text = said.text(self.streams.iter().any(|stream| stream == name));
                self.play.data(name, &text);
            }
            Item::End(ending) => self.end(name, *ending),
            Item::Replay(of) => {
                let seen = &self.play.of(name).asked.headers;
                let last = seen.iter().find(|(key, _)| key == "last-event-id").map(|(_, id)| id.clone());
                let kept = self.kept.iter().filter(|(exchange, _)| exchange == of);
                let after =
                    kept.skip_while(|(_, said)| said.id.as_deref().map(str::as_bytes) != last.as_deref()).skip(1);
                for (_, said) in after.cloned().collect::<Vec<_>>() {
                    self.say(name, &Item::Say(said));
                }
            }
        }
    }

    fn end(&mut self, name: &str, ending: Ending) {
        self.ended.push(name.to_owned());
        self.play.ends_as(name, ending);
    }

    // --- time ---

    fn wait(&mut self, time: Duration) {
        let end = self.play.now + time;
        loop {
            let ticks = self.play.engine.next_due();
            let lapses = self.lasting.iter().map(|(due, ..)| *due).min();
            let Some(due) = ticks.into_iter().chain(lapses).min().filter(|due| *due <= end) else { break };
            self.play.now = self.play.now.max(due);
            match lapses.filter(|lapses| *lapses == due) {
                Some(_) => self.lapse(due),
                None => self.play.feed(Event::Tick),
            }
            self.go_on();
        }
        self.play.now = end;
    }

    /// Lets the server legs go that were to last until now.
    fn lapse(&mut self, now: Moment) {
        let (due, rest) = std::mem::take(&mut self.lasting).into_iter().partition(|(due, ..)| *due <= now);
        self.lasting = rest;
        let due: Vec<(Moment, UnitId, String)> = due;
        for (_, unit, name) in due {
            if self.ended.contains(&name) {
                continue;
            }
            self.ended.push(name.clone());
            self.says.retain(|(exchange, _)| *exchange != name);
            self.show(now, format!("server {name} closed"));
            self.play.feed(Event::Passed { unit });
        }
    }

    // --- what is seen ---

    fn note(&mut self) {
        for (at, command) in std::mem::take(&mut self.play.told) {
            if let Command::CloseServer { exchange, unit, fate: Fate::Drain(Some(time)) | Fate::Keep(Some(time)) } =
                command
            {
                self.lasting.push((at + time, unit, self.name(exchange)));
            }
            for line in self.lines(&command) {
                self.show(at, line);
            }
        }
    }

    fn show(&mut self, at: Moment, line: String) {
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
            Command::Forward { exchange, body, headers, .. } => {
                vec![self.forwarded(*exchange, body.as_deref(), headers)]
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
            Command::PauseServer { exchange } => vec![format!("server {} paused", self.name(*exchange))],
            Command::ResumeServer { exchange } => vec![format!("server {} resumed", self.name(*exchange))],
            Command::CutConnection { conn, ending } => {
                let name = self.play.conn_name(*conn).to_owned();
                self.closed.push(name.clone());
                vec![format!("client connection of {name} {}", ending_word(*ending))]
            }
            Command::Admit { .. } | Command::Read { .. } | Command::Relay { .. } | Command::Record(_) => Vec::new(),
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
        format!("server {name} {}", wire::request(&seen.asked.method, &headers, body))
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

    fn close(mut self) -> Played {
        for name in self.clients.keys().cloned().collect::<Vec<_>>() {
            let rest = self.client(&name).rest();
            self.log.extend(rest.map(|rest| format!("client {name} still waits after {rest}")));
        }
        let summary = self.play.engine.summary();
        let broken = summary.gates.iter().filter(|gate| matches!(gate.opened, Opened::Limit | Opened::Vacuous));
        let broken = broken.map(|gate| format!("{gate:?}")).collect();
        Played { wire: counted(&self.log), tallies: summary.rules, broken }
    }
}

/// The events with an id that a step makes.
fn kept(step: &Step) -> Vec<(String, Said)> {
    let Step::Says { name, items, .. } = step else { return Vec::new() };
    let said = items.iter().filter_map(|item| match item {
        Item::Say(said) if said.id.is_some() => Some((name.clone(), said.clone())),
        _ => None,
    });
    said.collect()
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

/// A client's message.
fn message(name: &str, request: &str) -> String {
    let (method, id) = request.split_once(' ').unwrap_or((request, ""));
    let client = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"1"}}"#;
    let params = match method {
        "initialize" => client.to_owned(),
        "tools/call" => {
            format!(r#"{{"name":"{name}","arguments":{{"tag":"{name}"}},"_meta":{{"progressToken":{id}}}}}"#)
        }
        "notifications/cancelled" => format!(r#"{{"requestId":{id}}}"#),
        "subscriptions/listen" => r#"{"notifications":{"toolsListChanged":true}}"#.to_owned(),
        _ => "{}".to_owned(),
    };
    match method {
        "answer" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept"}}}}"#),
        _ if method.starts_with("notifications/") => {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
        }
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
    }
}

impl Said {
    /// As the server sends it, in an event stream or as a JSON body.
    fn text(&self, sse: bool) -> String {
        let id = self.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
        match self.word.as_str() {
            "priming" => format!("{id}data: \n\n"),
            "comment" => format!(": {}\n\n", self.value),
            "endpoint" => "event: endpoint\ndata: /messages?s=1\n\n".to_owned(),
            _ if sse => format!("event: message\n{id}data: {}\n\n", self.json()),
            "page" => self.value.clone(),
            _ => self.json(),
        }
    }

    fn json(&self) -> String {
        let value = &self.value;
        let filled =
            |of: usize, message: &dyn Fn(&str) -> String| message(&"x".repeat(of.saturating_sub(message("").len())));
        match self.word.as_str() {
            "answer" if self.size > 0 => {
                filled(self.size, &|text| format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{{"text":"{text}"}}}}"#))
            }
            "answer" => format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{{}}}}"#),
            "answers" => {
                let one = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
                format!("[{}]", value.split(' ').map(one).collect::<Vec<_>>().join(","))
            }
            "umlauts" => format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{{"text":"äöü €"}}}}"#),
            "error" => format!(r#"{{"jsonrpc":"2.0","id":{value},"error":{{"code":-32000,"message":"failed"}}}}"#),
            "note" => format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"n":{value}}}}}"#),
            "progress" => {
                let params = format!(r#"{{"progressToken":1,"progress":{value}}}"#);
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#)
            }
            "ask" => format!(r#"{{"jsonrpc":"2.0","id":{value},"method":"elicitation/create","params":{{}}}}"#),
            "roots" => format!(r#"{{"jsonrpc":"2.0","id":{value},"method":"roots/list"}}"#),
            "ack" => {
                let meta = format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{value}}}}}"#);
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{meta}}}"#)
            }
            word => panic!("no server says {word:?}"),
        }
    }
}
