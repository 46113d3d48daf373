//! One JSON-RPC message changed: its id, its answer, values at pointers. It knows no rule and no exchange.
//!
//! The one rule it keeps: what is not meant keeps its place and its text.

use serde_json::{Map, Value};

use super::{NewId, Reply, Rewrite};
use crate::engine::rpc::tokens;

impl Rewrite {
    /// Whether it changes messages, beside what carries them.
    pub(super) fn changes_messages(&self) -> bool {
        let Self { set, remove, id, reply, .. } = self;
        !set.is_empty() || !remove.is_empty() || id.is_some() || reply.is_some()
    }

    /// Changes a message: its answer first, then values, then its id. `fill` puts the names of the run into what is written.
    pub(super) fn change(&self, message: &mut Value, fill: &dyn Fn(&Value) -> Value) {
        if let Some(reply) = &self.reply {
            answer_otherwise(message, reply, fill);
        }
        for (pointer, template) in &self.set {
            set(message, pointer, fill(template));
        }
        for pointer in &self.remove {
            remove(message, pointer);
        }
        if let Some(id) = &self.id {
            change_id(message, id, fill);
        }
    }
}

/// An answer becomes an error, or a result; what answers nothing stays.
fn answer_otherwise(message: &mut Value, reply: &Reply, fill: &dyn Fn(&Value) -> Value) {
    let Value::Object(members) = message else { return };
    if members.contains_key("method") || !(members.contains_key("result") || members.contains_key("error")) {
        return;
    }
    let mut other = Some(match reply {
        Reply::Result(result) => ("result", fill(result)),
        Reply::Error(code, text) => {
            ("error", serde_json::json!({ "code": code, "message": fill(&Value::from(text.as_str())) }))
        }
    });
    let mut made = Map::new();
    for (name, value) in std::mem::take(members) {
        if name != "result" && name != "error" {
            made.insert(name, value);
        } else if let Some((name, value)) = other.take() {
            made.insert(name.to_owned(), value);
        }
    }
    *members = made;
}

/// A request or an answer gets another id; a notification has none.
fn change_id(message: &mut Value, id: &NewId, fill: &dyn Fn(&Value) -> Value) {
    let Value::Object(members) = message else { return };
    let now = members.get("id");
    if members.contains_key("method") && now.is_none_or(Value::is_null) {
        return;
    }
    let other = match (id, now) {
        (NewId::Text, Some(Value::Number(number))) => Value::String(number.to_string()),
        (NewId::Number, Some(Value::String(text))) => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => return,
        },
        (NewId::Value(value), _) => fill(value),
        (NewId::Text | NewId::Number, _) => return,
    };
    members.insert("id".to_owned(), other);
}

/// Puts a value at a JSON pointer; objects that are missing on the way are made, arrays are not made longer.
fn set(root: &mut Value, pointer: &str, value: Value) {
    let mut place = root;
    for token in tokens(pointer) {
        if let Value::Array(elements) = place {
            let Some(element) = token.parse::<usize>().ok().and_then(|index| elements.get_mut(index)) else { return };
            place = element;
            continue;
        }
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(members) = place else { return };
        place = members.entry(token).or_insert(Value::Null);
    }
    *place = value;
}

/// Takes away what is at a JSON pointer; what is not there is not missed.
fn remove(root: &mut Value, pointer: &str) {
    let Some((parent, _)) = pointer.rsplit_once('/') else { return };
    let Some(token) = tokens(pointer).last() else { return };
    match root.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.shift_remove(&token)),
        Some(Value::Array(elements)) => {
            if let Some(index) = token.parse().ok().filter(|index: &usize| *index < elements.len()) {
                elements.remove(index);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(rewrite: &Rewrite, json: &str) -> String {
        let mut message: Value = serde_json::from_str(json).unwrap();
        rewrite.change(&mut message, &Clone::clone);
        message.to_string()
    }

    #[test]
    fn a_pointer_makes_the_objects_on_its_way_and_keeps_the_rest() {
        let mut message: Value = serde_json::from_str(r#"{"b":1.50,"params":{"x":[1,2]}}"#).unwrap();
        set(&mut message, "/params/_meta/mishap~1owner", Value::from(7));
        set(&mut message, "/params/x/1", Value::from("two"));
        set(&mut message, "/params/x/9", Value::from("not there"));
        assert_eq!(message.to_string(), r#"{"b":1.50,"params":{"x":[1,"two"],"_meta":{"mishap/owner":7}}}"#);
    }

    #[test]
    fn what_is_removed_leaves_the_order_of_the_rest() {
        let remove = ["/params/a", "/params/list/0", "/nothing/here", "/params/list/7"].map(str::to_owned).to_vec();
        let rewrite = Rewrite { remove, ..Rewrite::default() };
        let json = r#"{"params":{"a":1,"b":2.0,"list":[1,2]},"z":3}"#;
        assert_eq!(changed(&rewrite, json), r#"{"params":{"b":2.0,"list":[2]},"z":3}"#);
    }

    #[test]
    fn an_answer_becomes_an_error_or_a_result_in_its_place() {
        let error = Rewrite { reply: Some(Reply::Error(-32000, "no".into())), ..Rewrite::default() };
        let json = r#"{"jsonrpc":"2.0","result":{"a":1},"id":7}"#;
        assert_eq!(changed(&error, json), r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":7}"#);
        let result = Rewrite { reply: Some(Reply::Result(serde_json::json!({}))), ..Rewrite::default() };
        let json = r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"},"id":7}"#;
        assert_eq!(changed(&result, json), r#"{"jsonrpc":"2.0","result":{},"id":7}"#);
        for other in [r#"{"method":"ping","id":1}"#, r#"{"method":"x","params":{}}"#] {
            assert_eq!(changed(&error, other), other);
        }
    }

    #[test]
    fn an_id_changes_its_type_where_it_can() {
        let id = |id| Rewrite { id: Some(id), ..Rewrite::default() };
        for (new, was, is) in [
            (NewId::Text, "7", r#""7""#),
            (NewId::Text, r#""a""#, r#""a""#),
            (NewId::Number, r#""7""#, "7"),
            (NewId::Number, r#""a""#, r#""a""#),
            (NewId::Number, r#""true""#, r#""true""#),
            (NewId::Value(Value::Null), "7", "null"),
            (NewId::Value(Value::from("z")), "7", r#""z""#),
        ] {
            let (was, is) = [was, is].map(|id| format!(r#"{{"id":{id},"result":{{}}}}"#)).into();
            assert_eq!(changed(&id(new), &was), is);
        }
        let notification = r#"{"method":"notifications/x"}"#;
        assert_eq!(changed(&id(NewId::Value(Value::from(1))), notification), notification);
    }
}
