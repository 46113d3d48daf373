//! A journal as one page for a browser: the document of [`super::json`] inside a page that needs nothing from outside.
//!
//! The one rule: what came over the wire is data. It stands in a script element that no browser runs, with every `<`
//! written as an escape, and the page's program puts it into the document as text. Should that fail, the page's policy
//! (CSP) runs no other program, and loads nothing.

use super::digest::source;
use super::json;
use crate::journal::Line;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");

/// In the order in which they read each other: one program.
const PROGRAM: [&str; 4] = [
    include_str!("html/model.js"),
    include_str!("html/drawing.js"),
    include_str!("html/details.js"),
    include_str!("html/page.js"),
];

/// Writes a journal's lines as a page.
#[must_use]
pub fn page(lines: &[Line]) -> String {
    let program = PROGRAM.concat();
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(&program)
    );
    let data = json::report(lines).replace('<', "\\u003c");
    filled(&[("policy", &policy), ("style", STYLE), ("program", &program), ("data", &data)])
}

/// The page with these texts in their places. A place inside a text is none.
fn filled(texts: &[(&str, &str)]) -> String {
    let mut parts = PAGE.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("a place ends");
        page.push_str(texts.iter().find(|(known, _)| *known == name).expect("a place is known").1);
        page.push_str(rest);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::{Entry, NoteEntry};

    #[test]
    fn text_from_the_wire_ends_no_element_and_opens_no_place() {
        let hostile = "</script><script>alert(1)</script><!--<script> {{program}} \u{2028}";
        let page = page(&[Line::from(Entry::Note(NoteEntry { seq: 1, at: 1, text: hostile.into() }))]);
        let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let data: serde_json::Value = serde_json::from_str(data.expect("the data is there")).expect("it is whole");
        assert_eq!(data["events"][0]["text"], format!("note: {hostile}"));
        assert!(!page.contains("alert(1)</script>") && page.matches("<script").count() == 2);
    }

    // A program with these in it would end its own element, or need what the policy forbids.
    #[test]
    fn the_page_stands_alone_and_puts_text_in_as_text() {
        for text in PROGRAM.iter().chain([&STYLE]) {
            assert!(!text.contains("</") && !text.contains("<!--"), "{text}");
        }
        let outside = [
            "http:",
            "https:",
            "//cdn",
            "@import",
            "url(",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "eval(",
            "document.write",
            "Function(",
            "srcdoc",
            " style=",
            "onclick=",
        ];
        for text in PROGRAM.iter().chain([&STYLE, &PAGE]) {
            // The name of SVG's elements is no address.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(outside.iter().all(|word| !text.contains(word)), "{text}");
        }
    }
}
