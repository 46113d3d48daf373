//! The verdict: what a run amounts to, on one screen, and the exit status that follows (README.md, "The verdict and the exit status").
//!
//! The one rule: a run that tested nothing is not green. Every reason is listed; the first that counts is the exit status.

mod crossed;
mod effects;
mod era;
mod expectations;
mod gates;
mod hung;
mod known;
mod missed;
mod reason;
mod remarks;
mod scale;
mod watched;

use std::collections::BTreeMap;
use std::fmt;

use super::words::{count, span};
use crate::engine::record::{GateEntry, Opened, RuleTally, Summary};
use crate::journal::{ReasonLine, RuleLine, VerdictLine};
use crate::monitor::Watched;
use crate::profile::{Doubt, Scale};
pub use expectations::line as expectation;

pub use gates::gate_words;
use gates::{gate_groups, held};
pub use known::{Known, hides, marked, told};
pub use reason::{FailOn, Kind, Reason};

/// What a verdict is made from.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// What the engine counted.
    pub summary: Summary,
    /// How the command behind the proxy ended; `None`: a run in the foreground.
    pub command: Option<CommandEnd>,
    /// What mishap itself could not do.
    pub ours: Vec<String>,
    /// What the command waited for when its time was over; none: it ended by itself.
    pub hung: Option<Vec<String>>,
    /// The seed of every draw.
    pub seed: u64,
    /// By how much the times of rules were multiplied.
    pub scale: Scale,
    /// The eras that each profile is for, by its name; none: all.
    pub eras: BTreeMap<String, Vec<String>>,
    /// What to type to repeat the run.
    pub again: String,
    /// Where the journal is, if there is one, as a shell takes it.
    pub recorded: Option<String>,
    /// What became of the journal, in words.
    pub journal: Option<String>,
    /// The reports that were written, by the names of their files.
    pub reports: Vec<String>,
    /// What is doubtful in the profiles.
    pub doubts: Vec<Doubt>,
    /// Which kinds of reasons fail the run.
    pub fail_on: FailOn,
    /// Of one of several runs: its known failures; `None`: it is by itself.
    pub among: Option<Vec<Known>>,
    /// What became of the client's requests, and what the monitors found; `None`: the run was not watched.
    pub watched: Option<Watched>,
}

/// How the command behind the proxy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this status.
    Exited(u8),
    /// By this signal.
    Signalled(u8),
    /// It ran for longer than it may: microseconds, and whether it had to be killed.
    TimedOut {
        /// How long it may run, in microseconds.
        limit: u64,
        /// Whether it did not end on SIGTERM.
        killed: bool,
    },
    /// Nobody knows: what watched over it was gone before.
    Unknown,
}

/// What a run ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The exit status.
    pub code: u8,
    /// Why.
    pub why: String,
}

/// What a run amounts to. Displays as the screen, without the last line.
#[derive(Debug, Clone)]
pub struct Verdict {
    facts: Facts,
    reasons: Vec<Reason>,
}

// === Verdict ===

impl Verdict {
    /// Judges a run.
    #[must_use]
    pub fn of(facts: Facts) -> Self {
        let reasons = reasons(&facts);
        Self { facts, reasons }
    }

    /// The exit status and why: the command's own if it failed, else what mishap could not do, else the lowest that counts.
    #[must_use]
    pub fn exit(&self) -> Status {
        let mut counted = self.reasons.iter().filter(|reason| self.facts.fail_on.counts(reason.kind));
        let Some(first) = counted.next() else { return Status { code: 0, why: self.green() } };
        let why = match counted.count() {
            0 => first.why.clone(),
            more => format!("{} (and {more} more)", first.why),
        };
        Status { code: first.code, why }
    }

    /// Why a run ends with 0.
    fn green(&self) -> String {
        match self.told().count() {
            0 => self.all_well().to_owned(),
            1 => "nothing that counts went wrong (1 reason that does not)".to_owned(),
            more => format!("nothing that counts went wrong ({more} reasons that do not)"),
        }
    }

