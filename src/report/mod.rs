//! What a run amounts to, as text. Pure: facts or a journal's lines in, text out; who prints it is none of its business.

pub mod beside;
mod digest;
pub mod format;
pub mod github;
pub mod har;
pub mod html;
pub mod json;
pub mod junit;
pub mod mermaid;
pub mod names;
mod parts;
pub mod runs;
pub mod table;
pub mod timeline;
pub mod verdict;
pub mod words;
