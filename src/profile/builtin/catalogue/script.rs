//! Scripted exchanges: what a client and a server do, a line for each.
//!
//! Grammar (tests/catalogue/traffic.toml explains it): `client sends NAME: REQUEST`, `client leaves NAME`,
//! `server sends NAME: ITEM, ITEM`, `wait TIME`, with guards behind. The one rule it keeps: a script says what each
//! peer would do, never what the proxy does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::engine::event::Ending;

/// One scripted exchange.
#[derive(Debug, Clone)]
pub(super) struct Traffic {
    pub(super) doc: String,
    pub(super) steps: Vec<Step>,
}

/// What happens next.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// The client sends a request on an exchange of that name.
    Sends {
        name: String,
        request: String,
        with: Vec<(String, String)>,
        guard: Option<Guard>,
    },
    /// The client closes an exchange's connection.
    Leaves {
        name: String,
        guard: Option<Guard>,
    },
    /// What the server says on an exchange, once it is there.
    Says {
        name: String,
        items: Vec<Item>,
        guard: Option<Guard>,
    },
    Wait(Duration),
}

/// When a step is done at all.
#[derive(Debug, Clone)]
pub(super) enum Guard {
    /// `if NAME is WORD`: a fact about another exchange, as the one who acts can know it.
    If(String, String),
    /// `once NAME is there`: the server says nothing before it has got that request.
    Once(String),
    /// `at once`: the server says it now or never.
    Now,
}

/// Something a server sends.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Head {
        status: u16,
        media: Option<String>,
        session: Option<String>,
        /// Whether it tells a browser which headers it may send.
        allows: bool,
    },
    Say(Said),
    /// What the named exchange would have carried after the `Last-Event-ID` of this one.
    Replay(String),
    End(Ending),
}

/// One message or block.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) word: String,
    pub(super) value: String,
    pub(super) id: Option<String>,
    pub(super) size: usize,
}

impl Traffic {
    /// What the server has that plays this, in words: what a rule may ask for.
    pub(super) fn server(&self) -> Vec<&'static str> {
        let items = || {
            self.steps.iter().filter_map(Step::says).flat_map(|(name, items)| items.iter().map(move |it| (name, it)))
        };
        let says =
            |words: &[&str]| items().any(|(_, item)| matches!(item, Item::Say(said) if words.contains(&&*said.word)));
        let asks_for = |request: &str| self.steps.iter().any(|step| step.requests().is_some_and(|it| it == request));
        let called = |sent: &String| {
            self.steps.iter().any(|step| match step {
                Step::Sends { name, request, .. } => name == sent && request.starts_with("tools/call"),
                _ => false,
            })
        };
        let json = |item: &Item| matches!(item, Item::Head { media: Some(media), .. } if media == "json");
        let ids = items().any(|(_, item)| matches!(item, Item::Say(said) if said.id.is_some()));
        let all = [
            (asks_for("SSE"), "HTTP+SSE"),
            (asks_for("GET"), "a standalone GET"),
            (items().any(|(_, item)| matches!(item, Item::Replay(_))), "an event store"),
            (ids, "event ids"),
            (says(&["ask", "roots"]), "a tool that asks"),
            (says(&["note", "progress"]), "a tool that notifies"),
            (self.takes_long(), "a call that takes long"),
            (items().any(|(name, item)| json(item) && called(name)), "calls answered in JSON"),
        ];
        all.into_iter().filter(|(has, _)| *has).map(|(_, what)| what).collect()
    }

    /// Whether time goes by between a request and its answer.
    fn takes_long(&self) -> bool {
        self.steps.iter().enumerate().any(|(place, step)| {
            let Some((asked, items)) = step.says() else { return false };
            let answers = items.iter().any(|item| matches!(item, Item::Say(said) if said.word.starts_with("answer")));
            let sent = |step: &Step| matches!(step, Step::Sends { name, .. } if name == asked);
            let since = self.steps[..place].iter().rev().take_while(|step| !sent(step));
            answers && since.into_iter().any(|step| matches!(step, Step::Wait(_)))
        })
    }
}

impl Step {
    /// What the server says on an exchange.
    fn says(&self) -> Option<(&String, &Vec<Item>)> {
        if let Self::Says { name, items, .. } = self { Some((name, items)) } else { None }
    }

    /// What the client asks for.
    fn requests(&self) -> Option<&String> {
        if let Self::Sends { request, .. } = self { Some(request) } else { None }
    }

