//! Made-up runs and the exit status each must have.

use std::time::Duration;

use super::*;
use crate::engine::missed::{Missed, Unmet};
use crate::engine::trigger::Trigger;

fn rule(name: &str, [matched, fired, effective]: [u64; 3]) -> RuleTally {
    RuleTally { name: name.to_owned(), matched, fired, effective, optional: false }
}

fn gate(rule: &str, opened: Opened, held: u64) -> GateEntry {
    let (rule, key) = (rule.to_owned(), "s1/get:1/request#1".to_owned());
    GateEntry { seq: 1, at: 1, rule, key, opened, held, undelivered: 0, overtake: false }
}

fn run(rules: &[RuleTally], gates: &[GateEntry]) -> Facts {
    let summary =
        Summary { rules: rules.to_vec(), gates: gates.to_vec(), sessions: 1, exchanges: 4, ..Summary::default() };
    Facts { summary, seed: 42, again: "mishap run --seed 42".to_owned(), ..Facts::default() }
}

fn codes(facts: Facts) -> Vec<u8> {
    Verdict::of(facts).reasons().iter().map(|reason| reason.code).collect()
}

fn why(facts: Facts) -> String {
    let exit = Verdict::of(facts).exit();
    format!("{}: {}", exit.code, exit.why)
}

#[test]
fn a_run_whose_rules_were_all_effective_is_green() {
    assert_eq!(why(run(&[rule("p/a", [3, 1, 1])], &[])), "0: every rule was effective");
    assert_eq!(why(run(&[], &[])), "0: all done, no rules");
}

const NEVER: &str = "4: rule \"p/a\" never fired: nothing that crossed matched it; record the run with --journal FILE \
                     and see what crossed with mishap report FILE";

