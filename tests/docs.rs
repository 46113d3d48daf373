//! The pages say what the program does: docs/language.md is written from the loader's own tables, and every profile shown
//! in a page loads.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use mishap::profile::schema::{
        FAULTS, FILE, FIRED, FaultTable, Field, GATHERED, MESSAGE, Need, OWNER, RULE, SEEN, SELECTOR, VARIABLE, WAIT,
        at_word,
    };
    use mishap::profile::{Use, builtin, load};

    use crate::common::scratch::Scratch;

    const REFERENCE: &str = "## Reference\n\n";

    fn page(name: &str) -> String {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the page is there")
    }

    /// The reference as the loader's tables have it.
    fn reference() -> String {
        let mut text = String::new();
        let tables: [(&str, &[Field]); 9] = [
            ("File", &FILE),
            ("Variable", &VARIABLE),
            ("Rule", &RULE),
            ("Selector", &SELECTOR),
            ("Selector: `owner`", &OWNER),
            ("Selector: `message`", &MESSAGE),
            ("Condition: a selector, and", &SEEN),
            ("Condition: `fired`", &FIRED),
            ("Condition: `gathered`", &GATHERED),
        ];
        tables.iter().for_each(|(title, fields)| table(&mut text, title, fields));
        table(&mut text, "Condition: a time or another fact", &WAIT);
        let (built, planned): (Vec<&FaultTable>, Vec<_>) =
            FAULTS.iter().copied().partition(|fault| fault.make.is_some());
        for fault in built.into_iter().chain(planned) {
            let points: Vec<_> = fault.at.iter().map(|at| at_word(*at)).collect();
            let main = fault.main.map(|main| format!(" Main parameter: `{main}`.")).unwrap_or_default();
            let built = if fault.make.is_some() { "" } else { " **Not built yet.**" };
            let title = format!("Fault: `{}`", fault.name);
            let _ = write!(text, "### {title}\n\nIt {}. At {}.{main}{built}\n\n", fault.doc, points.join(", "));
            rows(&mut text, fault.params);
        }
        text
    }

    fn table(text: &mut String, title: &str, fields: &[Field]) {
        let _ = write!(text, "### {title}\n\n");
        rows(text, fields);
    }

    fn rows(text: &mut String, fields: &[Field]) {
        if fields.is_empty() {
            return;
        }
        text.push_str("| key | value | default | means |\n|---|---|---|---|\n");
        for field in fields {
            let default = match field.need {
                Need::Required => "required".to_owned(),
                Need::Optional => String::new(),
                Need::Default(value) => format!("`{value}`"),
            };
            let described = field.kind.described().replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {described} | {default} | {} |", field.key, field.doc);
        }
        text.push('\n');
    }

    /// `MISHAP_WRITE_DOCS=1 cargo test --test docs` writes it.
    #[test]
    fn the_reference_is_what_the_loader_reads_by() {
        let page = page("docs/language.md");
        let (manual, written) = page.split_once(REFERENCE).expect("the page has a reference");
        let reference = reference();
        if std::env::var_os("MISHAP_WRITE_DOCS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language.md");
            std::fs::write(path, format!("{manual}{REFERENCE}{}\n", reference.trim_end()))
                .expect("the page can be written");
            return;
        }
        assert!(
            written.trim_end() == reference.trim_end(),
            "write it anew: MISHAP_WRITE_DOCS=1 cargo test --test docs"
        );
    }

    #[test]
    fn every_profile_in_a_page_loads() {
        let scratch = Scratch::new();
        let mut shown = 0;
        for name in ["README.md", "docs/language.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
            let page = page(name);
            for block in page.split("```toml\n").skip(1) {
                let text = block.split("```").next().unwrap_or_default();
                let file = scratch.file("shown.toml", text);
                let loaded = Use::parse(&file).map_err(|problem| vec![problem]).and_then(|it| load(&[it]));
                let rules = loaded.unwrap_or_else(|problems| panic!("{name}: {problems:#?} in\n{text}")).rules;
                assert!(!rules.is_empty(), "{name}: a profile without a rule:\n{text}");
                shown += 1;
            }
        }
        assert!(shown >= 3, "only {shown} profiles are shown: the test looks in the wrong place");
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
