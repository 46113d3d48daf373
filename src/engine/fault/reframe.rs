//! `reframe`: the same content in other pieces, or in another form.

use std::time::Duration;

use bytes::Bytes;

use crate::engine::condition::Time;
use crate::engine::engine::{Engine, LANE_LIMIT};
use crate::engine::exchange::Late;
use crate::engine::fault::{Act, Fault, FaultTable, Turn};
use crate::engine::language::params::{Datum, Params};
use crate::engine::language::{Complaints, GAP, Kind, MOST, Need, Spot, field, words};
use crate::engine::outlet::{Keep, Of, Parting};
use crate::engine::selector::At;
use crate::engine::sse;
use crate::engine::unit::{LaneId, Out, Parcel, Point};

/// `reframe`: requests, heads (the bodies behind them), blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Reframe {
    /// Where the pieces part.
    pub split: Option<Split>,
    /// The time between two pieces, from when the first was written.
    pub gap: Time,
    /// Other line ends for events.
    pub newline: Option<Newline>,
    /// Events that leave together.
    pub coalesce: Option<Coalesce>,
    /// Whether events end with their blank line.
    pub final_blank: bool,
    /// How many bytes the JSON of a message has at least.
    pub pad: usize,
}

/// Where the pieces of a body part. A head always leaves apart from a body that is split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// Behind each byte.
    Byte,
    /// Behind the first byte of each character that has several.
    Utf8,
    /// Between each CR and its LF.
    Crlf,
    /// Between the head and the body only.
    Head,
    /// Behind so many bytes each time.
    Size(usize),
    /// Behind so many bytes, then so many; the rest is one piece.
    Sizes(Vec<usize>),
}

/// What ends the lines of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newline {
    /// LF.
    Lf,
    /// CR and LF.
    Crlf,
    /// CR.
    Cr,
}

/// Which events leave together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coalesce {
    /// So many; fewer after a second, or at the end.
    Events(usize),
    /// Those of so long.
    Time(Duration),
}

/// Its words.
pub static TABLE: FaultTable = FaultTable {
    name: "reframe",
    at: &[At::Request, At::Head, At::Block],
    main: Some("split"),
    doc: "sends the same content in other pieces or another form; at head, all of the body behind it",
    params: &[
        field(
            "split",
            Kind::Either(&[Kind::Word(&["byte", "utf8", "crlf", "head"]), Kind::Size, Kind::List(&Kind::Size)]),
            Need::Optional,
            "where the pieces part, each in a write of its own: behind each byte, inside each character of several bytes, \
             between CR and LF, between head and body; or their sizes",
        ),
        GAP,
        field("newline", Kind::Word(&["lf", "crlf", "cr"]), Need::Optional, "the line ends of events"),
        field(
            "coalesce",
            Kind::Either(&[Kind::Int(2, MOST), Kind::Duration]),
            Need::Optional,
            "so many events in one write, fewer after 1s; or those of so long",
        ),
        field("final-blank", Kind::Bool, Need::Default("true"), "whether an event ends with its blank line"),
        field("pad", Kind::Size, Need::Optional, "how long the message is at least made, with spaces"),
    ],
    make: |params, _| make(params).map(Fault::Reframe),
    check,
};

fn make(params: &Params) -> Option<Reframe> {
    let size = |size: u64| usize::try_from(size).ok();
    let split = match params.datum("split") {
        None => None,
        Some(Datum::Text(word)) => Some(match word.as_str() {
            "byte" => Split::Byte,
            "utf8" => Split::Utf8,
            "crlf" => Split::Crlf,
            _ => Split::Head,
        }),
        Some(Datum::Size(one)) => Some(Split::Size(size(one)?)),
        Some(Datum::List(all)) => {
            let sizes = all.into_iter().filter_map(|it| if let Datum::Size(one) = it { size(one) } else { None });
            Some(Split::Sizes(sizes.collect()))
        }
        Some(other) => unreachable!("the schema gives `split` the kind of {other:?}"),
    };
    let coalesce = match params.datum("coalesce") {
        Some(Datum::Int(count)) => Some(Coalesce::Events(usize::try_from(count).ok()?)),
        Some(Datum::Duration(time)) => Some(Coalesce::Time(time)),
        _ => None,
    };
    let newline = params.text("newline").map(|word| match word.as_str() {
        "lf" => Newline::Lf,
        "crlf" => Newline::Crlf,
        _ => Newline::Cr,
    });
    Some(Reframe {
        split,
        gap: params.time("gap")?,
        newline,
        coalesce,
        final_blank: params.bool_value("final-blank")?,
        pad: params.size("pad").map_or(Some(0), size)?,
    })
}

