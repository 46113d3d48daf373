//! docs/profile.schema.json, and that profiles and it agree: what the loader takes is valid, and what is no profile is not.

use boon::{Compiler, SchemaIndex, Schemas};
use mishap::profile::builtin;
use mishap::profile::schema::json_schema;
use serde_json::{Value, json};

use crate::tests::{PAGES, drift, page, path, shown};

/// `MISHAP_WRITE_DOCS=1 cargo test --test docs` writes it.
#[test]
fn the_published_schema_is_what_the_program_prints() {
    drift("docs/profile.schema.json", &format!("{:#}\n", json_schema()));
}

struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("profile.schema.json", json_schema()).expect("it is a schema");
        let index = compiler.compile("profile.schema.json", &mut schemas).expect("it is a schema");
        Self { schemas, index }
    }

    /// What is wrong with a profile; nothing, if it is valid.
    fn problem(&self, profile: &Value) -> Option<String> {
        self.schemas.validate(profile, self.index).err().map(|error| format!("{error:#}"))
    }
}

fn toml(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn files(folder: &str) -> Vec<(String, String)> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("it can be read").path();
        let toml = path.extension().is_some_and(|extension| extension == "toml");
        toml.then(|| (path.display().to_string(), std::fs::read_to_string(&path).expect("it can be read")))
    };
    std::fs::read_dir(path(folder)).expect("the folder is there").filter_map(read).collect()
}

#[test]
fn every_profile_that_comes_with_it_or_is_shown_is_valid() {
    let schema = Schema::new();
    let mut all: Vec<(String, String)> =
        builtin::all().iter().map(|profile| (profile.name.to_owned(), profile.text.to_owned())).collect();
    for name in PAGES {
        all.extend(shown(&page(name)).map(|text| (name.to_owned(), text.to_owned())));
    }
    all.extend(files("tests/sdk/profiles"));
    assert!(all.len() > 12, "the test looks in the wrong place");
    for (name, text) in all {
        assert_eq!(schema.problem(&toml(&text)), None, "{name}:\n{text}");
    }
}

#[test]
fn the_rules_of_the_catalogue_are_valid() {
    let schema = Schema::new();
    let mut count = 0;
    for (name, text) in files("tests/catalogue") {
        let section = toml(&text);
        let cases = section["row"].as_array().into_iter().flatten().filter_map(|row| row["case"].as_array()).flatten();
        for rules in cases.filter_map(|case| case["rules"].as_str()) {
            let profile = toml(&format!("version = 1\n{rules}"));
            assert_eq!(schema.problem(&profile), None, "{name}:\n{rules}");
            count += 1;
        }
    }
    assert!(count > 20, "only {count}: the test looks in the wrong place");
}

/// A schema that takes everything would pass all of the above.
#[test]
fn what_is_no_profile_is_not_valid() {
    let schema = Schema::new();
    let rule = json!({ "name": "it", "match": { "at": "request" }, "delay": "1s" });
    let with = |key: &str, value: Value| {
        let mut rule = rule.clone();
        rule[key] = value;
        json!({ "version": 1, "rule": [rule] })
    };
    assert_eq!(schema.problem(&with("nth", json!([1, 2]))), None);
    assert_eq!(schema.problem(&with("delay", json!({ "time": "${time}" }))), None);
    assert_eq!(schema.problem(&with("until", json!([{ "fired": "it", "plus": "1s" }, "5s"]))), None);
    let wrong = [
        with("nht", json!(1)),
        with("nth", json!(0)),
        with("scope", json!("planet")),
        with("cut", json!("reset")),
        with("delay", json!(300)),
        with("delay", json!({ "tiem": "1s" })),
        with("delay", json!({ "overtake": true })),
        with("match", json!({})),
        with("match", json!({ "at": "haed" })),
        with("match", json!({ "at": "request", "stauts": 404 })),
        with("until", json!("end")),
        with("until", json!({ "at": "request", "nexth": 2 })),
        json!({ "version": 2 }),
        json!({ "rule": [] }),
        json!({ "version": 1, "rules": [] }),
        json!({ "version": 1, "rule": [{ "name": "it", "match": { "at": "request" } }] }),
        json!({ "version": 1, "vars": { "time": "1s" } }),
        json!({ "version": 1, "expect": [{ "name": "nothing" }] }),
    ];
    for profile in wrong {
        assert!(schema.problem(&profile).is_some(), "{profile:#}");
    }
}
