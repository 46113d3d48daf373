//! One HTTP request and its whole answer: its kind, its key, how far each leg is, and how its body is looked at.
//!
//! **Keys.** An exchange's key is its identity within its session, so that concurrency cannot change what is drawn for
//! it (ARCHITECTURE.md, "The seam"). A point's key is `SESSION/EXCHANGE/POINT#ORDINAL`, e.g. `s1/post:2/block#3`:
//!
//! * the session is `s1`, `s2`, ...; `s0` is none;
//! * a POST that carries a request is `post:ID`, a listen `listen:ID` (a string id in quotes); the second use of the
//!   same id `post:ID(2)`, and so on; a batch goes by its first request;
//! * a notification is `note:METHOD`, a client's answer `answer:ID`, both with `(n)` from the second on;
//! * `get:n`, `legacy:n`, `delete:n`; a resume is `resume:n(KEY)` with the key of the stream that issued the id, or `?`;
//!   anything else is `other:METHOD:PATH`, a request beyond the peek cap `unread:n`;
//! * blocks are numbered by kind, so that keep-alives move nobody: `block#3` is the third message, `block.comment#1`
//!   the first comment. Requests that rules send in its name are `sent#n`. All other points occur once and are `#1`.
//!
//! Before its request is read, a point is of the exchange `early:n`. An id longer than 64 bytes is named by its hash.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::amount::Amount;
use super::answer::{Answer, Change, Media, header};
use super::effects::Reached;
use super::event::{ConnId, Destination, Ending, ExchangeId, Moment, RequestHead};
use super::hash;
use super::owner::{Belongs, Spoken, Trail};
use super::rpc::Kind;
use super::selector::Stream;
use super::silence::Silence;
use super::sse::Framer;
use super::summing::Sums;
use super::unit::Lane;

/// How much of a JSON answer is kept to be looked into, in bytes; a larger one passes as it comes.
pub(super) const JSON_LIMIT: usize = 16 * 1024 * 1024;

/// How the bytes of an answer's body are taken.
#[derive(Debug)]
pub(super) enum Body {
    /// They pass as they come and nothing is looked for in them.
    Opaque,
    /// Events that pass as they come; where blocks end is marked.
    Through(Framer),
    /// Events of which each waits until it is whole.
    Blocks(Framer),
    /// A JSON answer.
    Json(Json),
    /// Events of which one JSON answer is made.
    Folded(Fold),
}

/// The events of which one JSON answer is made.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) framer: Framer,
    /// The rule that wants it.
    pub(super) rule: usize,
    /// The answers that have come, and how many bytes they have.
    pub(super) answers: Vec<Bytes>,
    pub(super) bytes: usize,
    /// Whether the JSON answer has been made.
    pub(super) done: bool,
}

/// A JSON answer on its way: one message block.
#[derive(Debug)]
pub(super) struct Json {
    /// Whether its bytes wait until it is whole.
    pub(super) whole: bool,
    /// Whether it becomes an event.
    pub(super) turned: bool,
    pub(super) kept: BytesMut,
    /// What `Content-Length` announced.
    pub(super) length: Option<u64>,
    /// Whether the block has been made, or is too large to be one.
    pub(super) done: bool,
}

/// How far the client's leg is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientLeg {
    /// Its answer is awaited or on its way.
    Open,
    /// It was ended by us: nothing more is written.
    Over,
    /// The client left: nothing more can be written.
    Left,
}

/// How far the server's leg is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerLeg {
    /// The request has not been forwarded.
    Idle,
    /// It was forwarded, or the proxy answers for the server.
    Open,
    /// Its close was commanded, or it is being drained or kept.
    Closing,
    /// It has ended.
    Over,
}