fn check(params: &Params, at: At, spot: &Spot, slips: &mut Complaints) {
    if params.which(&["split", "gap", "newline", "coalesce", "final-blank", "pad"]).is_empty() {
        slips.wrong(spot, "`reframe` changes nothing", "write one of split, newline, coalesce, final-blank, pad");
    }
    slips.at_most_one(params, &["coalesce", "split"]);
    if let Some(gap) = params.written("gap").filter(|_| params.written("split").is_none()) {
        slips.wrong(
            gap,
            "`gap` without `split`: there is one piece",
            "write where the pieces part, such as split = 64",
        );
    }
    if let Some(split) = params.written("split") {
        let none = match params.datum("split") {
            Some(Datum::Size(size)) => size == 0,
            Some(Datum::List(sizes)) => sizes.is_empty() || sizes.contains(&Datum::Size(0)),
            _ => false,
        };
        if none {
            slips.wrong(split, "a piece of no bytes", "write sizes from 1");
        }
        if at == At::Block && params.datum("split") == Some(Datum::Text("head".to_owned())) {
            slips.wrong(split, "a block has no head", "match at = \"head\" or \"request\", or write a size");
        }
    }
    for (key, spot) in params.which(&["newline", "coalesce", "final-blank"]).iter().filter(|_| at == At::Request) {
        slips.wrong(spot, format!("`{key}` is about events, and a request has none"), "match at = \"head\" or a block");
    }
    if let Some(pad) = params.written("pad") {
        if at == At::Head {
            slips.wrong(
                pad,
                "`pad` makes one message longer, and a head has none",
                "match a block or at = \"request\"",
            );
        } else if params.size("pad").is_some_and(|size| size > LANE_LIMIT as u64) {
            slips.wrong(pad, "no message is made longer than 16 MiB", "write a smaller size");
        }
    }
}

impl Act for Reframe {
    fn act(&self, engine: &mut Engine, turn: Turn<'_>) {
        engine.reframe(self, turn);
    }

    fn drawn(&self) -> Option<(&'static str, Time)> {
        self.split.as_ref().map(|_| ("gap", self.gap))
    }

    fn changes(&self, _: At) -> bool {
        self.shapes() || self.pad > 0
    }

    fn reaches_the_body(&self) -> bool {
        true
    }

    fn takes_the_blocks(&self) -> bool {
        let inside = matches!(self.split, Some(Split::Utf8 | Split::Crlf));
        self.shapes() || self.coalesce.is_some() || inside
    }

    fn explain(&self) -> String {
        let mut all = Vec::new();
        if let Some(split) = &self.split {
            let gap = match self.gap {
                Time::Fixed(Duration::ZERO) => String::new(),
                gap => format!(", {} apart", words::time(&gap)),
            };
            all.push(format!("part it {}{gap}", split.words()));
        }
        if let Some(newline) = self.newline {
            all.push(format!("end the lines of events with {}", newline.word()));
        }
        match self.coalesce {
            Some(Coalesce::Events(count)) => all.push(format!("let {count} events leave in one write")),
            Some(Coalesce::Time(time)) => {
                all.push(format!("let the events of {} leave in one write", words::show_duration(time)));
            }
            None => {}
        }
        if !self.final_blank {
            all.push("leave out the blank line that ends an event".to_owned());
        }
        if self.pad > 0 {
            all.push(format!("make the message at least {} bytes long with spaces", self.pad));
        }
        all.join(", ")
    }
}

impl Reframe {
    /// Whether it gives events another form.
    fn shapes(&self) -> bool {
        self.newline.is_some() || !self.final_blank
    }
}

impl Split {
    fn words(&self) -> String {
        match self {
            Self::Byte => "behind each byte".to_owned(),
            Self::Utf8 => "inside each character of several bytes".to_owned(),
            Self::Crlf => "between each CR and LF".to_owned(),
            Self::Head => "between head and body".to_owned(),
            Self::Size(size) => format!("into pieces of {size} bytes"),
            Self::Sizes(sizes) => {
                let sizes: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
                format!("into pieces of {} bytes and a rest", words::numbers(&sizes))
            }
        }
    }
}

impl Newline {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::Crlf => b"\r\n",
            Self::Cr => b"\r",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::Crlf => "CRLF",
            Self::Cr => "CR",
        }
    }
}

