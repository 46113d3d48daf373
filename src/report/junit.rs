//! Runs as JUnit XML: a suite for each run, a case for its command, each rule, each expectation and whatever else failed.
//!
//! The one rule: whatever a name holds, what is written is well-formed XML 1.0. What XML cannot carry is written as Rust
//! escapes it (`\u{1b}`).

use std::fmt::{self, Display, Write as _};

use super::runs::{KnownState, Ran, Row, Runs};
use super::verdict::told as in_words;
use crate::journal::{ExpectationLine, ExpectationState, Header, Line, ReasonLine, RuleLine, VerdictLine};

/// A suite: a run, or the list of known failures.
struct Suite<'a> {
    name: &'a str,
    started: Option<&'a str>,
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
    /// What else the verdict says.
    told: Vec<String>,
}

struct Case {
    name: String,
    became: Became,
}

enum Became {
    Passed,
    Skipped(String),
    Failed(Words),
    /// Mishap could not do it.
    Error(Words),
}

/// Why a case is red: of which kind, in a line, and in all.
struct Words {
    kind: String,
    first: String,
    all: String,
}

/// Text that XML can carry, in an attribute or between tags.
struct Xml<'a>(&'a str);

/// Writes the runs.
#[must_use]
pub fn junit(runs: &Runs) -> String {
    let mut suites: Vec<Suite<'_>> = runs.rows.iter().map(suite).collect();
    if !runs.known.is_empty() {
        suites.push(known(runs));
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = suites.iter().flat_map(|suite| &suite.cases);
    let _ = writeln!(text, "<testsuites name=\"mishap\"{}>", numbers(all));
    for suite in &suites {
        suite.write(&mut text);
    }
    text.push_str("</testsuites>\n");
    text
}

/// Writes the run of a journal. Where that has no verdict, the run is an error.
#[must_use]
pub fn of_journal(lines: &[Line]) -> String {
    let header = |line: &Line| if let Line::Run(header) = line { Some(header.clone()) } else { None };
    let verdict = |line: &Line| if let Line::Verdict(verdict) = line { Some(verdict.clone()) } else { None };
    let header: Header = lines.iter().find_map(header).unwrap_or_default();
    let ran = match lines.iter().find_map(verdict) {
        Some(verdict) => Ran { header, verdict, ..Ran::default() },
        None => Ran::unjudged(header, 1, "the journal has no verdict: its run was killed, or is not over"),
    };
    junit(&Runs::alone(ran))
}

fn suite(row: &Row) -> Suite<'_> {
    let started = Some(row.ran.header.started.as_str()).filter(|started| !started.is_empty());
    Suite { name: &row.title, started, properties: properties(&row.ran), cases: cases(row), told: told(&row.ran) }
}

/// What became of gates and the wire, as the verdict's screen says it.
fn told(ran: &Ran) -> Vec<String> {
    let VerdictLine { gates, effects, notes, .. } = &ran.verdict;
    let gates = gates.iter().map(|line| format!("gate {line}"));
    gates.chain(effects.iter().map(|line| format!("did {line}"))).chain(notes.iter().cloned()).collect()
}

fn properties(ran: &Ran) -> Vec<(String, String)> {
    let header = &ran.header;
    let mut all = vec![("seed".to_owned(), header.seed.to_string())];
    all.extend(ran.again.iter().map(|again| ("again".to_owned(), again.clone())));
    all.extend(header.time_scale.iter().map(|scale| ("time-scale".to_owned(), scale.to_string())));
    for profile in &header.profiles {
        all.push(("profile".to_owned(), profile.name.clone()));
        all.extend(profile.vars.iter().map(|(var, value)| (format!("{}.{var}", profile.name), value.clone())));
    }
    all.extend(ran.journal.iter().map(|path| ("journal".to_owned(), path.clone())));
    all.push(("mishap".to_owned(), header.mishap.clone()));
    all
}

// === Cases ===

fn cases(row: &Row) -> Vec<Case> {
    let verdict = &row.ran.verdict;
    let mut rest: Vec<&ReasonLine> = verdict.reasons.iter().collect();
    let mut cases = Vec::new();
    if !row.ran.header.command.is_empty() {
        cases.push(case("command".to_owned(), &take(&mut rest, |reason| reason.kind == "command")));
    }
    for rule in &verdict.rules {
        let is_own = |it: &ReasonLine| it.about.as_ref() == Some(&rule.name) && it.kind != "expectation";
        let own = take(&mut rest, is_own);
        cases.push(of_rule(rule, case(format!("rule {}", rule.name), &own)));
    }
    for it in &verdict.expectations {
        let own = take(&mut rest, |reason| reason.about.as_ref() == Some(&it.name));
        cases.push(of_expectation(it, case(format!("expectation {}", it.name), &own)));
    }
    while let Some(first) = rest.first().copied() {
        let alike = take(&mut rest, |reason| (&reason.kind, &reason.about) == (&first.kind, &first.about));
        let name = first.about.iter().fold(first.kind.clone(), |kind, about| format!("{kind} {about}"));
        cases.push(case(name, &alike));
    }
    cases
}

