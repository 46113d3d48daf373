//! Windows: when they open, what falls into them, when they are over (rules R2, R34).

use super::{FAILED, HELD, VACUOUS, cutting, expecting, judged, play, tally, told};
use crate::engine::engine::Setup;
use crate::engine::expectation::FOLLOWED;
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, question};

const EACH_CALL: &str = "after = { at = \"request\", method = \"tools/call\" }\n";

fn answered(within: &str) -> Play {
    expecting(&format!(
        "{EACH_CALL}match = {{ message = \"answer\", same = \"call\" }}\ncount = 1\nwithin = \"{within}\""
    ))
}

#[test]
fn each_time_that_after_comes_true_a_window_opens() {
    let mut both = answered("5s");
    both.calls("a", 1).calls("b", 2).answers("b", 2).answers("a", 1);
    assert_eq!(judged(&mut both), (2, 0));
    let mut one = answered("5s");
    one.calls("a", 1).calls("b", 2).answers("b", 2);
    let tally = tally(&mut one);
    assert_eq!((tally.checked, tally.failed), (2, 1));
    assert_eq!(tally.failures[0].after.as_deref(), Some("s1/post:1/request#1"), "it is a's that is missing");
    let mut twice = answered("5s");
    twice.calls("a", 1).streams("a").data("a", &answer(1)).data("a", &answer(1));
    assert_eq!(judged(&mut twice), FAILED, "exactly one");
}

#[test]
fn a_window_ends_with_its_time_and_its_last_moment_counts() {
    for (ms, expected) in [(5_000, HELD), (5_001, FAILED)] {
        let mut play = answered("5s");
        play.calls("a", 1).waits(ms).answers("a", 1);
        assert_eq!(judged(&mut play), expected, "{ms} ms");
    }
}

#[test]
fn what_is_not_met_is_told_as_soon_as_something_happens_after_it_is_certain() {
    let mut play = answered("5s");
    play.calls("a", 1).waits(9_000);
    assert!(told(&play).is_empty(), "nobody waits for it");
    play.gets("get");
    let failed = told(&play)[0];
    assert_eq!((failed.at, failed.since, failed.seen, &*failed.name), (9_000_000, 0, 0, "own/it"));
    let mut none = expecting("match = { at = \"request\", method = \"tools/call\" }\ncount = 0");
    none.waits(10).calls("a", 1);
    assert_eq!((told(&none)[0].at, &*told(&none)[0].saw[0].key), (10_000, "s1/post:1/request#1"));
}

#[test]
fn a_minimum_that_is_not_reached_fails_at_the_end_and_a_maximum_that_was_kept_holds() {
    let calls = |count: &str, calls: u64| {
        let mut play = expecting(&format!("match = {{ at = \"request\", method = \"tools/call\" }}\ncount = {count}"));
        play.gets("get");
        (1..=calls).for_each(|id| _ = play.calls(&format!("c{id}"), id));
        judged(&mut play)
    };
    for (count, held, failed) in
        [("\">=2\"", &[2, 3][..], &[0, 1][..]), ("\"<=2\"", &[0, 2], &[3]), ("2", &[2], &[1, 3]), ("0", &[0], &[1])]
    {
        held.iter().for_each(|number| assert_eq!(calls(count, *number), HELD, "{number} of {count}"));
        failed.iter().for_each(|number| assert_eq!(calls(count, *number), FAILED, "{number} of {count}"));
    }
}

#[test]
fn the_point_that_opened_a_window_does_not_count_in_it() {
    let mut once = expecting(
        "after = { stream = \"get\", at = \"request\" }\nmatch = { stream = \"get\", at = \"request\" }\ncount = 0",
    );
    once.gets("get");
    assert_eq!(judged(&mut once), HELD);
    once = expecting(
        "after = { stream = \"get\", at = \"request\" }\nmatch = { stream = \"get\", at = \"request\" }\ncount = 0",
    );
    once.gets("get").gets("again");
    assert_eq!(judged(&mut once), (2, 1));
}

/// It passes only after the rule has acted on it.
#[test]
fn nor_does_the_point_at_which_a_rule_fired_when_it_passes() {
    let late = |answers: u64| {
        let mut play = play(
            "[[rule]]\nname = \"late\"\nmatch = { message = \"answer\" }\ntimes = 1\ndelay = \"10ms\"\n\
             [[expect]]\nname = \"it\"\nafter = { fired = \"late\" }\nmatch = { message = \"answer\" }\ncount = 0\n",
        );
        for id in 1..=answers {
            play.calls(&format!("c{id}"), id).answers(&format!("c{id}"), id);
        }
        play.waits(10);
        judged(&mut play)
    };
    assert_eq!(late(1), HELD);
    assert_eq!(late(2), FAILED);
    assert_eq!(late(0), VACUOUS);
}