    fn all_well(&self) -> &'static str {
        let Summary { rules, expectations, .. } = &self.facts.summary;
        match (rules.is_empty(), expectations.is_empty()) {
            (true, true) => "all done, no rules",
            (true, false) => "every expectation was met",
            (false, true) => "every rule was effective",
            (false, false) => "every rule was effective, every expectation met",
        }
    }

    /// The verdict as a journal's line. What becomes of the journal itself is not in it: it is written first.
    #[must_use]
    pub fn line(&self) -> VerdictLine {
        let Status { code, why } = self.exit();
        let reasons = self.reasons.iter().map(|reason| self.reason_line(reason)).collect();
        let summary = &self.facts.summary;
        let gates = gate_groups(&summary.gates, &summary.methods);
        let effects = effects::lines(summary);
        let rules = self.facts.summary.rules.iter().cloned().map(|rule| RuleLine {
            name: rule.name,
            matched: rule.matched,
            fired: rule.fired,
            effective: rule.effective,
            optional: rule.optional,
        });
        let line = VerdictLine {
            exit: code,
            why,
            reasons,
            rules: rules.collect(),
            gates,
            effects,
            expectations: expectations::judged(summary),
            notes: self.notes(),
            ..VerdictLine::default()
        };
        match &self.facts.watched {
            Some(watched) => watched::fill(line, watched),
            None => line,
        }
    }

    /// The reasons that are listed as such: a notice that does not count is told as what it is.
    fn told(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().filter(|reason| reason.kind != Kind::Notice || self.facts.fail_on.counts(reason.kind))
    }

    fn reason_line(&self, reason: &Reason) -> ReasonLine {
        marked(reason.line(&self.facts.fail_on), self.facts.among.as_deref().unwrap_or_default())
    }

    /// All reasons, unless there is one only and the next line says it: the last of a run by itself.
    fn write_reasons(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<ReasonLine> = self.told().map(|reason| self.reason_line(reason)).collect();
        if self.facts.among.is_none() && matches!(lines.as_slice(), [only] if only.counts) {
            return Ok(());
        }
        lines.iter().try_for_each(|line| match line.counts {
            true => writeln!(f, "  exit {}: {}", line.exit, told(line)),
            false => writeln!(f, "  not counted ({}): {}", line.kind, line.why),
        })
    }

    /// What the eras seen and the time scale mean for the rules, what these could not do, and what outlived the run.
    fn notes(&self) -> Vec<String> {
        let era = era::notes(&self.facts.summary, &self.facts.eras);
        let scale = scale::notes(&self.facts.summary.silences, self.facts.scale);
        let remarks = remarks::lines(&self.facts.summary).chain(remarks::left_open(&self.facts.summary));
        let hung = hung::notes(self.facts.hung.as_ref());
        hung.into_iter().chain(era).chain(scale).chain(remarks).collect()
    }

    /// What was doubtful in the text of rules that then matched nothing, or of expectations that were not met.
    fn doubts(&self) -> impl Iterator<Item = &Doubt> {
        let Summary { rules, expectations, .. } = &self.facts.summary;
        let unmatched = |name: &str| rules.iter().any(|rule| rule.name == name && rule.matched == 0);
        let unmet = |name: &str| expectations.iter().any(|it| it.name == name && (it.failed > 0 || it.checked == 0));
        self.facts.doubts.iter().filter(move |doubt| unmatched(&doubt.of) || unmet(&doubt.of))
    }

    /// Every reason not to end with 0, in order of weight.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = &self.facts.summary;
        writeln!(f, "mishap: verdict")?;
        match crossed::nothing(&self.facts) {
            Some(_) if summary.rules.is_empty() => writeln!(f, "  no rules, and nothing crossed the proxy")?,
            _ => write_rules(f, &summary.rules)?,
        }
        if summary.rules.is_empty() && self.facts.watched.is_none() {
            writeln!(f, "  not watched; add a profile, --journal, or use mishap watch")?;
        }
        gate_groups(&summary.gates, &summary.methods).iter().try_for_each(|line| writeln!(f, "  gate {line}"))?;
        effects::lines(summary).iter().try_for_each(|line| writeln!(f, "  did  {line}"))?;
        expectations::judged(summary).iter().try_for_each(|it| writeln!(f, "  expect {}", expectation(it)))?;
        self.notes().iter().try_for_each(|note| writeln!(f, "  {note}"))?;
        if let Some(watched) = &self.facts.watched {
            watched::lines(watched).iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        self.doubts().try_for_each(|doubt| writeln!(f, "  {}", doubt.problem))?;
        self.write_reasons(f)?;
        if summary.exchanges > 0 {
            // Pure pass-through is not counted.
            write!(f, "  {}, {},", count(summary.sessions, "session"), count(summary.exchanges, "exchange"))?;
        } else {
            f.write_str(" ")?;
        }
        writeln!(f, " seed {}{}", self.facts.seed, at_scale(self.facts.scale))?;
        if let Some(journal) = &self.facts.journal {
            writeln!(f, "  journal: {journal}")?;
        }
        self.facts.reports.iter().try_for_each(|report| writeln!(f, "  report: {report}"))?;
        writeln!(f, "  again: {}", self.facts.again)
    }
}

