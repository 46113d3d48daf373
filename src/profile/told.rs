//! Rules played against the engine, and the lines that the verdict has of what they did.

use super::file::read_profile;
use super::{Scale, Use};
use crate::engine::engine::Setup;
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, notification};
use crate::report::verdict::{Facts, Verdict};

/// The lines of a run with one rule, `r`, of this text.
fn did(rule: &str, story: impl FnOnce(&mut Play)) -> Vec<String> {
    did_with(&format!("version = 1\n[[rule]]\nname = \"r\"\n{rule}\n"), story)
}

/// The lines of a run with this profile.
fn did_with(text: &str, story: impl FnOnce(&mut Play)) -> Vec<String> {
    let read = read_profile(&Use::plain("own.toml"), "own", text, Scale::FULL);
    let (_, parts) = read.unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut play = Play::with(Setup { rules: parts.rules, seed: 1, ..Setup::default() }).in_front_of(2);
    story(&mut play);
    play.finishes();
    Verdict::of(Facts { summary: play.engine.summary(), ..Facts::default() }).line().effects
}

const CALL: &str = "match = { stream = \"post\", method = \"tools/call\", at = \"request\" }\n";
const HEAD: &str = "match = { stream = \"post\", method = \"tools/call\", at = \"head\" }\n";
const ANSWER: &str = "match = { stream = \"post\", message = \"answer\" }\n";
const BLOCK: &str = "match = { stream = \"post\", at = \"block\" }\n";
const POST: &str = "own/r: answered POST tools/call id 1 with";

#[test]
fn a_made_answer_is_told_with_its_status_and_what_the_server_had_to_do_with_it() {
    let call = |play: &mut Play| _ = play.calls("a", 1);
    let both = |play: &mut Play| _ = play.calls("a", 1).answers("a", 1);
    assert_eq!(did(&format!("{CALL}respond = 429"), call), [format!("{POST} 429; the server never got it")]);
    let thrown = format!("{POST} 503; the server's own answer was thrown away");
    assert_eq!(did(&format!("{HEAD}respond = 503"), both), [&*thrown]);
    let forward = format!("{CALL}respond = {{ status = 503, forward = true }}");
    assert_eq!(did(&forward, both), [&*thrown]);
    let late = format!("{HEAD}respond = {{ status = 503, when = {{ at = \"request\", method = \"ping\" }} }}");
    let leaves = |play: &mut Play| _ = play.calls("a", 1).streams("a").leaves("a");
    assert_eq!(did(&late, leaves), [""; 0], "it was only planned");
}

#[test]
fn what_was_rewritten_is_told_without_its_values() {
    let both = |play: &mut Play| _ = play.calls("a", 1).answers("a", 1);
    let head = format!(
        "{HEAD}rewrite = {{ status = 401, headers = {{ x-key = \"secret\", content-type = false, x-none = false }} }}"
    );
    assert_eq!(
        did(&head, both),
        ["own/r: rewrote head of POST tools/call id 1: status 401, x-key set, content-type removed"]
    );
    let turned = format!("{HEAD}rewrite.as = \"json\"");
    assert_eq!(did(&turned, both), ["own/r: rewrote head of POST tools/call id 1: as one JSON answer"]);
    let request = format!("{CALL}rewrite.headers = {{ mcp-session-id = false }}");
    assert_eq!(did(&request, both), ["own/r: rewrote request of POST tools/call id 1: mcp-session-id removed"]);
    let block = format!("{ANSWER}rewrite = {{ error = {{ code = -32603, message = \"no\" }}, id = \"string\" }}");
    let id = "own/r: rewrote block 1 of POST tools/call id 1: the error -32603, its id a string";
    assert_eq!(did(&block, both), [id]);
    let same = format!("{HEAD}rewrite = 200");
    assert_eq!(did(&same, both), [""; 0], "it was so already");
}

#[test]
fn a_stream_with_ids_of_ours_and_its_resumes_are_told() {
    let story = |play: &mut Play| {
        play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1))).ends("a");
        let id = play.body("a").lines().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned);
        let headers = [("mcp-session-id", "S"), ("last-event-id", id.as_deref().unwrap_or_default())];
        play.sends("r", "GET", &headers, "");
    };
    let expected = [
        "own/r: gave the events of POST tools/call id 1 ids of its own",
        "own/r: answered resume of POST tools/call id 1 with 200, from what was kept for it",
    ];
    assert_eq!(did(&format!("{HEAD}resumable = {{}}"), story), expected);
    assert_eq!(did(&format!("{HEAD}resumable = {{ priming = false }}"), story), expected);
}

