//! A journal is enough to decide the run again: from its first line and what arrived, an engine makes the same decisions,
//! to the draw, the gate and the order of departures.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(test)]
mod told;

#[cfg(test)]
mod tests {
    use mishap::engine::record::{Entry, Opened, PointEntry, PointFate};
    use mishap::engine::rule::Rule;
    use mishap::journal::{Header, Line, again};
    use mishap::profile::{Use, load};

    use crate::common::journal::fired;
    use crate::common::messages::{answer, call, event, progress, question, request};
    use crate::common::mishap::Mishap;
    use crate::common::scene::Scene;
    use crate::common::scratch::Scratch;
    use crate::told::told;

    const SEED: u64 = 7;
    const CALLS: u32 = 4;
    const SESSIONS: u32 = 3;

    /// Every fault, and a draw wherever one can be.
    const PROFILE: &str = r#"
version = 1
summary = "a little of everything"

[vars]
longest = { default = "1s", doc = "of the delays" }

[[rule]]
name  = "late"
match = { at = "request", method = "tools/call" }
delay = { min = "1ms", max = "${longest}" }

[[rule]]
name  = "hold"
match = { stream = "get", at = "request" }
times = 1
hold  = { until = { at = "end", method = "tools/call", plus = { min = "1ms", max = "9ms" } }, limit = "60s" }

[[rule]]
name  = "short"
match = { at = "request", method = "ping" }
hold  = { until = { at = "end", method = "resources/list" }, limit = "15ms" }

[[rule]]
name        = "away"
match       = { stream = "post", message = "request" }
probability = 0.6
move        = "get"

[[rule]]
name    = "shuffle"
match   = { method = "tools/call", message = "notification" }
reorder = { window = 4, order = "shuffle" }

[[rule]]
name        = "torn"
match       = { method = "tools/call", name = "!tool-1", message = "answer" }
probability = 0.5
cut         = { ending = "reset", where = "inside", byte = 9 }

[[rule]]
name  = "deaf"
match = { at = "leave", method = "prompts/list" }
delay = { min = "1ms", max = "5ms" }
"#;

    /// The journal of a run in which all of them act.
    fn recorded(scratch: &Scratch) -> Vec<Line> {
        let profile = format!("{},longest=30ms", scratch.file("story.toml", PROFILE));
        let scene = Scene::run(None, &["-p", &profile, "--seed", &SEED.to_string()]);
        for session in 1..=SESSIONS {
            if session > 1 {
                scene.in_session(session - 1);
                scene.open_session();
            }
            one_session(&scene, session);
        }
        scene.finish().journal.lines().to_vec()
    }

    fn one_session(scene: &Scene, session: u32) {
        let get = scene.get();
        scene.journalled("the GET of the session to be held", |line| {
            fired("story/hold")(line).filter(|it| it.key.starts_with(&format!("s{session}/")))
        });
        let called: Vec<_> = (1..=CALLS).map(|id| (id, scene.post(&call(id)))).collect();
        for (id, client) in called {
            let (mut client, mut server) = scene.streaming(client, &call(id));
            server.send_chunk((1..=4).map(progress).collect::<String>() + &question(50 + id));
            server.send_chunk(event(&answer(id)));
            // A cut may have closed it.
            drop(server);
            client.rest();
        }
        let (_get, _get_server) = scene.streaming(get, "");
        scene.ping(90);
        let (client, mut server) =
            scene.streaming(scene.post(&request(91, "prompts/list", "{}")), &request(91, "prompts/list", "{}"));
        client.leave();
        server.closed();
    }

    /// The rules of a run, from the profiles it names, which must not have changed.
    fn rules(lines: &[Line]) -> Vec<Rule> {
        let Some(Line::Run(Header { profiles, .. })) = lines.first() else { panic!("a journal begins with its run") };
        let given = profiles.iter().map(|profile| {
            let vars = profile.vars.iter().map(|(name, value)| format!(",{name}={value}"));
            let text = profile.path.as_ref().unwrap_or(&profile.name).clone() + &vars.collect::<String>();
            Use::parse(&text).expect("the journal's profile can be named")
        });
        let loaded = load(&given.collect::<Vec<_>>()).expect("the journal's profiles load");
        assert!(loaded.sources.iter().map(|it| &it.hash).eq(profiles.iter().map(|it| &it.hash)));
        loaded.rules
    }

