//! What the rules did to the wire, in words: a line for an effect, the many folded, so that all is one screen.
//!
//! The one rule: a line says what happened, from what the rim reported; what was only planned is not here.

use crate::engine::effects::{CutEffect, Did, Effect, Instead};
use crate::engine::record::{OwnerEntry, RpcEntry, Summary};
use crate::engine::rpc::Id;
use crate::engine::summing::BodyEffect;
use crate::report::names::{self, Methods};
use crate::report::words::{count, span};

/// How many lines a rule gets for one kind of effect, and how few where many rules share the screen.
const LINES: usize = 3;
const GROUPS: usize = 4;

/// A shorter time is none, in microseconds.
const AT_ONCE: u64 = 1_000;

/// The effects of a run: `RULE: cut POST tools/call id 1: reset after block 2, ...`.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    let groups = groups(&summary.effects);
    let most = if groups.len() > GROUPS { 1 } else { LINES };
    let mut lines = Vec::new();
    for group in &groups {
        let all = match &group[0].did {
            Did::Left { .. } => rearranged(group, &summary.methods),
            _ => group.iter().map(|effect| line(effect, &summary.methods)).collect(),
        };
        // A fold of one would be no shorter.
        let shown = if all.len() > most { most.saturating_sub(1).max(1) } else { all.len() };
        lines.extend(all[..shown].iter().map(|line| format!("{}: {line}", group[0].rule)));
        if all.len() > shown {
            lines.push(format!("{}: ... and {} more alike", group[0].rule, all.len() - shown));
        }
    }
    if summary.more_effects > 0 {
        lines.push(format!("... and {} more, not kept", summary.more_effects));
    }
    lines
}

/// By rule and kind, in the order of the first of each.
fn groups(effects: &[Effect]) -> Vec<Vec<&Effect>> {
    let kind = |effect: &Effect| std::mem::discriminant(&effect.did);
    let mut groups: Vec<Vec<&Effect>> = Vec::new();
    for effect in effects {
        let alike = |group: &&mut Vec<&Effect>| group[0].rule == effect.rule && kind(group[0]) == kind(effect);
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(effect),
            None => groups.push(vec![effect]),
        }
    }
    groups
}

fn line(effect: &Effect, methods: &Methods) -> String {
    let own = exchange_of(&effect.key);
    match &effect.did {
        Did::Cut(cut) => format!("cut {}: {}", names::exchange_stream(own, methods), cut_words(cut)),
        Did::CutConnection { conn, ending, after } => {
            format!("cut connection {conn}: {ending}{}", later(Some(*after), "it was accepted").unwrap_or_default())
        }
        Did::Moved { message, owner, to, copied } => {
            let what = message.as_ref().map_or_else(|| "a block".to_owned(), message_words);
            let owner = owner.as_ref().map(owner_words).unwrap_or_default();
            let from = names::exchange_stream(own, methods);
            let done = if *copied { "copied" } else { "moved" };
            match to {
                Some(to) => format!("{done} {what}{owner} from {from} to {}", names::exchange_stream(to, methods)),
                None => format!("lost {what}{owner} of {from}: no stream was open to take it"),
            }
        }
        Did::Dropped { message, owner } => {
            let owner = owner.as_ref().map(owner_words).unwrap_or_default();
            match message {
                Some(message) => {
                    format!("lost {}{owner} of {}", message_words(message), names::exchange_stream(own, methods))
                }
                None => format!("lost {}", names::point(&effect.key, methods)),
            }
        }
        Did::Added { again: true, to_server: true, .. } => {
            format!("sent {} again", names::exchange_stream(own, methods))
        }
        Did::Added { message, to_server: true, .. } => {
            let what = message.as_ref().map_or_else(|| "what is no message".to_owned(), message_words);
            format!("sent {what} to the server, beside {}", names::exchange_stream(own, methods))
        }
        Did::Added { message, block, again, .. } => {
            let what = message.as_ref().map_or_else(|| block_words(block).to_owned(), message_words);
            let done = if *again { "repeated" } else { "added" };
            format!("{done} {what} on {}", names::exchange_stream(own, methods))
        }
        Did::Answered { status, server } => {
            let server = match server {
                Instead::Unasked => "; the server never got it",
                Instead::Unheard => "; the server's own answer was thrown away",
                Instead::Kept => ", from what was kept for it",
            };
            format!("answered {} with {status}{server}", names::exchange_stream(own, methods))
        }
        Did::Owned => format!("gave the events of {} ids of its own", names::exchange_stream(own, methods)),
        Did::Rewritten { what } => format!("rewrote {}: {}", names::point(&effect.key, methods), what.join(", ")),
        Did::Routed { server, fresh } => {
            let fresh = if *fresh { ", on a connection of its own" } else { "" };
            format!("sent {} to server {server}{fresh}", names::exchange_stream(own, methods))
        }
        Did::Body(body) => body_words(body, &names::exchange_stream(own, methods)),
        Did::Delayed { by } => format!("delayed {} by {}", names::point(&effect.key, methods), span(*by)),
        Did::Left { .. } => names::point(&effect.key, methods),
    }
}

fn exchange_of(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(exchange, _)| exchange)
}

fn message_words(message: &RpcEntry) -> String {
    let method = message.method.as_deref().unwrap_or("(unknown)");
    match message.kind.as_str() {
        "response" | "error" => format!("the {} to {method}", if message.kind == "error" { "error" } else { "answer" }),
        _ => method.to_owned(),
    }
}

/// A block without a message, by the journal's word for it.
fn block_words(block: &str) -> &str {
    match block {
        "priming" => "an id without data",
        "retry" => "a reconnection time",
        "comment" => "a comment",
        "endpoint" => "an endpoint",
        "other" => "an event of another type",
        _ => "an event that is no message",
    }
}

