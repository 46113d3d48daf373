//! Profiles as a user meets them: the built-in ones, variables, several at once, and refusals that stand in no file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mishap::engine::condition::{Condition, Time};
use mishap::engine::event::Ending;
use mishap::engine::fault::Fault;
use mishap::engine::rule::Rule;
use mishap::profile::{self, Loaded, Problem, Use, builtin};

fn load(uses: &[&str]) -> Result<Loaded, Vec<Problem>> {
    let uses: Vec<Use> = uses.iter().map(|text| Use::parse(text).expect("it is well formed")).collect();
    profile::load(&uses)
}

fn rules(uses: &[&str]) -> Vec<Rule> {
    load(uses).unwrap_or_else(|problems| panic!("{}", shown(&problems).join("\n"))).rules
}

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn refused(uses: &[&str]) -> Vec<String> {
    shown(&load(uses).expect_err("it is wrong"))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    fs::write(&path, text).expect("it can be written");
    path.to_string_lossy().into_owned()
}

// === Built in ===

#[test]
fn every_built_in_profile_loads_with_its_defaults() {
    for profile in builtin::all() {
        rules(&[profile.name]);
    }
}

#[test]
fn every_file_in_profiles_is_built_in() {
    let mut files: Vec<String> = fs::read_dir(root().join("profiles"))
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path().file_stem().expect("a file").to_string_lossy().into_owned())
        .collect();
    let mut names: Vec<&str> = builtin::all().iter().map(|profile| profile.name).collect();
    files.sort();
    names.sort_unstable();
    assert_eq!(files, names);
}

#[test]
fn every_profile_that_other_tests_use_loads() {
    let folder = root().join("tests/sdk/profiles");
    for entry in fs::read_dir(folder).expect("the folder is there") {
        rules(&[&entry.expect("readable").path().to_string_lossy()]);
    }
}

#[test]
fn every_built_in_profile_opens_with_what_it_provokes_against_whom_and_the_symptom() {
    for profile in builtin::all() {
        let opening: Vec<&str> = profile.text.lines().take(4).collect();
        let [provokes, against, symptom, version] = opening.as_slice() else { panic!("{} is short", profile.name) };
        assert!(provokes.starts_with("# Provokes: "), "{}", profile.name);
        assert!(against.starts_with("# Against:  "), "{}", profile.name);
        assert!(symptom.starts_with("# Symptom:  "), "{}", profile.name);
        assert!(version.starts_with("version"), "{}", profile.name);
    }
}

#[test]
fn every_built_in_profile_says_what_it_does_and_what_its_variables_are_for() {
    for profile in builtin::all() {
        let loaded = load(&[profile.name]).expect("it loads");
        let source = &loaded.sources[0];
        assert!(!source.summary.is_empty(), "{}", profile.name);
        assert!(source.vars.iter().all(|var| !var.doc.is_empty()), "{}", profile.name);
    }
}

#[test]
fn transparent_has_no_rule() {
    assert_eq!(rules(&["transparent"]), []);
}

// === Variables ===

fn hold_of(rules: &[Rule]) -> &mishap::engine::fault::hold::Hold {
    let [Rule { fault: Fault::Hold(hold), .. }] = rules else { panic!("one hold: {rules:?}") };
    hold
}

#[test]
fn a_value_given_to_a_variable_takes_the_place_of_its_default() {
    let plus = |rules: &[Rule]| match &hold_of(rules).until {
        Condition::Any(any) => match &any[0] {
            Condition::Seen(seen) => seen.plus,
            other => panic!("a point: {other:?}"),
        },
        other => panic!("several: {other:?}"),
    };
    let millis = |ms| Some(Time::Fixed(Duration::from_millis(ms)));
    assert_eq!(plus(&rules(&["get-opens-late"])), millis(0));
    assert_eq!(plus(&rules(&["get-opens-late,plus=600ms"])), millis(600));
    assert_eq!(hold_of(&rules(&["get-opens-late,limit=1.5s"])).limit, Some(Duration::from_millis(1500)));
}

#[test]
fn a_variable_keeps_the_type_of_its_value() {
    let pointers = |uses: &[&str]| rules(uses)[0].selector.params.clone();
    assert_eq!(pointers(&["answers-cross"]), []);
    let given = pointers(&["answers-cross,first={ '/arguments/tag' = 'A' }"]);
    assert_eq!(given[0].0, "/arguments/tag");
    assert_eq!(given[0].1.any, ["A"]);
    assert_eq!(rules(&["post-stream-lost,call=[1, 3]"])[0].selector.exchange, [1, 3]);
}