#[test]
fn a_hold_whose_client_left_says_so_and_not_that_nothing_changed() {
    let starved = why(run(&[rule("p/a", [1, 1, 0])], &[gate("p/a", Opened::Left, 2_900_000)]));
    assert!(starved.contains("its hold was never opened, it waited 2.9 s, then the client left"), "{starved}");
    assert!(!starved.contains("overtake") && !starved.contains("changed nothing"), "{starved}");
    let vacuous = why(run(&[rule("p/a", [1, 1, 0])], &[gate("p/a", Opened::Vacuous, 50_000)]));
    assert_eq!(vacuous, r#"4: rule "p/a" held 50 ms for something that was never under way"#);
}

#[test]
fn what_opened_a_gate_is_said_in_words() {
    let line = |gates: &[GateEntry]| {
        let screen = Verdict::of(run(&[rule("k/a", [1, 1, 1])], gates)).to_string();
        screen.lines().find_map(|line| line.strip_prefix("  gate k/a: ")).unwrap_or_default().to_owned()
    };
    let by = |what: &str| Opened::By(what.to_owned());
    assert_eq!(line(&[gate("k/a", by("s1/post:1/end#1"), 20_000)]), "1 opened by end of POST id 1, after 20 ms");
    assert_eq!(line(&[gate("k/a", by("k/kill-get fired"), 20_000)]), "1 opened when kill-get fired, after 20 ms");
    let already = Opened::Already("s1/get:1/head#1".to_owned());
    assert_eq!(line(&[gate("k/a", already, 0)]), "1 not held: head of GET had already passed");
    let windows = [gate("k/a", by("the window is full"), 1), gate("k/a", by("the window was closed"), 1)];
    assert_eq!(line(&windows), "2 windows: 1 full, 1 closed before it was");
}

/// What cannot be helped by `overtake` is not said to be.
#[test]
fn a_gate_that_never_opened_says_how_many_blocks_it_kept_and_whether_overtake_helps() {
    let kept = |undelivered, overtake, opened| GateEntry { undelivered, overtake, ..gate("p/a", opened, 2_000_000) };
    let line = |gate: GateEntry| {
        let screen = Verdict::of(run(&[rule("p/a", [1, 1, 1])], &[gate])).to_string();
        screen.lines().find_map(|line| line.strip_prefix("  gate p/a: ")).unwrap_or_default().to_owned()
    };
    let left = "1 never opened: waited 2.0 s, then the client left";
    let ended = "1 still closed after 2.0 s, when the run ended";
    assert_eq!(line(kept(0, false, Opened::Left)), left);
    assert_eq!(line(kept(1, false, Opened::Left)), format!("{left}; 1 block never delivered"));
    let hint = "; 3 blocks never delivered; what it waits for stood behind it: set overtake = true";
    assert_eq!(line(kept(3, true, Opened::Left)), format!("{left}{hint}"));
    assert_eq!(line(kept(3, true, Opened::RunEnded)), format!("{ended}{hint}"));
}

#[test]
fn a_rule_without_effect_fails_the_run_and_says_how_far_it_came() {
    let far = |counts| why(run(&[rule("p/a", counts)], &[]));
    assert_eq!(far([0, 0, 0]), NEVER);
    assert_eq!(far([3, 2, 0]), r#"4: rule "p/a" changed nothing, although it fired 2 times"#);
}

#[test]
fn a_rule_that_never_fired_says_what_it_lacked() {
    let mut facts = run(&[rule("p/a", [2, 0, 0])], &[]);
    let trigger = Trigger { nth: vec![3], ..Trigger::default() };
    facts.summary.missed = vec![Missed { rule: "p/a".to_owned(), most: 2, trigger, ..Missed::default() }];
    let needs = "never fired: 2 points matched it; it needs the 3rd in a session, and the most in one was 2";
    assert_eq!(why(facts), format!("4: rule \"p/a\" {needs}"));
}

#[test]
fn a_rule_that_nothing_matched_is_looked_for_in_the_journal_that_there_is() {
    let recorded = Some("run.ndjson".to_owned());
    let why = why(Facts { recorded, ..run(&[rule("p/a", [0, 0, 0])], &[]) });
    let there = "nothing that crossed matched it; see what crossed with mishap report run.ndjson";
    assert_eq!(why, format!("4: rule \"p/a\" never fired: {there}"));
}

#[test]
fn a_rule_that_fired_and_did_nothing_says_what_never_came() {
    let with = |unmet: Vec<Unmet>| {
        let mut facts = run(&[rule("p/a", [2, 2, 0])], &[]);
        facts.summary.unmet = unmet;
        why(facts)
    };
    let unmet = |rule: &str, silence| vec![Unmet { rule: rule.to_owned(), silence }];
    let nothing = "4: rule \"p/a\" changed nothing, although it fired 2 times";
    let silence = Some(Duration::from_millis(1_500));
    assert_eq!(with(unmet("p/a", silence)), format!("{nothing}: its silence of 1500ms never came"));
    assert_eq!(with(unmet("p/a", None)), format!("{nothing}: its `when` never came true"));
    assert_eq!(with(unmet("p/b", silence)), nothing);
}

/// What nobody counted is not said to be nothing, and what met a rule was something.
#[test]
fn a_run_that_nothing_crossed_is_not_green_behind_a_command_and_says_what_to_look_at() {
    let with = |exchanges, command, rules: &[RuleTally]| {
        let mut facts = Facts { command, watched: Some(Watched::default()), ..run(rules, &[]) };
        facts.summary.exchanges = exchanges;
        facts
    };
    let done = Some(CommandEnd::Exited(0));
    let empty = "nothing crossed the proxy: does the command use {url} or MISHAP_URL?";
    let lone = Verdict::of(with(0, done, &[]));
    assert_eq!(why(with(0, done, &[])), format!("4: {empty}"));
    assert_eq!((lone.reasons()[0].kind, lone.reasons()[0].about.as_deref()), (Kind::Vacuous, None));
    assert!(lone.to_string().contains("\n  no rules, and nothing crossed the proxy\n"), "{lone}");
    assert_eq!(why(with(1, done, &[])), "0: all done, no rules");
    assert_eq!(why(Facts { watched: None, ..with(0, done, &[]) }), "0: all done, no rules");
    assert_eq!(why(with(0, done, &[rule("p/at-connect", [1, 1, 1])])), "0: every rule was effective");
    assert_eq!(why(with(0, Some(CommandEnd::Exited(9)), &[])), "9: the command ended with status 9 (and 1 more)");
    assert_eq!(why(with(0, Some(CommandEnd::Unknown), &[])), "0: all done, no rules");
    let ruled = with(0, done, &[rule("p/a", [0, 0, 0])]);
    assert_eq!(why(ruled.clone()), format!("4: {empty} (and 1 more)"));
    assert_eq!(Verdict::of(ruled).reasons()[1].why, format!("rule \"p/a\" never fired: {empty}"));
}

#[test]
fn in_the_foreground_nothing_may_cross_unless_a_rule_was_to_act() {
    let with = |rules: &[RuleTally]| {
        let mut facts = Facts { watched: Some(Watched::default()), ..run(rules, &[]) };
        facts.summary.exchanges = 0;
        why(facts)
    };
    assert_eq!(with(&[]), "0: all done, no rules");
    let never = "4: rule \"p/a\" never fired: nothing crossed the proxy: does the client use its URL?";
    assert_eq!(with(&[rule("p/a", [0, 0, 0])]), never);
}

#[test]
fn an_optional_rule_may_stay_without_effect_but_not_hang() {
    let optional = RuleTally { optional: true, ..rule("p/a", [0, 0, 0]) };
    assert_eq!(codes(run(std::slice::from_ref(&optional), &[])), [0_u8; 0]);
    assert_eq!(codes(run(std::slice::from_ref(&optional), &[gate("p/a", Opened::Vacuous, 1)])), [0_u8; 0]);
    assert_eq!(codes(run(&[optional], &[gate("p/a", Opened::Limit, 1)])), [5]);
}

#[test]
fn a_gate_fails_the_run_only_at_its_limit() {
    let with = |opened| codes(run(&[rule("p/a", [1, 1, 1])], &[gate("p/a", opened, 1)]));
    assert_eq!(with(Opened::Limit), [5]);
    assert_eq!(with(Opened::Vacuous), [4]);
    for harmless in [Opened::By("x".into()), Opened::Already("x".into()), Opened::Left, Opened::RunEnded] {
        assert_eq!(with(harmless), [0_u8; 0]);
    }
}

#[test]
fn a_vacuous_gate_of_a_rule_without_any_effect_is_one_reason_not_two() {
    assert_eq!(codes(run(&[rule("p/a", [1, 1, 0])], &[gate("p/a", Opened::Vacuous, 1)])), [4]);
}

#[test]
fn of_several_reasons_the_command_comes_first_then_ours_then_the_lowest() {
    let rules = [rule("p/a", [0, 0, 0])];
    let gates = [gate("p/b", Opened::Limit, 1)];
    assert_eq!(codes(run(&rules, &gates)), [4, 5]);
    let ours = Facts { ours: vec!["the server died".to_owned()], ..run(&rules, &gates) };
    assert_eq!(codes(ours.clone()), [1, 4, 5]);
    assert_eq!(codes(Facts { command: Some(CommandEnd::Exited(0)), ..ours.clone() }), [125, 4, 5]);
    assert_eq!(codes(Facts { command: Some(CommandEnd::Exited(9)), ..ours.clone() }), [9, 125, 4, 5]);
    assert_eq!(codes(Facts { command: Some(CommandEnd::Signalled(15)), ..ours }), [143, 125, 4, 5]);
}

#[test]
fn every_reason_is_on_the_screen_and_the_last_line_says_that_there_are_more_and_not_where() {
    let facts = Facts { command: Some(CommandEnd::Exited(3)), ..run(&[rule("p/a", [0, 0, 0])], &[]) };
    let verdict = Verdict::of(facts);
    assert_eq!(verdict.exit().why, "the command ended with status 3 (and 1 more)");
    let screen = verdict.to_string();
    assert!(
        screen.contains("\n  exit 3: the command ended with status 3\n  exit 4: rule \"p/a\" never fired"),
        "{screen}"
    );
}

#[test]
fn the_only_reason_of_one_of_several_runs_is_on_its_screen_and_whether_it_is_known() {
    let entry = Known { run: "a".to_owned(), kind: Some(Kind::Command), exit: None, why: "issue 12".to_owned() };
    let reasons = |among: Option<Vec<Known>>| {
        let facts = Facts { command: Some(CommandEnd::Exited(3)), among, ..run(&[rule("p/a", [1, 1, 1])], &[]) };
        let screen = Verdict::of(facts).to_string();
        screen.lines().filter(|line| line.starts_with("  exit ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(reasons(None), [""; 0]);
    assert_eq!(reasons(Some(Vec::new())), ["  exit 3: the command ended with status 3"]);
    assert_eq!(reasons(Some(vec![entry])), ["  exit 3: known (issue 12): the command ended with status 3"]);
}

#[test]
fn what_is_chosen_away_is_listed_and_does_not_fail_the_run() {
    let with = |fail_on: &str, command| Facts {
        command: Some(CommandEnd::Exited(command)),
        fail_on: fail_on.parse().expect("kinds"),
        ..run(&[rule("p/a", [3, 0, 0])], &[gate("p/b", Opened::Limit, 1)])
    };
    let last = |facts: Facts| why(facts).split(' ').take(4).collect::<Vec<_>>().join(" ");
    assert_eq!(last(with("rule,gate", 0)), "4: rule \"p/a\" never");
    assert_eq!(last(with("gate", 0)), "5: rule \"p/b\": its");
    assert_eq!(why(with("none", 0)), "0: nothing that counts went wrong (2 reasons that do not)");
    assert_eq!(why(with("none", 9)), "9: the command ended with status 9");
    let verdict = Verdict::of(with("gate", 0));
    let screen = verdict.to_string();
    assert!(screen.contains("\n  not counted (rule): rule \"p/a\" never fired: 3 points matched it"), "{screen}");
    assert!(screen.contains("\n  exit 5: rule \"p/b\": its hold"), "{screen}");
    let lines = verdict.line().reasons;
    let told: Vec<_> = lines.iter().map(|line| (&*line.kind, line.exit, line.about.as_deref(), line.counts)).collect();
    assert_eq!(told, [("rule", 4, Some("p/a"), false), ("gate", 5, Some("p/b"), true)]);
}

// Twenty sessions meet the same gate: a line for each would be no screen.
#[test]
fn gates_of_many_sessions_are_one_line_for_each_rule_and_kind_of_opening() {
    let mut gates: Vec<_> =
        (1..=20).map(|n| gate("late/hold", Opened::By(format!("s{n}/post:2/end#1")), n * 1_000)).collect();
    gates.push(gate("late/hold", Opened::Limit, 10_000_000));
    let mut facts = run(&[rule("late/hold", [21, 21, 20]), rule("x", [1, 1, 1])], &gates);
    facts.summary.rules[1].optional = true;
    facts.journal = Some("run.ndjson, 90 lines".to_owned());
    let expected = "\
mishap: verdict
  rule       matched  fired  effective
  late/hold       21     21         20
  x                1      1          1  optional
  gate late/hold: 20 opened by end of POST id 2 and 19 more, after 1.0 ms to 20 ms
  gate late/hold: 1 let go at the limit, after 10.0 s, with the condition under way
  1 session, 4 exchanges, seed 42
  journal: run.ndjson, 90 lines
  again: mishap run --seed 42
";
    assert_eq!(Verdict::of(facts).to_string(), expected);
}
