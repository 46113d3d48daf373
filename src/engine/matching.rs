//! Whether a selector means a point: every field of language.md's selector, asked of what is known (rules R6 to R10).
//!
//! The one rule it keeps: a field that is absent matches everything, a field that cannot apply matches nothing.

use super::answer::header;
use super::exchange::{Exchange, stream_word};
use super::owner::{Call, CallId, Calls, Spoken};
use super::plan::Sel;
use super::rpc::{self, Id, Kind};
use super::selector::{At, Glob, MessageSelector, OwnerSelector, PointerGlob, Selector, SessionSelector, Stream};
use super::session::Sessions;
use super::sse::BlockKind;
use super::unit::{BlockPoint, Point};

/// All that a selector may ask about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) point: &'a Point,
    /// The exchange on whose stream the point is, or leaves.
    pub(super) exchange: Option<&'a Exchange>,
    pub(super) calls: &'a Calls,
    pub(super) sessions: &'a Sessions,
}

/// A message as `method`, `name`, `id` and `params` see it.
#[derive(Clone, Copy)]
struct Said<'a> {
    method: Option<&'a str>,
    name: Option<&'a str>,
    id: Option<&'a Id>,
    params: &'a [u8],
}

impl<'a> From<&'a Spoken> for Said<'a> {
    fn from(spoken: &'a Spoken) -> Self {
        let message = &spoken.message;
        let (method, name) = (message.method.as_deref(), message.name.as_deref());
        Self { method, name, id: message.id.as_ref(), params: &message.params }
    }
}

impl<'a> From<&'a Call> for Said<'a> {
    fn from(call: &'a Call) -> Self {
        Self { method: Some(&call.method), name: call.name.as_deref(), id: Some(&call.id), params: &call.params }
    }
}

/// Whether the selector means this point.
pub(super) fn means(sel: &Sel, scene: &Scene<'_>) -> bool {
    let selector = &sel.selector;
    if selector.at != scene.point.at {
        return false;
    }
    let Some(exchange) = scene.exchange else { return is_bare(selector) };
    about_request(selector, exchange)
        && about_message(selector, scene, exchange)
        && about_answer(selector, exchange, false)
        && sel
            .number
            .is_none_or(|number| exchange.ordinals.iter().any(|(of, k)| *of == number && selector.exchange.contains(k)))
        && selector.session.as_ref().is_none_or(|session| of_session(session, scene.point.session, scene.sessions))
        && selector.in_flight.is_none_or(|count| count.holds(scene.calls.in_flight(scene.point.session)))
        && about_block(selector, scene, exchange)
}

/// Whether an exchange is one that the selector's `exchange` counts: the fields above it, and `header`.
pub(super) fn counts(selector: &Selector, scene: &Scene<'_>) -> bool {
    let Some(exchange) = scene.exchange else { return false };
    let fields = Selector { http_method: None, path: None, reused: None, resumes: None, ..selector.clone() };
    about_request(&fields, exchange) && about_message(&fields, scene, exchange)
}

/// Whether the selector may yet mean a point of this exchange, as far as its request and head tell.
pub(super) fn may_mean(sel: &Sel, exchange: &Exchange, calls: &Calls, sessions: &Sessions) -> bool {
    let selector = &sel.selector;
    let borrowed = selector.at == At::Block && matches!(exchange.stream, Stream::Get | Stream::Legacy);
    let turned = may_be_legacy(exchange) && about_request_on(selector, exchange, Stream::Legacy);
    (turned || about_request(selector, exchange))
        && (borrowed || asks_no_message(selector) || said(exchange).any(|said| is_said(selector, said)))
        && (borrowed || of_owner(selector.owner.as_ref(), &exchange.belongs.owners, calls))
        && about_answer(selector, exchange, true)
        && selector.session.as_ref().is_none_or(|session| {
            // Any session may yet end.
            session.ended && exchange.session != 0 || of_session(session, exchange.session, sessions)
        })
        && sel
            .number
            .is_none_or(|number| exchange.ordinals.iter().any(|(of, k)| *of == number && selector.exchange.contains(k)))
}