/// Takes the reasons of one case out of those that have none yet.
fn take<'a>(rest: &mut Vec<&'a ReasonLine>, own: impl Fn(&ReasonLine) -> bool) -> Vec<&'a ReasonLine> {
    let (taken, left) = rest.iter().copied().partition(|reason| own(reason));
    *rest = left;
    taken
}

/// A rule that need not act and had no chance to is not one that passed.
fn of_rule(rule: &RuleLine, case: Case) -> Case {
    let idle = rule.optional && rule.effective == 0 && matches!(case.became, Became::Passed);
    if idle { Case { became: Became::Skipped("optional, and it had no effect".to_owned()), ..case } } else { case }
}

/// One that was never asked because a rule had no effect is that rule's failure.
fn of_expectation(it: &ExpectationLine, case: Case) -> Case {
    let idle = it.state == ExpectationState::Vacuous && matches!(case.became, Became::Passed);
    if idle { Case { became: Became::Skipped(it.why.clone()), ..case } } else { case }
}

/// Red for what is new; what is known beside it is in the text.
fn case(name: String, reasons: &[&ReasonLine]) -> Case {
    let words = |of: fn(&ReasonLine) -> bool, between: &str| {
        reasons.iter().filter(|reason| of(reason)).map(|reason| in_words(reason)).collect::<Vec<_>>().join(between)
    };
    let new = reasons.iter().find(|reason| reason.counts && reason.known.is_none());
    let became = if let Some(ReasonLine { kind, why, .. }) = new {
        let red = Words { first: why.clone(), all: words(|reason| reason.counts, "\n"), kind: kind.clone() };
        if red.kind == "mishap" { Became::Error(red) } else { Became::Failed(red) }
    } else if reasons.iter().any(|reason| reason.counts) {
        Became::Skipped(words(|reason| reason.counts, "; "))
    } else if reasons.is_empty() {
        Became::Passed
    } else {
        Became::Skipped(format!("not counted: {}", words(|_| true, "; ")))
    };
    Case { name, became }
}

fn known(runs: &Runs) -> Suite<'static> {
    let cases = runs.known.iter().map(|line| {
        let became = match line.state {
            KnownState::Failed => Became::Passed,
            KnownState::NoRun | KnownState::Untested => Became::Skipped(line.words()),
            KnownState::Gone => {
                Became::Failed(Words { kind: "known".to_owned(), first: line.words(), all: line.words() })
            }
        };
        Case { name: format!("{} ({})", line.run, line.what), became }
    });
    Suite { name: "known failures", started: None, properties: Vec::new(), cases: cases.collect(), told: Vec::new() }
}

// === Text ===

impl Suite<'_> {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "  <testsuite name=\"{}\"{}", Xml(self.name), numbers(self.cases.iter()));
        if let Some(started) = self.started {
            let _ = write!(text, " timestamp=\"{}\"", Xml(started));
        }
        text.push_str(">\n");
        if !self.properties.is_empty() {
            text.push_str("    <properties>\n");
            for (name, value) in &self.properties {
                let _ = writeln!(text, "      <property name=\"{}\" value=\"{}\"/>", Xml(name), Xml(value));
            }
            text.push_str("    </properties>\n");
        }
        for case in &self.cases {
            case.write(self.name, text);
        }
        if !self.told.is_empty() {
            let _ = writeln!(text, "    <system-out>{}</system-out>", Xml(&self.told.join("\n")));
        }
        text.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn write(&self, suite: &str, text: &mut String) {
        let _ = write!(text, "    <testcase name=\"{}\" classname=\"{}\"", Xml(&self.name), Xml(suite));
        let red = |tag: &str, Words { kind, first, all }: &Words| {
            let (kind, first, all) = (Xml(kind), Xml(first), Xml(all));
            format!("<{tag} message=\"{first}\" type=\"{kind}\">{all}</{tag}>")
        };
        let inside = match &self.became {
            Became::Passed => {
                text.push_str("/>\n");
                return;
            }
            Became::Skipped(why) => format!("<skipped message=\"{}\"/>", Xml(why)),
            Became::Failed(words) => red("failure", words),
            Became::Error(words) => red("error", words),
        };
        let _ = writeln!(text, ">\n      {inside}\n    </testcase>");
    }
}

/// The counting attributes of a suite, or of all.
fn numbers<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for case in cases {
        tests += 1;
        match case.became {
            Became::Passed => {}
            Became::Skipped(_) => skipped += 1,
            Became::Failed(_) => failures += 1,
            Became::Error(_) => errors += 1,
        }
    }
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

impl Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            // As they are, a reader may make spaces of them.
            '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(c)),
            // XML 1.0, production 2.
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => write!(f, "{}", c.escape_unicode()),
            c => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests;
