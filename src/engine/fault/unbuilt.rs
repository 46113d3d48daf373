//! Faults whose words are settled and which are not built yet: a profile that uses one is refused with that reason.

use super::{FaultTable, unchecked};
use crate::engine::language::params::Params;
use crate::engine::language::{Complaints, GAP, Kind, NO_LIMIT, Need, Spot, field};
use crate::engine::selector::At::{self, Block, Head, Request};

/// `throttle`.
pub(super) static THROTTLE: FaultTable = FaultTable {
    name: "throttle",
    at: &[Request, Head],
    main: Some("rate"),
    doc: "lets a body pass only so fast",
    params: &[
        field("rate", Kind::Rate, Need::Required, "how fast"),
        field("burst", Kind::Size, Need::Optional, "how much may pass at once (one second's worth)"),
    ],
    make: None,
    check: unchecked,
};

/// `reframe`.
pub(super) static REFRAME: FaultTable = FaultTable {
    name: "reframe",
    at: &[Request, Head, Block],
    main: Some("split"),
    doc: "sends the same content in other pieces",
    params: &[
        field(
            "split",
            Kind::Either(&[Kind::Word(&["byte", "utf8", "crlf", "head"]), Kind::Size, Kind::List(&Kind::Size)]),
            Need::Optional,
            "where the pieces part",
        ),
        GAP,
        field("newline", Kind::Word(&["lf", "crlf", "cr"]), Need::Optional, "the line ends of events"),
        field(
            "coalesce",
            Kind::Either(&[Kind::Int(2, NO_LIMIT), Kind::Duration]),
            Need::Optional,
            "so many events in one write, or those of so long",
        ),
        field("final-blank", Kind::Bool, Need::Default("true"), "whether an event ends with its blank line"),
        field("pad", Kind::Size, Need::Optional, "how long the message is made"),
    ],
    make: None,
    check: reframe,
};

fn reframe(params: &Params, _: At, spot: &Spot, slips: &mut Complaints) {
    if params.which(&["split", "gap", "newline", "coalesce", "final-blank", "pad"]).is_empty() {
        slips.wrong(spot, "`reframe` changes nothing", "write one of split, newline, coalesce, final-blank, pad");
    }
}