#[test]
fn a_request_that_went_elsewhere_is_told_and_one_that_did_not_is_not() {
    let call = |play: &mut Play| _ = play.calls("a", 1);
    assert_eq!(did(&format!("{CALL}route = 2"), call), ["own/r: sent POST tools/call id 1 to server 2"]);
    assert_eq!(did(&format!("{CALL}route = 1"), call), [""; 0]);
    let fresh = |play: &mut Play| {
        play.calls("a", 1).answers("a", 1);
        play.sends("b", "POST", &[("mcp-session-id", "S"), (":conn", "a")], r#"{"id":2,"method":"tools/call"}"#);
    };
    let alone = "own/r: sent POST tools/call id 2 to server 1, on a connection of its own";
    assert_eq!(did(&format!("{CALL}route = {{ to = 1, fresh = true }}"), fresh), [alone]);
}

#[test]
fn a_body_in_other_pieces_or_another_form_is_told_once_with_how_much() {
    let both = |play: &mut Play| {
        play.calls("a", 1).streams("a").data("a", &(notification(1) + &answer(1))).waits(2_000).ends("a");
    };
    let reframed = |what: &str| did(&format!("{HEAD}reframe = {what}"), both);
    let answer = "own/r: reframed POST tools/call id 1: its answer";
    assert_eq!(reframed("{ split = [1, 2] }"), [format!("{answer} parted at 2 places")]);
    assert_eq!(reframed("{ split = \"head\" }"), [format!("{answer} apart from its head")]);
    assert_eq!(reframed("{ newline = \"crlf\" }"), [format!("{answer} 2 units in another form")]);
    assert_eq!(reframed("{ newline = \"lf\" }"), [""; 0], "they have these line ends already");
    assert_eq!(reframed("{ coalesce = 2 }"), [""; 0], "nothing had to wait");
    assert_eq!(reframed("{ coalesce = 3 }"), [format!("{answer} events together 1 time")]);
    let all = format!("{HEAD}reframe = {{ split = [1, 2], newline = \"crlf\" }}");
    assert_eq!(did(&all, both), [format!("{answer} parted at 2 places, 2 units in another form")]);
    let cut = |play: &mut Play| _ = play.calls("a", 1).streams("a").data("a", &notification(1)).leaves("a");
    let late = format!("{HEAD}reframe.newline = \"crlf\"\n[[rule]]\nname = \"hold\"\n{BLOCK}hold = \"1s\"");
    assert_eq!(did(&late, cut), [""; 0], "it never left");
    let padded = did(&format!("{CALL}reframe = {{ pad = 200 }}"), both);
    assert_eq!(padded, ["own/r: reframed POST tools/call id 1: its request 1 unit in another form"]);
}

#[test]
fn a_body_that_was_kept_back_or_slowed_is_told_with_how_much_and_how_long() {
    let late = |play: &mut Play| {
        play.calls("a", 1).streams("a").data("a", &answer(1)).waits(2_000).ends("a").waits(60_000);
    };
    let bytes = answer(1).len();
    let kept = format!("own/r: buffered POST tools/call id 1: {bytes} bytes of its answer, for 2.0 s at most");
    assert_eq!(did(&format!("{HEAD}buffer = \"end\""), late), [&*kept]);
    assert_eq!(did(&format!("{HEAD}buffer = \"8KiB\""), late), [&*kept]);
    let head = did(&format!("{HEAD}buffer = {{ until = \"end\", head = true }}"), late);
    assert_eq!(head, ["own/r: delayed head of POST tools/call id 1 by 2.0 s"]);
    let slow = did(&format!("{HEAD}throttle = {{ rate = \"10B/s\", burst = 10 }}"), late);
    let time = (bytes as u64 - 10) as f64 / 10.0;
    assert_eq!(slow, [format!("own/r: slowed POST tools/call id 1: {bytes} bytes of its answer in {time:.1} s")]);
    assert_eq!(did(&format!("{HEAD}throttle = \"1MiB/s\""), late), [""; 0], "it kept nothing");
}

/// What docs/writing-profiles.md shows under this heading, and says what it does.
fn example(heading: &str) -> String {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/writing-profiles.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, section) = page.split_once(&format!(". {heading}\n")).expect("it has the heading");
    section.split("```toml\n").nth(1).and_then(|block| block.split("```").next()).expect("it shows one").to_owned()
}

#[test]
fn the_examples_of_the_page_do_what_it_says() {
    let two_calls = |play: &mut Play| _ = play.calls("a", 1).answers("a", 1).calls("b", 2).answers("b", 2);
    let rewritten = [
        "own/expired: rewrote head of POST tools/call id 1: status 401, www-authenticate set",
        "own/failed: rewrote block 1 of POST tools/call id 2: /result/isError set, its id a string",
    ];
    assert_eq!(did_with(&example("Another content"), two_calls), rewritten);
    let notified = |play: &mut Play| {
        play.calls("a", 1).streams("a").data("a", &[notification(1), notification(2), notification(3)].concat());
    };
    let order = "own/backwards: reordered POST tools/call id 1: its blocks left as 3, 2, 1";
    assert_eq!(did_with(&example("Another order"), notified), [order]);
    let resumed = |play: &mut Play| {
        play.calls("a", 1).answers("a", 1);
        let id = play.body("a").lines().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned);
        play.sends("r", "GET", &[("mcp-session-id", "S"), ("last-event-id", id.as_deref().unwrap_or_default())], "");
        assert!(play.body("r").contains(r#""id":1,"result""#), "{}", play.body("r"));
    };
    let lost =
        "own/lose: cut POST tools/call id 1: eof after the priming event, before its answer; the server's leg read on";
    let [owned, kept] =
        ["gave the events of POST tools/call id 1 ids of its own", "answered resume of POST tools/call id 1 with 200"];
    let expected =
        [format!("own/keep: {owned}"), lost.to_owned(), format!("own/keep: {kept}, from what was kept for it")];
    assert_eq!(did_with(&example("A stream that can be resumed"), resumed), expected);
    let added = |play: &mut Play| {
        play.gets("get").streams("get").waits(15_000);
        two_calls(play);
    };
    let expected = [
        "own/heartbeat: added a comment on GET",
        "own/changed: added notifications/tools/list_changed on POST tools/call id 1",
        "own/cancel: sent notifications/cancelled to the server, beside POST tools/call id 2",
        "own/changed: added notifications/tools/list_changed on POST tools/call id 2",
    ];
    let mut told = did_with(&example("What nobody sent"), added);
    told.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(told, expected);
}
