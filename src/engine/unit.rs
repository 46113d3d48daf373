//! What travels: a point with all that is known of it, and the parcel in which it waits and leaves.
//!
//! The one rule it keeps: a parcel knows when it arrived, and every wait is counted from there.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::event::{ConnId, Ending, ExchangeId, Moment, UnitId};
use super::outlet::{Outlet, Parting};
use super::owner::{Belongs, Spoken};
use super::plan::Plan;
use super::posting::Post;
use super::record::PointFate;
use super::selector::{At, Stream};
use super::sse::BlockKind;

/// What keeping a parcel costs beside its bytes, in bytes: 336,000 held events of 48 bytes took 711 MiB.
const PARCEL: usize = 2048;

/// A point's stable name (see `exchange.rs`), written out only where it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) session: u64,
    pub(super) exchange: Arc<str>,
    pub(super) name: &'static str,
    pub(super) ordinal: u64,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, exchange, name, ordinal } = self;
        write!(f, "s{session}/{exchange}/{name}#{ordinal}")
    }
}

/// A point of an exchange, as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) at: At,
    pub(super) seq: u64,
    pub(super) arrived: Moment,
    pub(super) key: Key,
    pub(super) conn: ConnId,
    /// None at `connect`.
    pub(super) exchange: Option<ExchangeId>,
    /// The kind of its exchange, which may be forgotten before a point that was moved away has left.
    pub(super) stream: Option<Stream>,
    pub(super) session: u64,
    pub(super) belongs: Arc<Belongs>,
    pub(super) block: Option<BlockPoint>,
    /// Of an end or a leave, how.
    pub(super) ending: Option<Ending>,
    /// How it ended for the client, if a rule made another ending of it.
    pub(super) made: Option<Ending>,
    pub(super) bytes: u64,
    /// How many bytes it came with; a cut and a rewrite do not change that.
    pub(super) size: u64,
    pub(super) hash: Option<u64>,
    /// Of a request that a rule sends, all of it.
    pub(super) post: Option<Arc<Post>>,
    /// The rule that made it, by number; `None`: a peer sent it.
    pub(super) maker: Option<usize>,
    /// Of what a rule made when it fired: the place in the sequence of the unit at which it did.
    pub(super) firing: Option<u64>,
    /// The rules that changed its content, by number.
    pub(super) changed: Vec<usize>,
    /// The rules that acted on it, by number.
    pub(super) rules: Vec<usize>,
    /// The sequence number of what let it go.
    pub(super) by: u64,
}

/// What is known of a block.
#[derive(Debug, Clone)]
pub(super) struct BlockPoint {
    pub(super) kind: BlockKind,
    /// How many blocks of each kind had arrived on its exchange, itself included.
    pub(super) counts: [u64; 7],
    pub(super) event_id: Option<Bytes>,
    pub(super) messages: Vec<Spoken>,
    /// Whether it was too large to be kept whole, and all but its last bytes went before.
    pub(super) parted: bool,
}

/// Whether a parcel's bytes are whole blocks: nothing else may be written between the parts of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// It ends no block that was begun, and begins none that it does not end.
    Whole,
    /// It leaves its block open.
    Begun,
    /// It is the end of a block that was begun.
    Last,
}

/// What is done when a parcel leaves.
#[derive(Debug, Clone)]
pub(super) enum Out {
    /// A connection is read.
    Admit,
    /// A request's body is read.
    Read,
    /// A request goes to the server, perhaps with another body.
    Forward(Option<Bytes>),
    /// A request of a rule's own goes to the server.
    Post,
    /// An answer's head goes to the client.
    Head,
    /// Bytes of an answer's body go to the client.
    Bytes(Bytes),
    /// Nothing: this rule has something stand before a body, which waits behind it.
    Gate(usize),
    /// The client's leg ends.
    End(Ending),
    /// The server's leg ends, because the client left so.
    Leave(Ending),
}

/// What a parcel waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Until {
    /// The rule's condition; then it goes.
    Hold,
    /// The rule's condition; then its cut happens.
    Cut,
    /// The reorder window of this number closes.
    Window(u64),
    /// The parcel of this sequence number has passed, or never will.
    Behind(u64),
    /// A stream opens to which the rule can move it.
    Stream,
    /// The rule, which may answer in the server's place, has done so or never will.
    Answer,
}

