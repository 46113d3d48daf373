//! What a rim does, done at once: every command is carried out and reported as soon as it is given.

use bytes::Bytes;

use super::super::event::{Command, Ending, Event, ExchangeId, Fate, Inside, Mark, RequestBody, UnitId};
use super::{Play, Seen};

impl Play {
    pub(crate) fn feed(&mut self, event: Event) {
        let mut events = std::collections::VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let commands = self.engine.on(self.now, event);
            self.told.push((self.now, commands.clone()));
            for command in commands {
                events.extend(self.obey(command));
            }
        }
    }

    fn obey(&mut self, command: Command) -> Vec<Event> {
        match command {
            Command::Admit { .. } => Vec::new(),
            Command::CutConnection { .. } => {
                self.cut_connections += 1;
                Vec::new()
            }
            Command::Read { exchange } => {
                let body = RequestBody::Whole(self.seen[&exchange].request.clone());
                vec![Event::Request { exchange, body }]
            }
            Command::Forward { exchange, unit, to, identity, body, parted, headers, part } => {
                let seen = self.note("forward", exchange);
                (seen.to, seen.request_edits) = (to, headers);
                seen.identity = identity;
                let mut body = body.unwrap_or_else(|| seen.request.clone());
                part.iter().for_each(|part| body.truncate(usize::try_from(*part).expect("a test's body is small")));
                seen.half = part.is_some();
                (seen.forwarded, seen.unsent) =
                    if parted { (Some(Bytes::new()), body) } else { (Some(body), Bytes::new()) };
                if self.refuses { Vec::new() } else { vec![Event::Passed { unit }] }
            }
            Command::Send { exchange, length, unit } => {
                let seen = self.note("send", exchange);
                let piece = seen.unsent.split_to(length);
                seen.forwarded = Some([&seen.forwarded.take().unwrap_or_default()[..], &piece].concat().into());
                seen.sends.push(piece);
                vec![Event::Passed { unit }]
            }
            Command::Post { exchange, unit, head, body, .. } => {
                self.note("post", exchange);
                self.sent.push((head, body));
                if self.fails_to_send {
                    return vec![Event::Unsent { unit, why: "refused".to_owned() }];
                }
                self.written(exchange, &[unit])
            }
            Command::ClosePost { unit } => {
                self.closed_posts.push(unit);
                Vec::new()
            }
            Command::Head { exchange, unit, rechunk, edits, made } => {
                let seen = self.note("head", exchange);
                (seen.sent_head, seen.head_edits) = (Some(rechunk), edits);
                if let Some(made) = made {
                    seen.head = Some(*made);
                }
                self.written(exchange, &[unit])
            }
            Command::Relay { exchange } => {
                self.note("relay", exchange).relayed = true;
                Vec::new()
            }
            Command::Write { exchange, bytes, marks } => self.write(exchange, &bytes, &marks),
            Command::Finish { exchange, unit, ending, inside, settle } => {
                assert!(settle.is_none() || ending == Ending::Reset);
                self.finish(exchange, ending, inside);
                if ending == Ending::Stall { Vec::new() } else { self.written(exchange, &[unit]) }
            }
            Command::PauseServer { exchange } => {
                self.note("pause", exchange).paused = true;
                Vec::new()
            }
            Command::ResumeServer { exchange } => {
                self.note("resume", exchange).paused = false;
                Vec::new()
            }
            Command::CloseServer { exchange, unit, fate } => {
                self.note("close", exchange).server = Some(fate);
                let now = matches!(fate, Fate::Close | Fate::Reset);
                now.then_some(Event::Passed { unit }).into_iter().collect()
            }
            Command::Record(entry) => {
                self.entries.push(*entry);
                Vec::new()
            }
            Command::Keep { hash, body } => {
                self.bodies.push((hash, body));
                Vec::new()
            }
        }
    }

    fn write(&mut self, exchange: ExchangeId, bytes: &Bytes, marks: &[Mark]) -> Vec<Event> {
        let seen = self.note("write", exchange);
        assert!(seen.ending.is_none(), "nothing is written after the end");
        assert!(!bytes.is_empty() && seen.sent_head.is_some() && !seen.relayed);
        seen.body.extend_from_slice(bytes);
        seen.writes += 1;
        seen.pieces.push(bytes.clone());
        let units: Vec<UnitId> = marks.iter().map(|mark| mark.unit).collect();
        assert!(marks.is_sorted_by_key(|mark| mark.end) && marks.iter().all(|mark| mark.end <= bytes.len()));
        self.written(exchange, &units)
    }

    fn finish(&mut self, exchange: ExchangeId, ending: Ending, inside: Option<Inside>) {
        let seen = self.note("finish", exchange);
        assert!(seen.ending.is_none(), "a leg ends once");
        assert!(ending != Ending::Eof || seen.sent_head.is_some(), "no end of a body before a head");
        seen.ending = Some(ending);
        seen.body.extend_from_slice(inside.as_ref().map_or(&[], |inside| &inside.part[..]));
        seen.inside = inside;
    }

    fn written(&mut self, exchange: ExchangeId, units: &[UnitId]) -> Vec<Event> {
        if self.slow == Some(exchange) {
            self.stuck.extend(units.iter().map(|unit| (exchange, *unit)));
            return Vec::new();
        }
        units.iter().map(|unit| Event::Passed { unit: *unit }).collect()
    }

    fn note(&mut self, what: &str, exchange: ExchangeId) -> &mut Seen {
        let name = self.name(exchange).to_owned();
        self.left.push(format!("{what} {name}"));
        self.seen.get_mut(&exchange).expect("only what was sent is answered")
    }
}
