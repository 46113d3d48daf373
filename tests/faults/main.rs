//! Each fault at the wire: a raw client and a scripted server on the two sides of the real binary, a profile written for
//! the test, and the same script without it, which must come out the other way.
//!
//! Time is asserted in one direction only, from the journal's own clock: never early. What comes after what is read from
//! the sockets or from the journal's sequence.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
#[path = "../common/mod.rs"]
mod common;

#[cfg(test)]
mod buffer;
#[cfg(test)]
mod conditions;
#[cfg(test)]
mod cut;
#[cfg(test)]
mod delay;
#[cfg(test)]
mod dropping;
#[cfg(test)]
mod duplicate;
mod effective;
#[cfg(test)]
mod fences;
#[cfg(test)]
mod hold;
#[cfg(test)]
mod idle;
#[cfg(test)]
mod inject;
#[cfg(test)]
mod legs;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod owner;
#[cfg(test)]
mod reframe;
#[cfg(test)]
mod reorder;
#[cfg(test)]
mod respond;
#[cfg(test)]
mod resumable;
#[cfg(test)]
mod rewrite;
#[cfg(test)]
mod route;
#[cfg(test)]
mod spared;
#[cfg(test)]
mod throttle;
#[cfg(test)]
mod two_legs;
