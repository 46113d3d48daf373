//! The seam between the engine and the rim: what arrives, and what is to be done about it.
//!
//! The rim reports everything that arrives and everything whose last byte it wrote; the engine answers each event with
//! commands, to be carried out in the order given. Neither side waits for the other.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::record::Entry;

/// A moment of the run: the time since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(pub Duration);

/// A client's connection, numbered by the rim in order of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// One HTTP request and its whole answer, numbered by the rim in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// Something the engine let go and whose last byte the rim reports with [`Event::Passed`]; numbered by the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u64);

/// How a body, or the connection that carries it, ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The body ends as HTTP has it.
    Eof,
    /// The connection closes without the end of the body.
    Fin,
    /// The connection is reset (RST).
    Reset,
    /// Nothing more comes and the connection stays open.
    Stall,
}

/// What becomes of the server's leg when the client's has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Closed as a client that leaves would close it (FIN).
    Close,
    /// Reset, as a client that was reset.
    Reset,
    /// Left open, read to its end and thrown away, for so long at most.
    Drain(Option<Duration>),
    /// Left open and not read, for so long at most.
    Keep(Option<Duration>),
}

/// Who made an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The server.
    Server,
    /// The proxy itself: the server could not be reached or broke the protocol.
    Proxy,
    /// A rule, in the server's place.
    Rule,
}

/// A request's line and headers, as they came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestHead {
    /// The HTTP method.
    pub method: String,
    /// Path and query, as on the request line.
    pub target: String,
    /// Name (in lower case) and value of each header, in order, repeats apart.
    pub headers: Vec<(String, Bytes)>,
}

/// An answer's status and headers, as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerHead {
    /// The HTTP status.
    pub status: u16,
    /// Name (in lower case) and value of each header, in order, repeats apart.
    pub headers: Vec<(String, Bytes)>,
    /// Who made it.
    pub source: Source,
}

/// Which of the servers a request goes to, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Destination {
    /// The server, in the order of the command line, from 0.
    pub server: usize,
    /// On a connection of its own, which carries nothing else.
    pub fresh: bool,
}

/// What becomes of a header after the proxy's own mapping (rule R27): its name in lower case, and the value that takes
/// the place of all fields of that name; `None` removes them.
pub type HeaderEdit = (String, Option<Bytes>);

/// What a rule makes of an answer's head, after the proxy's own mapping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeadEdits {
    /// Another status, if any.
    pub status: Option<u16>,
    /// Changed headers, in the order in which they are changed.
    pub headers: Vec<HeaderEdit>,
}

/// A request's body as far as it was read before the request is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestBody {
    /// All of it.
    Whole(Bytes),
    /// More than the peek cap: the request is matched by its head only (rule R38). The number is the cap in bytes.
    BeyondPeek(u64),
}

/// What arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A client connected. The rim reads nothing from it before [`Command::Admit`].
    Connect {
        /// The connection.
        conn: ConnId,
        /// The client's address without the port: clients are told apart by it (rule R9).
        client: String,
    },
    /// A client's connection is gone; no exchange of it is left. What was let go on it and not reported as passed never
    /// will be: the client has left before it.
    Disconnect {
        /// The connection.
        conn: ConnId,
        /// How the client ended it, `Fin` or `Reset`; `Fin` if it did not.
        ending: Ending,
    },
    /// A request's head was read. Its body is not reported before [`Command::Read`], nor asked of a client that waits
    /// to be asked (`Expect`); one that comes unasked is read, because its client could not be seen to leave else.
    RequestHead {
        /// The exchange that begins.
        exchange: ExchangeId,
        /// Its connection.
        conn: ConnId,
        /// Whether it is not the first request on its connection.
        reused: bool,
        /// The head.
        head: RequestHead,
    },
    /// A request was answered by the rim because it is broken or not for a server; no exchange began.
    Refused {
        /// The connection.
        conn: ConnId,
        /// The HTTP method; `None` if what the client sent was not understood.
        method: Option<String>,
        /// Why, in words.
        why: String,
    },
    /// The request's body was read, whole or to the peek cap. It is forwarded at [`Command::Forward`].
    Request {
        /// The exchange.
        exchange: ExchangeId,
        /// The body.
        body: RequestBody,
    },
    /// The answer's head arrived, or the proxy made one. It is sent at [`Command::Head`].
    Head {
        /// The exchange.
        exchange: ExchangeId,
        /// The head.
        head: AnswerHead,
    },
    /// Bytes of the answer's body arrived. The engine owns them; it returns them in [`Command::Write`].
    Data {
        /// The exchange.
        exchange: ExchangeId,
        /// The bytes, as they came.
        bytes: Bytes,
        /// Whether the proper end of the answer came with them: [`Event::End`] with `Eof` is next.
        last: bool,
    },
    /// The server's leg ended; `Eof` is a whole answer. Also when it ended before a head (`Fin` or `Reset`).
    End {
        /// The exchange.
        exchange: ExchangeId,
        /// How (never `Stall`).
        ending: Ending,
    },
    /// The client left before its answer had ended.
    Left {
        /// The exchange.
        exchange: ExchangeId,
        /// `Fin` or `Reset`.
        ending: Ending,
    },
    /// The last byte of a unit was written to the leg it goes to; for a [`Command::CloseServer`], the leg is closed.
    Passed {
        /// The unit.
        unit: UnitId,
    },
    /// A request under [`Command::Post`] could not be written, and never will be.
    Unsent {
        /// The unit.
        unit: UnitId,
        /// Why, in words.
        why: String,
    },
    /// The answer to a request under [`Command::Post`] has ended.
    Answered {
        /// The unit.
        unit: UnitId,
    },
    /// An answer under [`Command::Relay`] has ended on both legs.
    Relayed {
        /// The exchange.
        exchange: ExchangeId,
        /// How the server ended it.
        ending: Ending,
    },
    /// The command behind the proxy has ended.
    Exit,
    /// Time has come to [`next_due`](super::engine::Engine::next_due).
    Tick,
    /// The run is over: what still waits is recorded as withheld, nothing is commanded but records.
    Finish,
}