/// One HTTP request and its whole answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: ExchangeId,
    pub(super) conn: ConnId,
    pub(super) reused: bool,
    pub(super) stream: Stream,
    pub(super) session: u64,
    pub(super) key: Arc<str>,
    pub(super) request: RequestHead,
    /// What rules made of the request's head.
    pub(super) change: Option<Change>,
    /// What its POST carries.
    pub(super) messages: Vec<Spoken>,
    pub(super) belongs: Arc<Belongs>,
    /// Whose answers come on it: its own stream, or the one it resumes.
    pub(super) trail: Arc<Trail>,
    /// Whether it is a resume of a stream that we know.
    pub(super) origin_known: bool,
    /// Ordinals among the exchanges that fit a selector: its number in the plan, and the k of k-th.
    pub(super) ordinals: Vec<(usize, u64)>,
    /// Its body, until it is forwarded.
    pub(super) request_body: Bytes,
    pub(super) answer: Option<Answer>,
    pub(super) body: Body,
    /// How many bytes have passed of a block that is not whole.
    pub(super) carried: usize,
    /// Whether parts of a block have arrived that is too large to be kept whole, and its end has not.
    pub(super) parted: bool,
    /// How many blocks of each kind have arrived.
    pub(super) counts: [u64; 7],
    /// Whether an SSE id was given, so that its answer may still come by a resume.
    pub(super) resumable: bool,
    /// The SSE id that its server gave last.
    pub(super) last_given: Option<Bytes>,
    /// The sequence number of the block that arrived last.
    pub(super) last_block: u64,
    pub(super) late: Late,
    /// Whether the head was let go.
    pub(super) head_left: bool,
    /// The rule that answers it in the server's place.
    pub(super) answered_by: Option<usize>,
    /// Which server its request goes to.
    pub(super) to: Destination,
    /// The rule that said so, and whether it goes elsewhere for that.
    pub(super) routed: Option<(usize, bool)>,
    /// The number under which what it streams is kept for its resumes.
    pub(super) kept: Option<u64>,
    /// As a resume: the number of the kept stream from which it is answered.
    pub(super) serves: Option<u64>,
    /// How many requests rules have sent in its name.
    pub(super) sent: u64,
    /// How many ends it has had: a cut makes one, and the server's own may follow it.
    pub(super) ends: u64,
    pub(super) up: Lane,
    pub(super) down: Lane,
    pub(super) client: ClientLeg,
    pub(super) server: ServerLeg,
    /// Whether that outlives the client's on purpose.
    pub(super) spared: bool,
    /// Whether a rule lost its request: the server never gets it.
    pub(super) dropped: bool,
    /// When the server's answer ended, in time and sequence.
    pub(super) server_ended: Option<(Moment, u64)>,
    /// How the server's answer ends, as soon as that was read: its last bytes may just be on their way.
    pub(super) read_end: Option<Ending>,
    /// The rule whose cut ended it as it would have ended, as far as is known.
    pub(super) unseen_cut: Option<usize>,
    /// Cuts that wait for their `when` while the stream goes on.
    pub(super) cuts: Vec<super::unit::ArmedCut>,
    /// Units that were let go and whose last byte is not written yet.
    pub(super) flying: u64,
    /// The bytes of their points.
    pub(super) flying_bytes: u64,
    pub(super) paused: bool,
    /// Whether that is because no more of it can be kept.
    pub(super) full: bool,
    /// Whether a part of it was thrown away for a rule that is going to throw it all away.
    pub(super) emptied: bool,
    /// What of it has reached the client.
    pub(super) reached: Reached,
    /// What rules have done to its bodies.
    pub(super) sums: Sums,
    /// How long nothing of its answer was heard.
    pub(super) silence: Silence,
    /// When the server last said something of it.
    pub(super) spoke: Option<Moment>,
    /// How much of its body has gone on.
    pub(super) amount: Amount,
}

/// What becomes of a LF that follows the CR which had ended a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Late {
    /// It follows its block on this stream.
    Follows,
    /// Its block went elsewhere, and it with it.
    Swallowed,
}

