//! Several rules on one unit: they act in written order, and each sees what those before it have left (rule R16).

use proptest::prelude::*;
use serde_json::json;

use super::super::fault::Fault;
use super::super::fault::dropping::Drop;
use super::super::fault::rewrite::Rewrite;
use super::Play;
use super::tools::{message, notification, rule};

/// A rule that writes its number into a notification, or one that drops it.
fn fault(number: usize, drops: bool) -> Fault {
    let set = vec![("/params/by".to_owned(), json!(number))];
    if drops { Fault::Drop(Drop) } else { Fault::Rewrite(Rewrite { set, ..Rewrite::default() }) }
}

proptest! {
    #[test]
    fn the_last_in_written_order_has_the_last_word_and_none_sees_what_is_gone(
        drops in prop::collection::vec(prop::bool::weighted(0.2), 1..6),
    ) {
        let rules = drops.iter().enumerate();
        let rules = rules.map(|(n, drops)| rule(&format!("r{n}"), message("notification"), fault(n, *drops)));
        let mut play = Play::new(rules.collect());
        play.calls("a", 1).streams("a").data("a", &notification(1)).ends("a");
        let gone = drops.iter().position(|drops| *drops);
        for n in 0..drops.len() {
            let asked = u64::from(gone.is_none_or(|gone| n <= gone));
            prop_assert_eq!(play.counts(&format!("r{n}")), (asked, asked, asked));
        }
        let last = format!("\"by\":{}", drops.len() - 1);
        prop_assert_eq!(play.body("a").contains(&last), gone.is_none(), "{}", play.body("a"));
        prop_assert_eq!(play.body("a").is_empty(), gone.is_some());
    }
}
