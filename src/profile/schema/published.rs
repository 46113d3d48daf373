//! The JSON Schema of profile files, made of the tables by which the loader reads.
//!
//! It says which keys there are and what each value may be. What two keys mean together only the loader says
//! (`mishap check`). The one rule it keeps: what the loader accepts is valid, so a variable may stand for any value.

use serde_json::{Map, Value, json};

use super::{
    Asked, COUNTED, EXPECT, FAULTS, FILE, FIRED, FaultTable, Field, GATHERED, Kind, MESSAGE, Need, OPENED, OWNER, RULE,
    SEEN, SELECTOR, VARIABLE, WAIT,
};
use crate::profile::tree::parse_value;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
const DURATION: &str = r"^[0-9]+(\.[0-9]+)? *(us|ms|s|m|h)$";
const SIZE: &str = r"^[0-9]+(\.[0-9]+)? *(B|KiB|MiB)$";
const RATE: &str = r"^[0-9]+(\.[0-9]+)? *(B|KiB|MiB)/s$";
const COUNT: &str = r"^(>=|<=|>|<) *[0-9]+$";
const SHARE: &str = r"^[0-9]+(\.[0-9]+)? *%$";
const STATUS: &str = "^!?[1-9][0-9x]{2}$";
const POINTER: &str = "^(/([^~]|~[01])*)?$";

/// The schema, in the draft of 2020-12.
#[must_use]
pub fn json_schema() -> Value {
    let mut file = object(&[&FILE]);
    let list = |of: &str| json!({ "type": "array", "items": { "$ref": format!("#/$defs/{of}") } });
    let variables = json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/variable" } });
    for (key, of) in [("vars", variables), ("rule", list("rule")), ("expect", list("expectation"))] {
        described(&mut file["properties"][key], of);
    }
    let mut schema = json!({ "$schema": DRAFT, "title": "A profile of mishap" });
    merge(&mut schema, file);
    schema["$defs"] = definitions();
    schema
}

fn definitions() -> Value {
    let mut expectation = object(&[&EXPECT]);
    expectation["anyOf"] = json!([{ "required": ["match"] }, { "required": ["that"] }]);
    json!({
        "filled": { "description": "the value of a variable: \"${NAME}\"", "type": "string", "pattern": r"\$\{[^}]+\}" },
        "variable": object(&[&VARIABLE]),
        "rule": rule(),
        "expectation": expectation,
        "selector": with_point(object(&[&SELECTOR])),
        "owner": object(&[&OWNER]),
        "message": object(&[&MESSAGE]),
        "switch": condition("switch", Asked::Switch),
        "condition": condition("condition", Asked::Unit),
        "counted": with_point(object(&[&SELECTOR, &COUNTED])),
        "opening": opening(),
    })
}

/// A rule: its own keys and one fault.
fn rule() -> Value {
    let mut rule = object(&[&RULE]);
    for table in FAULTS {
        rule["properties"][table.name] = fault(table);
    }
    rule["oneOf"] = FAULTS.iter().map(|table| json!({ "required": [table.name] })).collect();
    rule
}

/// A fault: its main parameter, a table, or `true` where nothing must be said.
fn fault(table: &FaultTable) -> Value {
    let bare = table.params.iter().all(|field| !matches!(field.need, Need::Required));
    let main = table.params.first().filter(|field| table.main == Some(field.key));
    let mut forms: Vec<Value> = bare.then(|| json!({ "const": true })).into_iter().collect();
    forms.extend(main.map(|field| value(&field.kind)));
    forms.push(object(&[table.params]));
    forms.push(json!({ "$ref": "#/$defs/filled" }));
    json!({ "description": table.doc, "anyOf": forms })
}

/// A condition, in the forms that have a meaning there; `name` is its own.
fn condition(name: &str, asked: Asked) -> Value {
    let words: &[&str] = if asked == Asked::Unit { &["never", "end"] } else { &["never"] };
    let itself = json!({ "$ref": format!("#/$defs/{name}") });
    let mut wait = object(&[&WAIT]);
    wait["minProperties"] = json!(1);
    let mut forms = vec![
        json!({ "enum": words }),
        pattern(DURATION),
        json!({ "type": "array", "minItems": 1, "items": itself }),
        with_point(object(&[&SELECTOR, &SEEN])),
        object(&[&FIRED]),
        wait,
    ];
    if asked == Asked::Unit {
        forms.push(object(&[&GATHERED]));
    }
    filled(json!({ "anyOf": forms }))
}

/// What an expectation begins with.
fn opening() -> Value {
    let mut time = object(&[&WAIT[..1]]);
    time["required"] = json!(["plus"]);
    let itself = json!({ "$ref": "#/$defs/opening" });
    filled(json!({ "anyOf": [
        pattern(DURATION),
        json!({ "type": "array", "minItems": 1, "items": itself }),
        with_point(object(&[&SELECTOR, &OPENED])),
        object(&[&FIRED]),
        time,
    ] }))
}

/// A selector names its point, or has a field that only a block has.
fn with_point(mut selector: Value) -> Value {
    selector["anyOf"] =
        ["at", "message", "block", "index", "event-id"].iter().map(|key| json!({ "required": [key] })).collect();
    selector
}