impl Exchange {
    /// An exchange of which only the request's head is known.
    pub(super) fn new(id: ExchangeId, conn: ConnId, reused: bool, request: RequestHead) -> Self {
        let key: Arc<str> = Arc::from("");
        let trail = Trail { key: Arc::clone(&key), stream: Stream::Other, messages: Vec::new(), owners: Vec::new() };
        Self {
            id,
            conn,
            reused,
            stream: Stream::Other,
            session: 0,
            key,
            request,
            change: None,
            messages: Vec::new(),
            belongs: Arc::default(),
            trail: Arc::new(trail),
            origin_known: false,
            ordinals: Vec::new(),
            request_body: Bytes::new(),
            answer: None,
            body: Body::Opaque,
            carried: 0,
            parted: false,
            counts: [0; 7],
            resumable: false,
            last_given: None,
            last_block: 0,
            late: Late::Follows,
            head_left: false,
            answered_by: None,
            to: Destination::default(),
            routed: None,
            kept: None,
            serves: None,
            sent: 0,
            ends: 0,
            up: Lane::default(),
            down: Lane::default(),
            client: ClientLeg::Open,
            server: ServerLeg::Idle,
            dropped: false,
            spared: false,
            server_ended: None,
            read_end: None,
            unseen_cut: None,
            cuts: Vec::new(),
            flying: 0,
            flying_bytes: 0,
            paused: false,
            full: false,
            emptied: false,
            reached: Reached::default(),
            sums: Sums::default(),
            silence: Silence::default(),
            spoke: None,
            amount: Amount::default(),
        }
    }

    /// The path, without the query.
    pub(super) fn path(&self) -> &str {
        self.request.target.split('?').next().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&Bytes> {
        header(&self.request.headers, name)
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.answer.as_ref().map(|answer| answer.head.status)
    }

    /// Whether a rule has answered it once and for all; one that is answered from a kept stream may be answered otherwise.
    pub(super) fn is_answered(&self) -> bool {
        self.answered_by.is_some() && self.serves.is_none()
    }

    /// Whether nothing can happen on it any more.
    pub(super) fn is_over(&self) -> bool {
        let server = matches!(self.server, ServerLeg::Idle | ServerLeg::Over);
        self.client != ClientLeg::Open && server && self.flying == 0 && self.up.is_empty() && self.down.is_empty()
    }

    /// Whether blocks can be written on it: an event stream whose end has not come.
    pub(super) fn takes_blocks(&self) -> bool {
        let sse = self
            .answer
            .as_ref()
            .is_some_and(|answer| answer.form() == Media::Sse && (200..300).contains(&answer.head.status));
        let framed = matches!(self.body, Body::Blocks(_));
        sse && framed && self.client == ClientLeg::Open && self.server_ended.is_none()
    }

    /// The key of an exchange of this kind that is no request, notification or answer, without its number.
    pub(super) fn base_key(&self) -> String {
        let first = self.messages.first();
        let word = stream_word(self.stream);
        let request = self.messages.iter().find(|spoken| spoken.message.kind == Kind::Request);
        match (request.or(first), self.stream) {
            (Some(spoken), _) => {
                let id = spoken.message.id.as_ref().map(|id| short(&id.to_string())).unwrap_or_default();
                match spoken.message.kind {
                    Kind::Request => format!("{word}:{id}"),
                    Kind::Notification => {
                        format!("note:{}", short(spoken.message.method.as_deref().unwrap_or_default()))
                    }
                    Kind::Response | Kind::Error => format!("answer:{id}"),
                }
            }
            (None, Stream::Other) => format!("other:{}:{}", self.request.method, short(self.path())),
            (None, Stream::Post) => "unread".to_owned(),
            (None, _) => word.to_owned(),
        }
    }

    /// Its key, when the base was used for the n-th time.
    pub(super) fn nth_key(&self, base: &str, n: u64) -> String {
        match self.stream {
            Stream::Resume => format!("{base}:{n}({})", if self.origin_known { &*self.trail.key } else { "?" }),
            Stream::Get | Stream::Legacy | Stream::Delete => format!("{base}:{n}"),
            Stream::Post | Stream::Listen | Stream::Other if n == 1 && base != "unread" => base.to_owned(),
            Stream::Post if base == "unread" => format!("{base}:{n}"),
            Stream::Post | Stream::Listen | Stream::Other => format!("{base}({n})"),
        }
    }
}

/// The word of a kind of stream.
pub(super) fn stream_word(stream: Stream) -> &'static str {
    match stream {
        Stream::Post => "post",
        Stream::Get => "get",
        Stream::Resume => "resume",
        Stream::Listen => "listen",
        Stream::Legacy => "legacy",
        Stream::Delete => "delete",
        Stream::Other => "other",
    }
}

fn short(text: &str) -> String {
    if text.len() <= 64 { text.to_owned() } else { hash::stand_in(text.as_bytes()) }
}