/// `, time scale 0.01`; nothing at full scale.
#[must_use]
pub fn at_scale(scale: Scale) -> String {
    if scale == Scale::FULL { String::new() } else { format!(", time scale {scale}") }
}

fn write_rules(f: &mut fmt::Formatter<'_>, rules: &[RuleTally]) -> fmt::Result {
    if rules.is_empty() {
        return writeln!(f, "  no rules: everything passed through");
    }
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0).max(4);
    writeln!(f, "  {:width$}  matched  fired  effective", "rule")?;
    rules.iter().try_for_each(|RuleTally { name, matched, fired, effective, optional }| {
        let may = if *optional { "  optional" } else { "" };
        writeln!(f, "  {name:width$}  {matched:>7}  {fired:>5}  {effective:>9}{may}")
    })
}

// === Reason ===

/// In order of weight: the command's own, ours, then by number (a stable sort keeps the written order of the rules).
fn reasons(facts: &Facts) -> Vec<Reason> {
    let mut found: Vec<Reason> = crossed::reason(facts).into_iter().collect();
    found.extend(facts.summary.rules.iter().filter_map(|rule| ineffective(rule, facts)));
    found.extend(gates_that_failed(&facts.summary));
    found.extend(expectations::reasons(&facts.summary));
    found.extend(facts.watched.iter().flat_map(watched::reasons));
    found.sort_by_key(|reason| reason.code);
    let code = if facts.command.is_some() { 125 } else { 1 };
    let ours = facts.ours.iter().map(|why| Reason::mishap(code, why.clone()));
    facts.command.and_then(own_failure).into_iter().chain(ours).chain(found).collect()
}

fn own_failure(end: CommandEnd) -> Option<Reason> {
    match end {
        CommandEnd::Exited(0) | CommandEnd::Unknown => None,
        CommandEnd::Exited(code) => Some(Reason::command(code, format!("the command ended with status {code}"))),
        CommandEnd::Signalled(signal) => {
            let why = format!("the command was ended by signal {signal}");
            Some(Reason::command(signal.saturating_add(128), why))
        }
        CommandEnd::TimedOut { limit, killed } => {
            let how = if killed { ", and did not end on SIGTERM" } else { "" };
            Some(Reason::command(124, format!("the command ran for longer than {}{how}", span(limit))))
        }
    }
}

