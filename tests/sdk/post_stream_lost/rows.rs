//! The rows of the tables: what is done to the answer of which request, in front of which server.

use crate::harness::PATIENCE;

/// A row.
pub(super) struct Row {
    /// What the client's POST gets.
    pub(super) what: &'static str,
    /// The profile that does it; none: the server itself refuses.
    pub(super) profile: Option<&'static str>,
    pub(super) server: Server,
    pub(super) request: Request,
    /// The client's timeout in milliseconds.
    pub(super) timeout: u64,
}

/// The server of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Server {
    /// 1.32.2 without an event store: no event has an id.
    Plain,
    /// 1.32.2 with an event store.
    Resumable,
    /// 1.29.0 with an event store: it does not store an answer whose stream is gone.
    OldResumable,
}

impl Server {
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Plain | Self::Resumable => "1.32.2",
            Self::OldResumable => "1.29.0",
        }
    }
}

/// What the client asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Request {
    Ping,
    /// A tool that sends so many notifications and answers.
    Notify(u64),
    /// The same, but it answers only when the server has seen this.
    NotifyUntil(u64, Sight),
}

/// What a server sees of a cut stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Sight {
    /// The call's response is closed.
    Closed,
    /// A resume was refused with 409, because the stream still lives for the server.
    Refused,
}

const fn lost(what: &'static str, profile: &'static str, request: Request) -> Row {
    Row { what, profile: Some(profile), server: Server::Plain, request, timeout: LOSS }
}

const fn resumable(what: &'static str, profile: &'static str, request: Request, timeout: u64) -> Row {
    Row { what, profile: Some(profile), server: Server::Resumable, request, timeout }
}

/// The timeout, in milliseconds, of a request that may be lost. Longer than the second that clients wait before they
/// resume, and long enough for a slow machine to reject at once what is rejected at once. All cells wait together.
const LOSS: u64 = 10_000;

const AFTER_TWO: &str = "post-stream-lost,where=after,blocks=2";
const AFTER_TWO_DRAINED: &str = "post-stream-lost,where=after,blocks=2,server=drain";

pub(super) const ROWS: &[Row] = &[
    lost("headers, then clean end", "post-stream-lost,method=ping,where=head", Request::Ping),
    lost("clean end before the answer", "post-stream-lost,method=ping", Request::Ping),
    lost("clean end in the middle of the answer event", "post-stream-lost,method=ping,where=inside", Request::Ping),
    lost("FIN with no last chunk", "post-stream-lost,method=ping,ending=fin", Request::Ping),
    lost("FIN inside a chunk", "post-stream-lost,method=ping,ending=fin,where=inside", Request::Ping),
    lost("RST before the answer", "post-stream-lost,method=ping,ending=reset", Request::Ping),
    lost("RST inside the answer", "post-stream-lost,method=ping,ending=reset,where=inside", Request::Ping),
    lost("2 notifications, then clean end", "post-stream-lost", Request::Notify(2)),
    lost("2 notifications, then RST", "post-stream-lost,ending=reset", Request::Notify(2)),
    lost("silence, stream left open", "post-stream-stalls,method=ping", Request::Ping),
    lost("RST in place of any response header", "profiles/head-lost.toml,method=ping", Request::Ping),
    Row {
        what: "502 text/plain (by the server, no fault)",
        profile: None,
        server: Server::Plain,
        request: Request::Ping,
        timeout: LOSS,
    },
    resumable("clean end before the first id", "post-stream-lost,where=head", Request::Notify(2), LOSS),
    resumable("clean end after the priming event", "post-stream-lost,where=id", Request::Notify(2), PATIENCE),
    resumable("RST after the priming event", "post-stream-lost,where=id,ending=reset", Request::Notify(2), PATIENCE),
    resumable(
        "clean end after 2 notifications, upstream closed, the call still running",
        AFTER_TWO,
        Request::NotifyUntil(2, Sight::Closed),
        PATIENCE,
    ),
    Row {
        what: "the same in front of server 1.29.0",
        profile: Some(AFTER_TWO),
        server: Server::OldResumable,
        request: Request::NotifyUntil(2, Sight::Closed),
        timeout: LOSS,
    },
    resumable(
        "clean end after 2 notifications, upstream read on, call ended meanwhile",
        AFTER_TWO_DRAINED,
        Request::Notify(2),
        PATIENCE,
    ),
    resumable(
        "clean end after 2 notifications, upstream read on, call still running at the resume",
        AFTER_TWO_DRAINED,
        Request::NotifyUntil(2, Sight::Refused),
        PATIENCE,
    ),
];
