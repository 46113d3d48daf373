//! From the words to the runs: profiles times seeds times repetitions, each with the words of a run by itself.
//!
//! The one rule: no two runs write the same file.

use std::io;
use std::path::{Path, PathBuf};

use crate::cli::RunArgs;
use crate::command::Exit;
use crate::engine::selector::Glob;
use crate::profile::Use;
use crate::profile::builtin::{self, GROUPS};

/// More than anyone waits for; each keeps its verdict to the end.
const MOST: u64 = 10_000;
/// How much of a title is in a file's name.
const SLUG: usize = 60;

/// A run that is to be done.
#[derive(Debug)]
pub(super) struct Asked {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its profiles as they were given.
    pub(super) name: String,
    /// The name, and what tells it from others of that name.
    pub(super) title: String,
    /// The words of this run by itself.
    pub(super) args: RunArgs,
}

/// All runs, in order: by profile, by seed, by repetition.
pub(super) fn rows(args: &RunArgs) -> Result<Vec<Asked>, Exit> {
    let profiles = profiles(args)?;
    let repeat = args.many.repeat.unwrap_or(1);
    let span = args.many.seeds.as_ref().map_or(0, |seeds| seeds.0.end() - seeds.0.start());
    let number = u64::try_from(profiles.len()).unwrap_or(u64::MAX);
    let number = number.saturating_mul(span.saturating_add(1)).saturating_mul(u64::from(repeat));
    if number > MOST {
        return Err(Exit::because(2, format!("that is {number} runs; at most {MOST} at once")));
    }
    let seeds: Vec<Option<u64>> = match &args.many.seeds {
        Some(seeds) => seeds.0.clone().map(Some).collect(),
        None => vec![args.seed],
    };
    let mut rows = Vec::new();
    for profile in &profiles {
        for seed in &seeds {
            for time in 1..=repeat {
                rows.push(asked(args, profile.as_deref(), *seed, (repeat > 1).then_some(time)));
            }
        }
    }
    number_them(&mut rows);
    Ok(rows)
}

fn asked(args: &RunArgs, profile: Option<&str>, seed: Option<u64>, time: Option<u32>) -> Asked {
    let mut args = args.clone();
    let name = profile.map_or_else(
        || if args.profiles.is_empty() { "no profile".to_owned() } else { args.profiles.join(" + ") },
        str::to_owned,
    );
    args.profiles.extend(profile.map(str::to_owned));
    args.seed = seed;
    let chosen = args.many.seeds.as_ref().and(seed).map(|seed| format!(" seed {seed}"));
    let title =
        name.clone() + &chosen.unwrap_or_default() + &time.map(|time| format!(" run {time}")).unwrap_or_default();
    Asked { number: 0, name, title, args }
}

/// Numbers the runs, and gives each its own files if there are several.
fn number_them(rows: &mut [Asked]) {
    let digits = rows.len().to_string().len();
    let several = rows.len() > 1;
    for (index, row) in rows.iter_mut().enumerate() {
        row.number = index + 1;
        if several {
            let mark = format!("{:0digits$}-{}", row.number, slug(&row.title));
            for path in written(&mut row.args) {
                *path = own(path, &mark);
            }
        }
    }
}

/// The files that a run writes, which are not those of all together (`--verdict`, `--junit`).
fn written(args: &mut RunArgs) -> impl Iterator<Item = &mut PathBuf> {
    let reports = args.report.iter_mut().map(|report| &mut report.path);
    [&mut args.journal, &mut args.url_file, &mut args.ready_file].into_iter().flatten().chain(reports)
}

/// A path with a mark before its extension: `run.ndjson` becomes `run.07-late.ndjson`.
fn own(path: &Path, mark: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|text| format!(".{}", text.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}.{mark}{extension}"))
}

/// A title as a part of a file's name.
fn slug(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let words: Vec<String> =
        title.split(|c| plain(c) == '-').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let slug: String = words.join("-").chars().take(SLUG).collect();
    slug.trim_end_matches('-').to_owned()
}

// === Profiles ===

