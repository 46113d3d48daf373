//! The demo's scenes, each with its control: direct it passes, with its profile it fails, fixed it passes again.
//!
//! Each is played several times, because the claim is "every time".

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use mishap::demo::programme::programme;
use mishap::demo::scene::{Outcome, Scene};
use mishap::demo::stage::{Cast, Take, play};

/// How often each scene is played.
const TIMES: usize = 5;

/// Plays a scene, several times at once on the one thread; the takes.
async fn played(scene: Scene, cast: Cast) -> Vec<Take> {
    let mut playing = tokio::task::JoinSet::new();
    for _ in 0..TIMES {
        playing.spawn(async move { play(scene, cast).await.unwrap() });
    }
    playing.join_all().await
}

fn saw(takes: &[Take]) -> Vec<&str> {
    let mut saw: Vec<&str> = takes.iter().map(|take| take.outcome.saw.as_str()).collect();
    saw.dedup();
    saw
}

#[tokio::test]
async fn every_scene_passes_directly_every_time() {
    for scene in Scene::ALL {
        let takes = played(scene, Cast::Direct).await;
        assert!(takes.iter().all(Take::as_promised), "{scene:?}: {:?}", saw(&takes));
    }
}

/// The whole claim of the demo. Each scene fails in its own way, so that a broken pipe between the peers is not taken
/// for the bug; and only with the faulty peers.
#[tokio::test]
async fn every_scene_fails_with_its_profile_and_passes_fixed_every_time() {
    for (scene, how, fixed) in [
        (Scene::GetLate, "no answer to elicitation/create in 1000 ms", "the question was answered"),
        (Scene::LostStream, "no answer in 1000 ms", "told: the stream ended without the answer"),
        (Scene::Crossed, "call A got the answer for B, B that for A", "each call got its own answer"),
    ] {
        for (cast, expected) in [(Cast::Profile, how), (Cast::Fixed, fixed)] {
            let takes = played(scene, cast).await;
            assert_eq!(saw(&takes), [expected], "{scene:?}, {cast:?}");
            assert!(takes.iter().all(Take::as_promised), "{scene:?}, {cast:?}: a rule had no effect");
        }
    }
}

/// `mishap demo` ends with 1 when this is false.
#[tokio::test]
async fn a_take_that_comes_out_otherwise_is_not_as_promised() {
    let take = play(Scene::LostStream, Cast::Direct).await.unwrap();
    assert!(take.as_promised());
    assert!(!Take { cast: Cast::Profile, ..take.clone() }.as_promised(), "a bug that did not strike");
    let failed = Outcome { passed: false, saw: "nothing".to_owned() };
    assert!(!Take { outcome: failed, ..take.clone() }.as_promised(), "a bug without a fault");
    let vacuous = Take { effective: false, ..take };
    assert!(!vacuous.as_promised(), "a profile that changed nothing");
    assert!(programme(Scene::LostStream, &[vacuous]).contains("NOT AS PROMISED: a rule had no effect"));
}
