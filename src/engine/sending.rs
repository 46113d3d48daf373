//! A request that leaves in parts: its head, then the pieces of its body as the outlet of its queue lets them go.
//!
//! The one rule it keeps: the request has passed when its last piece was written.

use std::time::Duration;

use bytes::Bytes;

use super::engine::Engine;
use super::event::{Command, ExchangeId, Moment, UnitId};
use super::leave::Job;
use super::record::PointFate;
use super::unit::{CutPlan, LaneId, Out, Parcel, Point};

impl Engine {
    /// The body of a request, if it does not leave whole. One beyond the peek cap is not known here (rule R38).
    pub(super) fn parted_request(&mut self, now: Moment, id: ExchangeId, body: Option<&Bytes>) -> Option<Bytes> {
        let exchange = self.exchanges.get(&id)?;
        exchange.up.outlet.as_ref()?;
        let body = body.unwrap_or(&exchange.request_body).clone();
        if body.is_empty() && exchange.header("content-length").is_some_and(|length| length.trim_ascii() != b"0") {
            let key = self.key_of(id);
            self.note(now, format!("{key}: its body is beyond what is read ahead, and leaves as it comes"));
        }
        Some(body).filter(|body| !body.is_empty())
    }

    /// The head leaves; its body comes behind it.
    pub(super) fn fly_head(
        &mut self,
        id: ExchangeId,
        body: Bytes,
        points: Vec<(usize, Point)>,
        cuts: Vec<CutPlan>,
    ) -> UnitId {
        let (seq, ready) =
            points.first().map_or((self.seq, Moment::default()), |(_, point)| (point.seq, point.arrived));
        let end = body.len();
        let points = points.into_iter().map(|(_, point)| (end, point)).collect();
        let unit = self.fly(id, Vec::new(), Job::Forward(Vec::new()));
        self.put_back(LaneId::Up(id), Parcel { cuts, ..Parcel::of_bytes(seq, ready, body, points) });
        self.part_head(LaneId::Up(id), unit);
        unit
    }

    /// A head leaves apart from a body that is parted.
    pub(super) fn part_head(&mut self, id: LaneId, unit: UnitId) {
        let gap = self.lane_of(id).and_then(|lane| lane.outlet.as_ref()?.parts_head());
        if let Some(gap) = gap {
            self.guard_lane(id, unit, gap);
        }
    }

    /// A piece of a request's body leaves.
    pub(super) fn send(&mut self, id: ExchangeId, parcel: Parcel, cuts: Vec<CutPlan>) {
        let Parcel { out: Out::Bytes(bytes), points, apart, .. } = parcel else { return };
        let unit = self.fly(id, points, Job::Forward(cuts));
        // Each piece is awaited, because HTTP joins what is there.
        self.guard_lane(LaneId::Up(id), unit, apart.unwrap_or(Duration::ZERO));
        self.out.push(Command::Send { exchange: id, length: bytes.len(), unit });
    }

    /// What is left of a request will not be sent any more.
    pub(super) fn drop_pieces(&mut self, id: ExchangeId) {
        let Some(lane) = self.lane(LaneId::Up(id)) else { return };
        lane.guard = None;
        let (pieces, others): (Vec<_>, Vec<_>) = lane.drain().partition(|parcel| matches!(parcel.out, Out::Bytes(_)));
        others.into_iter().for_each(|parcel| lane.push(parcel));
        self.close_outlet(LaneId::Up(id));
        for (_, point) in pieces.iter().flat_map(|parcel| &parcel.points) {
            self.write_point(point, PointFate::Gone, None, None);
        }
    }
}
