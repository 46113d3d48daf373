//! Any faults that make something no peer sent, lose what one did, or answer in a server's place.
//!
//! The one rule it keeps: what `check` would refuse is not made here.

use proptest::prelude::*;
use serde_json::json;

use super::super::condition::{Condition, Time};
use super::super::event::Ending;
use super::super::fault::Fault;
use super::super::fault::cut::OtherLeg;
use super::super::fault::dropping::Drop;
use super::super::fault::duplicate::Duplicate;
use super::super::fault::event_text::{EventData, EventText};
use super::super::fault::inject::{Inject, Place, To, What};
use super::super::fault::respond::{Content, Respond};
use super::super::fault::resumable::Resumable;
use super::super::fault::route::{Route, Server};
use super::super::selector::At;
use super::anything::{LIMIT, Sight, condition};
use super::tools::{after, ms};

/// One of them.
pub(super) fn maker(sight: Sight) -> impl Strategy<Value = Fault> {
    let server = prop::sample::select(vec![Server::Nth(0), Server::Nth(1), Server::Next, Server::Other]);
    let owner = (any::<bool>(), prop::option::of(0..500u64)).prop_map(|(priming, retry)| {
        let retry = retry.filter(|_| priming);
        Resumable { retry, priming, prefix: "own-".to_owned() }
    });
    prop_oneof![
        3 => inject(sight).prop_map(Fault::Inject),
        2 => (1..3u64, 0..30u64).prop_map(|(times, gap)| {
            Fault::Duplicate(Duplicate { times, gap: Time::Fixed(ms(gap)) })
        }),
        2 => Just(Fault::Drop(Drop)),
        2 => respond(sight).prop_map(Fault::Respond),
        2 => owner.prop_map(Fault::Resumable),
        1 => (server, any::<bool>()).prop_map(|(to, fresh)| Fault::Route(Route { to, fresh })),
    ]
}

fn inject(sight: Sight) -> impl Strategy<Value = Inject> {
    let what = prop::sample::select(vec![
        event(|event| event.comment = Some("made\nof two lines".to_owned())),
        event(|event| event.data = Some(EventData::Message(json!({ "method": "made", "params": {} })))),
        event(|event| event.data = Some(EventData::Message(json!({ "id": 1, "result": {} })))),
        event(|event| (event.id, event.data) = (Some("i1".to_owned()), Some(EventData::Text(String::new())))),
        What::Raw("data: {\"method\":\"raw\"}\n\n: half".to_owned()),
    ]);
    let when = prop_oneof![2 => Just((None, false)), 2 => condition(sight).prop_map(|when| (Some(when), false)),
        // What comes true again and again.
        1 => (300..900u64).prop_map(|time| (Some(after(time)), true))];
    (what, any::<bool>(), any::<bool>(), when, 1..3u64).prop_map(|(what, server, before, (when, again), times)| {
        Inject {
            what,
            to: if server { To::Server } else { To::Client },
            place: if before { Place::Before } else { Place::After },
            repeat: if again { None } else { Some(if when.is_some() { 1 } else { times }) },
            when,
        }
    })
}

fn event(with: impl FnOnce(&mut EventText)) -> What {
    let mut event = EventText::default();
    with(&mut event);
    What::Event(event)
}

fn respond(sight: Sight) -> impl Strategy<Value = Respond> {
    let event = |id: &str| EventText { id: Some(id.to_owned()), ..EventText::default() };
    let contents = prop::sample::select(vec![
        Content::Empty,
        Content::Text("no".to_owned()),
        Content::Json(json!([{ "method": "${owner.method}" }])),
        Content::Result(json!({ "made": "${owner.id}" })),
        Content::Error(-32_000, "no".to_owned()),
        Content::Events(vec![event("r1"), EventText { data: Some(EventData::Text("x".to_owned())), ..event("r2") }]),
    ]);
    let endings = prop::sample::select(vec![Ending::Eof, Ending::Eof, Ending::Fin, Ending::Reset, Ending::Stall]);
    let status = prop::sample::select(vec![200u16, 200, 202, 404, 503]);
    let when = prop::option::of(condition(sight));
    let others = prop::sample::select(vec![OtherLeg::Usual, OtherLeg::Close, OtherLeg::Drain, OtherLeg::Keep]);
    (status, contents, endings, when, any::<bool>(), others).prop_map(
        |(status, content, ending, when, forward, other_leg)| Respond {
            status,
            headers: vec![("x-made".to_owned(), Some("1".to_owned()))],
            content,
            ending,
            when,
            limit: ms(LIMIT),
            forward,
            other_leg,
            lasting: None,
        },
    )
}

/// The same fault as it could be written at this point.
pub(super) fn fitted(mut fault: Fault, at: At) -> Fault {
    match &mut fault {
        Fault::Inject(inject) => {
            if at == At::Request {
                inject.to = To::Server;
            }
            if inject.to == To::Server && matches!(&inject.what, What::Event(EventText { data: None, .. })) {
                inject.what = What::Raw("{\"method\":\"made\"}".to_owned());
            }
            match at {
                At::Head if inject.to == To::Client => inject.place = Place::After,
                At::End => (inject.place, inject.when, inject.repeat) = (Place::Before, None, Some(1)),
                _ => {}
            }
        }
        Fault::Respond(respond) => {
            respond.forward &= at == At::Request;
            respond.when.take_if(|when| at != At::Head && *when == Condition::End);
            if at != At::Head && !respond.forward {
                respond.other_leg = OtherLeg::Usual;
            }
        }
        _ => {}
    }
    fault
}
