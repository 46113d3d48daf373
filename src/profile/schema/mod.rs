//! The tables of the profile language that are not faults (`engine/fault`): file, variable, rule, selector, condition,
//! expectation. The loader reads by these tables, and errors and the reference are made of them.

mod published;
mod tables;

pub use published::json_schema;
pub(super) use tables::MESSAGES;
pub use tables::{
    COUNTED, EXPECT, FILE, FIRED, GATHERED, MESSAGE, OPENED, OWNER, RULE, SEEN, SELECTOR, VARIABLE, WAIT,
};

pub use crate::engine::fault::{FAULTS, FaultTable, fault};
pub use crate::engine::language::{Asked, Field, Kind, Need, at_word, field};
