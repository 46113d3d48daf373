//! What a rule lacked that selected points and never fired, in words: its switches, its numbers, its chance; or that fired, and
//! waited for what never came.
//!
//! The one rule: what is said was counted; a guess is worse than nothing.

use crate::engine::language::words::show_duration;
use crate::engine::missed::Missed;
use crate::engine::record::Summary;
use crate::engine::trigger::{Scope, Trigger};
use crate::report::words::ordinal;

/// Why it fired at none of its points.
pub(super) fn lacked(missed: &Missed) -> String {
    match (missed.early, missed.late) {
        (early, 0) if missed.most == 0 => {
            let they = if early == 1 { "it" } else { "they" };
            format!("it was never switched on: its `from` had not come true when {they} came")
        }
        (0, late) if missed.most == 0 => {
            let they = if late == 1 { "it" } else { "they" };
            format!("it was switched off: its `until` had come true when {they} came")
        }
        (early, late) if missed.most == 0 => {
            format!("it was switched off each time: {early} came before its `from`, {late} after its `until`")
        }
        (0, 0) => uncounted(missed, ""),
        _ => uncounted(missed, " while it was switched on"),
    }
}

/// `: its silence of 60s never came`; nothing of a rule that acted on what it waits for, or waits for nothing.
pub(super) fn never_came(rule: &str, summary: &Summary) -> String {
    let unmet = summary.unmet.iter().find(|unmet| unmet.rule == rule);
    unmet.map_or_else(String::new, |unmet| match unmet.silence {
        Some(time) => format!(": its silence of {} never came", show_duration(time)),
        None => ": its `when` never came true".to_owned(),
    })
}

/// What its numbers or its chance left out.
fn uncounted(missed: &Missed, when: &str) -> String {
    let Missed { trigger, most, lowest, .. } = missed;
    let Trigger { nth, skip, every, probability, .. } = trigger;
    let within = within(missed.scope);
    let there_were = || match (missed.scope, most) {
        (Scope::Run, 1) => format!("there was 1{when}"),
        (Scope::Run, most) => format!("there were {most}{when}"),
        (_, most) => format!("the most in one was {most}{when}"),
    };
    if let Some(lowest) = lowest {
        return format!("it was drawn against its `probability` of {probability}, and the lowest was {lowest:.3}");
    }
    if !nth.is_empty() {
        let wanted: Vec<String> = nth.iter().map(|number| ordinal(*number)).collect();
        return format!("it needs the {} {within}, and {}", wanted.join(" or the "), there_were());
    }
    if most <= skip {
        return format!("it leaves out the first {} {within}, and {}", skip, there_were());
    }
    let behind = match skip {
        0 => String::new(),
        1 => " behind the first".to_owned(),
        skip => format!(" behind the first {skip}"),
    };
    format!("it takes every {}{behind} {within}, and {}", ordinal(*every), there_were())
}

fn within(scope: Scope) -> &'static str {
    match scope {
        Scope::Exchange => "of an exchange",
        Scope::Owner => "of a client request",
        Scope::Connection => "on a connection",
        Scope::Session => "in a session",
        Scope::Run => "in the run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(trigger: Trigger, most: u64) -> Missed {
        Missed { trigger, most, ..Missed::default() }
    }

    #[test]
    fn a_rule_that_was_off_says_which_switch_it_was() {
        let off = |early, late| lacked(&Missed { early, late, ..Missed::default() });
        assert_eq!(off(1, 0), "it was never switched on: its `from` had not come true when it came");
        assert_eq!(off(2, 0), "it was never switched on: its `from` had not come true when they came");
        assert_eq!(off(0, 1), "it was switched off: its `until` had come true when it came");
        assert_eq!(off(2, 1), "it was switched off each time: 2 came before its `from`, 1 after its `until`");
    }

    #[test]
    fn a_rule_whose_numbers_did_not_come_up_says_which_and_how_many_there_were() {
        let nth = |nth: &[u64]| Trigger { nth: nth.to_vec(), ..Trigger::default() };
        assert_eq!(lacked(&counting(nth(&[3]), 2)), "it needs the 3rd in a session, and the most in one was 2");
        let run = Missed { scope: Scope::Run, ..counting(nth(&[3, 5]), 2) };
        assert_eq!(lacked(&run), "it needs the 3rd or the 5th in the run, and there were 2");
        let one = Missed { early: 4, scope: Scope::Run, ..counting(nth(&[2]), 1) };
        assert_eq!(lacked(&one), "it needs the 2nd in the run, and there was 1 while it was switched on");
        let skip = Trigger { skip: 5, ..Trigger::default() };
        assert_eq!(lacked(&counting(skip, 2)), "it leaves out the first 5 in a session, and the most in one was 2");
        let every = Trigger { every: 3, ..Trigger::default() };
        assert_eq!(lacked(&counting(every.clone(), 2)), "it takes every 3rd in a session, and the most in one was 2");
        let both = Missed { scope: Scope::Connection, ..counting(Trigger { skip: 1, ..every }, 3) };
        let says = "it takes every 3rd behind the first on a connection, and the most in one was 3";
        assert_eq!(lacked(&both), says);
    }

    #[test]
    fn a_rule_that_lost_every_draw_says_how_near_it_came() {
        let trigger = Trigger { probability: 0.1, ..Trigger::default() };
        let drawn = Missed { lowest: Some(0.42), ..counting(trigger, 3) };
        assert_eq!(lacked(&drawn), "it was drawn against its `probability` of 0.1, and the lowest was 0.420");
    }
}
