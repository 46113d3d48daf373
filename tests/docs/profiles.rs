//! docs/profiles.md, as the built-in profiles have it.

use std::fmt::Write as _;

use mishap::engine::language::expected::sentence;
use mishap::profile::builtin::{self, Builtin};
use mishap::profile::{Source, Use, Var, load};

use crate::tests::drift;

const OPENING: &str = "# The profiles that come with it

Made of the files in `profiles/`, which `mishap profiles NAME` prints. `-p NAME` uses one, `-p NAME,variable=value` sets a variable; what
follows the name is read as a TOML inline table, so a list or a table needs quotes round it all: `-p 'NAME,when={ idle = \"5s\" }'`.
[writing-profiles.md](writing-profiles.md) teaches to write one, [language.md](language.md) is the whole language, [catalogue.md](catalogue.md) says which profile reproduces which report.

Every run says whether the fault happened: a rule without an effect ends it with exit 4.
";

fn made() -> String {
    let mut text = OPENING.to_owned();
    for (title, profiles) in builtin::grouped() {
        let _ = write!(text, "\n## {title}\n");
        for (profile, source) in profiles {
            entry(&mut text, profile, &source);
        }
    }
    text
}

fn entry(text: &mut String, profile: &Builtin, source: &Source) {
    let [provokes, against, symptom] = profile.opening();
    let _ = write!(text, "\n### {}\n\n{}.\n\n", profile.name, source.summary);
    let _ = writeln!(text, "- provokes: {provokes}\n- against: {against}\n- symptom: {symptom}");
    let link = |report: &String| {
        let (repository, number) = report.split_once('#').expect("owner/repository#number");
        format!("[{report}](https://github.com/{repository}/issues/{number})")
    };
    let reports: Vec<String> = source.provokes.iter().map(link).collect();
    if !reports.is_empty() {
        let _ = writeln!(text, "- reports: {}", reports.join(", "));
    }
    if !source.era.is_empty() {
        let _ = writeln!(text, "- era: {}", source.era.join(", "));
    }
    let loaded = load(&[Use::plain(profile.name)]).expect("a built-in profile loads");
    for expectation in &loaded.expectations {
        let name = expectation.name.rsplit('/').next().unwrap_or_default();
        let _ = writeln!(text, "- expects `{name}`: {}", sentence(expectation).replace('|', "\\|"));
    }
    if !source.vars.is_empty() {
        text.push_str("\n| variable | default | means |\n|---|---|---|\n");
        source.vars.iter().for_each(|var| row(text, var));
    }
}

fn row(text: &mut String, var: &Var) {
    let choices: Vec<String> = var.choices.iter().map(|choice| format!("`{choice}`")).collect();
    let choices = if choices.is_empty() { String::new() } else { format!("; one of {}", choices.join(", ")) };
    let _ = writeln!(text, "| `{}` | `{}` | {}{choices} |", var.name, var.value, var.doc.replace('|', "\\|"));
}

/// `MISHAP_WRITE_DOCS=1 cargo test --test docs` writes it.
#[test]
fn the_page_of_profiles_is_what_their_files_say() {
    drift("docs/profiles.md", &made());
}

#[test]
fn every_profile_belongs_to_a_group_and_cites_its_reports_as_they_are_linked() {
    let listed: usize = builtin::grouped().iter().map(|(_, profiles)| profiles.len()).sum();
    assert_eq!(listed, builtin::all().len(), "a profile's group has no heading");
    for (profile, source) in builtin::grouped().into_iter().flat_map(|(_, profiles)| profiles) {
        for report in &source.provokes {
            let (repository, number) = report.split_once('#').unwrap_or_default();
            let right = repository.split('/').count() == 2 && number.parse::<u32>().is_ok();
            assert!(right, "{}: {report:?} is not owner/repository#number", profile.name);
        }
        let control = source.group == "control";
        assert!(control || !source.provokes.is_empty(), "{} cites no report", profile.name);
    }
}