    fn entries(lines: &[Line]) -> Vec<Entry> {
        let entry = |line: &Line| if let Line::Entry(entry) = line { Some((**entry).clone()) } else { None };
        lines.iter().filter_map(entry).collect()
    }

    #[test]
    fn an_engine_decides_again_what_its_journal_says_and_with_another_seed_it_does_not() {
        let scratch = Scratch::new();
        let lines = recorded(&scratch);
        let recorded = entries(&lines);
        everything_happens_in(&recorded);
        let (then, now) = (told(&recorded), told(&again(&lines, rules(&lines), SEED)));
        for (then, now) in then.iter().zip(&now) {
            assert_eq!(now, then);
        }
        assert_eq!(now.len(), then.len());
        assert_ne!(told(&again(&lines, rules(&lines), SEED + 1)), then, "another seed makes no difference");
    }

    #[test]
    fn check_says_which_points_of_a_recorded_run_each_rule_would_have_hit() {
        let (scratch, scene) = (Scratch::new(), Scene::without());
        for id in 1..=3 {
            let (client, server) = scene.exchange(&call(id));
            scene.answered(client, server, id);
        }
        let journal = scratch.file("run.ndjson", scene.finish().journal.text());
        let rule = |name: &str, selector: &str| {
            format!("[[rule]]\nname = \"{name}\"\nmatch = {{ {selector} }}\nskip = 1\ncut = \"reset\"\n")
        };
        let profile = format!(
            "version = 1\n{}{}{}",
            rule("calls", "at = \"request\", method = \"tools/call\""),
            rule("gets", "at = \"request\", stream = \"get\""),
            rule("looks", "at = \"request\", params = { '/x' = \"1\" }"),
        );
        let profile = scratch.file("rules.toml", &profile);
        let ended = Mishap::run(&["check", &profile, "--against", &journal]);
        let said: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("    ")).collect();
        assert_eq!(
            said,
            [
                "    in that run: selects 3, fires at 2: s1/post:2/request#1, s1/post:3/request#1",
                "    in that run: nothing it selects",
                "    in that run: nothing it selects",
                "    (a journal holds no params, results or error codes: what asks for them selects nothing)",
            ]
        );
    }

    /// What is compared would be little without it.
    #[track_caller]
    fn everything_happens_in(entries: &[Entry]) {
        let points = |fits: &dyn Fn(&PointEntry) -> bool| {
            entries.iter().filter(|entry| matches!(entry, Entry::Point(point) if fits(point))).count()
        };
        let draws = |rule: &str, purpose: &str| {
            entries.iter().any(|entry| {
                matches!(entry, Entry::Decision(made)
                    if made.rule == rule && made.draws.iter().any(|draw| draw.purpose == purpose))
            })
        };
        for (rule, purpose) in [("story/late", "delay"), ("story/hold", "plus"), ("story/torn", "probability")] {
            assert!(draws(rule, purpose), "{rule} drew no {purpose}");
        }
        let overtaken = |by: &PointEntry| {
            points(&|point| point.stream == by.stream && point.seq < by.seq && point.left_seq > by.left_seq)
        };
        assert!(points(&|point| point.rules == ["story/shuffle"] && overtaken(point) > 0) > 0, "nothing was shuffled");
        assert!(points(&|point| point.fate == PointFate::Moved) > 0, "nothing was moved");
        assert!(points(&|point| point.fate == PointFate::Cut && point.size.is_some()) > 0, "nothing was torn");
        let opened = |fits: &dyn Fn(&Opened) -> bool| {
            entries.iter().any(|entry| matches!(entry, Entry::Gate(gate) if fits(&gate.opened)))
        };
        assert!(opened(&|opened| matches!(opened, Opened::By(key) if key.contains("/end#"))), "no end opened a gate");
        assert!(opened(&|opened| matches!(opened, Opened::Limit | Opened::Vacuous)), "no gate came to its limit");
    }
}
