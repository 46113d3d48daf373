//! An answer's head: what it says, what rules made of it, and of what form the body behind it is.
//!
//! The one rule it keeps: what came stays known beside what became of it.

use bytes::Bytes;

use super::event::{AnswerHead, HeadEdits};

/// What the answer's content type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    Sse,
    Json,
    None,
    Other,
}

impl Media {
    pub(super) fn of(head: &AnswerHead) -> Self {
        let Some(value) = header(&head.headers, "content-type") else { return Self::None };
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if essence.eq_ignore_ascii_case(b"text/event-stream") {
            Self::Sse
        } else if essence.eq_ignore_ascii_case(b"application/json") {
            Self::Json
        } else {
            Self::Other
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Json => "json",
            Self::None => "none",
            Self::Other => "other",
        }
    }
}

/// The first value of a header.
pub(super) fn header<'a>(headers: &'a [(String, Bytes)], name: &str) -> Option<&'a Bytes> {
    headers.iter().find(|(named, _)| named == name).map(|(_, value)| value)
}

/// An answer's head and what it says of the body.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// As later rules see it.
    pub(super) head: AnswerHead,
    /// What it says of the body.
    pub(super) media: Media,
    /// What the body is that the server sends; an encoding hides that.
    pub(super) body: Media,
    /// Which other form a rule gives the body.
    pub(super) turned: Option<Turned>,
    /// What rules made of the head.
    pub(super) change: Option<Change>,
}

/// Another form of an answer's body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turned {
    /// The rule that wants it.
    pub(super) rule: usize,
    /// What the body becomes.
    pub(super) into: Media,
}

/// What rules made of a head, and what came.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) edits: HeadEdits,
    /// The status that came; 0 of a request.
    pub(super) status: u16,
    pub(super) headers: Vec<(String, Bytes)>,
}

impl Change {
    /// Nothing yet, of a head that came so.
    pub(super) fn of(status: u16, headers: Vec<(String, Bytes)>) -> Self {
        Self { edits: HeadEdits::default(), status, headers }
    }
}

impl Turned {
    pub(super) fn content_type(self) -> &'static str {
        if self.into == Media::Sse { "text/event-stream" } else { "application/json" }
    }
}

impl Answer {
    pub(super) fn new(head: AnswerHead) -> Self {
        let media = Media::of(&head);
        let encoding = header(&head.headers, "content-encoding");
        let encoded = encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case(b"identity"));
        let body = if encoded { Media::Other } else { media };
        Self { head, media, body, turned: None, change: None }
    }

    /// What the body is by the time rules about blocks see it.
    pub(super) fn form(&self) -> Media {
        self.turned.map_or(self.body, |turned| turned.into)
    }
}
