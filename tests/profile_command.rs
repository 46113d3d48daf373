//! `mishap check` and `mishap profiles`: what they write and what they end with.

use std::fs;
use std::path::Path;

use mishap::cli::{CheckArgs, ProfilesArgs};
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
    ran(|out, err| check::run(&CheckArgs { profiles: profiles.clone(), against: None }, out, err))
}

fn listed(name: Option<&str>) -> Ran {
    let args = ProfilesArgs { name: name.map(str::to_owned), json: false };
    ran(|out, err| profiles::run(&args, out, err))
}

fn as_json(name: Option<&str>) -> serde_json::Value {
    let args = ProfilesArgs { name: name.map(str::to_owned), json: true };
    serde_json::from_str(&ran(|out, err| profiles::run(&args, out, err)).out).expect("it is JSON")
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

/// The cut alone, and beside a rule that answers the resumes; and one that says what is to become of the leg.
#[test]
fn what_becomes_of_the_servers_leg_is_told_as_it_is_where_resumes_are_answered() {
    let told = |cut: &str, beside: &str| {
        let answer = "match = { stream = \"post\", message = \"answer\" }";
        let text = format!("version = 1\n[[rule]]\nname = \"lose\"\n{answer}\ncut = {cut}\n{beside}");
        let told = checked(&[&file("spared.toml", &text)]).out;
        told.lines().find_map(|line| line.split("; ").nth(1).map(str::to_owned)).unwrap_or(told)
    };
    let ids = "[[rule]]\nname = \"ids\"\nmatch = { stream = \"post\", at = \"head\" }\nresumable = {}\n";
    assert_eq!(told("\"eof\"", ""), "the server's is closed");
    assert_eq!(told("\"eof\"", ids), "the server's is closed (read on where ids answers its resumes)");
    assert_eq!(told("{ ending = \"eof\", other-leg = \"close\" }", ids), "the server's is closed");
}

#[test]
fn a_made_answer_is_told_with_its_headers() {
    let rule = |respond: &str| {
        let rule = "[[rule]]\nname = \"it\"\nmatch = { at = \"request\" }\n";
        checked(&[&file("made.toml", &format!("version = 1\n{rule}respond = {respond}\n"))]).out
    };
    let told = rule("{ status = 401, headers = { www-authenticate = \"Bearer\", x = \"1\" } }");
    assert!(
        told.ends_with("answer 401 with no body and www-authenticate: Bearer, x: 1 in the server's place\n"),
        "{told}"
    );
    let told = rule("{ json = {}, headers = { content-type = false } }");
    assert!(told.ends_with("answer 200 with a JSON body and no content-type in the server's place\n"), "{told}");
    assert!(rule("503").ends_with("answer 503 with no body in the server's place\n"), "without headers");
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

#[test]
fn what_is_most_likely_not_meant_is_warned_of_and_keeps_nobody_from_using_it() {
    let text = r#"version = 1
era = ["session"]
[[rule]]
name = "slip"
match = { at = "request", method = "tool/call" }
delay = "1ms"
[[rule]]
name = "regex"
match = { at = "request", method = "tools/call", name = "^echo.*$" }
delay = "1ms"
[[rule]]
name = "era"
match = { at = "request", stream = "listen" }
delay = "1ms"
[[rule]]
name = "condition"
match = { at = "request", stream = "get" }
hold = { until = { at = "request-head", leg = "server" } }
"#;
    let path = file("doubtful.toml", text);
    let ran = checked(&[&path]);
    assert_eq!(ran.exit, Exit::DONE);
    let says = [
        "5: rule \"slip\": warning: MCP has no method \"tool/call\"; did you mean \"tools/call\"?",
        "9: rule \"regex\": warning: \"^echo.*$\" looks like a regular expression, and a pattern knows `*` and `?` only; write \"echo*\"",
        "13: rule \"era\": warning: nothing is ever like this: a listen is of the modern era, and `era` has none",
        "18: rule \"condition\": warning: nothing is ever like this: a `request-head` is not seen on the server's leg",
    ];
    let expected: String = says.iter().map(|says| format!("{path}:{says}\n")).collect();
    assert_eq!(ran.err, expected);
}

#[test]
fn a_rule_whose_numbers_or_ids_do_not_go_together_is_warned_of_and_one_whose_do_is_not() {
    let times = "`times` beside a single `nth`, which is one point in each scope already; \
                 leave `times` out, or write `nth` as a list of those that are meant";
    let window = |key, points, window| {
        format!(
            "`{key}` lets {points} into a window of {window}, which so never fills; \
             write as many as the window has places, or a smaller window"
        )
    };
    let id = |id| {
        format!(
            "the answer has the id {id}, whoever asks; \
             say `result` or `error`, which take the asker's id, or write \"${{owner.id}}\""
        )
    };
    let event = "each event gets the id \"x\", and a resume goes on behind the last of them; \
                 say which event is meant, such as index = 1 or times = 1";
    let answers = r#"match = { at = "request", method = "ping" }"#;
    let notes = r#"match = { message = "notification" }"#;
    for (lines, says) in [
        (format!("{answers}\nnth = 2\ntimes = 1\ndelay = \"1ms\""), Some((6, times.to_owned()))),
        (format!("{answers}\nnth = [2, 3]\ntimes = 1\ndelay = \"1ms\""), None),
        (format!("{notes}\ntimes = 2\nreorder = 3"), Some((5, window("times", 2, 3)))),
        (format!("{notes}\nnth = [1, 4]\nreorder = 3"), Some((5, window("nth", 2, 3)))),
        (format!("{notes}\ntimes = 3\nreorder = 3"), None),
        (
            format!("{answers}\nrespond = {{ json = {{ jsonrpc = \"2.0\", id = 7, result = {{}} }} }}"),
            Some((5, id("7"))),
        ),
        (
            format!("{answers}\nrespond = {{ sse = [{{ message = {{ id = \"a\", error = {{}} }} }}] }}"),
            Some((5, id("\"a\""))),
        ),
        (format!("{answers}\nrespond = {{ json = {{ id = \"${{owner.id}}\", result = {{}} }} }}"), None),
        (format!("{answers}\nrespond = {{ json = {{ id = 7, method = \"x\" }} }}"), None),
        (format!("{notes}\nrewrite = {{ event = {{ id = \"x\" }} }}"), Some((5, event.to_owned()))),
        (format!("{notes}\ntimes = 1\nrewrite = {{ event = {{ id = \"x\" }} }}"), None),
        (format!("{notes}\nrewrite = {{ event = {{ id = false }} }}"), None),
    ] {
        let path = file("together.toml", &format!("version = 1\n[[rule]]\nname = \"it\"\n{lines}\n"));
        let ran = checked(&[&path]);
        let says = says.map(|(line, says)| format!("{path}:{line}: rule \"it\": warning: {says}\n"));
        assert_eq!((ran.err, ran.exit), (says.unwrap_or_default(), Exit::DONE), "{lines}");
    }
}

#[test]
fn a_selector_that_contradicts_itself_is_warned_of_with_the_reason() {
    for (selector, why) in [
        (r#"at = "request", stream = ["post", "!post"]"#, "`stream` excludes all that there is"),
        (r#"at = "request", method = ["ping", "!ping"]"#, "`method` excludes all that it names"),
        (r#"at = "request", stream = "get", http-method = "POST""#, "a get has another HTTP method"),
        (r#"at = "head", stream = "post", resumes = "get""#, "a post resumes nothing"),
        (r#"at = "request", stream = "get", message = "answer""#, "the request of a get carries no message"),
        (r#"at = "head", stream = "get", id = 1"#, "a get carries no message, so it has no `id`"),
        (
            r#"at = "head", stream = "listen", method = "ping""#,
            "a listen carries subscriptions/listen and nothing else",
        ),
        (
            r#"at = "head", stream = "post", method = "subscriptions/listen""#,
            r#"subscriptions/listen is a stream of its own: stream = "listen""#,
        ),
        (r#"message = ["answer", "!response", "!error"]"#, "its kinds exclude all that there is"),
        (r#"message = { kind = "request", code = -32001 }"#, "only an error has a `code`"),
        (r#"message = { kind = "error", result = { '/a' = "1" } }"#, "only a response has a `result`"),
        (r#"at = "block", media = "none""#, "only an event stream or a JSON answer has blocks"),
        (r#"media = "json", block = "priming""#, "a JSON answer is one message, without an SSE id"),
    ] {
        let text = format!("version = 1\n[[rule]]\nname = \"it\"\nmatch = {{ {selector} }}\ndelay = \"1ms\"\n");
        let path = file("never.toml", &text);
        let ran = checked(&[&path]);
        let says = format!("{path}:4: rule \"it\": warning: nothing is ever like this: {why}\n");
        assert_eq!((ran.err, ran.exit), (says, Exit::DONE), "{selector}");
    }
}

#[test]
fn a_selector_that_may_match_is_not_warned_of() {
    for selector in [
        r#"at = "request", stream = ["get", "post"], message = "answer""#,
        r#"at = "block", stream = "get", id = 1"#,
        r#"at = "request", stream = ["get", "delete"], http-method = "DELETE""#,
        r#"message = { kind = "answer", code = -32001 }"#,
        r#"media = ["json", "sse"], block = "priming""#,
        r#"at = "head", method = ["tools/*", "!tools/list"]"#,
        r#"at = "head", stream = "resume", method = "subscriptions/listen""#,
    ] {
        let text = format!("version = 1\n[[rule]]\nname = \"it\"\nmatch = {{ {selector} }}\ndelay = \"1ms\"\n");
        let ran = checked(&[&file("may.toml", &text)]);
        assert_eq!((ran.err.as_str(), ran.exit), ("", Exit::DONE), "{selector}");
    }
}

#[test]
fn a_wrong_value_is_blamed_on_the_argument_it_came_with() {
    let ran = checked(&["get-opens-late,plus=600"]);
    assert_eq!(
        ran.err,
        "-p get-opens-late,plus=600: rule \"hold-get\": `plus` cannot be 600 (the value of variable \"plus\"); \
         write the unit: \"600ms\" or \"600s\"\n"
    );
    let text = "version = 1\n[vars]\nt = { default = 5, doc = \"how long\" }\n[[rule]]\nname = \"it\"\n\
                match = { at = \"head\" }\ndelay = \"${t}\"\n";
    let path = file("default.toml", text);
    let ran = checked(&[&path]);
    assert!(ran.err.starts_with(&format!("{path}:7: rule \"it\": ")), "the file's own default: {}", ran.err);
}

#[test]
fn values_behind_something_else_than_a_comma_are_shown_with_one() {
    for wrong in ["get-opens-late:plus=600ms,calls=2", "get-opens-late plus=600ms,calls=2"] {
        let ran = checked(&[wrong]);
        let says = "values follow the name after a comma: -p 'get-opens-late,plus=600ms,calls=2'\n";
        assert!(ran.err.ends_with(says), "{}", ran.err);
    }
    let ran = checked(&["./none.toml:plus=600ms"]);
    assert!(ran.err.ends_with("after a comma: -p './none.toml,plus=600ms'\n"), "{}", ran.err);
}

#[test]
fn an_expectation_that_is_wrong_is_one_line_and_one_that_is_right_a_sentence() {
    let text = |line: &str| format!("version = 1\n[[expect]]\nname = \"it\"\n{line}\n");
    for (line, says) in [
        ("match = { at = \"haed\" }", "4: expectation \"it\": `at` cannot be \"haed\"; did you mean \"head\"?"),
        ("match = \"${no}\"", "4: expectation \"it\": \"${no}\" is not declared in [vars]"),
        ("match = { control = \"go\" }", "4: expectation \"it\": unknown key \"control\" in `match`; it takes at, "),
    ] {
        let ran = checked(&[&file("expect.toml", &text(line))]);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    let rule = "[[rule]]\nname = \"cut\"\nmatch = { message = \"answer\" }\ncut = \"eof\"\n";
    for (keys, says) in [
        ("that = \"no-repeat\"", "no tools/call sent again under another id, and no id used twice"),
        ("that = \"gets\"", "in each session: at most 5 request (stream get or resume) in any 10s"),
        (
            "that = \"leave-seen\"\nwithin = \"1s\"",
            "each time that the client has left an exchange that the server has not ended: at least 1 leave of the same \
             exchange on the server's leg within 1s",
        ),
        (
            "after = { fired = \"cut\" }\nmatch = [{ stream = \"resume\", at = \"request\", same = \"owner\" }, { at = \"leave\" }]\n\
             count = 1\nwithin = \"5s\"",
            "each time that expect/cut has acted: exactly 1 request (stream resume) of the same owner or leave within 5s",
        ),
        ("match = { fired = \"cut\" }\ncount = \"<3\"\nscope = \"run\"", "in the run: at most 2 firing of expect/cut"),
        (
            "after = [{ at = \"request\", method = \"tools/call\", nth = 2, plus = \"1s\" }, \"5s\"]\nmatch = \"exit\"\nwithin = \"2s\"",
            "each time that number 2 of request (method tools/call) was seen 1s ago, or 5s have gone by: the end of the \
             command within 2s",
        ),
        ("match = { at = \"request\" }\nscope = \"run\"\ncount = 0", "in the run: no request of any session"),
    ] {
        let ran = checked(&[&file("expect.toml", &(rule.replace("[[", "version = 1\n[[") + &text(keys)[12..]))]);
        assert!(ran.out.contains(&format!("\n  expect it: {says}\n")), "{}\n{}", ran.out, ran.err);
    }
}

// === profiles ===

#[test]
fn the_list_names_every_profile_with_its_summary_and_variables() {
    let ran = listed(None);
    assert_eq!(ran.exit, Exit::DONE);
    for profile in builtin::all() {
        assert!(ran.out.contains(&format!("\n  {}\n", profile.name)), "{}", profile.name);
    }
    assert!(ran.out.contains(concat!(
        "The standalone GET\n",
        "  get-opens-late\n",
        "      Open the standalone GET only after the first calls have come and gone\n",
        "      provokes conformance#407, java-sdk#1114\n",
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

#[test]
fn as_json_they_are_what_a_matrix_needs() {
    let all = as_json(None);
    let names: Vec<_> = all.as_array().expect("a list").iter().map(|it| it["name"].as_str().expect("a name")).collect();
    let mut built_in: Vec<_> = builtin::all().iter().map(|profile| profile.name).collect();
    assert!(names.iter().all(|name| built_in.contains(name)));
    built_in.retain(|name| !names.contains(name));
    assert_eq!(built_in, Vec::<&str>::new(), "not in the list");
    let one = as_json(Some("post-stream-lost"));
    assert!(all.as_array().expect("a list").contains(&one));
    assert_eq!(one["group"], "answer");
    assert_eq!(one["summary"], "End a POST's event stream before the answer it owes");
    assert_eq!(one["provokes"][0], "modelcontextprotocol/typescript-sdk#2739");
    assert!(one["symptom"].as_str().expect("text").starts_with("nothing at all (eof)"));
    let ending = one["vars"].as_array().expect("a list").iter().find(|var| var["name"] == "ending");
    let expected = serde_json::json!({
        "name": "ending", "default": "eof", "doc": "how the stream ends", "choices": ["eof", "fin", "reset"]
    });
    assert_eq!(ending, Some(&expected));
}

#[test]
fn the_schema_is_printed_whole() {
    let ran = ran(|out, _| mishap::command::schema::run(out));
    let schema: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(schema["properties"]["version"]["anyOf"][0]["const"], 1);
}