/// Where in a [`Command::Write`] a unit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The number of bytes of the write up to and including the unit's last.
    pub end: usize,
    /// The unit.
    pub unit: UnitId,
}

/// The part of a block that still leaves when a cut falls inside it.
#[derive(Clone, PartialEq, Eq)]
pub struct Inside {
    /// The bytes that leave.
    pub part: Bytes,
    /// How many bytes the whole block has: a chunk of that size is begun and not completed.
    pub whole: usize,
}

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inside({} of {} bytes)", self.part.len(), self.whole)
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin to read this connection.
    Admit {
        /// The connection.
        conn: ConnId,
    },
    /// End a connection on which no exchange is open.
    CutConnection {
        /// The connection.
        conn: ConnId,
        /// `Fin`, `Reset` or `Stall`.
        ending: Ending,
    },
    /// Read the request's body.
    Read {
        /// The exchange.
        exchange: ExchangeId,
    },
    /// Send the request to the server.
    Forward {
        /// The exchange.
        exchange: ExchangeId,
        /// Reported with [`Event::Passed`] when its last byte is written.
        unit: UnitId,
        /// Which server that is.
        to: Destination,
        /// Ask the server for identity encoding, because a rule must look into the answer (rule R38).
        identity: bool,
        /// A body to send in place of the one that came.
        body: Option<Bytes>,
        /// Only the head goes now, and `unit` is reported when that is written: the body follows with [`Command::Send`].
        parted: bool,
        /// Changed headers, in the order in which they are changed; after the proxy's own mapping.
        headers: Vec<HeaderEdit>,
        /// Send no more of the body than so many bytes, and leave the request unfinished: it is reported when these are
        /// written.
        part: Option<u64>,
    },
    /// Send so many more bytes of a request's body, in a write of their own.
    Send {
        /// The exchange.
        exchange: ExchangeId,
        /// How many; together they are the body.
        length: usize,
        /// Reported when they are written.
        unit: UnitId,
    },
    /// Send a request of a rule's own to the server, on a connection of its own. Its answer is read to its end and thrown
    /// away, which is reported with [`Event::Answered`].
    Post {
        /// The exchange in whose name it is sent.
        exchange: ExchangeId,
        /// Reported with [`Event::Passed`] when its last byte is written, else with [`Event::Unsent`].
        unit: UnitId,
        /// The server, in the order of the command line, from 0.
        server: usize,
        /// The head, to be mapped as any other.
        head: RequestHead,
        /// The body.
        body: Bytes,
    },
    /// Close the connection of a [`Command::Post`], whose answer nobody waits for.
    ClosePost {
        /// The unit.
        unit: UnitId,
    },
    /// Send the answer's head.
    Head {
        /// The exchange.
        exchange: ExchangeId,
        /// Reported when it is written.
        unit: UnitId,
        /// Drop `Content-Length` and send chunks: the body's length may not stay what was announced.
        rechunk: bool,
        /// What is changed in it.
        edits: HeadEdits,
        /// The head of an answer that a rule made, in place of the server's, whether or not that has come, will come, or
        /// was asked for: what the engine writes is then the whole body.
        made: Option<Box<AnswerHead>>,
    },
    /// The answer's body is not the engine's concern: relay it without reporting [`Event::Data`] and [`Event::End`].
    /// Comes right after this exchange's `Forward`; `Left` is still reported, and the end with [`Event::Relayed`].
    Relay {
        /// The exchange.
        exchange: ExchangeId,
    },
    /// Write these bytes of an answer's body to the client. The exchange may be another than the one they came on.
    Write {
        /// The exchange whose client leg they go to.
        exchange: ExchangeId,
        /// The bytes.
        bytes: Bytes,
        /// Which units end in them, in order of `end`.
        marks: Vec<Mark>,
    },
    /// End the client's leg of an exchange, after everything written before.
    Finish {
        /// The exchange.
        exchange: ExchangeId,
        /// Reported when it has happened (never, for a stall).
        unit: UnitId,
        /// How. `Eof` only after a head.
        ending: Ending,
        /// The part of a block that still leaves first.
        inside: Option<Inside>,
        /// For `Reset`: how long the reader gets to read what was sent, where it cannot be seen that it has. `None`:
        /// the server's own reset, passed on at once.
        settle: Option<Duration>,
    },
    /// Read no more of this exchange's answer from the server: what may be held is held, or a rule wants back-pressure.
    PauseServer {
        /// The exchange.
        exchange: ExchangeId,
    },
    /// Read on after [`Command::PauseServer`].
    ResumeServer {
        /// The exchange.
        exchange: ExchangeId,
    },
    /// End the server's leg of an exchange, or decide what becomes of it. Without it the leg is read on.
    CloseServer {
        /// The exchange.
        exchange: ExchangeId,
        /// Reported when it is closed.
        unit: UnitId,
        /// What becomes of it.
        fate: Fate,
    },
    /// Write a line to the journal.
    Record(Box<Entry>),
    /// Keep a body beside the journal.
    Keep {
        /// Its hash, by which points name it.
        hash: u64,
        /// The bytes, as they came.
        body: Bytes,
    },
}