/// What `--matrix` names, each once; nothing and no `--matrix`: one run with the profiles of `-p` alone.
fn profiles(args: &RunArgs) -> Result<Vec<Option<String>>, Exit> {
    if args.many.matrix.is_empty() {
        return Ok(vec![None]);
    }
    // An unset variable in a script must not become a run of nothing, which would be green.
    if args.many.matrix.iter().any(|text| text.split(',').all(|part| part.trim().is_empty())) {
        return Err(Exit::because(2, "--matrix names no profile; write a name, a group or a file, or leave it out"));
    }
    let mut found: Vec<Option<String>> = Vec::new();
    for item in args.many.matrix.iter().flat_map(|text| Use::several(text)) {
        let (pattern, values) = item.split_at(item.find(',').unwrap_or(item.len()));
        for name in named(pattern)? {
            let text = Some(name + values);
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    Ok(found)
}

/// The profiles of this pattern: files, or built-in ones.
fn named(pattern: &str) -> Result<Vec<String>, Exit> {
    let is_path = pattern.starts_with(['.', '/']) || [".toml", ".json"].iter().any(|end| pattern.ends_with(end));
    let names = if is_path { files(Path::new(pattern)) } else { Ok(built_in(pattern)) };
    match names {
        Ok(names) if !names.is_empty() => Ok(names),
        Ok(_) if is_path => Err(Exit::because(2, format!("--matrix: no file is like \"{pattern}\""))),
        Ok(_) => {
            let groups: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
            let advice = format!("write a name, a group ({}), or files as ./FILE.toml", groups.join(", "));
            Err(Exit::because(2, format!("--matrix: no profile is like \"{pattern}\"; {advice}")))
        }
        Err(error) => Err(Exit::because(2, format!("--matrix {pattern}: {error}"))),
    }
}

fn built_in(pattern: &str) -> Vec<String> {
    let like = Glob { any: vec![pattern.to_owned()], none: Vec::new() };
    let meant = |name: &str, group: &str| like.matches_one_of(&[name, group, &format!("{group}/{name}")]);
    let all = builtin::grouped().into_iter().flat_map(|(_, profiles)| profiles);
    all.filter(|(profile, source)| meant(profile.name, &source.group))
        .map(|(profile, _)| profile.name.to_owned())
        .collect()
}

/// The files of a pattern whose last part may hold `*` and `?`, in order.
fn files(pattern: &Path) -> io::Result<Vec<String>> {
    let last = pattern.file_name().unwrap_or_default().to_string_lossy();
    if !last.contains(['*', '?']) {
        return Ok(vec![pattern.to_string_lossy().into_owned()]);
    }
    let like = Glob { any: vec![last.into_owned()], none: Vec::new() };
    let folder = pattern.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if like.matches(&name.to_string_lossy()) {
            found.push(folder.join(name).to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::{Cli, Command};

    fn asked_for(words: &[&str]) -> Result<Vec<Asked>, Exit> {
        let all = ["mishap", "run", "-u", "http://h:1/"].iter().chain(words).chain(&["--", "true"]);
        let cli = Cli::try_parse_from(all).expect("the words are right");
        let Command::Run(args) = cli.command else { panic!("not a run") };
        rows(&args)
    }

    fn titles(words: &[&str]) -> Vec<String> {
        asked_for(words).expect("there are such").into_iter().map(|row| row.title).collect()
    }

    fn why(words: &[&str]) -> String {
        asked_for(words).expect_err("there are none").why.unwrap_or_default()
    }

    #[test]
    fn profiles_seeds_and_repetitions_are_multiplied() {
        assert_eq!(titles(&["-p", "transparent", "--repeat", "2"]), ["transparent run 1", "transparent run 2"]);
        assert_eq!(titles(&["--seeds", "4..5"]), ["no profile seed 4", "no profile seed 5"]);
        let all = asked_for(&["--matrix", "control", "--seeds", "1..2", "--repeat", "2"]).expect("there are such");
        assert_eq!(all.len(), 8);
        let last = &all[7];
        assert_eq!((last.number, &*last.title), (8, "transparent seed 2 run 2"));
        assert_eq!((last.args.seed, &*last.args.profiles), (Some(2), &["transparent".to_owned()][..]));
        assert!(why(&["--seeds", "0..18446744073709551615"]).starts_with("that is 18446744073709551615 runs; at most"));
    }

    #[test]
    fn a_pattern_is_a_name_a_group_or_either_with_stars_and_keeps_its_values() {
        assert_eq!(titles(&["--matrix", "get-opens-late"]), ["get-opens-late"]);
        assert_eq!(titles(&["--matrix", "control"]), titles(&["--matrix", "control/*"]));
        assert_eq!(
            titles(&["--matrix", "get-opens-*,control/trans*"]),
            ["get-opens-late", "get-opens-then-ends", "get-opens-first", "transparent"]
        );
        assert_eq!(titles(&["--matrix", "transparent", "--matrix", "control"]), ["transparent", "get-opens-first"]);
        assert_eq!(
            titles(&["--matrix", "post-stream-lost,ending=fin,where=inside,post-stream-lost"]),
            ["post-stream-lost,ending=fin,where=inside", "post-stream-lost"]
        );
        let base = asked_for(&["-p", "owner-marked", "--matrix", "transparent"]).expect("there are such");
        assert_eq!((&*base[0].name, base[0].args.profiles.len()), ("transparent", 2));
        for empty in ["", " ", ","] {
            assert!(why(&["--matrix", empty]).starts_with("--matrix names no profile; write"), "{empty:?}");
        }
        let none = why(&["--matrix", "client/*"]);
        assert!(
            none.starts_with("--matrix: no profile is like \"client/*\"; write a name, a group (answer, resume,"),
            "{none}"
        );
    }

    #[test]
    fn files_are_taken_by_name_or_by_stars_in_their_own() {
        assert_eq!(titles(&["--matrix", "mine.toml,./b.toml,n=1"]), ["mine.toml", "./b.toml,n=1"]);
        assert_eq!(
            titles(&["--matrix", "./profiles/get-opens-*.toml"]),
            ["get-opens-first", "get-opens-late", "get-opens-then-ends"].map(|name| format!("./profiles/{name}.toml"))
        );
        assert_eq!(why(&["--matrix", "./profiles/*.none"]), "--matrix: no file is like \"./profiles/*.none\"");
    }

    #[test]
    fn each_of_several_runs_has_its_own_journal() {
        let journals = |words: &[&str]| -> Vec<String> {
            let words = [words, &["--journal", "out/run.ndjson"]].concat();
            let rows = asked_for(&words).expect("there are such").into_iter();
            rows.filter_map(|row| Some(row.args.journal?.to_string_lossy().into_owned())).collect()
        };
        assert_eq!(journals(&["--matrix", "transparent"]), ["out/run.ndjson"]);
        let ten = journals(&["-p", "./a b/c.toml", "--repeat", "10"]);
        assert_eq!((&*ten[0], &*ten[9]), ("out/run.01-a-b-c-toml-run-1.ndjson", "out/run.10-a-b-c-toml-run-10.ndjson"));
        assert_eq!(own(Path::new("journal"), "1-x"), Path::new("journal.1-x"));
        assert!(slug(&"long ".repeat(50)).len() <= SLUG);
    }

    /// An option that comes new must be in `written`, or be one of all runs together.
    #[test]
    fn every_option_that_names_a_file_is_one_of_each_run_or_of_all() {
        let (of_each, of_all) = (["journal", "url_file", "ready_file", "report"], ["junit", "known", "verdict"]);
        let cli = Cli::command();
        let run = cli.find_subcommand("run").expect("it is there").get_arguments();
        let names_file =
            |arg: &&clap::Arg| arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "FILE"));
        let mut found: Vec<_> = run.filter(names_file).map(|arg| arg.get_id().as_str()).collect();
        found.sort_unstable();
        let mut expected = [&of_each[..], &of_all].concat();
        expected.sort_unstable();
        assert_eq!(found, expected);
        let words: Vec<String> =
            of_each.iter().flat_map(|name| [format!("--{}", name.replace('_', "-")), format!("{name}.txt")]).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut rows = asked_for(&[&words, &["--repeat", "2"][..]].concat()).expect("there are such");
        let own: Vec<_> = written(&mut rows[1].args).map(|path| path.display().to_string()).collect();
        assert_eq!(own, of_each.map(|name| format!("{name}.2-no-profile-run-2.txt")));
    }
}
