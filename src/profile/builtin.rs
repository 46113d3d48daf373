//! The profiles that come with the program: the files of `profiles/`, byte for byte.

/// A profile's name and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, that of its file without `.toml`.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! profiles {
    ($($name:literal),* $(,)?) => {
        /// In the order in which they are listed.
        static PROFILES: &[Builtin] =
            &[$(Builtin { name: $name, text: include_str!(concat!("../../profiles/", $name, ".toml")) }),*];
    };
}

profiles![
    "transparent",
    "get-opens-late",
    "get-opens-first",
    "get-late-by",
    "post-stream-lost",
    "post-stream-stalls",
    "answers-cross",
    "server-request-on-other-stream",
    "owner-marked",
];

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
