//! Rules that are right and most likely not what was meant: numbers that do not go together, an id that is everybody's.
//!
//! The one rule it keeps: what a rule says with good reason somewhere is a warning with the reason, never an error.

use serde_json::Value;

use crate::engine::fault::Fault;
use crate::engine::fault::event_text::{EventData, EventText};
use crate::engine::fault::respond::{Content, Respond};
use crate::engine::rule::Rule;
use crate::engine::trigger::Trigger;

/// What is doubtful about a rule: the key it is about (`None`: the fault), what, and what to write instead.
pub(in crate::profile) fn rule(rule: &Rule) -> Vec<(Option<&'static str>, String, &'static str)> {
    let mut doubts = Vec::new();
    let trigger = &rule.trigger;
    if trigger.nth.len() == 1 && trigger.times.is_some() {
        let what = "`times` beside a single `nth`, which is one point in each scope already".to_owned();
        doubts.push((Some("times"), what, "leave `times` out, or write `nth` as a list of those that are meant"));
    }
    doubts.extend(window(rule));
    doubts.extend(answered_id(rule));
    doubts.extend(event_id(rule));
    doubts
}

/// How many points a rule fires at in a scope, if its trigger says so.
fn at_most(trigger: &Trigger) -> Option<(&'static str, u64)> {
    let nth = Some(("nth", trigger.nth.len() as u64)).filter(|(_, points)| *points > 0);
    nth.into_iter().chain(trigger.times.map(|times| ("times", times))).min_by_key(|(_, points)| *points)
}

/// A reorder window that never fills waits for its limit or the end of the stream.
fn window(rule: &Rule) -> Option<(Option<&'static str>, String, &'static str)> {
    let Fault::Reorder(reorder) = &rule.fault else { return None };
    let (key, points) = at_most(&rule.trigger).filter(|(_, points)| *points < reorder.window)?;
    let what = format!("`{key}` lets {points} into a window of {}, which so never fills", reorder.window);
    Some((Some(key), what, "write as many as the window has places, or a smaller window"))
}

/// A made answer with an id of its own answers nobody but who happens to ask under it.
fn answered_id(rule: &Rule) -> Option<(Option<&'static str>, String, &'static str)> {
    let Fault::Respond(Respond { content, .. }) = &rule.fault else { return None };
    let id = match content {
        Content::Json(json) => fixed_id(json),
        Content::Text(text) => serde_json::from_str(text).ok().as_ref().and_then(fixed_id),
        Content::Events(events) => events.iter().find_map(|event| match event {
            EventText { data: Some(EventData::Message(json)), .. } => fixed_id(json),
            EventText { data: Some(EventData::Text(text)), .. } => {
                serde_json::from_str(text).ok().as_ref().and_then(fixed_id)
            }
            EventText { data: None, .. } => None,
        }),
        Content::Empty | Content::Result(_) | Content::Error(..) => None,
    }?;
    let what = format!("the answer has the id {id}, whoever asks");
    Some((None, what, "say `result` or `error`, which take the asker's id, or write \"${owner.id}\""))
}

/// The id of a JSON-RPC answer, if it is written out.
fn fixed_id(json: &Value) -> Option<String> {
    let answer = match json {
        Value::Array(batch) => return batch.iter().find_map(fixed_id),
        Value::Object(members) => members,
        _ => return None,
    };
    let id = answer.get("id").filter(|_| answer.contains_key("result") || answer.contains_key("error"))?;
    let written_out = match id {
        Value::String(text) => !text.contains("${"),
        Value::Number(_) => true,
        _ => false,
    };
    written_out.then(|| id.to_string())
}

/// Events with one id are one place to go on behind.
fn event_id(rule: &Rule) -> Option<(Option<&'static str>, String, &'static str)> {
    let Fault::Rewrite(rewrite) = &rule.fault else { return None };
    let (_, id) = rewrite.event.iter().find(|(name, _)| *name == "id")?;
    let one = at_most(&rule.trigger).is_some_and(|(_, points)| points == 1) || rule.selector.index.len() == 1;
    let id = id.as_ref().filter(|_| !one)?;
    let what = format!("each event gets the id {id:?}, and a resume goes on behind the last of them");
    Some((None, what, "say which event is meant, such as index = 1 or times = 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_an_answers_and_written_out() {
        for (json, id) in [
            (r#"{"id":7,"result":{}}"#, Some("7")),
            (r#"[{"method":"x"},{"id":"a","error":{}}]"#, Some("\"a\"")),
            (r#"{"id":"${owner.id}","result":{}}"#, None),
            (r#"{"id":null,"error":{}}"#, None),
            (r#"{"id":7,"method":"ping"}"#, None),
            (r#"{"id":7}"#, None),
        ] {
            assert_eq!(fixed_id(&serde_json::from_str(json).unwrap()).as_deref(), id, "{json}");
        }
    }
}
