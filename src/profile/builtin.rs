//! The profiles that come with the program: the files of `profiles/`, byte for byte, and the headings under which they are
//! listed.

use super::file::{Source, load};
use super::uses::Use;

/// A profile and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, that of its file without `.toml`.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

/// What profiles can be about: their `group`, and the heading under which those are listed.
pub static GROUPS: &[(&str, &str)] = &[
    ("answer", "A call's answer"),
    ("resume", "Resuming a stream"),
    ("get", "The standalone GET"),
    ("session", "Sessions and servers that are gone"),
    ("lifecycle", "Order of a session's life"),
    ("gateway", "Gateways between client and server"),
    ("framing", "Events as bytes"),
    ("identity", "Whose is it"),
    ("control", "Nothing, to compare with"),
];

macro_rules! profiles {
    ($($name:literal,)*) => {
        /// In the order in which they are listed below their headings.
        static PROFILES: &[Builtin] = &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../../profiles/", $name, ".toml")),
        }),*];
    };
}

profiles! {
    "post-stream-lost",
    "post-stream-stalls",
    "answer-late",
    "answer-lost-after-work",
    "request-lost",
    "stream-open-after-response",
    "resume-required",
    "resume-goes-nowhere",
    "replay-duplicates-or-strays",
    "sse-retry-values",
    "get-opens-late",
    "get-late-by",
    "get-stream-cut",
    "get-opens-then-ends",
    "get-cut-then-unavailable",
    "get-refused",
    "get-headers-held",
    "get-zombie-conflict",
    "session-forgotten",
    "server-dies",
    "two-replicas",
    "auth-expires-under-load",
    "initialized-late-or-lost",
    "lifecycle-races",
    "client-vanishes-mid-call",
    "client-left-unseen",
    "gateway-errors",
    "gateway-idle",
    "gateway-holds-heads",
    "sse-body-buffered",
    "relay-strips-headers",
    "idle-connection-dies",
    "ack-not-202",
    "sse-reframed",
    "sse-noise",
    "sse-awkward-events",
    "events-out-of-order",
    "answers-cross",
    "server-request-on-other-stream",
    "response-id-mangled",
    "owner-marked",
    "get-opens-first",
    "transparent",
}

impl Builtin {
    /// What it provokes, against whom, and the symptom: the three lines that its file opens with.
    #[must_use]
    pub fn opening(&self) -> [&'static str; 3] {
        let mut lines = self.text.lines();
        ["# Provokes:", "# Against:", "# Symptom:"]
            .map(|word| lines.next().and_then(|line| line.strip_prefix(word)).unwrap_or_default().trim())
    }

    /// What its file says of it, with its variables as they are without a word from the user.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        load(&[Use::plain(self.name)]).ok()?.sources.pop()
    }
}

/// All of them, in the order in which they are listed below their headings.
#[must_use]
pub fn all() -> &'static [Builtin] {
    PROFILES
}

/// The one of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Builtin> {
    PROFILES.iter().find(|profile| profile.name == name)
}

/// All of them with what their files say, below the headings of [`GROUPS`].
#[must_use]
pub fn grouped() -> Vec<(&'static str, Vec<(&'static Builtin, Source)>)> {
    let all: Vec<_> = PROFILES.iter().filter_map(|profile| Some((profile, profile.source()?))).collect();
    let of = |group: &str| all.iter().filter(|(_, source)| source.group == group).cloned().collect();
    GROUPS.iter().map(|(group, title)| (*title, of(group))).collect()
}

#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod plays;
