//! The pages say what the program does: docs/language.md, docs/profiles.md and docs/profile.schema.json are written from the
//! program's own tables and files, and every profile shown in a page loads.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(test)]
mod monitors;
#[cfg(test)]
mod profiles;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod schema;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use mishap::profile::{Use, builtin, load};

    use crate::common::scratch::Scratch;

    /// The pages that show profiles.
    pub(crate) const PAGES: [&str; 5] =
        ["README.md", "docs/language.md", "docs/writing-profiles.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

    pub(crate) fn path(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
    }

    pub(crate) fn page(name: &str) -> String {
        std::fs::read_to_string(path(name)).expect("the page is there")
    }

    /// The profiles shown in a page.
    pub(crate) fn shown(page: &str) -> impl Iterator<Item = &str> {
        page.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap_or_default())
    }

    /// Compares a page, or the part of one, with what it is made of; or writes it, if that is asked for.
    pub(crate) fn drift(name: &str, made: &str) {
        if std::env::var_os("MISHAP_WRITE_DOCS").is_some() {
            std::fs::write(path(name), made).expect("the page can be written");
            return;
        }
        let written = std::fs::read_to_string(path(name)).unwrap_or_default();
        assert!(written == made, "write {name} anew: MISHAP_WRITE_DOCS=1 cargo test --test docs");
    }

    #[test]
    fn every_profile_in_a_page_loads() {
        let scratch = Scratch::new();
        let mut count = 0;
        for name in PAGES {
            for text in shown(&page(name)) {
                let file = scratch.file("shown.toml", text);
                let loaded = Use::parse(&file).map_err(|problem| vec![problem]).and_then(|it| load(&[it]));
                let rules = loaded.unwrap_or_else(|problems| panic!("{name}: {problems:#?} in\n{text}")).rules;
                assert!(!rules.is_empty(), "{name}: a profile without a rule:\n{text}");
                count += 1;
            }
        }
        assert!(count >= 3, "only {count} profiles are shown: the test looks in the wrong place");
    }

    #[test]
    fn the_readme_names_every_built_in_profile_and_no_other() {
        let page = page("README.md");
        let table = page.split("## Profiles that come with it").nth(1).and_then(|part| part.split("\n## ").next());
        let rows = table.expect("the table is there").lines().filter_map(|line| line.strip_prefix("| `"));
        let mut named: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        let mut built_in: Vec<_> = builtin::all().iter().map(|profile| profile.name).collect();
        named.sort_unstable();
        built_in.sort_unstable();
        assert_eq!(named, built_in);
    }
}