#[test]
fn every_choice_of_every_variable_loads() {
    for server in ["close", "drain", "keep"] {
        for ending in ["eof", "fin", "reset"] {
            for place in ["before", "inside", "after", "head", "id"] {
                let used = format!("post-stream-lost,ending={ending},where={place},server={server}");
                assert_eq!(rules(&[&used]).len(), 1, "{used}");
            }
        }
        for place in ["before", "inside"] {
            rules(&[&format!("post-stream-stalls,where={place},server={server}")]);
        }
    }
    rules(&["server-request-on-other-stream,to=post"]);
}

#[test]
fn a_rule_is_left_out_unless_its_variable_has_the_value() {
    let name = |uses: &[&str]| rules(uses).into_iter().map(|rule| rule.name).collect::<Vec<_>>();
    assert_eq!(name(&["post-stream-lost"]), ["post-stream-lost/cut-at-answer"]);
    assert_eq!(name(&["post-stream-lost,where=inside"]), ["post-stream-lost/cut-at-answer"]);
    assert_eq!(name(&["post-stream-lost,where=after,blocks=2"]), ["post-stream-lost/cut-after-blocks"]);
    assert_eq!(rules(&["post-stream-lost,where=after,blocks=2"])[0].selector.index, [2]);
}

#[test]
fn an_ending_reaches_the_engine_as_it_was_named() {
    let ending = |uses: &[&str]| match &rules(uses)[0].fault {
        Fault::Cut(cut) => cut.ending,
        other => panic!("a cut: {other:?}"),
    };
    assert_eq!(ending(&["post-stream-lost"]), Ending::Eof);
    assert_eq!(ending(&["post-stream-lost,ending=reset"]), Ending::Reset);
    assert_eq!(ending(&["post-stream-stalls"]), Ending::Stall);
}

// === Several ===

#[test]
fn rules_are_named_after_their_profile_and_its_use() {
    let names: Vec<String> =
        rules(&["get-late-by", "get-opens-first", "get-late-by,time=1s"]).into_iter().map(|rule| rule.name).collect();
    assert_eq!(names, ["get-late-by/delay-get", "get-opens-first/hold-call", "get-late-by#2/delay-get"]);
}

#[test]
fn the_hash_tells_one_text_from_another() {
    let loaded = load(&["get-late-by", "get-opens-first", "get-late-by,time=1s"]).expect("they load");
    let [first, other, again] = loaded.sources.as_slice() else { panic!("three sources") };
    assert_eq!(first.hash, again.hash);
    assert_ne!(first.hash, other.hash);
}

// === JSON ===

#[test]
fn the_same_profile_in_json_gives_the_same_rules() {
    let toml = file(
        "same.toml",
        "version = 1\n[[rule]]\nname = \"it\"\nmatch = { at = \"request\" }\nhold = \"2s\"\ntimes = 2\n",
    );
    let json = file(
        "same.json",
        r#"{"version": 1, "rule": [{"name": "it", "match": {"at": "request"}, "hold": "2s", "times": 2}]}"#,
    );
    assert_eq!(rules(&[&toml]), rules(&[&json]));
}

#[test]
fn a_problem_in_json_has_its_line() {
    let text =
        "{\"version\": 1,\n \"rule\": [\n  {\"name\": \"it\",\n   \"match\": {\"at\": null}, \"hold\": \"2s\"}]}";
    let path = file("wrong.json", text);
    assert_eq!(
        refused(&[&path]),
        [format!(
            "{path}:4: rule \"it\": `at` cannot be null; write {}",
            r#""connect", "request-head", "request", "head", "block", "end" or "leave""#
        )]
    );
    let path = file("no.json", "{\n\"version\" 1}");
    assert_eq!(refused(&[&path]), [format!("{path}:2: not JSON: expected `:`")]);
}

// === Refused, with no line to point at ===

