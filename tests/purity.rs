//! The engine is pure: it compiles alone, with nothing but the crates it may use in reach, and the lints that ban
//! clocks, chance, unordered maps and IO there do fire.
//!
//! It builds scratch crates in cargo's folder for such things, from this tree's own files, without the network.

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// All that the engine may use.
    const CRATES: [&str; 5] = ["bytes", "memchr", "rand_chacha", "serde", "serde_json"];

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a crate of this one file with the engine's crates, in the versions of this tree's lock file.
    fn scratch(name: &str, lib: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(folder.join("src")).expect("cargo's folder can be written");
        let manifest = read(&root().join("Cargo.toml"));
        let line = |of: &str| {
            let found = manifest.lines().find(|line| line.starts_with(&format!("{of} = ")));
            found.unwrap_or_else(|| panic!("{of} is not in Cargo.toml")).to_owned()
        };
        let dependencies = CRATES.map(line).join("\n");
        let lints = manifest.split("[lints.clippy]").nth(1).and_then(|rest| rest.split("\n[").next());
        let lints = lints.expect("Cargo.toml has clippy's lints");
        let manifest = format!(
            "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [dependencies]\n{dependencies}\n[lints.clippy]{lints}\n"
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).expect("cargo's folder can be written");
        std::fs::write(folder.join("src/lib.rs"), lib).expect("cargo's folder can be written");
        std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("there is a lock file");
        std::fs::copy(root().join("clippy.toml"), folder.join("clippy.toml")).expect("there is a clippy.toml");
        folder
    }

    /// Whether cargo is content with the crate, and what it said.
    fn cargo(command: &str, folder: &Path) -> (bool, String) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([command, "--offline", "--quiet"]).current_dir(folder);
        // One folder for all scratch crates, and none of the flags that the outer cargo was given.
        cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("scratch-target"));
        for flags in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CLIPPY_ARGS", "RUSTC_WORKSPACE_WRAPPER"] {
            cargo.env_remove(flags);
        }
        let output = cargo.output().expect("cargo runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The lints that the engine turns on for itself.
    fn engine_lints() -> String {
        let text = read(&root().join("src/engine/mod.rs"));
        let lints: Vec<_> = text.lines().filter(|line| line.starts_with("#![deny(clippy::disallowed")).collect();
        assert!(!lints.is_empty(), "src/engine/mod.rs turns the lints on");
        lints.join("\n")
    }

    #[test]
    fn the_engine_compiles_with_only_its_few_crates_in_reach() {
        let engine = root().join("src/engine/mod.rs");
        let folder = scratch("pure-engine", &format!("#[path = {engine:?}]\npub mod engine;\n"));
        let (content, said) = cargo("check", &folder);
        assert!(content, "the engine needs more than {CRATES:?}:\n{said}");
    }

    /// The test above would be worth nothing if other crates were in reach of the scratch crate.
    #[test]
    fn a_runtime_is_out_of_its_reach() {
        let names = ["tokio", "hyper", "rustix", "tracing"];
        let uses: String = names.iter().map(|name| format!("pub use {name} as of_{name};\n")).collect();
        let (_, said) = cargo("check", &scratch("impure-engine", &uses));
        for name in names {
            assert!(said.contains(&format!("unresolved import `{name}`")), "{name} is in reach:\n{said}");
        }
    }

    #[test]
    fn clocks_chance_unordered_maps_and_io_do_not_pass_clippy_in_the_engine() {
        let wrong = [
            "std::time::Instant::now()",
            "std::time::SystemTime::now()",
            "std::collections::HashMap::<u8, u8>::new()",
            "std::collections::HashSet::<u8>::new()",
            "std::thread::spawn(|| ())",
            "std::env::var(\"X\")",
            "std::fs::File::open(\"x\")",
        ];
        let functions: String =
            wrong.iter().enumerate().map(|(n, code)| format!("pub fn wrong_{n}() {{ let _ = {code}; }}\n")).collect();
        let module = |inside: &str| format!("pub mod engine {{\n{}\n{inside}}}\n", engine_lints());
        let (content, said) = cargo("clippy", &scratch("unclean-engine", &module(&functions)));
        assert!(!content, "clippy is content with a clock in the engine");
        for (n, code) in wrong.iter().enumerate() {
            assert!(said.contains(&format!("wrong_{n}()")), "clippy lets {code} pass:\n{said}");
        }
        let right = "pub fn right() -> std::collections::BTreeMap<u8, u8> { std::collections::BTreeMap::new() }\n";
        let (content, said) = cargo("clippy", &scratch("clean-engine", &module(right)));
        assert!(content, "the same without them is refused too:\n{said}");
    }
}
