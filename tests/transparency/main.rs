//! With no profile the proxy is invisible: every claim holds directly, through the real binary, and through the real
//! binary with a journal, for which the engine watches every stream.
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

/// Makes three tests of each claim: directly, through `mishap run`, and through `mishap run --journal`.
#[cfg(test)]
macro_rules! claims {
    ($($claim:ident)*) => {
        mod directly {
            $(#[test] fn $claim() { super::$claim(&crate::common::route::Route::direct()); })*
        }
        mod through_mishap {
            $(#[test] fn $claim() { super::$claim(&crate::common::route::Route::through_mishap()); })*
        }
        mod through_a_journalling_mishap {
            $(#[test] fn $claim() { super::$claim(&crate::common::route::Route::through_a_journalling_mishap()); })*
        }
    };
}
#[cfg(test)]
pub(crate) use claims;
