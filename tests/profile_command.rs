//! `mishap check` and `mishap profiles`: what they write and what they end with.

use std::fs;
use std::path::Path;

use mishap::command::{Exit, check, profiles};
use mishap::profile::builtin;

/// What a subcommand wrote and ended with.
struct Ran {
    out: String,
    err: String,
    exit: Exit,
}

fn ran(run: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> std::io::Result<Exit>) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run(&mut out, &mut err).expect("memory can be written");
    let text = |bytes| String::from_utf8(bytes).expect("it writes text");
    Ran { out: text(out), err: text(err), exit }
}

fn checked(profiles: &[&str]) -> Ran {
    let profiles: Vec<String> = profiles.iter().map(|it| (*it).to_owned()).collect();
    ran(|out, err| check::run(&profiles, out, err))
}

fn listed(name: Option<&str>) -> Ran {
    ran(|out, err| profiles::run(name, out, err))
}

fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("it can be written");
    path.to_string_lossy().into_owned()
}

// === check ===

#[test]
fn a_right_profile_is_told_back_in_words() {
    let ran = checked(&["get-opens-late,plus=600ms"]);
    assert_eq!(ran.exit, Exit::DONE);
    assert_eq!(ran.err, "");
    assert_eq!(
        ran.out,
        concat!(
            "get-opens-late,plus=600ms: ok\n",
            "  hold-get: at request (stream get), 1 at most in each session: hold until end (method tools/call, ",
            "in flight 0) passed 600ms ago, or leave (method tools/call, in flight 0) was seen by the client's leg 600ms ago, ",
            "or request (method notifications/cancelled, owner's method tools/call, in flight 0) passed 600ms ago, ",
            "at most 90s (then exit 5)\n"
        )
    );
}

#[test]
fn every_built_in_profile_is_right_in_all_its_choices() {
    let names: Vec<&str> = builtin::all().iter().map(|profile| profile.name).collect();
    let ran = checked(&names);
    assert_eq!(ran.err, "");
    assert_eq!(ran.exit, Exit::DONE);
}

#[test]
fn a_rule_that_the_default_leaves_out_is_checked_too() {
    let text = r#"version = 1
[vars]
how = { default = "late", doc = "which", choices = ["late", "never"] }
[[rule]]
name = "late"
if = { how = "late" }
match = { at = "head" }
delay = "1s"
[[rule]]
name = "never"
if = { how = "never" }
match = { at = "haed" }
hold = "never"
"#;
    let path = file("left-out.toml", text);
    let ran = checked(&[&path]);
    assert_eq!(ran.err, format!("{path}:12: rule \"never\": `at` cannot be \"haed\"; did you mean \"head\"?\n"));
    assert_eq!(ran.exit.code, 2);
}

#[test]
fn problems_go_to_stderr_and_the_others_are_still_checked() {
    let wrong =
        file("wrong.toml", "version = 1\n[[rule]]\nname = \"it\"\nmatch = { at = \"request\" }\ndealy = \"1s\"\n");
    let ran = checked(&[&wrong, "transparent", "no-such"]);
    assert_eq!(ran.out, "transparent: ok\n  no rules: everything passes\n");
    assert_eq!(
        ran.err,
        format!(
            "{wrong}:5: rule \"it\": unknown key \"dealy\" in the rule; did you mean \"delay\"?\n{}",
            "-p no-such: no profile is called \"no-such\"; `mishap profiles` lists them. \
             A file is named with a slash or with .toml: ./no-such.toml\n"
        )
    );
    assert_eq!(ran.exit, Exit::because(2, "2 of 3 profiles cannot be used"));
}

// === profiles ===

#[test]
fn the_list_names_every_profile_with_its_summary_and_variables() {
    let ran = listed(None);
    assert_eq!(ran.exit, Exit::DONE);
    for profile in builtin::all() {
        assert!(ran.out.contains(&format!("\n  {}\n", profile.name)), "{}", profile.name);
    }
    assert!(ran.out.starts_with(concat!(
        "The standalone GET\n",
        "  get-opens-late\n",
        "      Open the standalone GET only after the first calls have come and gone\n",
        "      call=tools/call calls=1 plus=0ms limit=90s\n",
    )));
}

#[test]
fn a_named_profile_is_shown_as_it_is() {
    assert_eq!(listed(Some("answers-cross")).out, builtin::named("answers-cross").expect("it is built in").text);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let ran = listed(Some("answer-cross"));
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("did you mean \"answers-cross\"?"), "{}", ran.err);
    assert_eq!(ran.exit.code, 2);
}
