//! Patterns that are right and most likely not what was meant: a slip in an MCP method, a regular expression. They are
//! warnings, because a server may have methods and names of its own.

pub(super) mod rules;

use super::diagnose;
use crate::engine::selector::Glob;

/// The methods of MCP, all eras.
const METHODS: [&str; 36] = [
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/initialized",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/roots/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
    "notifications/tools/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// What is doubtful about a pattern for a method, and what to write instead.
pub(super) fn method(pattern: &str) -> Option<(String, String)> {
    let plain = pattern.trim_start_matches('!');
    let glob = Glob { any: vec![plain.to_owned()], none: Vec::new() };
    if METHODS.iter().any(|method| glob.matches(method)) {
        return None;
    }
    regex(pattern, plain.contains(".*")).or_else(|| {
        let near = match plain.strip_suffix("/*") {
            Some(family) => {
                format!("{}/*", near(family, METHODS.iter().filter_map(|it| it.rsplit_once('/')).map(|it| it.0))?)
            }
            None => near(plain, METHODS.iter().copied())?.to_owned(),
        };
        Some((format!("MCP has no method \"{plain}\""), format!("did you mean \"{near}\"?")))
    })
}

/// One slip of the pen, more in long words: further away a server's own method begins.
fn near<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = (word.len() / 8).max(1);
    known
        .map(|near| (diagnose::distance(word, near), near))
        .min()
        .filter(|(far, _)| *far <= slips)
        .map(|(_, near)| near)
}

/// What is doubtful about a pattern for a name, a path or another text.
pub(super) fn text(pattern: &str) -> Option<(String, String)> {
    regex(pattern, false)
}

fn regex(pattern: &str, certain: bool) -> Option<(String, String)> {
    let plain = pattern.trim_start_matches('!');
    // A name may well have a dot before its star: "files.*" is no slip.
    let dots = plain.starts_with(".*")
        || plain.ends_with(".+")
        || ["/.*", "\\d", "\\w", "\\."].iter().any(|it| plain.contains(it));
    if !(certain || dots || plain.starts_with('^') || plain.ends_with('$')) {
        return None;
    }
    let glob =
        plain.trim_start_matches('^').trim_end_matches('$').replace(".*", "*").replace(".+", "?*").replace("\\.", ".");
    let instead =
        if glob.contains('\\') { "`*` is any text, `?` any character".to_owned() } else { format!("write \"{glob}\"") };
    Some((format!("\"{pattern}\" looks like a regular expression, and a pattern knows `*` and `?` only"), instead))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instead(doubt: Option<(String, String)>) -> Option<String> {
        doubt.map(|(_, instead)| instead)
    }

    #[test]
    fn a_slip_in_a_method_is_doubted_and_a_method_of_ones_own_is_not() {
        for (slip, meant) in [
            ("tool/call", "tools/call"),
            ("!tools/cal", "tools/call"),
            ("sampling/createmessage", "sampling/createMessage"),
            ("notification/progress", "notifications/progress"),
            ("tool/*", "tools/*"),
        ] {
            assert_eq!(instead(method(slip)), Some(format!("did you mean \"{meant}\"?")), "{slip}");
        }
        for right in [
            "tools/call",
            "!initialize",
            "tools/*",
            "*",
            "acme/call",
            "acme/list",
            "roles/list",
            "*/list",
            "roots/*",
            "acme/*",
            "t*",
        ] {
            assert_eq!(method(right), None, "{right}");
        }
    }

    #[test]
    fn a_regular_expression_is_doubted_and_a_dotted_name_is_not() {
        assert_eq!(instead(method("tools/.*")).as_deref(), Some("write \"tools/*\""));
        assert_eq!(instead(text("^echo$")).as_deref(), Some("write \"echo\""));
        assert_eq!(instead(text(".*")).as_deref(), Some("write \"*\""));
        assert_eq!(instead(text("a\\d+$")).as_deref(), Some("`*` is any text, `?` any character"));
        for right in ["files.*", "files.read", "*", "a?", "!x"] {
            assert_eq!(text(right), None, "{right}");
        }
    }
}