/// One thing that a parcel waits for, and whose rule says so.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    pub(super) rule: usize,
    pub(super) until: Until,
    /// When it is given up.
    pub(super) limit: Option<Moment>,
    /// The timer that was set for it.
    pub(super) timer: Option<Moment>,
}

/// A cut that a rule wants when the parcel leaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct CutPlan {
    pub(super) rule: usize,
    /// Whether it goes on (`after`) while its `when` is awaited.
    pub(super) later: bool,
}

/// A cut that waits for its `when` while its stream goes on, with the point it relates to.
#[derive(Debug, Clone)]
pub(super) struct ArmedCut {
    pub(super) rule: usize,
    pub(super) point: Point,
    pub(super) timer: Option<Moment>,
}

/// Which queue a parcel stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneId {
    /// A client's connection.
    Conn(ConnId),
    /// An exchange's way to the server.
    Up(ExchangeId),
    /// An exchange's way to the client.
    Down(ExchangeId),
    /// Blocks taken from their stream that wait for another to open.
    Astray,
}

/// What leaves together.
#[derive(Debug, Clone)]
pub(super) struct Parcel {
    pub(super) seq: u64,
    pub(super) out: Out,
    pub(super) piece: Piece,
    /// Its points, each with the number of bytes up to and including its last.
    pub(super) points: Vec<(usize, Point)>,
    pub(super) waits: Vec<Wait>,
    pub(super) cuts: Vec<CutPlan>,
    /// Whether later parcels may leave before it.
    pub(super) overtake: bool,
    /// What became of it, if a rule took it away for good.
    pub(super) lost: Option<PointFate>,
    /// Into which pieces it parts when it leaves.
    pub(super) parting: Option<Parting>,
    /// Nothing leaves behind it before it was written and so long has gone by.
    pub(super) apart: Option<Duration>,
    /// What goes into the queue right behind it.
    pub(super) behind: Vec<Parcel>,
    /// When its last wait ended, or a delay will have; its arrival if it had none.
    pub(super) ready: Moment,
    /// The timer that was set for its delay.
    pub(super) timer: Option<Moment>,
}

impl Point {
    /// A point of no exchange.
    pub(super) fn new(at: At, seq: u64, arrived: Moment, key: Key, conn: ConnId) -> Self {
        Self {
            at,
            seq,
            arrived,
            key,
            conn,
            exchange: None,
            stream: None,
            session: 0,
            belongs: Arc::default(),
            block: None,
            ending: None,
            made: None,
            bytes: 0,
            size: 0,
            hash: None,
            post: None,
            maker: None,
            firing: None,
            changed: Vec::new(),
            rules: Vec::new(),
            by: seq,
        }
    }
}

impl Parcel {
    /// A parcel of one point.
    pub(super) fn new(out: Out, point: Point) -> Self {
        let (seq, ready) = (point.seq, point.arrived);
        let mut parcel = Self::of_bytes(seq, ready, Bytes::new(), Vec::new());
        parcel.out = out;
        if point.block.as_ref().is_some_and(|block| block.parted) {
            parcel.piece = Piece::Last;
        }
        parcel.points.push((parcel.bytes(), point));
        parcel
    }

    /// Bytes with the points that end in them.
    pub(super) fn of_bytes(seq: u64, ready: Moment, bytes: Bytes, points: Vec<(usize, Point)>) -> Self {
        let out = Out::Bytes(bytes);
        Self {
            seq,
            out,
            piece: Piece::Whole,
            points,
            waits: Vec::new(),
            cuts: Vec::new(),
            overtake: false,
            lost: None,
            parting: None,
            apart: None,
            behind: Vec::new(),
            ready,
            timer: None,
        }
    }

    /// A gate of a rule before the body behind this head.
    pub(super) fn gate(seq: u64, rule: usize, head: &Point, wait: Wait) -> Self {
        let mut gate = Self::of_bytes(seq, head.arrived, Bytes::new(), vec![(0, head.clone())]);
        (gate.out, gate.waits) = (Out::Gate(rule), vec![wait]);
        gate
    }

