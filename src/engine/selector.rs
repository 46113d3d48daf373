//! Which points are meant: the fields of language.md's selector, checked, with every default filled in.

use super::rpc::Id;

/// A point of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// A client's connection.
    Connect,
    /// A request's head, before its body is read.
    RequestHead,
    /// A request, read whole or to the peek cap.
    Request,
    /// Status and headers of an answer.
    Head,
    /// One SSE block; a JSON answer is one message block.
    Block,
    /// The end of an answer.
    End,
    /// The client closes before the end.
    Leave,
}

/// The kind of exchange something travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// A POST and its answer.
    Post,
    /// The standalone GET.
    Get,
    /// A GET with `Last-Event-ID`.
    Resume,
    /// A modern `subscriptions/listen`.
    Listen,
    /// The 2024-11-05 event stream.
    Legacy,
    /// A DELETE.
    Delete,
    /// Anything else.
    Other,
}

/// Patterns with `*` (any text) and `?` (one character): it matches if one of `any` does (or `any` is empty) and none
/// of `none` does. Case counts; callers fold it where the protocol does (rule R10).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Glob {
    /// One of these must match; empty: everything does.
    pub any: Vec<String>,
    /// None of these may match (written `"!x"`).
    pub none: Vec<String>,
}

/// A JSON pointer (RFC 6901) and what its value must look like; numbers and booleans compare by their JSON text.
pub type PointerGlob = (String, Glob);

/// What must hold for a header or an SSE id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    Present,
    /// It is not there.
    Absent,
    /// It is there and looks like this.
    Like(Glob),
}

/// A number of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Exactly.
    Is(u64),
    /// At least (`">=n"`; `">n"` is read as this with n + 1).
    AtLeast(u64),
    /// At most (`"<=n"`; `"<n"` is read as this with n - 1).
    AtMost(u64),
}

/// Which points are meant (language.md, "Selector"). A field that is absent or empty matches everything; a field that
/// cannot apply matches nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    /// The point; the loader fills it in where the text leaves it to a block field.
    pub at: At,
    /// Names of streams (`post`, `get`, ...).
    pub stream: Option<Glob>,
    /// The JSON-RPC method of the message the exchange's POST carries; see language.md for resume, get and legacy.
    pub method: Option<Glob>,
    /// Tool, prompt, resource or task.
    pub name: Option<Glob>,
    /// The JSON-RPC id of that message.
    pub id: Option<Id>,
    /// Pointers below its `params`.
    pub params: Vec<PointerGlob>,
    /// The client request that the point's message belongs to (rule R7).
    pub owner: Option<OwnerSelector>,
    /// The k-th exchange of the session that fits `stream`, `method`, `name`, `id`, `params`, `owner` and `header`.
    pub exchange: Vec<u64>,
    /// The request's headers, names in lower case.
    pub header: Vec<(String, Presence)>,
    /// The answer's headers, names in lower case.
    pub response_header: Vec<(String, Presence)>,
    /// The HTTP method.
    pub http_method: Option<Glob>,
    /// The path, without the query.
    pub path: Option<Glob>,
    /// The answer's status as three digits (`"4xx"` is read as `"4??"`).
    pub status: Option<Glob>,
    /// The answer's kind of body: `sse`, `json`, `none`, `other`.
    pub media: Option<Glob>,
    /// Whose stream a resume continues: `post`, `get`, `unknown`.
    pub resumes: Option<Glob>,
    /// Whether it is not the first request on its connection.
    pub reused: Option<bool>,
    /// Which session.
    pub session: Option<SessionSelector>,
    /// Client requests of the session not yet settled (rule R12).
    pub in_flight: Option<Count>,
    /// The message in the block, or at `request` the POST's message.
    pub message: Option<MessageSelector>,
    /// The kind of block: `message`, `priming`, `retry`, `comment`, `endpoint`, `other`, `unparsable`; `None` means
    /// `message` at [`At::Block`], and does not apply elsewhere. `any` is read as the glob `*`.
    pub block: Option<Glob>,
    /// The k-th block of those kinds in its exchange, from 1.
    pub index: Vec<u64>,
    /// The SSE id.
    pub event_id: Option<Presence>,
}

impl Selector {
    /// The selector that takes every point of this kind.
    #[must_use]
    pub fn any(at: At) -> Self {
        Self {
            at,
            stream: None,
            method: None,
            name: None,
            id: None,
            params: Vec::new(),
            owner: None,
            exchange: Vec::new(),
            header: Vec::new(),
            response_header: Vec::new(),
            http_method: None,
            path: None,
            status: None,
            media: None,
            resumes: None,
            reused: None,
            session: None,
            in_flight: None,
            message: None,
            block: None,
            index: Vec::new(),
            event_id: None,
        }
    }
}

/// Which client request a message must belong to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnerSelector {
    /// Its method.
    pub method: Option<Glob>,
    /// Its name.
    pub name: Option<Glob>,
    /// Its id.
    pub id: Option<Id>,
    /// Pointers below its `params`.
    pub params: Vec<PointerGlob>,
}

/// Which session: any of the ordinals, or one without id, or one that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionSelector {
    /// By order of initialize, from 1.
    pub ordinals: Vec<u64>,
    /// A request that belongs to no session.
    pub none: bool,
    /// A session that was deleted, or whose id was answered 404.
    pub ended: bool,
}

/// What a JSON-RPC message must look like.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MessageSelector {
    /// `answer`, `response`, `error`, `request`, `notification`; an `answer` is also a `response` or an `error`.
    pub kind: Option<Glob>,
    /// Its method; of an answer, that of the request it answers.
    pub method: Option<Glob>,
    /// Pointers below `params`.
    pub params: Vec<PointerGlob>,
    /// Pointers below `result`.
    pub result: Vec<PointerGlob>,
    /// The error's code, as text.
    pub code: Option<Glob>,
}
