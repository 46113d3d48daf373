//! The house rules that a machine can check, over the files of the tree itself.
//!
//! It looks at text, not at meaning: what the compiler or clippy can say, they say (Cargo.toml, clippy.toml).

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// What is made, not written.
    const MADE: [&str; 5] = ["target", "node_modules", ".git", ".cache", "__pycache__"];

    /// One file of the tree: its path from the root, with `/`, and its text.
    struct File {
        path: String,
        text: String,
    }

    impl File {
        /// The lines that hold `pattern`, as `PATH:LINE: text`.
        fn lines_with(&self, pattern: &str) -> Vec<String> {
            let numbered = self.text.lines().enumerate().filter(|(_, line)| line.contains(pattern));
            numbered.map(|(index, line)| format!("{}:{}: {}", self.path, index + 1, line.trim())).collect()
        }
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    /// Every text file below `folder` (from the root), in order.
    fn files(folder: &str) -> Vec<File> {
        let mut found = Vec::new();
        collect(&root().join(folder), &mut found);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(!found.is_empty(), "no file in {folder:?}: the test looks in the wrong place");
        found
    }

    fn collect(folder: &Path, found: &mut Vec<File>) {
        for entry in std::fs::read_dir(folder).expect("a folder of the tree can be read") {
            let path: PathBuf = entry.expect("an entry can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if MADE.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                collect(&path, found);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let from_root = path.strip_prefix(root()).expect("it is below the root");
                found.push(File { path: from_root.to_string_lossy().replace('\\', "/"), text });
            }
        }
    }

    fn rust(folder: &str) -> Vec<File> {
        files(folder).into_iter().filter(|file| file.path.ends_with(".rs")).collect()
    }

    /// All lines of the files that hold one of the patterns.
    fn offenders(files: &[File], patterns: &[&str]) -> Vec<String> {
        files.iter().flat_map(|file| patterns.iter().flat_map(|pattern| file.lines_with(pattern))).collect()
    }

    #[track_caller]
    fn none(offenders: &[String], rule: &str) {
        assert!(offenders.is_empty(), "{rule}:\n  {}", offenders.join("\n  "));
    }

    #[test]
    fn the_engine_names_no_runtime_no_clock_no_unordered_map_and_no_io() {
        let banned = [
            "tokio",
            "hyper",
            "socket2",
            "rustix",
            "std::net",
            "std::fs",
            "std::io",
            "std::thread",
            "std::process",
            "std::env",
            "Instant",
            "SystemTime",
            "HashMap",
            "HashSet",
            "rand::rng",
            "from_os_rng",
            "crate::proxy",
            "crate::profile",
            "crate::journal",
            "crate::report",
            "crate::demo",
            "crate::command",
            "crate::cli",
        ];
        let files: Vec<_> = rust("src/engine").into_iter().map(without_docs).collect();
        none(&offenders(&files, &banned), "src/engine is pure");
    }

    /// So are the monitors: time is an argument, and they tell the same of a journal as of a run.
    #[test]
    fn the_monitors_name_no_runtime_no_clock_no_unordered_map_and_no_io() {
        let banned = [
            "tokio",
            "hyper",
            "std::net",
            "std::fs",
            "std::io",
            "std::thread",
            "std::process",
            "std::env",
            "Instant",
            "SystemTime",
            "HashMap",
            "HashSet",
            "crate::proxy",
            "crate::profile",
            "crate::journal",
            "crate::command",
        ];
        let files: Vec<_> = rust("src/monitor").into_iter().map(without_docs).collect();
        none(&offenders(&files, &banned), "src/monitor is pure");
    }

    /// The report is made of what a run recorded, not of what happens while it is written.
    #[test]
    fn the_report_names_no_runtime_no_clock_and_no_io() {
        let banned = ["tokio", "hyper", "std::net", "std::fs", "Instant", "SystemTime", "HashMap", "HashSet"];
        let files: Vec<_> = rust("src/report").into_iter().map(without_docs).collect();
        none(&offenders(&files, &banned), "src/report is pure");
    }

    fn without_docs(file: File) -> File {
        let kept = file.text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
        File { path: file.path, text: kept.collect::<Vec<_>>().join("\n") }
    }

    #[test]
    fn no_source_file_has_more_than_450_lines() {
        let mut sources = sources();
        sources.retain(|file| file.text.lines().count() > 300);
        let long: Vec<_> = sources.iter().map(|file| (file.text.lines().count(), &file.path)).collect();
        for (lines, path) in &long {
            eprintln!("warning: {path} has {lines} lines, more than 300");
        }
        let too_long: Vec<_> =
            long.iter().filter(|(lines, _)| *lines > 450).map(|(n, path)| format!("{path}: {n}")).collect();
        none(&too_long, "a file over 450 lines is several files");
    }

    /// Every Rust file of the tree.
    fn sources() -> Vec<File> {
        rust("src").into_iter().chain(rust("tests")).collect()
    }

    /// A function ends at the first line that closes it at its own depth; rustfmt sees to that. Unit tests that stand in a
    /// file of their own may tell a longer story.
    #[test]
    fn no_function_has_more_than_60_lines() {
        let mut long = Vec::new();
        let stories = ["playbook", "tests.rs"];
        for file in sources().iter().filter(|file| !stories.iter().any(|story| file.path.contains(story))) {
            let lines: Vec<_> = file.text.lines().collect();
            for (start, line) in lines.iter().enumerate().filter(|(_, line)| opens_a_function(line)) {
                let depth = line.len() - line.trim_start().len();
                let close = format!("{}}}", " ".repeat(depth));
                let length = lines[start..].iter().position(|line| **line == close).map_or(1, |end| end + 1);
                if length > 60 {
                    long.push(format!("{}:{}: {length} lines", file.path, start + 1));
                }
            }
        }
        none(&long, "a function does one thing");
    }

    fn opens_a_function(line: &str) -> bool {
        let named = line.trim_start().starts_with("fn ") || line.contains(" fn ");
        named && !line.trim_start().starts_with("//") && line.ends_with(['{', '('])
    }

    /// A comment that sends its reader somewhere sends them to a page of the tree.
    #[test]
    fn every_page_that_is_named_is_there() {
        let tree = files("");
        let pages: Vec<_> = tree.iter().filter_map(|file| file.path.strip_suffix(".md")).collect();
        let is_there = |named: &str| pages.iter().any(|page| *page == named || page.ends_with(&format!("/{named}")));
        let mut lost = Vec::new();
        for file in tree.iter().filter(|file| !file.path.ends_with("layering.rs")) {
            for before in file.text.split(".md").collect::<Vec<_>>().split_last().map_or(&[][..], |(_, all)| all) {
                let named = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "-_/".contains(c))).next();
                let named = named.unwrap_or_default().trim_start_matches('/');
                if !named.is_empty() && !named.contains("//") && !is_there(named) {
                    lost.push(format!("{}: {named}.md", file.path));
                }
            }
        }
        none(&lost, "a page that is not there");
    }

    #[test]
    fn every_source_file_says_what_it_is() {
        let sources = sources();
        let silent = sources.iter().filter(|file| !file.text.starts_with("//!")).map(|file| file.path.clone());
        none(&silent.collect::<Vec<_>>(), "a file opens with its module doc");
    }

    #[test]
    fn no_test_waits_for_a_time() {
        let patterns = ["thread::sleep", "time::sleep", "sleep(", "setTimeout(", "asyncio.sleep", "#[ignore"];
        let found = offenders(&tests(), &patterns);
        none(&found, "a test waits for a fact, and none is ignored");
    }

    /// What is run as a test: everything below `tests`, and the unit tests that stand in files of their own.
    fn tests() -> Vec<File> {
        let beside = rust("src").into_iter().filter(|file| file.path.contains("tests"));
        let all = files("tests").into_iter().chain(beside);
        all.filter(|file| !file.path.ends_with("layering.rs") && !file.path.ends_with(".json")).collect()
    }

    /// A port written down is taken on somebody's machine.
    #[test]
    fn no_test_has_a_fixed_port() {
        let mut fixed = Vec::new();
        for file in tests() {
            let lines = file.text.lines().filter(|line| binds_a_port(line));
            fixed.extend(lines.map(|line| format!("{}: {line}", file.path)));
        }
        none(&fixed, "tests listen on port 0");
    }

    /// Whether a line that binds or listens names a port other than 0.
    fn binds_a_port(line: &str) -> bool {
        let binds = ["bind(", ".listen(", "--listen", "\"-l\""].iter().any(|word| line.contains(word));
        let names = ["127.0.0.1:", "localhost:", "\"127.0.0.1\", ", "[::1]:", ".listen("].iter().any(|host| {
            let after = line.split(host).nth(1).unwrap_or_default();
            after.chars().next().is_some_and(|digit| digit.is_ascii_digit() && digit != '0')
        });
        binds && names
    }

    #[test]
    fn every_profile_opens_with_what_it_provokes_against_whom_and_the_symptom() {
        for file in files("profiles") {
            let opening: Vec<_> = file.text.lines().filter(|line| line.starts_with('#')).take(3).collect();
            let words = ["# Provokes: ", "# Against:  ", "# Symptom:  "];
            let all = opening.len() == 3 && opening.iter().zip(words).all(|(line, word)| line.starts_with(word));
            assert!(all, "{} must open with the lines {words:?}, and opens with {opening:?}", file.path);
        }
    }

    #[test]
    fn every_profile_is_named_in_a_test() {
        let tests: Vec<_> = files("tests").into_iter().chain(files("src/profile/builtin/plays")).collect();
        for file in files("profiles") {
            let name = file.path.trim_start_matches("profiles/").trim_end_matches(".toml").to_owned();
            let named = tests.iter().any(|test| test.text.contains(&format!("\"{name}")));
            assert!(named, "no test names the profile {name:?}");
        }
    }

    #[test]
    fn the_tree_names_no_machine_and_no_package_registry() {
        let home = root().to_string_lossy().into_owned();
        let banned = [
            home.as_str(),
            "/work/",
            "/home/",
            "/root/",
            "/Users/",
            "registry.npmjs",
            "registry.yarnpkg",
            "pypi.org",
            "files.pythonhosted",
            "index.crates.io",
            "static.crates.io",
            "\"resolved\": \"http",
        ];
        let tree = files("").into_iter().filter(|file| !file.path.ends_with("layering.rs")).collect::<Vec<_>>();
        none(&offenders(&tree, &banned), "a path of one machine or the host of a registry");
    }
}