/// A table with these keys and no other.
fn object(groups: &[&[Field]]) -> Value {
    let fields = || groups.iter().copied().flatten();
    let property = |field: &Field| {
        let mut value = filled(value(&field.kind));
        value["description"] = json!(field.doc);
        if let Need::Default(text) = field.need {
            value["default"] = parse_value(text).expect("a default of the schema is TOML").to_json();
        }
        (field.key.to_owned(), value)
    };
    let required: Vec<&str> =
        fields().filter(|field| matches!(field.need, Need::Required)).map(|field| field.key).collect();
    let mut table = json!({ "type": "object", "additionalProperties": false });
    table["properties"] = Value::Object(fields().map(property).collect());
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

/// What the loader reads as this kind.
fn value(kind: &Kind) -> Value {
    let refer = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    match kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Version => json!({ "const": 1 }),
        Kind::Int(from, i64::MAX) => json!({ "type": "integer", "minimum": from }),
        Kind::Int(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        Kind::Ordinals => json!({ "anyOf": [one_or_list(&ordinal()), { "const": "all" }] }),
        Kind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Text | Kind::File => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Words(words) => json!({ "type": "array", "items": { "enum": words } }),
        Kind::Duration => pattern(DURATION),
        Kind::Time => json!({ "anyOf": [pattern(DURATION), drawn("min", "max"), drawn("mean", "jitter")] }),
        Kind::Size => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, pattern(SIZE)] }),
        Kind::Rate => pattern(RATE),
        Kind::Count => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, pattern(COUNT)] }),
        Kind::Glob | Kind::Method | Kind::WordGlob(_) => one_or_list(&json!({ "type": "string" })),
        Kind::Code => one_or_list(&json!({ "type": ["string", "number"] })),
        Kind::Status => {
            one_or_list(&json!({ "anyOf": [{ "type": "integer", "minimum": 100, "maximum": 999 }, pattern(STATUS)] }))
        }
        Kind::Id => json!({ "type": ["string", "integer"] }),
        Kind::Pointers => pointers(&one_or_list(&json!({ "type": ["string", "number", "boolean"] }))),
        Kind::HeaderGlobs => table_of(&one_or_list(&json!({ "type": ["string", "boolean"] }))),
        Kind::Presence => one_or_list(&json!({ "type": ["string", "boolean"] })),
        Kind::Session => {
            one_or_list(&json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "enum": ["none", "ended"] }] }))
        }
        Kind::Owner => refer("owner"),
        Kind::Message => json!({ "anyOf": [one_or_list(&json!({ "type": "string" })), refer("message")] }),
        Kind::Offset => json!({ "anyOf": [{ "type": "integer" }, pattern(SHARE)] }),
        Kind::Selector => refer("selector"),
        Kind::Condition(Asked::Switch) => refer("switch"),
        Kind::Condition(Asked::Unit) => refer("condition"),
        Kind::Openings => refer("opening"),
        Kind::Expected => {
            json!({ "anyOf": [{ "const": "exit" }, one_or_list(&refer("counted")), object(&[&FIRED[..1]])] })
        }
        Kind::Order => json!({ "anyOf": [{ "enum": ["reverse", "swap", "shuffle"] }, one_or_list(&ordinal())] }),
        Kind::Target => json!({ "anyOf": [{ "enum": ["get", "post", "resume"] }, object(&[&SELECTOR])] }),
        Kind::Json => json!({}),
        Kind::Values => json!({ "type": "object" }),
        Kind::Set => pointers(&json!({})),
        Kind::PointerList => json!({ "type": "array", "items": pattern(POINTER) }),
        Kind::Headers => table_of(&json!({ "anyOf": [{ "type": ["string", "integer"] }, { "const": false }] })),
        Kind::Table(fields) => object(&[fields]),
        Kind::List(each) => json!({ "type": "array", "items": filled(value(each)) }),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(value).collect::<Vec<_>>() }),
    }
}

fn ordinal() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn pattern(text: &str) -> Value {
    json!({ "type": "string", "pattern": text })
}

fn one_or_list(of: &Value) -> Value {
    json!({ "anyOf": [of, { "type": "array", "items": filled(of.clone()) }] })
}

fn table_of(of: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": filled(of.clone()) })
}

fn pointers(of: &Value) -> Value {
    json!({ "type": "object", "propertyNames": pattern(POINTER), "additionalProperties": filled(of.clone()) })
}

fn drawn(from: &str, to: &str) -> Value {
    let both = json!({ from: filled(pattern(DURATION)), to: filled(pattern(DURATION)) });
    json!({ "type": "object", "properties": both, "required": [from, to], "additionalProperties": false })
}

/// The value, or the value of a variable.
fn filled(value: Value) -> Value {
    let takes_any_text = value == json!({}) || value == json!({ "type": "string" });
    if takes_any_text { value } else { json!({ "anyOf": [value, { "$ref": "#/$defs/filled" }] }) }
}

/// Puts another value in the place of one, whose description stays.
fn described(place: &mut Value, mut value: Value) {
    value["description"] = place["description"].take();
    *place = value;
}

fn merge(into: &mut Value, from: Value) {
    let from: Map<String, Value> = serde_json::from_value(from).unwrap_or_default();
    for (key, value) in from {
        into[&*key] = value;
    }
}
