//! Profiles about events as bytes and their order, played.

use super::{PRIMING, lost, play};
use crate::engine::playbook::tools::{answer, notification};

#[test]
fn events_out_of_order() {
    let swapped = [PRIMING, &notification(2), &notification(1), &answer(1)].concat();
    assert_eq!(lost(&["events-out-of-order"]).0, swapped);
    assert_ne!(lost(&[]).0, swapped);
}

#[test]
fn events_out_of_order_with_progress_after_the_answer() {
    let progress =
        r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let progress = format!("{progress}\n\n");
    let order = |uses: &[&str]| {
        let mut play = play(uses);
        play.calls("call", 1).streams("call").data("call", &progress).data("call", &answer(1)).ends("call");
        play.body("call").to_owned()
    };
    assert_eq!(order(&["events-out-of-order,order=progress-last"]), [answer(1), progress.clone()].concat());
    assert_eq!(order(&[]), [progress.clone(), answer(1)].concat());
}
