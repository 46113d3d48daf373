//! With no profile the proxy is invisible: every claim holds directly, through the real binary, and through the real
//! binary with a journal, for which the engine watches every stream. So it is with a profile that means nothing of what
//! crosses, although the engine then takes every body apart.
//!
//! A claim is a script for both ends of a connection in one thread, so it runs in lockstep by itself: what one end
//! waits for, the other has just sent. A proxy that keeps something back makes the wait fail.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
#[path = "../common/mod.rs"]
mod common;

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod heads;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lockstep;
#[cfg(test)]
mod sabotage;

/// Makes tests of each claim: directly, through `mishap run`, through `mishap run --journal`, and through `mishap run`
/// with a rule that must look into every block and means none. What such a rule has to change is named after `unlooked`.
#[cfg(test)]
macro_rules! claims {
    ($($claim:ident)* $(; unlooked $($unlooked:ident)*)?) => {
        mod directly {
            crate::claims!(@ directly: $($claim)* $($($unlooked)*)?);
        }
        mod through_mishap {
            crate::claims!(@ through_mishap: $($claim)* $($($unlooked)*)?);
        }
        mod through_a_journalling_mishap {
            crate::claims!(@ through_a_journalling_mishap: $($claim)* $($($unlooked)*)?);
        }
        mod through_a_looking_mishap {
            crate::claims!(@ through_a_looking_mishap: $($claim)*);
        }
    };
    (@ $route:ident: $($claim:ident)*) => {
        $(#[test] fn $claim() { super::$claim(&crate::common::route::Route::$route()); })*
    };
}
#[cfg(test)]
pub(crate) use claims;
