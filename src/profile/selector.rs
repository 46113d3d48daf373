//! Reads a selector and checks that each of its fields can be asked for at its point.

use super::never::never;
use super::read::Reader;
use super::schema::{Field, Kind, MESSAGE, MESSAGES, OWNER, SELECTOR, at_word};
use super::tree::Node;
use crate::engine::language::params::Params;
use crate::engine::selector::{At, Glob, MessageSelector, OwnerSelector, Selector};

const POINTS: [At; 7] = [At::Connect, At::RequestHead, At::Request, At::Head, At::Block, At::End, At::Leave];
const BLOCK_FIELDS: [&str; 4] = ["message", "block", "index", "event-id"];

/// The point a selector names, as far as that can be told from text that may be wrong.
pub(super) fn point(node: &Node) -> Option<At> {
    match node.entry("at") {
        Some(entry) => POINTS.into_iter().find(|at| Some(at_word(*at)) == entry.node.as_str()),
        None => BLOCK_FIELDS.iter().any(|field| node.entry(field).is_some()).then_some(At::Block),
    }
}

impl Reader<'_> {
    pub(super) fn selector(&mut self, named: &str, node: &Node) -> Option<Selector> {
        let before = self.report.count();
        let params = self.table(named, node, &[&SELECTOR]);
        self.selected(named, node, &params, before)
    }

    /// Makes a selector of what was read from a table that may have more keys; `before` problems were known before.
    pub(super) fn selected(&mut self, named: &str, node: &Node, params: &Params, before: usize) -> Option<Selector> {
        let Some(at) = point(node) else {
            // An unknown key was to be the point, most likely.
            if node.entry("at").is_none() && node.entries().is_some() && self.report.count() == before {
                let what = format!("{named} has no `at`");
                self.report.wrong(
                    &node.spot,
                    what,
                    "write the point, such as at = \"request\" or message = \"answer\"",
                );
            }
            return None;
        };
        for field in SELECTOR.iter().filter(|field| !field.at.is_empty() && !field.at.contains(&at)) {
            if let Some(spot) = params.written(field.key) {
                let what = format!("`{}` cannot be asked for at `{}`", field.key, at_word(at));
                self.report.wrong(spot, what, advice(field, at));
            }
        }
        if self.report.count() == before {
            self.impossible(&build(at, params), params);
        }
        if self.report.count() != before {
            return None;
        }
        let selector = build(at, params);
        if let Some((key, why)) = never(&selector, &self.era) {
            let spot = params.written(key).unwrap_or(&node.spot);
            self.report.doubt(spot, &format!("nothing is ever like this: {why}"), "");
        }
        Some(selector)
    }

    /// A `method` that no point of this kind can have: it is the method of the POST's own message.
    fn impossible(&mut self, selector: &Selector, params: &Params) {
        let (Some(method), Some(spot)) = (&selector.method, params.written("method")) else { return };
        let kind = selector.message.as_ref().and_then(|message| message.kind.as_ref());
        let only = |glob: Option<&Glob>, fits: fn(&str) -> bool| {
            glob.is_some_and(|glob| !glob.any.is_empty() && glob.any.iter().all(|text| fits(text)))
        };
        let notes = only(Some(method), |method| method.starts_with("notifications/"));
        let get = only(selector.stream.as_ref(), |stream| stream == "get");
        let first = method.any.first().map_or("...", String::as_str);
        let message = format!("write message = {{ method = \"{first}\" }} for the message in the block");
        let (what, instead) = match selector.at {
            At::Block if notes => {
                ("`method` is that of the POST, and a notification's POST is answered without blocks", message)
            }
            At::Block if get && only(kind, |kind| matches!(kind, "request" | "notification")) => {
                ("`method` on a get is that of the request answered, and this is no answer", message)
            }
            At::RequestHead | At::Request | At::Head | At::End | At::Leave if get => {
                ("a get carries no message, so it has no `method`", "leave it out".to_owned())
            }
            At::Request if only(kind, is_answer) => (
                "a POST that carries an answer has no `method`",
                format!("write owner = {{ method = \"{first}\" }} for the call that it belongs to"),
            ),
            _ => return,
        };
        self.report.wrong(spot, what, instead);
    }

    pub(super) fn owner(&mut self, node: &Node) -> Option<OwnerSelector> {
        let before = self.report.count();
        let params = self.table("`owner`", node, &[&OWNER]);
        let owner = || OwnerSelector {
            method: params.glob("method"),
            name: params.glob("name"),
            id: params.id("id"),
            params: params.pointers("params").unwrap_or_default(),
        };
        (self.report.count() == before).then(owner)
    }

    pub(super) fn message(&mut self, node: &Node) -> Option<MessageSelector> {
        if node.entries().is_none() {
            let kind = self.word_glob("message", &Kind::Message, node, MESSAGES)?;
            return Some(MessageSelector { kind: Some(kind), ..MessageSelector::default() });
        }
        let before = self.report.count();
        let params = self.table("`message`", node, &[&MESSAGE]);
        let message = || MessageSelector {
            kind: params.glob("kind"),
            method: params.glob("method"),
            params: params.pointers("params").unwrap_or_default(),
            result: params.pointers("result").unwrap_or_default(),
            code: params.glob("code"),
        };
        (self.report.count() == before).then(message)
    }
}

fn is_answer(kind: &str) -> bool {
    matches!(kind, "answer" | "response" | "error")
}

fn advice(field: &Field, at: At) -> String {
    if at == At::Connect {
        return "no request has come yet; ask at \"request-head\" or later".to_owned();
    }
    match field.at {
        [At::Block] => "only a block has it: write at = \"block\"".to_owned(),
        [At::Request, At::Block] => "write at = \"block\", or at = \"request\" for the POST's own message".to_owned(),
        [first, ..] => format!("it is known from \"{}\" on", at_word(*first)),
        [] => String::new(),
    }
}

fn build(at: At, params: &Params) -> Selector {
    Selector {
        at,
        stream: params.glob("stream"),
        method: params.glob("method"),
        name: params.glob("name"),
        id: params.id("id"),
        params: params.pointers("params").unwrap_or_default(),
        owner: params.owner("owner"),
        exchange: params.ordinals("exchange").unwrap_or_default(),
        header: params.header_globs("header").unwrap_or_default(),
        response_header: params.header_globs("response-header").unwrap_or_default(),
        http_method: params.glob("http-method"),
        path: params.glob("path"),
        status: params.glob("status"),
        media: params.glob("media"),
        resumes: params.glob("resumes"),
        reused: params.bool_value("reused"),
        session: params.session("session"),
        in_flight: params.count("in-flight"),
        message: params.message("message"),
        block: params.glob("block"),
        index: params.ordinals("index").unwrap_or_default(),
        event_id: params.presence("event-id"),
    }
}
