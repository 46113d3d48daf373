//! The catalogue: 166 public bug reports, each with the profile that reproduces it, played against the engine.
//!
//! The rows are data, in tests/catalogue: a file for each section of reports, and the traffic they are played with. A
//! row is played twice: with its profile, where both legs must show the wire it claims, line by line; and without,
//! where they must show another.

mod page;
mod row;
mod script;
mod stage;
mod wire;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use row::{Case, Row};
use script::Traffic;
use stage::{Played, play};

use crate::engine::rule::Rule;

/// The rules of a case; else why it does not load.
fn rules(case: &Case) -> Result<Vec<Rule>, String> {
    let loaded = match (&case.profile, &case.rules) {
        (Some(profile), None) => row::profile(profile),
        (None, Some(text)) => row::own(text),
        _ => return Err("a row has either `profile` or `rules`".to_owned()),
    };
    loaded.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// What is wrong with a case that loads.
fn faults_of(case: &Case, rules: Vec<Rule>, traffic: &Traffic) -> String {
    let mut wrong = String::new();
    let with = play(traffic, rules);
    let without = play(traffic, Vec::new());
    differ(&mut wrong, "with the rules", &with.wire, &row::lines(&case.wire));
    if let Some(expected) = &case.without {
        differ(&mut wrong, "without the rules", &without.wire, &row::lines(expected));
    }
    if with.wire == without.wire {
        wrong.push_str("the wire is the same without the rules: nothing was reproduced\n");
    }
    wrong.push_str(&idle(&with));
    wrong
}

/// Rules that changed nothing, and gates that had to be broken open.
fn idle(with: &Played) -> String {
    let mut wrong = String::new();
    for rule in with.tallies.iter().filter(|rule| rule.effective == 0 && !rule.optional) {
        let _ = writeln!(wrong, "rule {}: matched {}, fired {}, not effective", rule.name, rule.matched, rule.fired);
    }
    for gate in &with.broken {
        let _ = writeln!(wrong, "gate {gate}");
    }
    wrong
}

fn differ(wrong: &mut String, which: &str, seen: &[String], expected: &[String]) {
    if seen != expected {
        let _ = writeln!(wrong, "{which}, expected:\n  {}\nseen:\n  {}", expected.join("\n  "), seen.join("\n  "));
    }
}

fn find<'a>(traffic: &'a BTreeMap<String, Traffic>, row: &Row, case: &Case) -> &'a Traffic {
    traffic.get(&case.traffic).unwrap_or_else(|| panic!("{}: no traffic {:?}", row.key, case.traffic))
}

#[test]
fn every_row_is_seen_on_the_wire_with_its_profile_and_not_without() {
    let traffic = script::library();
    let mut wrong = String::new();
    for row in row::all() {
        for (n, case) in (1..).zip(row.cases()) {
            let found = rules(case).map_or_else(|why| why, |rules| faults_of(case, rules, find(&traffic, &row, case)));
            if !found.is_empty() {
                let _ = writeln!(wrong, "\n== {} case {n}, traffic {}:\n{found}", row.key, case.traffic);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_report_of_the_catalogue_has_its_row_and_no_row_is_twice() {
    let rows: Vec<(String, String)> = row::all().into_iter().map(|row| (row.key, row.url)).collect();
    let keys = row::keys();
    let lacking: Vec<_> = keys.iter().filter(|key| !rows.contains(key)).collect();
    assert!(lacking.is_empty(), "no row: {lacking:?}");
    assert_eq!(keys.len(), 166);
    assert!(rows == keys, "a row is there twice, out of order, or of no report");
}

#[test]
fn a_row_is_played_or_says_why_not() {
    for row in row::all() {
        let played = row.cases().count() > 0;
        assert!(played || row.not_shown.is_some(), "{}: it is played, or says why not", row.key);
        for case in row.cases() {
            let lines = case.rules.as_ref().map_or(0, |rules| row::lines(rules).len());
            assert!(lines < 15, "{}: {lines} lines of rules; a row needs less than 15", row.key);
        }
    }
}

/// A row that was also run against real SDKs names the test.
#[test]
fn every_test_with_real_sdks_that_is_named_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for row in row::all() {
        for path in
            row.sdk.iter().flat_map(|sdk| sdk.split([' ', ':', ',', ';'])).filter(|word| word.starts_with("tests/"))
        {
            let there = root.join(format!("{path}.rs")).exists() || root.join(path).is_dir();
            assert!(there, "{}: {path}", row.key);
        }
    }
}

/// Without this, a runner that looks at nothing would be content with every row.
#[test]
fn a_wire_that_is_not_seen_and_a_rule_that_does_nothing_are_found() {
    let traffic = script::library();
    let rows = row::all();
    let case = rows[0].cases().next().expect("the first row has a case");
    let played = |case: &Case, rules: Vec<Rule>| faults_of(case, rules, &traffic[&case.traffic]);
    let right = || rules(case).expect("it loads");
    assert_eq!(played(case, right()), "");
    let (first, rest) = case.wire.trim().split_once('\n').expect("it has lines");
    let other = Case { wire: rest.to_owned(), ..case.clone() };
    assert!(played(&other, right()).contains(&format!("seen:\n  {first}")));
    let other = Case { without: Some(case.wire.clone()), ..case.clone() };
    assert!(played(&other, right()).contains("without the rules, expected"));
    let idle =
        row::own("[[rule]]\nname = \"r\"\nmatch = { at = \"head\", status = 418 }\ndelay = \"1s\"").expect("it loads");
    let found = played(case, idle);
    assert!(found.contains("nothing was reproduced") && found.contains("rule own/r: matched 0"), "{found}");
}

#[test]
fn every_traffic_is_used_and_says_what_it_is() {
    let used: Vec<String> =
        row::all().iter().flat_map(|row| row.cases().map(|case| case.traffic.clone()).collect::<Vec<_>>()).collect();
    for (name, traffic) in script::library() {
        assert!(used.contains(&name), "no row is played with {name}");
        assert!(!traffic.doc.is_empty(), "{name}");
    }
}
