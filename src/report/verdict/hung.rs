//! What a command hung on when its time was over, in words.
//!
//! The one rule: it says what was open on the wire, and no more. What a program waits for inside itself does not cross.

/// How many of the requests are named.
const NAMED: usize = 20;

/// A line for each request that was open; none: the command ended by itself.
pub(super) fn notes(open: Option<&Vec<String>>) -> Vec<String> {
    let Some(open) = open else { return Vec::new() };
    if open.is_empty() {
        return vec!["hung: no request was open; what the command waited for did not cross the proxy".to_owned()];
    }
    let mut notes: Vec<_> = open.iter().take(NAMED).map(|line| format!("hung: {line}")).collect();
    if open.len() > NAMED {
        notes.push(format!("hung: and {} more", open.len() - NAMED));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_open_is_named_and_that_nothing_was_is_said() {
        assert!(notes(None).is_empty());
        assert!(notes(Some(&Vec::new()))[0].starts_with("hung: no request was open"));
        let open = |number: usize| (1..=number).map(|id| format!("ping id {id}")).collect::<Vec<_>>();
        assert_eq!(notes(Some(&open(2))), ["hung: ping id 1", "hung: ping id 2"]);
        let many = notes(Some(&open(22)));
        assert_eq!((many.len(), &*many[20]), (21, "hung: and 2 more"));
    }
}