fn owner_words(owner: &OwnerEntry) -> String {
    let id = match &owner.id {
        Id::Number(number) => number.clone(),
        Id::Text(text) => format!("\"{text}\""),
    };
    format!(" (owner {} id {id})", owner.method)
}

/// `reframed POST tools/call id 1: its answer parted at 33 places, 3 units in another form`.
fn body_words(body: &BodyEffect, stream: &str) -> String {
    let whose = if body.request { "its request" } else { "its answer" };
    let time = span(body.time);
    if body.slowed > 0 {
        return format!("slowed {stream}: {} of {whose} in {time}", count(body.slowed, "byte"));
    }
    if body.kept > 0 {
        return format!("buffered {stream}: {} of {whose}, for {time} at most", count(body.kept, "byte"));
    }
    let said = [
        body.apart.then(|| "apart from its head".to_owned()),
        (body.parted > 0).then(|| format!("parted at {}", count(body.parted, "place"))),
        (body.shaped > 0).then(|| format!("{} in another form", count(body.shaped, "unit"))),
        (body.together > 0).then(|| format!("events together {}", count(body.together, "time"))),
    ];
    format!("reframed {stream}: {whose} {}", said.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// `reset 2.0 s after block 2, before its answer; the server's leg closed`.
fn cut_words(cut: &CutEffect) -> String {
    let answer = match cut.answered.filter(|_| cut.head && !cut.inside_answer) {
        Some(true) => ", after its answer",
        Some(false) => ", before its answer",
        None => "",
    };
    let server = match cut.server.as_deref() {
        Some("drained") => "; the server's leg read on",
        Some("kept") => "; the server's leg left open, unread",
        Some("reset") => "; the server's leg reset",
        Some(_) => "; the server's leg closed",
        None => "",
    };
    format!("{}{}{answer}{server}", cut.ending, place_of_cut(cut))
}

/// Where a cut fell, and how long after what came last before it.
fn place_of_cut(cut: &CutEffect) -> String {
    let blocks = cut.blocks.unwrap_or(0);
    let last = match blocks {
        0 if cut.primed => "the priming event".to_owned(),
        0 => "its head".to_owned(),
        blocks => format!("block {blocks}"),
    };
    let since = |what: &str| later(cut.since, what).map(|later| format!(",{later}")).unwrap_or_default();
    match (cut.inside, cut.request) {
        (_, Some(bytes)) => format!(" after {bytes} bytes of the request"),
        _ if cut.unsent => " before the server got it".to_owned(),
        _ if !cut.head => format!(" before its head{}", since("the request")),
        _ if cut.blocks.is_none() => " in its body".to_owned(),
        (Some(bytes), _) => {
            let whose = if cut.inside_answer { "its answer, block" } else { "block" };
            format!(" after {bytes} bytes of {whose} {}{}", blocks + 1, since(&last))
        }
        (None, _) => later(cut.since, &last).unwrap_or_else(|| format!(" after {last}")),
    }
}

/// ` 2.0 s after it`, if it was long enough to be more than the way from one to the other.
fn later(since: Option<u64>, what: &str) -> Option<String> {
    since.filter(|since| *since >= AT_ONCE).map(|since| format!(" {} after {what}", span(since)))
}

// === Reordered ===

/// One block of a window as it came and went.
struct Gone<'a> {
    session: u64,
    arrived: u64,
    left: u64,
    effect: &'a Effect,
}

/// The runs of blocks, as they came, that left in another order: nothing of a run came before or after all of it.
fn rearranged(group: &[&Effect], methods: &Methods) -> Vec<String> {
    let gone = |effect: &&'_ Effect| match effect.did {
        Did::Left { session, arrived, left, .. } => Some((session, arrived, left)),
        _ => None,
    };
    let mut all: Vec<Gone<'_>> = group
        .iter()
        .filter_map(|effect| gone(effect).map(|(session, arrived, left)| Gone { session, arrived, left, effect }))
        .collect();
    all.sort_by_key(|it| (it.session, it.arrived));
    let sessions = all.chunk_by(|one, other| one.session == other.session);
    sessions.flat_map(runs).filter(|run| run.len() > 1).map(|run| order(run, methods)).collect()
}

/// One session's blocks, cut wherever all before left before all after.
fn runs<'a, 'b>(blocks: &'b [Gone<'a>]) -> Vec<&'b [Gone<'a>]> {
    let mut soonest = vec![u64::MAX; blocks.len() + 1];
    for (index, block) in blocks.iter().enumerate().rev() {
        soonest[index] = soonest[index + 1].min(block.left);
    }
    let (mut runs, mut start, mut latest) = (Vec::new(), 0, 0);
    for (index, block) in blocks.iter().enumerate() {
        latest = latest.max(block.left);
        if latest < soonest[index + 1] {
            runs.push(&blocks[start..=index]);
            start = index + 1;
        }
    }
    runs
}

fn order(run: &[Gone<'_>], methods: &Methods) -> String {
    let mut left: Vec<&Gone<'_>> = run.iter().collect();
    left.sort_by_key(|block| block.left);
    let first = exchange_of(&left[0].effect.key);
    let own = left.iter().all(|block| exchange_of(&block.effect.key) == first);
    let named = |block: &&Gone<'_>| {
        let number = block.effect.key.rsplit('#').next().unwrap_or_default();
        if own { number.to_owned() } else { names::point(&block.effect.key, methods) }
    };
    let blocks: Vec<String> = left.iter().map(named).collect();
    if own {
        format!("reordered {}: its blocks left as {}", names::exchange_stream(first, methods), blocks.join(", "))
    } else {
        format!("reordered: {}", blocks.join(", then "))
    }
}

#[cfg(test)]
mod tests;