/// Whether a GET may turn out to be the stream of 2024-11-05: its first block tells.
fn may_be_legacy(exchange: &Exchange) -> bool {
    exchange.stream == Stream::Get
        && exchange.header("mcp-session-id").is_none()
        && exchange.counts.iter().all(|count| *count == 0)
}

/// Whether one of these client requests is meant by `owner`.
pub(super) fn of_owner(owner: Option<&OwnerSelector>, owners: &[CallId], calls: &Calls) -> bool {
    let Some(owner) = owner else { return true };
    owners.iter().filter_map(|id| calls.get(*id)).any(|call| {
        let said = Said::from(call);
        text_fits(owner.method.as_ref(), said.method)
            && text_fits(owner.name.as_ref(), said.name)
            && owner.id.as_ref().is_none_or(|id| said.id == Some(id))
            && pointers_fit(&owner.params, said.params)
    })
}

/// A selector that can mean a connection: nothing but its point is asked.
fn is_bare(selector: &Selector) -> bool {
    *selector == Selector::any(selector.at)
}

fn about_request(selector: &Selector, exchange: &Exchange) -> bool {
    about_request_on(selector, exchange, exchange.stream)
}

fn about_request_on(selector: &Selector, exchange: &Exchange, stream: Stream) -> bool {
    text_fits(selector.stream.as_ref(), Some(stream_word(stream)))
        && text_fits(selector.http_method.as_ref(), Some(&exchange.request.method))
        && text_fits(selector.path.as_ref(), Some(exchange.path()))
        && selector.header.iter().all(|(name, presence)| presence.holds(exchange.header(name)))
        && selector.reused.is_none_or(|reused| reused == exchange.reused)
        && text_fits(selector.resumes.as_ref(), resumes(exchange))
}

fn resumes(exchange: &Exchange) -> Option<&'static str> {
    match exchange.stream {
        Stream::Resume if exchange.origin_known => Some(stream_word(exchange.trail.stream)),
        Stream::Resume => Some("unknown"),
        Stream::Post | Stream::Get | Stream::Listen | Stream::Legacy | Stream::Delete | Stream::Other => None,
    }
}

fn about_message(selector: &Selector, scene: &Scene<'_>, exchange: &Exchange) -> bool {
    let fits = asks_no_message(selector)
        || said(exchange).any(|said| is_said(selector, said))
        || answered(scene, exchange).any(|call| is_said(selector, Said::from(call)));
    fits && of_owner(selector.owner.as_ref(), &scene.point.belongs.owners, scene.calls)
}

fn asks_no_message(selector: &Selector) -> bool {
    selector.method.is_none() && selector.name.is_none() && selector.id.is_none() && selector.params.is_empty()
}

/// The requests and notifications of the exchange's POST, or of the POST that it resumes.
fn said(exchange: &Exchange) -> impl Iterator<Item = Said<'_>> {
    let messages = if exchange.stream == Stream::Resume { &exchange.trail.messages } else { &exchange.messages };
    messages.iter().filter(|spoken| !spoken.message.kind.is_reply()).map(Said::from)
}

/// On a stream that is not the answer of one POST: the requests that a block answers.
fn answered<'a>(scene: &Scene<'a>, exchange: &Exchange) -> impl Iterator<Item = &'a Call> {
    let borrowed = matches!(exchange.stream, Stream::Get | Stream::Legacy | Stream::Resume);
    let block = scene.point.block.as_ref().filter(|_| borrowed);
    let calls = scene.calls;
    let spoken = block.into_iter().flat_map(|block| &block.messages);
    spoken.filter(|spoken| spoken.answer).filter_map(move |spoken| calls.get(spoken.about?))
}

fn is_said(selector: &Selector, said: Said<'_>) -> bool {
    text_fits(selector.method.as_ref(), said.method)
        && text_fits(selector.name.as_ref(), said.name)
        && selector.id.as_ref().is_none_or(|id| said.id == Some(id))
        && pointers_fit(&selector.params, said.params)
}

