//! The claims can fail: on a proxy that is broken in one way the claim about it fails, and with the right message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::broken::Sabotage;
use crate::common::route::Route;
use crate::{endings, lockstep};

type Claim = fn(&Route);

const CLAIMS: [Claim; 4] = [
    lockstep::the_head_comes_before_the_first_byte_of_the_body,
    lockstep::an_event_comes_before_the_next_is_sent,
    lockstep::a_byte_comes_before_the_next_is_sent,
    endings::a_client_that_leaves_a_quiet_stream_is_seen_leaving,
];

/// Why the claim fails on a proxy broken like this; fails itself if the claim holds.
fn failure(claim: Claim, sabotage: Sabotage) -> String {
    let route = Route::broken(sabotage);
    let panic = catch_unwind(AssertUnwindSafe(|| claim(&route))).expect_err("the claim holds on a broken proxy");
    *panic.downcast::<String>().expect("a failed wait says what it waited for")
}

#[test]
fn a_sound_proxy_passes() {
    // It passes a reset on as a FIN, so the claim about leaving is left to the real binary.
    CLAIMS[..3].iter().for_each(|claim| claim(&Route::broken(Sabotage::Sound)));
}

#[test]
fn a_proxy_that_buffers_an_answer_is_noticed() {
    assert!(failure(CLAIMS[0], Sabotage::Buffers).contains("for an answer's head"));
    assert!(failure(CLAIMS[1], Sabotage::Buffers).contains("for an answer's head"));
}

#[test]
fn a_proxy_that_holds_the_head_until_the_first_byte_is_noticed() {
    assert!(failure(CLAIMS[0], Sabotage::HoldsHead).contains("for an answer's head"));
}

#[test]
fn a_proxy_that_keeps_the_server_when_the_client_leaves_is_noticed() {
    assert!(failure(CLAIMS[3], Sabotage::KeepsServer).contains("for the connection's end"));
}
