//! Plays a scripted exchange against the engine and notes what both legs show.
//!
//! The server says what it has to say on an exchange as soon as the request has come to it and its leg is open; the
//! client acts at its line of the script. The one rule it keeps: nobody says what they could not have said.

mod saying;
mod showing;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::script::{Guard, Item, Said, Step, Traffic};
use super::wire::Received;
use crate::engine::event::{Ending, Event, Fate, Moment, UnitId};
use crate::engine::playbook::Play;
use crate::engine::record::RuleTally;
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
        play: Play::new(rules).in_front_of(2),
        log: Vec::new(),
        shown: Moment::default(),
        clients: BTreeMap::new(),
        says: Vec::new(),
        streams: Vec::new(),
        ended: Vec::new(),
        kept: traffic.steps.iter().flat_map(Step::kept).collect(),
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
                let many: Vec<_> = request.split(" + ").map(|request| saying::message(name, request)).collect();
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
}
