//! `-p 'NAME_OR_FILE[,key=value]...'`: one use of a profile. What follows the name is a TOML inline table without its
//! braces, except that a value that is not TOML is a string (R37): a shell user does not want to quote twice.

use super::problem::{Problem, ProblemKind};
use super::tree::{Node, Value, parse_value};
use crate::engine::language::Spot;

/// One use of a profile: which, and the values given to its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// The argument as it was written.
    pub text: String,
    /// A built-in profile's name, or a path.
    pub profile: String,
    pub(super) given: Vec<(String, Node)>,
}

impl Use {
    /// Reads the argument of `-p`. Whether the profile exists and has such variables is found out by loading it.
    ///
    /// # Errors
    ///
    /// If something after the name is not `key=value`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let (profile, rest) = text.split_once(',').unwrap_or((text, ""));
        let shown = format!("-p {text}");
        let given = pairs(&shown, rest, "write NAME,key=value,key=value")?;
        if profile.is_empty() {
            return Err(wrong(&shown, "no profile is named".to_owned(), "write -p NAME or -p ./FILE.toml"));
        }
        Ok(Self { text: text.to_owned(), profile: profile.to_owned(), given })
    }

    /// Several in one text, each as `-p` takes it: what is no `key=value` begins the next.
    #[must_use]
    pub fn several(text: &str) -> Vec<String> {
        let mut uses: Vec<String> = Vec::new();
        for part in split(text).filter(|part| !part.trim().is_empty()) {
            match uses.last_mut() {
                Some(last) if part.contains('=') => *last = format!("{last},{part}"),
                _ => uses.push(part.trim().to_owned()),
            }
        }
        uses
    }

    /// A use without values.
    #[must_use]
    pub fn plain(profile: &str) -> Self {
        Self { text: profile.to_owned(), profile: profile.to_owned(), given: Vec::new() }
    }

    /// Whether a path is meant and not a built-in profile.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.profile.contains(['/', std::path::MAIN_SEPARATOR]) || self.profile.ends_with(".toml") || self.is_json()
    }

    pub(super) fn is_json(&self) -> bool {
        self.profile.ends_with(".json")
    }

    /// What to write, if the name looks like a name with values behind something else than a comma.
    pub(super) fn with_comma(&self) -> Option<String> {
        let (before, _) = self.profile.split_once('=')?;
        let (name, key) = before.rsplit_once([':', ' ', ';', '?'])?;
        let rest = &self.text[name.len() + 1..];
        let plain = !name.is_empty() && !key.is_empty();
        plain.then(|| format!("values follow the name after a comma: -p '{name},{}'", rest.trim_start()))
    }

    /// The argument, as messages name it.
    pub(super) fn shown(&self) -> String {
        format!("-p {}", self.text)
    }
}

/// Reads `key=value,key=value`; `shown` is the argument it stands in, `instead` what to write.
pub(super) fn pairs(shown: &str, text: &str, instead: &str) -> Result<Vec<(String, Node)>, Problem> {
    let mut pairs: Vec<(String, Node)> = Vec::new();
    for part in split(text).filter(|part| !part.trim().is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(wrong(shown, format!("\"{}\" is no key=value", part.trim()), instead));
        };
        let (key, value) = (key.trim(), value.trim());
        if pairs.iter().any(|(known, _)| known == key) {
            return Err(wrong(shown, format!("\"{key}\" is given twice"), "write it once"));
        }
        pairs.push((key.to_owned(), read(value)));
    }
    Ok(pairs)
}

/// Something is wrong with an argument.
pub(super) fn wrong(shown: &str, what: String, instead: &str) -> Problem {
    Problem {
        file: shown.to_owned(),
        line: None,
        part: None,
        kind: ProblemKind::Wrong,
        what,
        instead: Some(instead.to_owned()),
    }
}

/// A value as TOML, or else the text itself. `inf`, `nan` and dates are TOML that nobody means.
fn read(text: &str) -> Node {
    match parse_value(text) {
        Some(node) if !matches!(node.value, Value::Float(_) | Value::Other(_)) || is_number(text) => node,
        _ => Node { spot: Spot::default(), value: Value::Text(text.to_owned()) },
    }
}

fn is_number(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit()) && !text.contains([':', ' ']) && text.parse::<f64>().is_ok()
}

/// Splits at commas that stand outside quotes and brackets. Brackets that do not close are text.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut cuts = vec![];
    let mut open: Vec<char> = vec![];
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(mark), _) if mark == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ']' | '}') if open.last() == Some(&c) => drop(open.pop()),
            (None, ',') if open.is_empty() => cuts.push(at),
            (None, _) => {}
        }
    }
    if quote.is_some() || !open.is_empty() {
        cuts = text.match_indices(',').map(|(at, _)| at).collect();
    }
    let starts: Vec<usize> = std::iter::once(0).chain(cuts.iter().map(|at| at + 1)).collect();
    let ends: Vec<usize> = cuts.into_iter().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Vec<(String, String)> {
        let parsed = Use::parse(text).expect("it is well formed");
        parsed.given.into_iter().map(|(key, value)| (key, value.to_toml())).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_value_that_is_not_toml_is_a_string() {
        assert_eq!(
            given("x,limit=10s,call=tools/call,n=2,on=true,p=0.5"),
            pairs(&[("limit", "\"10s\""), ("call", "\"tools/call\""), ("n", "2"), ("on", "true"), ("p", "0.5")])
        );
        assert_eq!(given("x,day=2026-01-02,v=inf"), pairs(&[("day", "\"2026-01-02\""), ("v", "\"inf\"")]));
    }

    #[test]
    fn a_table_keeps_its_commas_and_quotes() {
        assert_eq!(
            given("get-stream-cut,when={ idle = \"5s\", leg = \"client\" },ending=reset"),
            pairs(&[("when", "{ idle = \"5s\", leg = \"client\" }"), ("ending", "\"reset\"")])
        );
        assert_eq!(given("x,first={ '/arguments/tag' = 'A' }"), pairs(&[("first", "{ \"/arguments/tag\" = \"A\" }")]));
        assert_eq!(given("x,m=[\"a\", \"b\"]"), pairs(&[("m", "[\"a\", \"b\"]")]));
    }

    #[test]
    fn a_bracket_that_does_not_close_is_text() {
        assert_eq!(given("x,m=a[b,n=1"), pairs(&[("m", "\"a[b\""), ("n", "1")]));
        assert_eq!(given("x,m=it's,n=1"), pairs(&[("m", "\"it's\""), ("n", "1")]));
    }

    #[test]
    fn several_are_told_apart_by_what_is_no_pair() {
        let uses = Use::several("a,b,n=1,when={ idle = \"5s\", leg = \"client\" }, c,,./d.toml,n=2");
        assert_eq!(uses, ["a", "b,n=1,when={ idle = \"5s\", leg = \"client\" }", "c", "./d.toml,n=2"]);
        assert!(Use::several(" ,").is_empty());
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        let problem = Use::parse("get-opens-late,600ms").expect_err("a value without a key");
        assert_eq!(
            problem.to_string(),
            "-p get-opens-late,600ms: \"600ms\" is no key=value; write NAME,key=value,key=value"
        );
        assert!(Use::parse("").is_err());
        assert!(Use::parse("x,a=1,a=2").is_err());
    }

    #[test]
    fn a_path_has_a_slash_or_ends_in_toml() {
        assert!(Use::plain("./mine").is_file());
        assert!(Use::plain("mine.toml").is_file());
        assert!(!Use::plain("mine").is_file());
    }
}
