//! Bodies that pass only so fast, in both directions.

use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::throttle::Throttle;
use super::super::rule::Rule;
use super::super::selector::{At, Selector};
use super::Play;
use super::tools::{answer, at, of, rule};

fn throttle(selector: Selector, rate: u64, burst: u64) -> Rule {
    rule("r", selector, Fault::Throttle(Throttle { rate, burst }))
}

fn plain(play: &mut Play) -> &mut Play {
    play.calls("a", 1).head("a", 200, &[("content-type", "text/plain")])
}

#[test]
fn a_body_passes_its_burst_at_once_and_the_rest_at_the_rate() {
    let mut play = Play::new(vec![throttle(at(At::Head, "post"), 1_000, 100)]);
    plain(&mut play).data("a", &"x".repeat(400)).ends("a");
    let mut seen = vec![play.body("a").len()];
    for _ in 0..3 {
        play.waits(100);
        seen.push(play.body("a").len());
    }
    assert_eq!(seen, [100, 200, 300, 400]);
    assert_eq!((play.of("a").ending, play.counts("r")), (Some(Ending::Eof), (1, 1, 1)));
    assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
}

/// Never early, whenever it is asked: a bucket that has been full for long holds no more than its burst.
#[test]
fn by_no_moment_has_more_passed_than_the_rate_allows() {
    let mut play = Play::new(vec![throttle(at(At::Head, "post"), 1_000, 100)]);
    plain(&mut play).waits(10_000).data("a", &"x".repeat(1_000));
    for time in 0..=900usize {
        let passed = play.body("a").len();
        assert!(passed <= 100 + time && passed + 10 > 100 + time, "{passed} after {time} ms");
        play.waits(1);
    }
}

#[test]
fn what_is_slower_than_the_rate_is_not_touched() {
    let mut play = Play::new(vec![throttle(at(At::Head, "post"), 1_000_000, 1_000)]);
    play.calls("a", 1).answers("a", 1);
    assert_eq!((play.body("a"), play.counts("r")), (&*answer(1), (1, 1, 0)));
}

#[test]
fn a_request_passes_at_the_rate() {
    for (rules, sent) in [(vec![throttle(of(At::Request, "tools/call"), 1_000, 20)], 20), (vec![], 76)] {
        let mut play = Play::new(rules);
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"abcdefghi"}}"#;
        play.posts("a", body);
        assert_eq!((body.len(), play.of("a").forwarded.as_ref().map(bytes::Bytes::len)), (76, Some(sent)));
        play.waits(55);
        assert!(play.of("a").forwarded.as_ref().is_some_and(|sent| sent.len() < 76) == (sent < 76));
        play.waits(1);
        assert_eq!(play.of("a").forwarded.as_deref(), Some(body.as_bytes()));
        assert!(play.engine.timers.is_empty());
    }
}

/// Back-pressure instead of memory.
#[test]
fn a_server_that_is_faster_than_the_rate_is_read_no_further() {
    let mut play = Play::new(vec![throttle(at(At::Head, "post"), 100_000, 1_000)]);
    plain(&mut play).data("a", &"x".repeat(200_000));
    assert!(!play.of("a").paused);
    play.data("a", &"x".repeat(100_000));
    assert!(play.of("a").paused);
    play.waits(2_000);
    assert!(!play.of("a").paused, "half of it is gone");
    play.waits(1_000).ends("a");
    assert_eq!((play.body("a").len(), play.of("a").ending), (300_000, Some(Ending::Eof)));
}

#[test]
fn what_a_client_that_leaves_never_got_is_forgotten() {
    let mut play = Play::new(vec![throttle(at(At::Head, "post"), 10, 10)]);
    plain(&mut play).data("a", &"x".repeat(200)).leaves("a");
    assert!(play.engine.exchanges.is_empty() && play.engine.timers.is_empty());
}
