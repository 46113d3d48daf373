//! Rules played against the engine, and the lines that the verdict has of what they did.

use super::file::read_profile;
use super::{Scale, Use};
use crate::engine::engine::Setup;
use crate::engine::playbook::Play;
use crate::engine::playbook::tools::{answer, notification};
use crate::report::verdict::{Facts, Verdict};

/// The lines of a run with one rule, `r`, of this text.
fn did(rule: &str, story: impl FnOnce(&mut Play)) -> Vec<String> {
    let text = format!("version = 1\n[[rule]]\nname = \"r\"\n{rule}\n");
    let read = read_profile(&Use::plain("own.toml"), "own", &text, Scale::FULL);
    let (_, rules, _) = read.unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut play = Play::with(Setup { rules, seed: 1, record: false }).in_front_of(2);
    story(&mut play);
    play.finishes();
    Verdict::of(Facts { summary: play.engine.summary(), ..Facts::default() }).line().effects
}

const CALL: &str = "match = { stream = \"post\", method = \"tools/call\", at = \"request\" }\n";
const HEAD: &str = "match = { stream = \"post\", method = \"tools/call\", at = \"head\" }\n";
const ANSWER: &str = "match = { stream = \"post\", message = \"answer\" }\n";
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