/// The fields about the answer's head; `ahead`: an answer that has not come may still fit.
fn about_answer(selector: &Selector, exchange: &Exchange, ahead: bool) -> bool {
    let Some(answer) = &exchange.answer else {
        return ahead || (selector.status.is_none() && selector.media.is_none() && selector.response_header.is_empty());
    };
    text_fits(selector.status.as_ref(), Some(&answer.head.status.to_string()))
        && text_fits(selector.media.as_ref(), Some(answer.media.word()))
        && selector.response_header.iter().all(|(name, presence)| presence.holds(header(&answer.head.headers, name)))
}

fn of_session(session: &SessionSelector, ordinal: u64, sessions: &Sessions) -> bool {
    session.ordinals.contains(&ordinal) && ordinal != 0
        || session.none && ordinal == 0
        || session.ended && sessions.get(ordinal).is_some_and(|session| session.ended)
}

fn about_block(selector: &Selector, scene: &Scene<'_>, exchange: &Exchange) -> bool {
    match &scene.point.block {
        Some(block) => block_fits(selector, block, scene.calls),
        None => {
            let plain = selector.block.is_none() && selector.index.is_empty() && selector.event_id.is_none();
            let at_request = scene.point.at == At::Request;
            plain
                && selector.message.as_ref().is_none_or(|message| {
                    at_request && exchange.messages.iter().any(|spoken| message_fits(message, spoken, scene.calls))
                })
        }
    }
}

fn block_fits(selector: &Selector, block: &BlockPoint, calls: &Calls) -> bool {
    let meant = |kind: BlockKind| match &selector.block {
        Some(glob) => glob.matches(kind.word()),
        None => kind == BlockKind::Message,
    };
    let index = || BlockKind::ALL.iter().zip(block.counts).filter(|(kind, _)| meant(**kind)).map(|(_, n)| n).sum();
    meant(block.kind)
        && (selector.index.is_empty() || selector.index.contains(&index()))
        && selector.event_id.as_ref().is_none_or(|presence| presence.holds(block.event_id.as_ref()))
        && selector
            .message
            .as_ref()
            .is_none_or(|message| block.messages.iter().any(|spoken| message_fits(message, spoken, calls)))
}

/// Whether the fields about a request fit this message of a batch; one that is about no request goes by its stream.
pub(super) fn one_of_batch_fits(selector: &Selector, at: At, spoken: &Spoken, calls: &Calls) -> bool {
    let about = spoken.about.and_then(|id| calls.get(id));
    let said = match at {
        At::Request => Some(Said::from(spoken)).filter(|_| !spoken.message.kind.is_reply()),
        _ if spoken.answer => about.map(Said::from),
        _ => return of_its_owner(selector, about, calls),
    };
    (asks_no_message(selector) || said.is_some_and(|said| is_said(selector, said)))
        && of_its_owner(selector, about, calls)
}

fn of_its_owner(selector: &Selector, about: Option<&Call>, calls: &Calls) -> bool {
    about.and_then(|call| call.owner).is_none_or(|owner| of_owner(selector.owner.as_ref(), &[owner], calls))
}

/// Whether one message is meant.
pub(super) fn message_fits(selector: &MessageSelector, spoken: &Spoken, calls: &Calls) -> bool {
    let message = &spoken.message;
    let kind = message.kind.word();
    let names: &[&str] = if spoken.answer { &[kind, "answer"] } else { &[kind] };
    let method = match message.kind {
        Kind::Request | Kind::Notification => message.method.as_deref(),
        Kind::Response | Kind::Error => spoken.about.and_then(|call| calls.get(call)).map(|call| &*call.method),
    };
    selector.kind.as_ref().is_none_or(|glob| glob.matches_one_of(names))
        && text_fits(selector.method.as_ref(), method)
        && text_fits(selector.code.as_ref(), message.code.as_deref())
        && pointers_fit(&selector.params, &message.params)
        && pointers_fit(&selector.result, &message.result)
}

fn text_fits(glob: Option<&Glob>, text: Option<&str>) -> bool {
    glob.is_none_or(|glob| text.is_some_and(|text| glob.matches(text)))
}

fn pointers_fit(pointers: &[PointerGlob], json: &[u8]) -> bool {
    pointers.iter().all(|(pointer, glob)| {
        rpc::pointer(json, pointer).and_then(rpc::text_of).is_some_and(|text| glob.matches(&text))
    })
}
