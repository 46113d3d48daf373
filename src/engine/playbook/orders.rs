//! Several rules on one unit: they act in written order, and each sees what those before it have left (rule R16).

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::condition::Time;
use super::super::fault::Fault;
use super::super::fault::dropping::Drop;
use super::super::fault::duplicate::Duplicate;
use super::super::fault::event_text::{EventData, EventText};
use super::super::fault::inject::{Inject, Place, To, What};
use super::super::fault::rewrite::Rewrite;
use super::Play;
use super::tools::{message, ms, notification, rule};

/// What a rule does to each notification.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    /// Writes its number into it.
    Mark,
    Lose,
    /// Sends it once more.
    Repeat,
    /// Adds one that bears its number, before or behind it.
    Add(Place),
}

impl Does {
    fn fault(self, number: usize) -> Fault {
        match self {
            Self::Mark => {
                let set = vec![("/params/by".to_owned(), json!(number))];
                Fault::Rewrite(Rewrite { set, ..Rewrite::default() })
            }
            Self::Lose => Fault::Drop(Drop),
            Self::Repeat => Fault::Duplicate(Duplicate { times: 1, gap: Time::Fixed(ms(0)) }),
            Self::Add(place) => {
                let data = json!({ "method": "notifications/message", "params": { "added": number } });
                let what = What::Event(EventText { data: Some(EventData::Message(data)), ..EventText::default() });
                Fault::Inject(Inject { what, to: To::Client, place, when: None, repeat: Some(1) })
            }
        }
    }
}

/// The params of what leaves in a unit's place, by the rules from this one on: what the manual says, and nothing of how.
fn told(rules: &[Does], from: usize, mut params: Value) -> Vec<Value> {
    let (mut out, mut behind, mut lost) = (Vec::new(), Vec::new(), false);
    for (number, does) in rules.iter().enumerate().skip(from) {
        match does {
            Does::Mark => params["by"] = json!(number),
            Does::Lose => {
                lost = true;
                break;
            }
            Does::Repeat => behind.push((number + 1, params.clone())),
            Does::Add(Place::Before) => out.extend(told(rules, number + 1, json!({ "added": number }))),
            Does::Add(Place::After) => behind.push((number + 1, json!({ "added": number }))),
        }
    }
    out.extend(Some(params).filter(|_| !lost));
    out.extend(behind.into_iter().flat_map(|(from, params)| told(rules, from, params)));
    out
}

fn params(body: &str) -> Vec<Value> {
    let messages = body.lines().filter_map(|line| line.strip_prefix("data: "));
    messages.map(|json| serde_json::from_str::<Value>(json).expect("JSON")["params"].clone()).collect()
}

proptest! {
    #[test]
    fn each_acts_on_what_those_before_it_have_left_and_made(
        rules in prop::collection::vec(prop_oneof![
            3 => Just(Does::Mark),
            1 => Just(Does::Lose),
            2 => Just(Does::Repeat),
            2 => prop::sample::select(vec![Place::Before, Place::After]).prop_map(Does::Add),
        ], 0..6),
    ) {
        let named = rules.iter().enumerate();
        let named = named.map(|(n, does)| rule(&format!("r{n}"), message("notification"), does.fault(n)));
        let mut play = Play::new(named.collect());
        play.calls("a", 1).streams("a").data("a", &notification(1)).ends("a");
        prop_assert_eq!(params(play.body("a")), told(&rules, 0, json!({ "n": 1 })));
        for (n, does) in rules.iter().enumerate() {
            let (matched, fired, _) = play.counts(&format!("r{n}"));
            prop_assert_eq!(fired, matched, "{:?}", does);
        }
    }
}
