//! The reference in docs/language.md, as the loader's tables have it.

use std::fmt::Write as _;

use mishap::profile::schema::{
    COUNTED, EXPECT, FAULTS, FILE, FIRED, Field, GATHERED, MESSAGE, Need, OPENED, OWNER, RULE, SEEN, SELECTOR,
    VARIABLE, WAIT, at_word,
};

use crate::tests::{drift, page};

const REFERENCE: &str = "## Reference\n\n";

fn reference() -> String {
    let mut text = String::new();
    let tables: [(&str, &[Field]); 13] = [
        ("File", &FILE),
        ("Variable", &VARIABLE),
        ("Rule", &RULE),
        ("Selector", &SELECTOR),
        ("Selector: `owner`", &OWNER),
        ("Selector: `message`", &MESSAGE),
        ("Condition: a selector, and", &SEEN),
        ("Condition: `fired`", &FIRED),
        ("Condition: `gathered`", &GATHERED),
        ("Condition: a time or another fact", &WAIT),
        ("Expectation", &EXPECT),
        ("Expectation: a selector in `match`, and", &COUNTED),
        ("Expectation: a selector in `after`, and", &OPENED),
    ];
    for (title, fields) in tables {
        let _ = write!(text, "### {title}\n\n");
        rows(&mut text, fields);
    }
    for fault in FAULTS {
        let points: Vec<_> = fault.at.iter().map(|at| at_word(*at)).collect();
        let main = fault.main.map(|main| format!(" Main parameter: `{main}`.")).unwrap_or_default();
        let title = format!("Fault: `{}`", fault.name);
        let _ = write!(text, "### {title}\n\nIt {}. At {}.{main}\n\n", fault.doc, points.join(", "));
        rows(&mut text, fault.params);
    }
    text
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
    let (manual, _) = page.split_once(REFERENCE).expect("the page has a reference");
    drift("docs/language.md", &format!("{manual}{REFERENCE}{}\n", reference().trim_end()));
}
