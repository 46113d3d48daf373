//! What is written, read back by a parser of XML that is not ours.

use roxmltree::{Document, Node};

use super::*;
use crate::report::runs::tests::{failed, known, passed, several};
use crate::report::verdict::{Kind, Known};

fn find<'a, 'd>(document: &'a Document<'d>, tag: &str, name: &str) -> Node<'a, 'd> {
    let named = |node: &Node<'_, '_>| node.has_tag_name(tag) && node.attribute("name") == Some(name);
    document.descendants().find(named).unwrap_or_else(|| panic!("no {tag} of the name {name:?}"))
}

fn numbers_of(node: Node<'_, '_>) -> [u32; 4] {
    ["tests", "failures", "errors", "skipped"]
        .map(|key| node.attribute(key).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {key}")))
}

fn rule(name: &str, effective: u64, optional: bool) -> RuleLine {
    RuleLine { name: name.to_owned(), matched: effective, fired: effective, effective, optional }
}

fn about(kind: &str, rule: &str, counts: bool) -> ReasonLine {
    let (kind, about, why) = (kind.to_owned(), Some(rule.to_owned()), format!("{kind} of {rule}"));
    ReasonLine { kind, exit: 4, about, why, counts, known: None }
}

#[test]
fn a_run_is_a_suite_and_its_command_and_each_rule_a_case() {
    let (name, mut ran) = failed("late", "command", 9);
    ran.header.command = vec!["npm".to_owned()];
    ran.verdict.rules = vec![rule("p/a", 1, false), rule("p/b", 0, true), rule("p/c", 0, false)];
    ran.verdict.gates = vec!["p/a: 1 opened".to_owned()];
    ran.verdict.effects = vec!["p/a: cut <it>".to_owned()];
    ran.verdict.reasons.extend([about("rule", "p/c", true), about("gate", "p/c", true), about("hang", "x", true)]);
    let text = junit(&several(&[(name, ran), passed("other")], &[]));
    let document = Document::parse(&text).expect("it is well-formed");
    let suite = find(&document, "testsuite", "late");
    assert_eq!(numbers_of(suite), [5, 3, 0, 1]);
    assert_eq!(numbers_of(document.root_element()), [5, 3, 0, 1]);
    let red = |case: &str| {
        let failure = find(&document, "testcase", case).first_element_child().expect("it did not pass");
        (failure.tag_name().name(), failure.attribute("type"), failure.text())
    };
    assert_eq!(red("command"), ("failure", Some("command"), Some("command failed")));
    assert_eq!(red("rule p/c"), ("failure", Some("rule"), Some("rule of p/c\ngate of p/c")));
    assert_eq!(red("hang x"), ("failure", Some("hang"), Some("hang of x")));
    assert_eq!(red("rule p/b"), ("skipped", None, None));
    assert!(find(&document, "testcase", "rule p/a").first_element_child().is_none());
    let told = suite.children().find(|node| node.has_tag_name("system-out")).expect("there is something to say");
    assert_eq!(told.text(), Some("gate p/a: 1 opened\ndid p/a: cut <it>"));
    assert_eq!(find(&document, "property", "seed").attribute("value"), Some("7"));
    assert_eq!(find(&document, "property", "again").attribute("value"), Some("mishap run -p late"));
}

#[test]
fn each_expectation_is_a_case_and_one_that_had_no_chance_is_skipped() {
    let state = |name: &str, state| ExpectationLine { name: name.to_owned(), state, ..ExpectationLine::default() };
    let (name, mut ran) = passed("late");
    ran.verdict.rules = vec![rule("p/a", 1, false)];
    ran.verdict.expectations = vec![
        state("p/a", ExpectationState::Failed),
        state("p/b", ExpectationState::Held),
        state("p/c", ExpectationState::Vacuous),
    ];
    ran.verdict.reasons = vec![about("expectation", "p/a", true)];
    let text = junit(&several(&[(name, ran)], &[]));
    let document = Document::parse(&text).expect("it is well-formed");
    let inside = |case: &str| {
        let node = find(&document, "testcase", case).first_element_child();
        node.map(|node| node.tag_name().name().to_owned())
    };
    let cases = ["rule p/a", "expectation p/a", "expectation p/b", "expectation p/c"].map(inside);
    assert_eq!(cases, [None, Some("failure".to_owned()), None, Some("skipped".to_owned())]);
}

#[test]
fn what_does_not_count_or_is_known_is_skipped_and_what_mishap_could_not_do_is_an_error() {
    let (name, mut ran) = failed("a", "command", 9);
    ran.header.command = vec!["npm".to_owned()];
    ran.verdict.rules = vec![rule("p/a", 0, false)];
    ran.verdict.reasons.push(about("rule", "p/a", false));
    let runs = several(&[(name, ran), failed("b", "mishap", 125), passed("c")], &[known("a", 9), known("c", 9)]);
    let text = junit(&runs);
    let document = Document::parse(&text).expect("it is well-formed");
    let inside = |case: &str| {
        let node = find(&document, "testcase", case).first_element_child().expect("it did not pass");
        (node.tag_name().name().to_owned(), node.attribute("message").unwrap_or_default().to_owned())
    };
    assert_eq!(inside("command"), ("skipped".to_owned(), "known (it is known): command failed".to_owned()));
    assert_eq!(inside("rule p/a"), ("skipped".to_owned(), "not counted: rule of p/a".to_owned()));
    assert_eq!(inside("mishap"), ("error".to_owned(), "mishap failed".to_owned()));
    assert_eq!(inside("c (exit 9)").0, "failure");
    assert_eq!(numbers_of(document.root_element()), [5, 1, 1, 2]);
}

/// The control stands beside it: without the second entry what is not excused is red.
#[test]
fn what_is_known_is_skipped_although_something_new_is_beside_it() {
    let (name, mut ran) = failed("a", "command", 9);
    ran.header.command = vec!["npm".to_owned()];
    ran.verdict.rules = vec![rule("p/a", 1, false)];
    ran.verdict.reasons.extend([about("gate", "p/a", true), about("rule", "p/a", true), about("hang", "p/b", true)]);
    let inside = |known: &[Known]| {
        let text = junit(&several(&[(name.clone(), ran.clone())], known));
        let document = Document::parse(&text).expect("it is well-formed");
        ["command", "rule p/a", "hang p/b"].map(|case| {
            let node = find(&document, "testcase", case).first_element_child().expect("it did not pass");
            format!("{}: {}", node.tag_name().name(), node.text().or(node.attribute("message")).unwrap_or_default())
        })
    };
    let command = "skipped: known (it is known): command failed";
    assert_eq!(inside(&[]), ["failure: command failed", "failure: gate of p/a\nrule of p/a", "failure: hang of p/b"]);
    assert_eq!(inside(&[known("a", 9)]), [command, "failure: gate of p/a\nrule of p/a", "failure: hang of p/b"]);
    let hang = Known { kind: Some(Kind::Rule), exit: None, ..known("a", 0) };
    assert_eq!(
        inside(&[known("a", 9), hang]),
        [command, "failure: gate of p/a\nknown (it is known): rule of p/a", "failure: hang of p/b"]
    );
}

#[test]
fn a_journal_is_one_suite_and_without_a_verdict_an_error() {
    let (_, ran) = failed("x", "hang", 5);
    let lines = [Line::Run(ran.header), Line::Verdict(ran.verdict)];
    let numbers =
        |lines: &[Line]| numbers_of(Document::parse(&of_journal(lines)).expect("it is well-formed").root_element());
    assert_eq!(numbers(&lines), [1, 1, 0, 0]);
    assert_eq!(numbers(&lines[..1]), [1, 0, 1, 0]);
}

// Every character below space, those that are no characters, markup, and what ends a CDATA section.
#[test]
fn whatever_names_and_reasons_hold_it_is_well_formed_and_reads_the_same() {
    let controls: String = (0_u8..0x20).map(char::from).collect();
    let plain = "\"'<>&]]> é 🙂 \u{7f}\u{85}\u{2028} \t\n\r end";
    for (text, reads) in [
        (plain.to_owned(), plain.to_owned()),
        ("\u{1b}[31mred\u{0}".to_owned(), "\\u{1b}[31mred\\u{0}".to_owned()),
        ("\u{fffe}\u{ffff}".to_owned(), "\\u{fffe}\\u{ffff}".to_owned()),
    ] {
        let (_, mut ran) = failed("x", "hang", 5);
        ran.verdict.reasons[0].why.clone_from(&text);
        ran.again = Some(text.clone());
        let xml = junit(&several(&[(text.clone(), ran)], &[]));
        let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
        let case = find(&document, "testcase", "hang");
        assert_eq!(case.attribute("classname"), Some(&*reads));
        let failure = case.first_element_child().expect("it failed");
        assert_eq!((failure.attribute("message"), failure.text()), (Some(&*reads), Some(&*reads)));
        assert_eq!(find(&document, "property", "again").attribute("value"), Some(&*reads));
    }
    let xml = junit(&several(&[failed(&controls, "hang", 5)], &[]));
    assert!(Document::parse(&xml).is_ok(), "{xml}");
    // The parser does refuse what XML does not allow.
    assert!(Document::parse(&xml.replace("\\u{1}", "\u{1}")).is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_back_as_it_was_or_as_rust_escapes_it(text in proptest::prelude::any::<String>()) {
        let allowed = |c: char| matches!(c, '\t' | '\n' | '\r') || !matches!(c, '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
        let reads: String = text.chars().map(|c| if allowed(c) { c.to_string() } else { c.escape_unicode().to_string() }).collect();
        let xml = junit(&several(&[failed(&text, "hang", 5)], &[]));
        let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
        proptest::prop_assert_eq!(find(&document, "testcase", "hang").attribute("classname"), Some(&*reads));
    }
}