#[test]
fn what_never_came_true_is_vacuous_and_says_so() {
    let mut play = answered("5s");
    play.gets("get");
    let tally = tally(&mut play);
    assert_eq!((tally.checked, tally.failed), VACUOUS);
    assert_eq!(tally.after, "request (method tools/call) was seen");
    let mut nothing = expecting("match = { at = \"request\", method = \"tools/call\" }\ncount = \"<=2\"");
    assert_eq!(judged(&mut nothing), VACUOUS, "nothing crossed");
}

#[test]
fn points_are_seen_on_the_clients_leg_unless_the_other_is_named() {
    let refused = "[[rule]]\nname = \"no\"\nmatch = { at = \"request\", method = \"tools/call\" }\nrespond = 503\n";
    let calls = |leg: &str, rule: &str| {
        let keys = format!("match = {{ at = \"request\", method = \"tools/call\"{leg} }}\n");
        let mut play = play(&format!("{rule}[[expect]]\nname = \"it\"\n{keys}"));
        play.calls("a", 1);
        judged(&mut play)
    };
    assert_eq!(calls("", refused), HELD, "the client sent it");
    assert_eq!(calls(", leg = \"server\"", refused), FAILED, "the server never got it");
    assert_eq!(calls(", leg = \"server\"", ""), HELD);
}

#[test]
fn a_window_opens_so_much_later_as_plus_says() {
    for (ms, expected) in [(999, FAILED), (1_000, HELD), (3_000, HELD), (3_001, FAILED)] {
        let mut play = expecting(
            "after = { at = \"request\", method = \"tools/call\", plus = \"1s\" }\nmatch = { stream = \"get\", at = \"request\" }\n\
             within = \"2s\"",
        );
        play.calls("a", 1).waits(ms).gets("get");
        assert_eq!(judged(&mut play), expected, "{ms} ms");
    }
    for (ms, expected) in [(499, FAILED), (500, HELD)] {
        let mut play = expecting("after = \"500ms\"\nmatch = { stream = \"get\", at = \"request\" }");
        play.calls("a", 1).waits(ms).gets("get");
        assert_eq!(judged(&mut play), expected, "{ms} ms after the session's first");
    }
}

#[test]
fn only_the_kth_point_opens_a_window_where_nth_says_so() {
    let third = |calls: u64| {
        let mut play = expecting(
            "after = { at = \"request\", method = \"tools/call\", nth = 2 }\nmatch = { stream = \"get\", at = \"request\" }",
        );
        play.gets("before");
        (1..=calls).for_each(|id| _ = play.calls(&format!("c{id}"), id));
        judged(&mut play)
    };
    assert_eq!((third(1), third(2), third(3)), (VACUOUS, FAILED, FAILED));
}

#[test]
fn same_relates_to_the_point_that_opened_the_window() {
    let asked = |same: &str, of: &str| {
        let keys = format!("{EACH_CALL}match = {{ message = \"request\", same = \"{same}\" }}");
        let mut play = expecting(&keys);
        play.calls("a", 1).calls("b", 2).streams("a").streams("b").data(of, &question(9));
        judged(&mut play)
    };
    assert_eq!(asked("owner", "a"), (2, 1));
    assert_eq!(asked("session", "a"), (2, 0));
    assert_eq!(asked("!owner", "a"), (2, 1));
    assert_eq!(asked("exchange", "b"), (2, 1));
}

fn other_session(play: &mut Play) {
    play.sends("other", "GET", &[("mcp-session-id", "T"), ("accept", "text/event-stream")], "");
}

#[test]
fn one_verdict_is_for_each_session_or_one_for_all() {
    let gets = |keys: &str| {
        let mut play = expecting(&format!("match = {{ stream = \"get\", at = \"request\" }}\n{keys}"));
        play.gets("get");
        other_session(&mut play);
        judged(&mut play)
    };
    assert_eq!(gets("count = 1"), (2, 0));
    assert_eq!(gets("count = 1\nscope = \"run\""), FAILED);
    assert_eq!(gets("count = 2\nscope = \"run\""), HELD);
    assert_eq!(gets("count = 2"), (2, 2));
}

