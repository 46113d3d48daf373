//! What the program is built from: few crates, each with its reason written down, from one place, under free licences.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::process::Command;

    /// Licences under which a crate may be linked into the binary; an expression needs one of its alternatives here.
    const FREE: [&str; 10] = [
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "Unlicense",
        "0BSD",
        "CC0-1.0",
    ];

    /// What is linked into the binary on this machine, as `NAME VERSION LICENCE`. Asks nothing of the network.
    fn linked() -> BTreeSet<(String, String, String)> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--locked", "--offline", "-p", "mcp-mishap", "-e", "normal,no-proc-macro"]);
        cargo.args(["--prefix", "none", "--format", "{p}\t{l}"]);
        let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let tree = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        let packages = tree.lines().filter_map(|line| {
            let (package, licence) = line.trim_end_matches(" (*)").split_once('\t')?;
            let mut words = package.split(' ');
            Some((words.next()?.to_owned(), words.next()?.to_owned(), licence.to_owned()))
        });
        packages.collect()
    }

    #[test]
    fn every_crate_in_the_binary_has_a_free_licence() {
        let bound: Vec<_> = linked().into_iter().filter(|(_, _, licence)| !is_free(licence)).collect();
        assert!(bound.is_empty(), "licences that are not among those accepted here: {bound:?}");
    }

    /// `AND` binds closer than `OR`; every part of one alternative must be free.
    fn is_free(expression: &str) -> bool {
        let flat = expression.replace(['(', ')'], "").replace('/', " OR ");
        let term = |licence: &str| FREE.contains(&licence.split(" WITH ").next().unwrap_or_default().trim());
        flat.split(" OR ").any(|alternative| alternative.split(" AND ").all(term))
    }

    #[test]
    fn a_licence_expression_needs_one_free_alternative() {
        assert!(is_free("MIT OR Apache-2.0") && is_free("MIT/Unlicense") && is_free("GPL-3.0 OR MIT"));
        assert!(is_free("(MIT OR Apache-2.0) AND Unicode-3.0") && is_free("Apache-2.0 WITH LLVM-exception"));
        assert!(!is_free("GPL-3.0") && !is_free("MIT AND GPL-3.0") && !is_free(""));
    }

    /// Two versions of one crate cost build time and say that something is behind.
    #[test]
    fn no_crate_is_in_the_binary_in_two_versions() {
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, version, _) in linked() {
            versions.entry(name).or_default().push(version);
        }
        versions.retain(|_, seen| seen.len() > 1);
        assert!(versions.is_empty(), "in more than one version: {versions:?}");
    }

    #[test]
    fn every_crate_comes_from_the_registry() {
        let lock = include_str!("../Cargo.lock");
        let elsewhere: Vec<_> = lock.lines().filter(|line| line.starts_with("source = ")).collect();
        assert!(elsewhere.iter().all(|line| line.starts_with("source = \"registry+")), "{elsewhere:?}");
    }

    #[test]
    fn every_direct_dependency_is_named_with_its_reason_in_the_architecture() {
        let page = include_str!("../ARCHITECTURE.md");
        let manifest: toml::Table = include_str!("../Cargo.toml").parse().expect("cargo reads it too");
        let tables = ["dependencies", "dev-dependencies"].map(|name| manifest[name].as_table().expect("a table"));
        let names = tables.into_iter().flat_map(toml::Table::keys);
        let missing: Vec<_> = names.filter(|name| !page.contains(&format!("| `{name}` |"))).collect();
        assert!(missing.is_empty(), "ARCHITECTURE.md, \"Dependencies\", has no row for {missing:?}");
    }

    #[test]
    fn every_direct_dependency_is_used() {
        let manifest: toml::Table = include_str!("../Cargo.toml").parse().expect("cargo reads it too");
        let source = text_of(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
        let names = manifest["dependencies"].as_table().expect("a table").keys();
        let unused: Vec<_> = names.filter(|name| !source.contains(&format!("{}::", name.replace('-', "_")))).collect();
        assert!(unused.is_empty(), "nothing in src uses {unused:?}");
    }

    /// All Rust files below a folder, one after the other.
    fn text_of(folder: &Path) -> String {
        let entries = std::fs::read_dir(folder).expect("a folder of the tree can be read");
        let paths = entries.map(|entry| entry.expect("an entry can be read").path());
        let texts = paths
            .map(|path| if path.is_dir() { text_of(&path) } else { std::fs::read_to_string(path).unwrap_or_default() });
        texts.collect()
    }
}
