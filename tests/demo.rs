//! The demo's scenes, each with its control: direct it passes, with its profile it fails, fixed it passes again.
//!
//! Each is played several times, because the claim is "every time".

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use mishap::demo::scene::Scene;
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
