//! What `rewrite` does to heads: headers of a request, status and headers of an answer, the form of its body.
//!
//! The rim changes what leaves, after its own mapping (rule R27); here the same is done to what later rules see (rule
//! R16). What came stays known for the journal.

use bytes::Bytes;

use super::{Form, Rewrite};
use crate::engine::answer::{Change, Media, Turned, header};
use crate::engine::engine::Engine;
use crate::engine::event::{ExchangeId, HeaderEdit};
use crate::engine::selector::Stream;
use crate::engine::unit::Point;

const SESSION_ID: &str = "mcp-session-id";
const CONTENT_TYPE: &str = "content-type";

impl Engine {
    /// Changes the headers of a request, and whether it did.
    pub(super) fn rewrite_request_head(&mut self, rewrite: &Rewrite, point: &Point) -> bool {
        let edits = self.filled_headers(rewrite, point);
        let Some(exchange) = point.exchange.and_then(|id| self.exchanges.get_mut(&id)) else { return false };
        let came = exchange.request.headers.clone();
        let edits = applied(&mut exchange.request.headers, edits);
        if edits.is_empty() {
            return false;
        }
        exchange.change.get_or_insert_with(|| Change::of(0, came)).edits.headers.extend(edits);
        true
    }

    /// Changes an answer's status, headers and form, and whether it did.
    pub(super) fn rewrite_head(&mut self, rule: usize, rewrite: &Rewrite, point: &Point) -> bool {
        let Some(id) = point.exchange else { return false };
        let turned = self.turned(rule, rewrite, id);
        let mut edits = self.filled_headers(rewrite, point);
        if let Some(turned) = turned {
            edits.insert(0, (CONTENT_TYPE.to_owned(), Some(Bytes::from_static(turned.content_type().as_bytes()))));
        }
        let Some(answer) = self.exchanges.get_mut(&id).and_then(|exchange| exchange.answer.as_mut()) else {
            return false;
        };
        let came = answer.head.clone();
        let status = rewrite.status.filter(|status| *status != came.status);
        answer.head.status = status.unwrap_or(came.status);
        let edits = applied(&mut answer.head.headers, edits);
        if status.is_none() && edits.is_empty() && turned.is_none() {
            return false;
        }
        answer.media = Media::of(&answer.head);
        answer.turned = turned.or(answer.turned);
        let change = answer.change.get_or_insert_with(|| Change::of(came.status, came.headers.clone()));
        change.edits.status = status.or(change.edits.status);
        change.edits.headers.extend(edits);
        self.tell_session(id, came.status, header(&came.headers, SESSION_ID));
        self.choose_body(id);
        if turned.is_some_and(|turned| turned.into == Media::Json) {
            self.has_no_blocks(id);
        }
        true
    }

    /// Which other form the answer's body gets, if it is of the one form and can be of the other. On a stream that owes no
    /// answer there is nothing to make one body of; what a rule made is of the form it was made in.
    fn turned(&self, rule: usize, rewrite: &Rewrite, id: ExchangeId) -> Option<Turned> {
        let exchange = self.exchanges.get(&id).filter(|exchange| exchange.answered_by.is_none())?;
        match (rewrite.form?, exchange.answer.as_ref()?.form()) {
            (Form::Sse, Media::Json) => Some(Turned { rule, into: Media::Sse }),
            (Form::Json, Media::Sse) if !exchange.trail.owners.is_empty() => Some(Turned { rule, into: Media::Json }),
            _ => None,
        }
    }

    fn filled_headers(&self, rewrite: &Rewrite, point: &Point) -> Vec<HeaderEdit> {
        let filled = |value: &String| Bytes::from(self.filled_line(value, point));
        rewrite.headers.iter().map(|(name, value)| (name.clone(), value.as_ref().map(filled))).collect()
    }

    /// The session is as its client was told: by what id it goes on, whether it began, whether it has ended.
    fn tell_session(&mut self, id: ExchangeId, came: u16, given: Option<&Bytes>) {
        let Some(exchange) = self.exchanges.get(&id).filter(|exchange| exchange.stream != Stream::Other) else {
            return;
        };
        let Some(answer) = &exchange.answer else { return };
        let (session, status) = (exchange.session, answer.head.status);
        let told = header(&answer.head.headers, SESSION_ID).cloned();
        let (was_good, is_good) = ((200..300).contains(&came), (200..300).contains(&status));
        let begins = exchange.messages.iter().any(|spoken| spoken.message.method.as_deref() == Some("initialize"));
        let dies = status == 404 && came != 404 && exchange.header(SESSION_ID).is_some();
        if is_good && told.as_ref() != given {
            self.sessions.rename(session, told.as_ref());
        }
        if is_good && !was_good {
            self.sessions.answered(session, id, status, told.as_ref());
        }
        if begins && was_good && !is_good {
            self.sessions.unbegin(session);
        }
        if dies {
            self.sessions.end(session);
        }
    }
}

/// Applies those edits that change something, and returns them.
fn applied(headers: &mut Vec<(String, Bytes)>, edits: Vec<HeaderEdit>) -> Vec<HeaderEdit> {
    let mut done = Vec::new();
    for (name, value) in edits {
        let is = || headers.iter().filter(|(named, _)| *named == name).map(|(_, value)| value);
        if is().eq(value.as_ref()) {
            continue;
        }
        let place = headers.iter().position(|(named, _)| *named == name).unwrap_or(headers.len());
        headers.retain(|(named, _)| *named != name);
        if let Some(value) = &value {
            headers.insert(place, (name.clone(), value.clone()));
        }
        done.push((name, value));
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_the_place_of_all_fields_of_its_name() {
        let field = |name: &str, value: &str| (name.to_owned(), Bytes::copy_from_slice(value.as_bytes()));
        let mut headers = vec![field("a", "1"), field("b", "2"), field("a", "3"), field("c", "4")];
        let edit = |name: &str, value: Option<&'static str>| {
            (name.to_owned(), value.map(|value| Bytes::from_static(value.as_bytes())))
        };
        let edits = vec![edit("a", Some("x")), edit("c", None), edit("b", Some("2")), edit("d", None)];
        assert_eq!(applied(&mut headers, edits.clone()), edits[..2], "what changes nothing is no change");
        assert_eq!(headers, [field("a", "x"), field("b", "2")]);
    }
}
