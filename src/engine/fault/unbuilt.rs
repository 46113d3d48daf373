//! Faults whose words are settled and which are not built yet: a profile that uses one is refused with that reason.

use super::{FaultTable, unchecked};
use crate::engine::language::{Kind, Need, field};
use crate::engine::selector::At::{Head, Request};

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
