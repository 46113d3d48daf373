//! The profiles that come with the program: the files of `profiles/`, byte for byte.

/// A profile, its text and what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, that of its file without `.toml`.
    pub name: &'static str,
    /// What it is about: the heading under which it is listed.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! profiles {
    ($($about:literal: $($name:literal),*;)*) => {
        /// In the order in which they are listed.
        static PROFILES: &[Builtin] = &[$($(Builtin {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../profiles/", $name, ".toml")),
        }),*),*];
    };
}

profiles! {
    "The standalone GET": "get-opens-late", "get-late-by", "get-opens-first";
    "A POST's event stream": "post-stream-lost", "post-stream-stalls";
    "Whose is it": "answers-cross", "server-request-on-other-stream", "owner-marked";
    "Nothing": "transparent";
}

/// All of them, in the order in which they are listed.
#[must_use]
pub fn all() -> &'static [Builtin] {
    PROFILES
}

/// The one of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Builtin> {
    PROFILES.iter().find(|profile| profile.name == name)
}

#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod plays;
