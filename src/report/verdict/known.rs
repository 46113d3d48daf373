//! Known failures: what the file of `--known` says, and which reasons its entries excuse.
//!
//! The one rule: an entry excuses a reason that it describes, and never that nothing was done.

use serde::Deserialize;

use super::reason::Kind;
use crate::journal::ReasonLine;

/// One `[[known]]` of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Known {
    /// The run's name in the table, or its title.
    pub run: String,
    /// The kind of the reason.
    pub kind: Option<Kind>,
    /// The exit status of the reason.
    pub exit: Option<u8>,
    /// Why it is known: words, a link.
    pub why: String,
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    known: Vec<Known>,
}

impl Known {
    /// Reads the text of a file of known failures.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with its line.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        match file.known.iter().find_map(Self::problem) {
            Some(problem) => Err(problem),
            None => Ok(file.known),
        }
    }

    fn problem(&self) -> Option<String> {
        let what = match (self.kind, self.exit) {
            (None, None) => "says neither `kind` nor `exit`; write the kind of reason, or its exit status".to_owned(),
            (Some(Kind::Mishap), _) => "what mishap could not do is never a known failure".to_owned(),
            (_, Some(0)) => "0 is no failure".to_owned(),
            (Some(kind), Some(exit)) => otherwise(kind, exit)?,
            _ => return None,
        };
        Some(format!("known failure \"{}\": {what}", self.run))
    }

    /// Those of the entries that are about the run of this name and title.
    #[must_use]
    pub fn of(entries: &[Self], name: &str, title: &str) -> Vec<Self> {
        entries.iter().filter(|entry| entry.names(name, title)).cloned().collect()
    }

    /// Whether it is about the run of this name and title.
    #[must_use]
    pub fn names(&self, name: &str, title: &str) -> bool {
        [name, title].contains(&self.run.as_str())
    }

    /// Whether it excuses this reason. That a command could not be started is hardly what the author of `kind = "command"` meant:
    /// it is excused only where its status is written.
    #[must_use]
    pub fn excuses(&self, reason: &ReasonLine) -> bool {
        let kind = self.kind.is_none_or(|kind| kind.word() == reason.kind);
        let exit = self.exit.map_or(!is_unstarted(reason), |exit| exit == reason.exit);
        kind && exit && reason.counts && reason.kind != Kind::Mishap.word()
    }
}

/// Why no reason of this kind has this exit status.
fn otherwise(kind: Kind, exit: u8) -> Option<String> {
    let fixed = kind.fixed().filter(|fixed| *fixed != exit)?;
    let article = if kind == Kind::Expectation { "an" } else { "a" };
    Some(format!("{article} {}'s exit is {fixed}; write exit = {fixed}, or leave it out", kind.word()))
}

/// Whether it says that the command was not there or could not be executed, in the statuses that a shell has for it.
fn is_unstarted(reason: &ReasonLine) -> bool {
    reason.kind == Kind::Command.word() && matches!(reason.exit, 126 | 127)
}

/// Whether a run that has this reason tested too little to show that a failure is gone.
#[must_use]
pub fn hides(reason: &ReasonLine) -> bool {
    let nothing = [Kind::Mishap, Kind::Rule, Kind::Vacuous].iter().any(|kind| kind.word() == reason.kind);
    nothing || is_unstarted(reason)
}

/// The reason with why it is known, if one of the entries excuses it.
#[must_use]
pub fn marked(reason: ReasonLine, entries: &[Known]) -> ReasonLine {
    let known = entries.iter().find(|entry| entry.excuses(&reason)).map(|entry| entry.why.clone());
    ReasonLine { known, ..reason }
}

/// Why, and whether that is known.
#[must_use]
pub fn told(ReasonLine { why, known, .. }: &ReasonLine) -> String {
    known.as_ref().map_or_else(|| why.clone(), |known| format!("known ({known}): {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_is_wrong_with_it() {
        let text = "[[known]]\nrun = \"a,n=1\"\nkind = \"command\"\nexit = 1\nwhy = \"#12\"\n";
        let entry = Known { run: "a,n=1".to_owned(), kind: Some(Kind::Command), exit: Some(1), why: "#12".to_owned() };
        assert_eq!(Known::parse(text), Ok(vec![entry]));
        assert_eq!(Known::parse("# nothing\n"), Ok(Vec::new()));
        let wrong = |text: &str| Known::parse(text).expect_err("it is wrong");
        assert!(wrong(&text.replace("exit", "exti")).contains("line 4"));
        assert!(wrong(&text.replace("command", "commando")).contains("commando"));
        assert!(wrong(&text.replace("command", "mishap")).contains("never a known failure"));
        assert!(wrong(&text.replace("exit = 1", "exit = 0")).contains("0 is no failure"));
        assert!(wrong("[[known]]\nrun = \"a\"\nwhy = \"b\"\n").contains("neither `kind` nor `exit`"));
        assert!(wrong("[[known]]\nrun = \"a\"\nexit = 1\n").contains("why"));
        assert!(wrong("[[knwon]]\n").contains("knwon"));
    }

    #[test]
    fn an_exit_that_no_reason_of_the_kind_has_is_refused_with_the_one_it_has() {
        let read = |kind: &str, exit: u8| {
            Known::parse(&format!("[[known]]\nrun = \"a\"\nkind = \"{kind}\"\nexit = {exit}\nwhy = \"b\"\n"))
        };
        for (kind, its, exit) in [
            ("expectation", "an expectation's", 3),
            ("finding", "a finding's", 3),
            ("notice", "a notice's", 3),
            ("rule", "a rule's", 4),
            ("vacuous", "a vacuous's", 4),
            ("gate", "a gate's", 5),
            ("hang", "a hang's", 5),
        ] {
            let why = format!("known failure \"a\": {its} exit is {exit}; write exit = {exit}, or leave it out");
            assert_eq!(read(kind, 1), Err(why));
            assert!(read(kind, exit).is_ok(), "{kind}");
        }
        assert!(read("command", 1).is_ok() && read("command", 127).is_ok());
    }
}
