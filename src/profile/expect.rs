//! Reads an `[[expect]]`: what is to be seen, for each time that what has come true, how often and how soon; and what
//! these mean together. A named check is read as what it counts, where it can be said so.

use super::named::{self, Named};
use super::read::{Fired, Reader};
use super::schema::{COUNTED, EXPECT, FIRED, Kind, OPENED, SELECTOR, WAIT, at_word};
use super::tree::{Node, Value};
use super::value;
use crate::engine::condition::{Leg, REMEMBERED, Same, Time};
use crate::engine::expectation::{Expectation, Opener, Opening, Wanted, What};
use crate::engine::language::Spot;
use crate::engine::language::params::Params;
use crate::engine::selector::{At, Count};
use crate::engine::trigger::Scope;

impl Reader<'_> {
    /// Reads an expectation; `None` if something is wrong with it, which is then reported.
    pub(super) fn expectation(&mut self, node: &Node) -> Option<Expectation> {
        let before = self.report.count();
        let params = self.table("the expectation", node, &[&EXPECT]);
        let named = params.text("that").and_then(|name| named::find(&name));
        self.one_thing(node, &params);
        if let Some(named) = named {
            self.named_keys(named, &params);
        }
        if self.report.count() != before {
            return None;
        }
        // A value that is missing was complained of before.
        let what = params.expected("match").or_else(|| named.map(|_| What::Points(Vec::new())))?;
        let scope = if params.text("scope")? == "run" { Scope::Run } else { Scope::Session };
        let mut expectation = Expectation {
            name: self.full_name(&params.text("name")?),
            what,
            after: params.openings("after").unwrap_or_default(),
            count: params.count("count")?,
            within: params.duration("within"),
            per: params.duration("per"),
            scope,
            optional: params.flag("optional"),
        };
        through_the_run(&mut expectation, node);
        match named {
            Some(named) => {
                let count = params.written("count").is_some();
                named.fill(&mut expectation, count);
            }
            None => self.together(&expectation, node, &params),
        }
        self.counts(&expectation, &params);
        (self.report.count() == before).then_some(expectation)
    }

    fn one_thing(&mut self, node: &Node, params: &Params) {
        match (node.entry("match"), node.entry("that")) {
            (None, None) => {
                let what = "the expectation counts nothing";
                self.report.wrong(&node.spot, what, "write `match`, or `that` for a named check");
            }
            (Some(_), Some(that)) => {
                self.report.wrong(&that.spot, "`match` and `that` together", "write one of them");
            }
            (None, Some(that))
                if params.written("count").is_some() && params.text("that").as_deref() != Some("gets") =>
            {
                self.report.wrong(&that.spot, "a named check does not count", "remove `count`");
            }
            _ => {}
        }
    }

    /// The keys that have a meaning beside a named check.
    fn named_keys(&mut self, named: &Named, params: &Params) {
        for (key, spot) in params.which(&["after", "within", "per", "scope"]) {
            if !named.keys.contains(&key) {
                let takes = named.keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                let takes = if takes.is_empty() { "it takes nothing".to_owned() } else { format!("it takes {takes}") };
                self.report.wrong(&spot, format!("`{key}` has no meaning for \"{}\"", named.name), takes);
            }
        }
        if named.needs_after
            && params.written("after").is_none()
            && let Some(spot) = params.written("that")
        {
            let instead = "write what ends the stream, such as after = { fired = \"RULE\" }";
            self.report.wrong(spot, format!("\"{}\" without `after`", named.name), instead);
        }
    }

    /// What `match`, `after` and the others mean together.
    fn together(&mut self, it: &Expectation, node: &Node, params: &Params) {
        let spot = |key: &str| node.entry(key).map_or(&node.spot, |entry| &entry.spot);
        let relates = it.after.iter().any(|opening| !matches!(opening, Opening::Time(_)));
        if let What::Points(wanted) = &it.what {
            for wanted in wanted {
                self.bound_to_session(
                    spot("match"),
                    wanted.selector.at,
                    it.scope == Scope::Run || wanted.same == Same::Run,
                );
                let own = if it.scope == Scope::Run { Same::Run } else { Same::Session };
                if !relates && wanted.same != own && wanted.same != Same::Run {
                    let what = "`same` relates to the point that made `after` true, and there is none";
                    self.report.wrong(spot("match"), what, "leave it out, or write `after`");
                }
            }
        }
        for opening in &it.after {
            if let Opening::Seen(opener) = opening {
                self.bound_to_session(spot("after"), opener.selector.at, it.scope == Scope::Run);
            }
        }
        if it.what == What::Exit {
            self.exit(it, spot("match"), params);
        }
    }

    /// What is seen before a session is known falls into none.
    fn bound_to_session(&mut self, spot: &Spot, at: At, across: bool) {
        if !across && matches!(at, At::Connect | At::RequestHead) {
            let what = format!("a `{}` may be of no session yet", at_word(at));
            self.report.wrong(spot, what, "write scope = \"run\", or another point");
        }
    }

    fn exit(&mut self, it: &Expectation, spot: &Spot, params: &Params) {
        if it.within.is_none() {
            let what = "a run ends with its command: the expectation is always met";
            self.report.wrong(spot, what, "add `within`: how soon");
        }
        if it.count != Count::AtLeast(1) && it.count != Count::Is(0) && it.count != Count::Is(1) {
            let spot = params.written("count").unwrap_or(spot);
            self.report.wrong(spot, "a command ends once", "leave `count` out, or write count = 0 for not so soon");
        }
    }

    /// What `count` and `per` say by themselves.
    fn counts(&mut self, it: &Expectation, params: &Params) {
        if let (Count::AtLeast(0), Some(spot)) = (it.count, params.written("count")) {
            self.report.wrong(spot, "`count` is always so", "write the number that must be seen, such as \">=1\"");
        }
        let Some(spot) = params.written("per") else { return };
        match it.count.most() {
            None => self.report.wrong(spot, "`per` is for a most", "write a count such as \"<=4\", or `within`"),
            Some(0) => self.report.wrong(spot, "`per` with none at all", "leave it out"),
            Some(most) if most >= REMEMBERED as u64 => {
                let what = format!("no more than {REMEMBERED} are remembered one by one");
                self.report.wrong(spot, what, "write a smaller count");
            }
            Some(_) => {}
        }
    }

    /// The full name of something in this profile; what is named on the command line is not of one.
    pub(super) fn full_name(&self, name: &str) -> String {
        if self.profile.is_empty() { name.to_owned() } else { format!("{}/{name}", self.profile) }
    }

    // --- what is counted

    pub(super) fn expected(&mut self, key: &str, node: &Node) -> Option<What> {
        match &node.value {
            Value::Text(text) if text == "exit" => Some(What::Exit),
            Value::List(items) if !items.is_empty() => {
                let wanted: Vec<_> = items.iter().map(|item| self.wanted(key, item)).collect();
                wanted.into_iter().collect::<Option<Vec<_>>>().map(What::Points)
            }
            Value::Table(_) if node.entry("fired").is_some() => {
                let before = self.report.count();
                let params = self.table(&format!("`{key}`"), node, &[&FIRED[..1]]);
                (self.report.count() == before).then(|| self.fired_rule(&params).map(What::Fired))?
            }
            Value::Table(_) => self.wanted(key, node).map(|wanted| What::Points(vec![wanted])),
            _ => self.none(key, &Kind::Expected, node),
        }
    }

    fn wanted(&mut self, key: &str, node: &Node) -> Option<Wanted> {
        if node.entries().is_none() {
            return self.none(key, &Kind::Selector, node);
        }
        let before = self.report.count();
        let named = format!("`{key}`");
        let params = self.table(&named, node, &[&SELECTOR, &COUNTED]);
        let selector = self.selected(&named, node, &params, before)?;
        let leg = self.leg(node, selector.at, &params);
        Some(Wanted { selector, leg, same: params.text("same").map_or(Same::Session, |same| Same::of(&same)) })
    }

    // --- what opens a window

    pub(super) fn openings(&mut self, key: &str, node: &Node) -> Option<Vec<Opening>> {
        match &node.value {
            Value::List(items) if !items.is_empty() => {
                let read: Vec<_> = items.iter().map(|item| self.opening(key, item)).collect();
                read.into_iter().collect()
            }
            _ => self.opening(key, node).map(|opening| vec![opening]),
        }
    }

    fn opening(&mut self, key: &str, node: &Node) -> Option<Opening> {
        match &node.value {
            Value::Text(text) => match self.opening_word(text) {
                Ok(opening) => Some(opening),
                Err(instead) => {
                    self.refuse_with(key, node, &instead);
                    None
                }
            },
            Value::Table(_) => self.opening_table(key, node),
            _ => self.none(key, &Kind::Openings, node),
        }
    }

    fn opening_word(&self, text: &str) -> Result<Opening, String> {
        match text {
            "never" => Err("what is asked for after it is asked for never; leave the expectation out".to_owned()),
            "end" => Err("no exchange is in hand here: write { at = \"end\", ... }".to_owned()),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
                value::duration(text).map(|time| Opening::Time(Time::Fixed(self.scale.of(time))))
            }
            _ => Err(format!("write {}", Kind::Openings.described())),
        }
    }

    fn opening_table(&mut self, key: &str, node: &Node) -> Option<Opening> {
        let before = self.report.count();
        let named = format!("`{key}`");
        if node.entry("fired").is_some() {
            let params = self.table(&named, node, &[&FIRED]);
            let plus = params.time("plus");
            return (self.report.count() == before)
                .then(|| self.fired_rule(&params).map(|rule| Opening::Fired { rule, plus }))?;
        }
        if let Some(word) = ["idle", "bytes", "gathered", "control"].iter().find(|word| node.entry(word).is_some()) {
            let instead = "say which point begins the time, such as { at = \"end\" }";
            self.refuse_with(key, node, &format!("`{word}` is about the answer in hand, and here is none; {instead}"));
            return None;
        }
        if node.entry("plus").is_some() && node.entries().is_some_and(|entries| entries.len() == 1) {
            let params = self.table(&named, node, &[&WAIT]);
            return (self.report.count() == before).then(|| params.time("plus").map(Opening::Time))?;
        }
        let params = self.table(&named, node, &[&SELECTOR, &OPENED]);
        let selector = self.selected(&named, node, &params, before)?;
        let leg = self.leg(node, selector.at, &params);
        let across = params.text("same").is_some_and(|same| same == "run");
        let opener = Opener { selector, leg, nth: params.number("nth"), across, plus: params.time("plus") };
        Some(Opening::Seen(Box::new(opener)))
    }

    /// What the client sent and what it got, unless `leg` says otherwise (rule R2).
    fn leg(&mut self, node: &Node, at: At, params: &Params) -> Leg {
        let leg = if params.text("leg").as_deref() == Some("server") { Leg::Server } else { Leg::Client };
        if leg == Leg::Server && matches!(at, At::Connect | At::RequestHead) {
            let spot = params.written("leg").unwrap_or(&node.spot);
            let what = format!("nothing is ever like this: a `{}` is not seen on the server's leg", at_word(at));
            self.report.doubt(spot, &what, "");
        }
        leg
    }

    /// The rule that `fired` names; whether there is one is known when all have been read.
    pub(super) fn fired_rule(&mut self, params: &Params) -> Option<String> {
        let rule = params.text("fired")?;
        let spot = params.written("fired")?.clone();
        self.fired.push(Fired { rule: rule.clone(), spot, part: self.report.part.clone() });
        Some(self.full_name(&rule))
    }
}

/// With `scope = "run"` all sessions are meant where `same` is not written.
fn through_the_run(it: &mut Expectation, node: &Node) {
    if it.scope != Scope::Run {
        return;
    }
    let silent = |key: &str, place: usize| {
        let item = node.entry(key).map(|entry| match &entry.node.value {
            Value::List(items) => &items[place],
            _ => &entry.node,
        });
        item.is_some_and(|item| item.entry("same").is_none())
    };
    if let What::Points(wanted) = &mut it.what {
        for (place, wanted) in wanted.iter_mut().enumerate() {
            if silent("match", place) {
                wanted.same = Same::Run;
            }
        }
    }
    for (place, opening) in it.after.iter_mut().enumerate() {
        if let (Opening::Seen(opener), true) = (opening, silent("after", place)) {
            opener.across = true;
        }
    }
}
