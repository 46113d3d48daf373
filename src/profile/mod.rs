//! Turns the text of profiles into the engine's rules, or says where it is wrong and what to write instead.
//!
//! In reading order: [`Use`] names a profile and gives its variables values; `tree` reads TOML with its lines; `vars`
//! fills the variables in; `read` and its neighbours read values by the tables of [`schema`]; `rule` puts a rule
//! together, `expect` and `named` an expectation; `checks` and `waits` refuse what could never work, `never` and
//! `doubtful` warn of what most likely does not. The one rule kept: every problem of a file is
//! reported, with its line, and nothing is guessed.

pub mod builtin;
pub mod schema;

mod checks;
mod condition;
mod diagnose;
mod doubtful;
mod expect;
mod expects;
mod explain;
mod file;
mod json;
mod named;
mod never;
mod pattern;
mod problem;
mod quantity;
mod read;
mod rule;
mod scale;
mod selector;
#[cfg(test)]
mod told;
mod tree;
mod uses;
mod value;
mod vars;
mod waits;

#[cfg(test)]
mod expectations;

pub use expects::expect;
pub use explain::explain;
pub use file::{Doubt, Loaded, Source, Var, check, load, load_at};
pub use problem::{Problem, ProblemKind};
pub use scale::Scale;
pub use uses::Use;
