//! `mishap demo` through the real binary: what it shows, and its peers as programs of their own around `mishap run`.

#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod cli_support;
#[cfg(test)]
#[allow(dead_code, reason = "each test file uses its part of it")]
mod common;

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use crate::cli_support::refusing;
    use crate::common::mishap::{Ended, Mishap, binary};

    const SCENES: [(&str, &str); 3] =
        [("get-late", "get-opens-late"), ("lost-stream", "post-stream-lost"), ("crossed", "answers-cross")];

    /// A reader sees a scene at a glance, or not at all.
    fn fits_a_glance(scene: &str) {
        assert!(scene.lines().count() < 15, "{scene}");
        assert!(scene.lines().all(|line| line.chars().count() <= 80), "{scene}");
    }

    #[test]
    fn the_demo_shows_every_scene_and_all_come_out_as_promised() {
        let ended = Mishap::run(&["demo"]);
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.stdout);
        let shown: Vec<_> = ended.stdout.trim_end().split("\n\n").collect();
        assert_eq!(shown.len(), SCENES.len(), "{}", ended.stdout);
        for (text, (scene, profile)) in shown.iter().zip(SCENES) {
            fits_a_glance(text);
            assert!(text.starts_with(scene), "{text}");
            let results: Vec<_> = text.lines().skip(1).take(3).map(|line| line.split_whitespace().collect()).collect();
            let [direct, faulty, fixed] = &results[..] else { panic!("three takes: {text}") };
            let [direct, faulty, fixed]: [&Vec<&str>; 3] = [direct, faulty, fixed];
            assert_eq!(
                (&direct[..2], &faulty[..2], fixed[3]),
                (&["direct", "passes"][..], &[profile, "FAILS"][..], "passes")
            );
            assert!(text.contains("client  proxy  server") && text.contains("! "), "no timeline: {text}");
            assert!(text.contains(&format!("mishap run -u URL -p {profile} -- mishap demo client {{url}} {scene}")));
        }
    }

    #[test]
    fn one_scene_is_shown_alone() {
        let ended = Mishap::run(&["demo", "crossed"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.starts_with("crossed ") && !ended.stdout.contains("get-late"), "{}", ended.stdout);
    }

    #[test]
    fn a_scene_that_is_none_is_refused_with_the_names_of_those_that_are() {
        let ended = Mishap::run(&["demo", "late-get"]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains("get-late, lost-stream, crossed"), "{}", ended.stderr);
    }

    fn behind(url: &str, profile: &[&str], client: &[&str]) -> Ended {
        let run = [&["run", "-u", url], profile, &["--", binary(), "demo", "client", "{url}"], client].concat();
        Mishap::run(&run)
    }

    /// What the demo and the README tell people to type: the control, the bug, the fix.
    #[test]
    fn the_peers_as_programs_show_the_bugs_with_the_profile_only_and_fixed_never() {
        let mut faulty = Mishap::start(&["demo", "serve"]);
        let mut fixed = Mishap::start(&["demo", "serve", "--fixed"]);
        let (faulty_url, fixed_url) = (faulty.line(), fixed.line());
        for (scene, profile) in SCENES {
            let control = behind(&faulty_url, &["-p", "transparent"], &[scene]);
            assert_eq!(control.code, 0, "{scene}: {}", control.stderr);
            let bug = behind(&faulty_url, &["-p", profile], &[scene]);
            assert_eq!(bug.code, 1, "{scene}: {}", bug.stderr);
            assert!(bug.stderr.contains(&format!("mishap: exit 1: {scene}: ")), "{}", bug.stderr);
            assert!(bug.last().starts_with("mishap: exit 1: the command ended with status 1"), "{}", bug.last());
            let cure = behind(&fixed_url, &["-p", profile], &[scene, "--fixed"]);
            assert_eq!(cure.code, 0, "{scene}: {}", cure.stderr);
        }
        faulty.says("elicitation/create DROPPED: the stream it rides is not open");
        for server in [faulty, fixed] {
            server.signal(Signal::INT);
            assert_eq!(server.ended().code, 0);
        }
    }

    #[test]
    fn the_help_of_the_server_lists_its_tools() {
        let help = Mishap::run(&["demo", "serve", "-h"]).stdout;
        for tool in ["  echo {text} ", "  ask {tag, kind, related, wait} ", "  notify {count, wait} "] {
            assert!(help.contains(tool), "{tool}: {help}");
        }
        assert!(help.contains("  mishap demo serve -l 3000"), "{help}");
    }

    #[test]
    fn what_cannot_begin_says_why() {
        let (_socket, closed) = refusing();
        let ended = Mishap::run(&["demo", "client", &format!("http://{closed}/mcp")]);
        assert_eq!(ended.code, 1);
        assert!(ended.last().contains(&format!("{closed} cannot be reached: ")), "{}", ended.stderr);
        let mut server = Mishap::start(&["demo", "serve"]);
        let url = server.line();
        let taken = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let ended = Mishap::run(&["demo", "serve", "-l", taken]);
        assert_eq!(ended.code, 1);
        assert!(ended.last().starts_with(&format!("mishap: exit 1: cannot listen on {taken}: ")), "{}", ended.stderr);
    }
}
