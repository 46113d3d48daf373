//! Completions and the manual: whatever the command line takes is in them.

#[cfg(test)]
mod tests {
    use std::process::Command;

    use clap::CommandFactory as _;
    use mishap::cli::Cli;

    fn mishap(args: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_mishap")).args(args).output().expect("the binary runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it writes text")
    }

    /// The subcommands a user sees, with the long flags of each.
    fn subcommands() -> Vec<(String, Vec<String>)> {
        let whole = Cli::command();
        let seen = whole.get_subcommands().filter(|command| !command.is_hide_set());
        let flags = |command: &clap::Command| {
            let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
            shown.filter_map(|flag| flag.get_long().map(|name| format!("--{name}"))).collect()
        };
        seen.map(|command| (command.get_name().to_owned(), flags(command))).collect()
    }

    #[test]
    fn every_shell_completes_every_subcommand_and_every_flag() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let script = mishap(&["completions", shell]);
            for (name, flags) in subcommands() {
                // fish writes a long flag without its dashes.
                let missing: Vec<_> =
                    flags.iter().filter(|flag| !script.contains(flag.trim_start_matches('-'))).collect();
                assert!(script.contains(&name) && missing.is_empty(), "{shell}, {name}: {missing:?}");
            }
        }
    }

    #[test]
    fn the_manual_has_a_page_for_every_subcommand_with_every_flag() {
        let folder = std::env::temp_dir().join(format!("mishap-man-{}", std::process::id()));
        mishap(&["man", "--dir", &folder.to_string_lossy()]);
        let first = mishap(&["man"]);
        assert_eq!(std::fs::read_to_string(folder.join("mishap.1")).expect("the first page is there"), first);
        for (name, flags) in subcommands() {
            let page = std::fs::read_to_string(folder.join(format!("mishap-{name}.1"))).expect("it has a page");
            let page = page.replace("\\-", "-");
            let missing: Vec<_> = flags.iter().filter(|flag| !page.contains(*flag)).collect();
            assert!(missing.is_empty() && first.contains(&format!("mishap\\-{name}(1)")), "{name}: {missing:?}");
        }
        std::fs::remove_dir_all(&folder).expect("it was made here");
    }
}
