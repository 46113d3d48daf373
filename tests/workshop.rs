//! What the project brings for other people's workshops: the container's recipe, the GitHub Action, the page about both.
//!
//! What can be run is run by `tests/sdk/examples.rs`; here is what must hold of the files as they stand.

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser as _;
    use mishap::cli::Cli;

    const CONTAINERFILE: &str = include_str!("../Containerfile");
    const ACTION: &str = include_str!("../action.yml");
    const STEP: &str = include_str!("../action.sh");
    const PAGE: &str = include_str!("../docs/workshop.md");

    /// The words of an instruction in the form of a JSON array.
    fn words(instruction: &str) -> Vec<String> {
        let line = CONTAINERFILE.lines().find(|line| line.starts_with(instruction)).expect("the instruction is there");
        let array = &line[line.find('[').expect("it has the form of an array")..];
        serde_json::from_str(array).expect("it is one")
    }

    #[test]
    fn the_container_runs_what_the_command_line_understands() {
        let mut entry = words("ENTRYPOINT");
        entry.extend(["-u", "http://h:1/mcp", "-p", "get-opens-late"].map(str::to_owned));
        Cli::try_parse_from(&entry).unwrap_or_else(|error| panic!("{error}"));
        let health = words("HEALTHCHECK");
        Cli::try_parse_from(&health).unwrap_or_else(|error| panic!("{error}"));
        assert!(entry.contains(&health[2]), "it looks at the file that the run writes: {health:?}");
    }

    #[test]
    fn the_container_is_nobody_before_it_runs_anything() {
        let last = CONTAINERFILE.rsplit("\nFROM ").next().expect("there is an image");
        let user = last.lines().position(|line| line.starts_with("USER ")).expect("it names a user");
        let entry = last.lines().position(|line| line.starts_with("ENTRYPOINT ")).expect("it runs something");
        assert!(user < entry);
        let line = last.lines().nth(user).expect("it was found");
        let ids = line.trim_start_matches("USER ").split(':').map(|id| id.parse::<u32>().expect("a number"));
        assert!(ids.into_iter().all(|id| id > 0), "{line}");
    }

    /// Pasted into a script an input would be run as a part of it.
    #[test]
    fn the_actions_inputs_come_through_the_environment_alone() {
        let env = ACTION.split("      env:\n").nth(1).and_then(|rest| rest.split("      run:").next());
        let env = env.expect("the step has an environment");
        let elsewhere = ACTION.replace(env, "");
        assert!(!elsewhere.contains("${{ inputs"), "{elsewhere}");
        for line in env.lines() {
            let (name, value) = line.trim().split_once(": ").expect("a name and a value");
            let input = name.trim_start_matches("INPUT_").to_lowercase();
            assert_eq!(value, format!("${{{{ inputs.{input} }}}}"));
            assert!(ACTION.contains(&format!("\n  {input}:\n")) && STEP.contains(&format!("${name}")), "{name}");
        }
    }

    #[test]
    fn every_file_that_the_page_names_is_there() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let links: Vec<_> = PAGE.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(links.len() > 5, "the test looks in the wrong place: {links:?}");
        let missing: Vec<_> = links.iter().filter(|link| !docs.join(link).exists()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