#[test]
fn an_unknown_profile_is_answered_with_the_nearest_and_how_a_file_is_named() {
    assert_eq!(
        refused(&["get-open-late"]),
        [concat!(
            "-p get-open-late: no profile is called \"get-open-late\"; did you mean \"get-opens-late\"? ",
            "A file is named with a slash or with .toml: ./get-open-late.toml"
        )]
    );
    assert!(refused(&["zebra"])[0].contains("`mishap profiles` lists them"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let problem = refused(&["./no-such.toml"]).remove(0);
    assert!(problem.starts_with("-p ./no-such.toml: cannot read ./no-such.toml: "), "{problem}");
}

#[test]
fn an_unknown_variable_is_answered_with_the_nearest() {
    assert_eq!(
        refused(&["get-opens-late,limt=3s"]),
        ["-p get-opens-late,limt=3s: unknown variable \"limt\"; did you mean \"limit\"?"]
    );
    assert_eq!(
        refused(&["transparent,limit=3s"]),
        ["-p transparent,limit=3s: unknown variable \"limit\"; this profile has no variables"]
    );
}

#[test]
fn a_value_that_is_no_choice_is_answered_with_the_choices() {
    assert_eq!(
        refused(&["post-stream-lost,ending=stall"]),
        [
            "-p post-stream-lost,ending=stall: variable \"ending\" cannot be \"stall\"; write one of \"eof\", \"fin\", \"reset\""
        ]
    );
}

#[test]
fn a_given_value_of_the_wrong_kind_is_reported_as_the_argument_that_gave_it() {
    assert_eq!(
        refused(&["get-late-by,time=soon"]),
        [concat!(
            "-p get-late-by,time=soon: rule \"delay-get\": `delay` cannot be \"soon\" (the value of variable \"time\"); ",
            "write a number and one of us, ms, s, m, h, such as \"250ms\""
        )]
    );
}

#[test]
fn the_problems_of_all_profiles_are_reported() {
    assert_eq!(refused(&["get-late-by,time=soon", "zebra", "get-opens-late,limt=1s"]).len(), 3);
}

#[test]
fn a_profile_in_a_file_is_called_after_it() {
    let path = file("mine.toml", builtin::named("get-late-by").expect("it is built in").text);
    let loaded = load(&[&path]).expect("it loads");
    assert_eq!(loaded.rules[0].name, "mine/delay-get");
    assert_eq!(loaded.sources[0].path, Some(PathBuf::from(path)));
}

// === Time scale ===

/// Everything that is scaled (rule R36), and beside it all that is not.
fn timed(scaled: [&str; 6]) -> String {
    let [delay, min, max, idle, lasting, hold] = scaled;
    format!(
        "version = 1\n[[rule]]\nname = \"a\"\nmatch = {{ at = \"request\" }}\nfrom = \"{hold}\"\ndelay = \"{delay}\"\n\
         [[rule]]\nname = \"b\"\nmatch = {{ at = \"request\" }}\ndelay = {{ min = \"{min}\", max = \"{max}\" }}\n\
         [[rule]]\nname = \"c\"\nmatch = {{ stream = \"get\", at = \"head\" }}\n\
         cut = {{ ending = \"reset\", other-leg = \"keep\", for = \"{lasting}\", settle = \"20ms\", limit = \"9s\", \
         when = [{{ idle = \"{idle}\", plus = \"{delay}\" }}, {{ at = \"leave\", plus = {{ mean = \"{max}\", jitter = \"{min}\" }} }}] }}\n\
         [[rule]]\nname = \"d\"\nmatch = {{ block = \"message\" }}\nhold = {{ until = \"{hold}\", limit = \"60s\" }}\n\
         [[rule]]\nname = \"e\"\nmatch = {{ block = \"message\" }}\nreorder = {{ window = 2, limit = \"8s\" }}\n"
    )
}

#[test]
fn a_time_scale_multiplies_the_times_of_rules_and_nothing_else() {
    let long = file("timed.toml", &timed(["1s", "2s", "30s", "5m", "1m", "10s"]));
    let short = file("short/timed.toml", &timed(["10ms", "20ms", "300ms", "3s", "600ms", "100ms"]));
    let scaled = |scale: &str, path: &str| {
        profile::load_at(scale.parse().expect("a factor"), &[Use::plain(path)]).expect("it is right").rules
    };
    assert_eq!(scaled("0.01", &long), scaled("1", &short));
    assert_ne!(scaled("0.02", &long), scaled("1", &short));
    assert_eq!(scaled("1", &long), rules(&[&long]));
}