impl Engine {
    fn reframe(&mut self, reframe: &Reframe, turn: Turn<'_>) {
        let Turn { now, rule, lane, parcel } = turn;
        let Some((_, point)) = parcel.points.first() else { return };
        let point = point.clone();
        self.log_firing(now, rule, &point);
        let all = point.at == At::Head;
        if let Some(split) = reframe.split.clone() {
            let gap = self.drawn(rule, Some(&point.key), "gap", Some(&reframe.gap));
            let parting = Parting::new(rule, point.seq, split, gap);
            match point.at {
                At::Block => parcel.parting = Some(parting),
                _ => self.outlet(*lane).into_iter().for_each(|outlet| outlet.partings.push(parting.clone())),
            }
        }
        let of = match reframe.coalesce {
            Some(Coalesce::Events(count)) => Some(Of::Events { count, all }),
            Some(Coalesce::Time(time)) => Some(Of::Time { time, all }),
            None => None,
        };
        if let Some(of) = of.filter(|_| !self.is_json_answer(&point)) {
            self.collect_at(*lane, Keep::new(rule, point.clone(), of, false));
        }
        if all && reframe.shapes() {
            self.outlet(*lane).into_iter().for_each(|outlet| outlet.shapes.push((rule, point.seq)));
        } else if self.shape(rule, parcel) {
            self.has_shaped(rule, parcel, point.seq);
        }
    }

    fn has_shaped(&mut self, rule: usize, parcel: &mut Parcel, firing: u64) {
        self.effective_once(rule, firing);
        parcel.points.iter_mut().for_each(|(_, point)| point.changed.push(rule));
    }

    /// Gives each event that goes this way the form which rules about the whole body want.
    pub(in crate::engine) fn shape_all(&mut self, lane: LaneId, parcel: &mut Parcel) {
        let outlet = self.lane_of(lane).and_then(|lane| lane.outlet.as_ref());
        for (rule, firing) in outlet.map(|outlet| outlet.shapes.clone()).into_iter().flatten() {
            if self.shape(rule, parcel) {
                self.has_shaped(rule, parcel, firing);
            }
        }
    }

    /// Gives a unit another form; whether it has one now.
    fn shape(&mut self, rule: usize, parcel: &mut Parcel) -> bool {
        let plan = std::sync::Arc::clone(&self.plan);
        let (Fault::Reframe(reframe), Some((_, point))) = (&plan.rules[rule].rule.fault, parcel.points.first()) else {
            return false;
        };
        if reframe.shapes()
            && let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get_mut(&id))
            && exchange.last_block == point.seq
        {
            // A LF that is still to come would be one too many.
            exchange.late = Late::Swallowed;
        }
        let Some((after, changed)) = self.shaped(reframe, &parcel.out, point) else { return false };
        let length = after.len();
        match &mut parcel.out {
            Out::Bytes(bytes) => *bytes = after,
            Out::Forward(body) => *body = Some(after),
            _ => return false,
        }
        for (end, point) in &mut parcel.points {
            (*end, point.bytes) = (length, length as u64);
        }
        changed
    }

    /// A unit's bytes in another form, and whether they are others: a CR that ends a block may wait for its LF.
    fn shaped(&self, reframe: &Reframe, out: &Out, point: &Point) -> Option<(Bytes, bool)> {
        let before = match out {
            Out::Bytes(bytes) => bytes.clone(),
            Out::Forward(Some(body)) => body.clone(),
            Out::Forward(None) => self.exchanges.get(&point.exchange?)?.request_body.clone(),
            _ => return None,
        };
        let event = point.block.as_ref().filter(|_| !self.is_json_answer(point));
        if event.is_some_and(|block| block.parted) {
            return None;
        }
        let mut after = before.clone();
        if reframe.pad > 0 && self.speaks(point) {
            let data = event.map_or_else(|| Some(before.clone()), |_| sse::data_of(&before));
            let more = reframe.pad.saturating_sub(data.map_or(0, |data| data.len()));
            after = match event {
                Some(_) => sse::with_spaces(&after, more),
                None => [&after[..], &vec![b' '; more]].concat().into(),
            };
        }
        if let Some(newline) = reframe.newline.filter(|_| event.is_some()) {
            after = sse::with_line_ends(&after, newline.bytes());
        }
        if !reframe.final_blank && event.is_some() {
            after = sse::without_blank(&after);
        }
        let changed = after.strip_suffix(b"\n") != Some(&before[..]);
        (after != before).then_some((after, changed))
    }

    /// Whether a unit carries JSON-RPC.
    fn speaks(&self, point: &Point) -> bool {
        match &point.block {
            Some(block) => !block.messages.is_empty(),
            None => {
                let exchange = point.exchange.and_then(|id| self.exchanges.get(&id));
                exchange.is_some_and(|exchange| !exchange.messages.is_empty())
            }
        }
    }
}