    /// Takes its first bytes from it; what ends behind them stays, and so does what is planned for when it leaves.
    pub(super) fn take_front(&mut self, len: usize) -> Option<Self> {
        let Out::Bytes(bytes) = &mut self.out else { return None };
        let front = bytes.split_to(len);
        let place = self.points.iter().position(|(end, _)| *end > len).unwrap_or(self.points.len());
        let rest = self.points.split_off(place).into_iter().map(|(end, point)| (end - len, point)).collect();
        let points = std::mem::replace(&mut self.points, rest);
        let piece = if self.piece == Piece::Whole { Piece::Whole } else { Piece::Begun };
        Some(Self { piece, ..Self::of_bytes(self.seq, self.ready, front, points) })
    }

    /// Whether it is held by a rule that wants the server to feel it.
    pub(super) fn stops_reading(&self, plan: &Plan) -> bool {
        self.waits.iter().any(|wait| wait.until == Until::Hold && plan.rules[wait.rule].rule.fault.presses())
    }

    /// What it costs to keep it: its bytes, and what is known of them, which for tiny events is far more.
    fn weight(&self) -> usize {
        self.bytes() + PARCEL
    }

    pub(super) fn bytes(&self) -> usize {
        match &self.out {
            Out::Bytes(bytes) => bytes.len(),
            Out::Admit
            | Out::Read
            | Out::Forward(_)
            | Out::Post
            | Out::Head
            | Out::Gate(_)
            | Out::End(_)
            | Out::Leave(_) => 0,
        }
    }
}

/// A queue of parcels that leave in order, unless one lets others overtake it (rule R17).
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) parcels: VecDeque<Parcel>,
    /// How many bytes of memory stand in it.
    pub(super) bytes: usize,
    /// Whether some parcel may wait for more than a time.
    pub(super) gated: bool,
    /// The unit that must have passed before more may leave.
    pub(super) guard: Option<UnitId>,
    /// What is in it leaves in the order of this time or a later one: when the last guard passed.
    pub(super) floor: Moment,
    /// Whether a block has begun to leave whose last bytes have not.
    pub(super) torn: bool,
    /// The sequence number of what let the last one go that had waited here.
    pub(super) last_by: u64,
    /// How the bytes of a body leave it, if a rule has a say in that.
    pub(super) outlet: Option<Box<Outlet>>,
}

impl Lane {
    pub(super) fn is_empty(&self) -> bool {
        self.parcels.is_empty()
    }

    /// Whether what stands in it leaves at a rate, and waits for nothing else.
    pub(super) fn is_slow(&self) -> bool {
        let free = self.parcels.front().is_some_and(|parcel| parcel.waits.is_empty());
        free && self.outlet.as_ref().is_some_and(|outlet| outlet.slows())
    }

    /// Whether a rule keeps a whole body back in it.
    pub(super) fn is_buffered(&self) -> bool {
        let gate = |parcel: &Parcel| matches!(parcel.out, Out::Gate(_));
        self.parcels.iter().any(gate) || self.outlet.as_ref().is_some_and(|outlet| outlet.keeps_back())
    }

    pub(super) fn push(&mut self, parcel: Parcel) {
        self.bytes += parcel.weight();
        self.gated |= !parcel.waits.is_empty();
        self.parcels.push_back(parcel);
    }

    pub(super) fn insert(&mut self, index: usize, parcel: Parcel) {
        self.bytes += parcel.weight();
        self.gated |= !parcel.waits.is_empty();
        self.parcels.insert(index, parcel);
    }

    /// What was split from a parcel that has left stands before all others.
    pub(super) fn put_back(&mut self, parcel: Parcel) {
        self.bytes += parcel.weight();
        self.parcels.push_front(parcel);
    }

    pub(super) fn take(&mut self, index: usize) -> Option<Parcel> {
        let parcel = self.parcels.remove(index)?;
        self.bytes -= parcel.weight();
        Some(parcel)
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Parcel> {
        self.bytes = 0;
        std::mem::take(&mut self.parcels).into_iter()
    }
}