#[test]
fn another_session_counts_only_with_same_run() {
    let gets = |same: &str| {
        let mut play = expecting(&format!("{EACH_CALL}match = {{ stream = \"get\", at = \"request\"{same} }}"));
        play.calls("a", 1);
        other_session(&mut play);
        judged(&mut play)
    };
    assert_eq!((gets(""), gets(", same = \"run\"")), (FAILED, HELD));
}

#[test]
fn of_several_selectors_a_point_counts_once() {
    let mut play = expecting(
        "match = [{ at = \"request\", stream = \"get\" }, { at = \"request\" }]\nafter = { at = \"request\", method = \"tools/call\" }\ncount = 1",
    );
    play.calls("a", 1).gets("get");
    assert_eq!(judged(&mut play), HELD);
}

#[test]
fn firings_of_a_rule_are_counted_too() {
    let fired = |count: u64, answers: u64| {
        let mut play = cutting(&format!("match = {{ fired = \"cut\" }}\ncount = {count}"));
        play.gets("get");
        for id in 1..=answers {
            play.calls(&format!("c{id}"), id).streams(&format!("c{id}")).data(&format!("c{id}"), &answer(id));
        }
        judged(&mut play)
    };
    assert_eq!((fired(2, 2), fired(2, 1), fired(0, 1)), (HELD, FAILED, FAILED));
}

#[test]
fn a_most_is_for_any_such_time_where_per_says_so() {
    let gets = |times: &[u64]| {
        let mut play = expecting("match = { stream = \"get\", at = \"request\" }\ncount = \"<=2\"\nper = \"10s\"");
        for (number, time) in times.iter().enumerate() {
            play.waits(*time).gets(&format!("g{number}"));
        }
        judged(&mut play)
    };
    assert_eq!(gets(&[0, 5_000, 5_001, 5_000]), HELD, "never three in 10 s");
    assert_eq!(gets(&[0, 5_000, 5_000]), FAILED);
    let mut many = expecting("match = { stream = \"get\", at = \"request\" }\ncount = \"<=2\"");
    (0..3).for_each(|number| _ = many.waits(60_000).gets(&format!("g{number}")));
    assert_eq!(judged(&mut many), FAILED, "without it three are three");
}

#[test]
fn the_end_of_the_command_is_awaited_from_the_rules_firing() {
    let exits = |keys: &str, ms: u64| {
        let mut play = cutting(&format!("after = {{ fired = \"cut\" }}\nmatch = \"exit\"\nwithin = \"5s\"{keys}"));
        play.calls("a", 1).streams("a").data("a", &answer(1)).waits(ms).exits();
        judged(&mut play)
    };
    assert_eq!((exits("", 5_000), exits("", 5_001)), (HELD, FAILED));
    assert_eq!((exits("\ncount = 0", 5_000), exits("\ncount = 0", 5_001)), (FAILED, HELD));
    let mut alone = cutting("after = { fired = \"cut\" }\nmatch = \"exit\"\nwithin = \"5s\"");
    alone.calls("a", 1).streams("a").data("a", &answer(1));
    let tally = tally(&mut alone);
    assert_eq!((tally.checked, tally.void.as_deref()), (0, Some("no command ran behind the proxy")));
}

#[test]
fn of_too_many_open_windows_those_that_are_met_go_and_it_is_said_how_many_were_not_followed() {
    let open = |count: &str, extra: u64| {
        let mut play =
            expecting(&format!("{EACH_CALL}match = {{ stream = \"get\", at = \"request\" }}\ncount = {count}"));
        (1..=FOLLOWED as u64 + extra).for_each(|id| _ = play.calls("c", id));
        let tally = tally(&mut play);
        (tally.checked, tally.failed, tally.unfollowed)
    };
    let followed = FOLLOWED as u64;
    assert_eq!(open("1", 0), (followed, followed, 0));
    assert_eq!(open("1", 3), (followed, followed, 3), "none of them is met: the first are kept");
    assert_eq!(open("\"<=1\"", 3), (followed, 0, 3));
}

/// What a condition of a rule asks for, a body is read for; so it is for an expectation.
#[test]
fn without_a_rule_and_a_journal_the_engine_still_looks() {
    let text = "version = 1\n[[expect]]\nname = \"it\"\nmatch = { message = \"answer\", method = \"tools/call\" }\n";
    let (_, parts) =
        super::read_profile(&super::Use::plain("own.toml"), "own", text, super::Scale::FULL).expect("right");
    let mut play = Play::with(Setup { expectations: parts.expectations, ..Setup::default() });
    assert!(!play.engine.is_transparent());
    play.calls("a", 1).answers("a", 1);
    assert_eq!(judged(&mut play), HELD);
    assert!(Play::with(Setup::default()).engine.is_transparent());
}