    /// The events with an id that a step makes.
    pub(super) fn kept(&self) -> Vec<(String, Said)> {
        let Self::Says { name, items, .. } = self else { return Vec::new() };
        let said = items.iter().filter_map(|item| match item {
            Item::Say(said) if said.id.is_some() => Some((name.clone(), said.clone())),
            _ => None,
        });
        said.collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    doc: String,
    steps: String,
}

/// All scripted exchanges by name.
pub(super) fn library() -> BTreeMap<String, Traffic> {
    let written: BTreeMap<String, Written> = super::row::read("traffic.toml");
    let parse = |(name, written): (String, Written)| {
        let lines = repeated(&super::row::lines(&written.steps));
        let steps = lines.iter().map(|line| step(line).unwrap_or_else(|| panic!("traffic {name}: {line:?}"))).collect();
        (name, Traffic { doc: written.doc, steps })
    };
    written.into_iter().map(parse).collect()
}

/// `repeat N` ... `again` written out, `{n}` being the number of the round and `{m}` that of the round before.
fn repeated(lines: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = lines.iter();
    while let Some(line) = rest.next() {
        let Some(times) = line.strip_prefix("repeat ").and_then(|times| times.parse::<usize>().ok()) else {
            all.push(line.clone());
            continue;
        };
        let round: Vec<_> = rest.by_ref().take_while(|line| *line != "again").collect();
        for n in 1..=times {
            let filled = |line: &&String| line.replace("{n}", &n.to_string()).replace("{m}", &(n - 1).to_string());
            all.extend(round.iter().map(filled));
        }
    }
    all
}

fn step(line: &str) -> Option<Step> {
    if let Some(time) = line.strip_prefix("wait ") {
        return duration(time).map(Step::Wait);
    }
    let (line, guard) = guard(line);
    if let Some(name) = line.strip_prefix("client leaves ") {
        return Some(Step::Leaves { name: name.to_owned(), guard });
    }
    let (who, what) = line.split_once(": ")?;
    if let Some(name) = who.strip_prefix("client sends ") {
        let (request, with) = what.split_once(" with ").unwrap_or((what, ""));
        let pairs = with.split("; ").filter(|pair| !pair.is_empty());
        let with = pairs.map(|pair| pair.split_once('=')).collect::<Option<Vec<_>>>()?;
        let with = with.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        return Some(Step::Sends { name: name.to_owned(), request: request.to_owned(), with, guard });
    }
    let name = who.strip_prefix("server sends ")?.to_owned();
    let items = what.split(", ").map(item).collect::<Option<Vec<_>>>()?;
    Some(Step::Says { name, items, guard })
}

fn guard(line: &str) -> (&str, Option<Guard>) {
    if let Some(line) = line.strip_suffix(" at once") {
        return (line, Some(Guard::Now));
    }
    let once = line.rsplit_once(" once ").and_then(|(line, what)| Some((line, what.strip_suffix(" is there")?)));
    if let Some((line, name)) = once {
        return (line, Some(Guard::Once(name.to_owned())));
    }
    match line.rsplit_once(" if ").and_then(|(line, what)| Some((line, what.split_once(" is ")?))) {
        Some((line, (name, word))) => (line, Some(Guard::If(name.to_owned(), word.to_owned()))),
        None => (line, None),
    }
}

fn item(text: &str) -> Option<Item> {
    let ending = |ending| Some(Item::End(ending));
    match text {
        "end" => return ending(Ending::Eof),
        "fin" => return ending(Ending::Fin),
        "reset" => return ending(Ending::Reset),
        _ => {}
    }
    let mut words = text.split(' ');
    let first = words.next()?;
    if let Ok(status) = first.parse() {
        let rest: Vec<_> = words.collect();
        let session = rest.iter().position(|word| *word == "session").and_then(|at| rest.get(at + 1));
        let media = rest.first().filter(|word| ["sse", "json", "html"].contains(word));
        let own = |word: &&str| (*word).to_owned();
        return Some(Item::Head {
            status,
            media: media.map(own),
            session: session.map(own),
            allows: rest.contains(&"allows"),
        });
    }
    if first == "replay" {
        return words.next().map(|name| Item::Replay(name.to_owned()));
    }
    let mut said = Said { word: first.to_owned(), ..Said::default() };
    while let Some(word) = words.next() {
        match word {
            "id" => said.id = Some(words.next()?.to_owned()),
            "of" => said.size = words.next()?.parse().ok()?,
            "bytes" => {}
            value if first == "priming" => said.id = Some(value.to_owned()),
            value if said.value.is_empty() => value.clone_into(&mut said.value),
            value => said.value = format!("{} {value}", said.value),
        }
    }
    Some(Item::Say(said))
}

/// `250ms`, `5s`.
fn duration(text: &str) -> Option<Duration> {
    if let Some(ms) = text.strip_suffix("ms") {
        return ms.parse().ok().map(Duration::from_millis);
    }
    text.strip_suffix('s')?.parse().ok().map(Duration::from_secs)
}