fn ineffective(rule: &RuleTally, facts: &Facts) -> Option<Reason> {
    if rule.optional || rule.effective > 0 {
        return None;
    }
    let gates = &facts.summary.gates;
    if let Some(why) = era::why(&rule.name, &facts.summary, &facts.eras).filter(|_| rule.matched == 0) {
        return Some(Reason::of(Kind::Rule, &rule.name, why));
    }
    let why = match (rule.matched, rule.fired) {
        (0, _) => match crossed::nothing(facts) {
            Some(why) => format!("never fired: {why}"),
            None => format!("never fired: nothing that crossed matched it; {}", look(facts.recorded.as_deref())),
        },
        (matched, 0) => {
            let lacked = facts.summary.missed.iter().find(|missed| missed.rule == rule.name).map(missed::lacked);
            let lacked = lacked.map(|lacked| format!("; {lacked}")).unwrap_or_default();
            format!("never fired: {} matched it{lacked}", count(matched, "point"))
        }
        (_, fired) => {
            let own: Vec<_> = gates.iter().filter(|gate| gate.rule == rule.name).collect();
            let lacked = || missed::never_came(&rule.name, &facts.summary);
            let nothing = || format!("changed nothing, although it fired {}{}", count(fired, "time"), lacked());
            fruitless(&own).unwrap_or_else(nothing)
        }
    };
    Some(Reason::of(Kind::Rule, &rule.name, format!("rule \"{}\" {why}", rule.name)))
}

/// Where to see what crossed.
fn look(recorded: Option<&str>) -> String {
    match recorded {
        Some(file) => format!("see what crossed with mishap report {file}"),
        None => "record the run with --journal FILE and see what crossed with mishap report FILE".to_owned(),
    }
}

/// Why a rule that fired had no effect, if that lies in its gates.
fn fruitless(gates: &[&GateEntry]) -> Option<String> {
    let with = |opened: Opened| gates.iter().filter(|gate| gate.opened == opened).copied().collect::<Vec<_>>();
    let (left, vacuous, ended) = (with(Opened::Left), with(Opened::Vacuous), with(Opened::RunEnded));
    if !left.is_empty() {
        return Some(format!(
            "delivered nothing: its hold was never opened, it waited {}, then the client left",
            held(&left)
        ));
    }
    let lost = with(Opened::Lost);
    if !lost.is_empty() {
        return Some(format!("held {} for something that could no longer come", held(&lost)));
    }
    if !vacuous.is_empty() {
        return Some(format!("held {} for something that was never under way", held(&vacuous)));
    }
    let still = |held| format!("was still holding after {held}, when the run ended");
    if ended.is_empty() { None } else { Some(still(held(&ended))) }
}

/// A limit is a failure of any rule (rule R21). A vacuous gate is one of a rule that must fire; where the whole rule was
/// without effect, that has been said.
fn gates_that_failed(summary: &Summary) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for gate in &summary.gates {
        let counts = |rule: &RuleTally| rule.name == gate.rule && !rule.optional && rule.effective > 0;
        let reason = match gate.opened {
            Opened::Limit => {
                let longest = span(limit(summary, &gate.rule));
                let reached =
                    format!("its hold reached the limit ({longest}) while what it waits for was still under way");
                Reason::of(Kind::Gate, &gate.rule, format!("rule \"{}\": {reached}", gate.rule))
            }
            Opened::Full => {
                let why = "its hold was let go, because no more of the answer could be kept (16 MiB, with what is known of \
                           it), and what it waits for comes behind that";
                Reason::of(Kind::Gate, &gate.rule, format!("rule \"{}\": {why}", gate.rule))
            }
            Opened::Vacuous if summary.rules.iter().any(counts) => {
                let why = format!("rule \"{}\" held for something that was never under way", gate.rule);
                Reason::of(Kind::Vacuous, &gate.rule, why)
            }
            Opened::Lost if summary.rules.iter().any(counts) => {
                let why = format!("rule \"{}\" held for something that could no longer come", gate.rule);
                Reason::of(Kind::Vacuous, &gate.rule, why)
            }
            Opened::Lost | Opened::Vacuous | Opened::By(_) | Opened::Already(_) | Opened::Left | Opened::RunEnded => {
                continue;
            }
        };
        if !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}

/// How long the longest hold of a rule was that reached its limit.
fn limit(summary: &Summary, rule: &str) -> u64 {
    let at_limit = |gate: &&GateEntry| gate.rule == rule && gate.opened == Opened::Limit;
    summary.gates.iter().filter(at_limit).map(|gate| gate.held).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
