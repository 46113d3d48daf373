//! A journal with every kind of line, as data; and the schema that says what that is.

use std::borrow::Cow;

use boon::{Compiler, Schemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::*;
use crate::engine::record::{Entry, NoteEntry};
use crate::engine::rpc::Id;
use crate::journal::tests::{entries, header, verdict};

impl JsonSchema for Id {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "description": "A JSON-RPC id as on the wire: 1 is not \"1\"." })
    }
}

/// docs/report.schema.json, made of the types.
pub(crate) fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Report<'_>>();
    schema.insert("title".to_owned(), "What mishap report --format json writes".into());
    format!("{:#}\n", schema.as_value())
}

/// What is wrong with a report; nothing, if it is valid.
fn problem(report: &Value) -> Option<String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let schema = serde_json::from_str(&schema()).expect("it is JSON");
    compiler.add_resource("report.schema.json", schema).expect("it is a schema");
    let index = compiler.compile("report.schema.json", &mut schemas).expect("it is a schema");
    schemas.validate(report, index).err().map(|error| format!("{error:#}"))
}

fn whole() -> Vec<Line> {
    let mut lines = vec![Line::Run(header())];
    lines.extend(entries().into_iter().map(Line::from));
    lines.push(Line::Verdict(verdict()));
    lines.push(Line::Closed(Footer { written: 5, dropped: 0 }));
    lines
}

fn read(lines: &[Line]) -> Value {
    serde_json::from_str(&report(lines)).expect("it is JSON")
}

#[test]
fn a_report_is_what_its_schema_says() {
    assert_eq!(problem(&read(&whole())), None);
    assert_eq!(problem(&read(&[])), None, "of a journal without anything");
}

// A schema that takes everything would pass the test above.
#[test]
fn what_is_no_report_is_not_valid() {
    for (pointer, wrong) in [("/report", "1".into()), ("/events/0/proxy", 7.into()), ("/points/0/fate", "lost".into())]
    {
        let mut report = read(&whole());
        *report.pointer_mut(pointer).expect("it is there") = wrong;
        assert!(problem(&report).is_some(), "{pointer}");
    }
}

#[test]
fn an_event_names_its_stream_and_its_point_by_their_places() {
    let note = Line::from(Entry::Note(NoteEntry { seq: 1, at: 5, text: "hm".to_owned() }));
    let report = read(&[whole(), vec![note]].concat());
    let named = report["events"].as_array().into_iter().flatten().filter(|event| event["stream"].is_u64());
    let named: Vec<_> = named.collect();
    assert!(!named.is_empty(), "{report}");
    for event in named {
        let stream = event["stream"].as_u64().and_then(|place| usize::try_from(place).ok()).expect("it is a place");
        assert!(report["streams"][stream]["key"].is_string(), "{event}");
        assert!(report["points"].as_array().into_iter().flatten().any(|point| point["seq"] == event["point"]));
    }
    assert_eq!(report["events"][0], serde_json::json!({ "seq": 1, "at": 5, "proxy": "passed", "text": "note: hm" }));
}
