//! What `rewrite` says of a unit that it has changed: a phrase for each thing. No value is said, because it may be a secret.

use super::{Form, NewId, Reply, Rewrite};
use crate::engine::effects::Outcome;
use crate::engine::engine::Engine;
use crate::engine::selector::At;

impl Rewrite {
    /// What of the unit is another now.
    pub(super) fn told_of(&self, engine: &Engine, outcome: &Outcome<'_>) -> Vec<String> {
        let exchange = outcome.point.exchange.and_then(|id| engine.exchanges.get(&id));
        let answer = exchange.and_then(|exchange| exchange.answer.as_ref());
        let change = match outcome.point.at {
            At::Request => exchange.and_then(|exchange| exchange.change.as_ref()),
            At::Head => answer.and_then(|answer| answer.change.as_ref()),
            _ => None,
        };
        let edits = change.map(|change| &change.edits);
        let mut what = Vec::new();
        what.extend(self.status.filter(|_| edits.is_some_and(|edits| edits.status == self.status)).map(status));
        let edited = |name: &str| edits.is_some_and(|edits| edits.headers.iter().any(|(edit, _)| edit == name));
        what.extend(self.headers.iter().filter(|(name, _)| edited(name)).map(|(name, value)| set_or_not(name, value)));
        if outcome.point.at == At::Head {
            let turned = answer.and_then(|answer| answer.turned).is_some();
            what.extend(self.form.filter(|_| turned).map(form));
        } else {
            what.extend(self.of_message());
        }
        what
    }

    /// What of a message or its event.
    fn of_message(&self) -> Vec<String> {
        let reply = self.reply.as_ref().map(|reply| match reply {
            Reply::Result(_) => "another result".to_owned(),
            Reply::Error(code, _) => format!("the error {code}"),
        });
        let id = self.id.as_ref().map(|id| match id {
            NewId::Text => "its id a string".to_owned(),
            NewId::Number => "its id a number".to_owned(),
            NewId::Value(id) => format!("its id {id}"),
        });
        let set = self.set.iter().map(|(pointer, _)| format!("{pointer} set"));
        let removed = self.remove.iter().map(|pointer| format!("{pointer} removed"));
        let event = self.event.iter().map(|(name, value)| set_or_not(&format!("the event's {name}"), value));
        reply.into_iter().chain(set).chain(removed).chain(id).chain(event).chain(self.form.map(form)).collect()
    }
}

fn status(status: u16) -> String {
    format!("status {status}")
}

fn set_or_not(name: &str, value: &Option<String>) -> String {
    format!("{name} {}", if value.is_some() { "set" } else { "removed" })
}

fn form(form: Form) -> String {
    match form {
        Form::Sse => "as an event stream",
        Form::Json => "as one JSON answer",
        Form::Array => "as a batch",
    }
    .to_owned()
}
