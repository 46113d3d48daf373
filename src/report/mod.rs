//! What a run amounts to, as text. Pure: facts or a journal's lines in, text out; who prints it is none of its business.

pub mod github;
pub mod junit;
pub mod names;
pub mod runs;
pub mod table;
pub mod timeline;
pub mod verdict;
pub mod words;
