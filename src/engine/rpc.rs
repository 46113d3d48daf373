//! A tolerant look into a JSON-RPC message: what it is and whose, without building its tree.
//!
//! It is not a validator: what has a method or an answer is a message, whatever else is wrong with it. The one rule it
//! keeps: an id keeps its type, `1` is not `"1"`.

#[cfg(test)]
mod tests;
mod way;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use way::Way;

/// A JSON-RPC id; it keeps its type: `1` is not `"1"` (rule R10).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// The JSON text of a number.
    Number(String),
    /// A string.
    Text(String),
}

impl Id {
    /// Reads an id, or a progress token, which has the same form; anything else is none.
    fn read(raw: &RawValue) -> Option<Self> {
        match raw.get().as_bytes().first()? {
            b'"' => serde_json::from_str(raw.get()).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(Self::Number(raw.get().to_owned())),
            _ => None,
        }
    }

    /// The id that a JSON value is, if it is one.
    pub(super) fn of(json: &serde_json::Value) -> Option<Self> {
        match json {
            serde_json::Value::Number(number) => Some(Self::Number(number.to_string())),
            serde_json::Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    /// The id as a JSON value.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Number(text) => serde_json::from_str(text).unwrap_or(serde_json::Value::Null),
            Self::Text(text) => serde_json::Value::String(text.clone()),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(deserializer)?;
        Self::of(&json).ok_or_else(|| serde::de::Error::custom(format!("an id is a number or a string, not {json}")))
    }
}

impl fmt::Display for Id {
    /// As JSON writes it: a string in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) => f.write_str(text),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It has a method and an id.
    Request,
    /// It has a method and no id.
    Notification,
    /// It has a result.
    Response,
    /// It has an error.
    Error,
}

impl Kind {
    /// Its word in the language and the journal.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Response => "response",
            Self::Error => "error",
        }
    }

    /// Whether it is the end of a request.
    #[must_use]
    pub fn is_reply(self) -> bool {
        matches!(self, Self::Response | Self::Error)
    }
}

/// One message, as far as rules ask. The JSON texts share the memory they came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: Option<Id>,
    /// Its method.
    pub method: Option<String>,
    /// Tool, prompt, resource or task: `params.name`, `params.uri` or `params.taskId`.
    pub name: Option<String>,
    /// The token under which a request asks for progress.
    pub asks_progress: Option<Id>,
    /// The token whose progress a notification tells.
    pub tells_progress: Option<Id>,
    /// The id of the request that a `notifications/cancelled` cancels.
    pub cancels: Option<Id>,
    /// The JSON text of `params`; empty if there is none.
    pub params: Bytes,
    /// The JSON text of `result`; empty if there is none.
    pub result: Bytes,
    /// The JSON text of the error's `code`.
    pub code: Option<String>,
}

/// Where a request of 2026-07-28 says its version.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

impl Message {
    /// Of an answer that tells of a failure: the error's code, or `isError`, as a tool's result has it.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let failed = || member(&self.result, "isError").is_some_and(|value| value.get() == "true");
        self.code.clone().or_else(|| failed().then(|| "isError".to_owned()))
    }

    /// The protocol version that a request says in its `_meta`.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        memchr::memmem::find(&self.params, VERSION.as_bytes())?;
        let version = member(member(&self.params, "_meta")?.get().as_bytes(), VERSION)?;
        text_of(version).map(Cow::into_owned)
    }
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// The members of `params` that rules ask about without a pointer.
#[derive(Default, Deserialize)]
struct RawParams<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "taskId")]
    task: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    progress: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestId")]
    request: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// A field that is there, also when it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the message, or the messages of a batch, in `json`; none if it is no JSON-RPC.
#[must_use]
pub fn peek(json: &Bytes) -> Vec<Message> {
    elements(json).into_iter().flatten().collect()
}

/// The same, with a place for each element of a batch: `None` where it is no message.
pub(super) fn elements(json: &Bytes) -> Vec<Option<Message>> {
    if !is_batch(json) {
        return vec![read(json, json)];
    }
    texts(json).into_iter().map(|element| read(json, element.get().as_bytes())).collect()
}

/// The id of each element of a batch, or of the one message, whatever it is; null where there is none.
pub(super) fn ids(json: &Bytes) -> Vec<serde_json::Value> {
    let id = |text: &RawValue| serde_json::from_str(member(text.get().as_bytes(), "id")?.get()).ok();
    texts(json).into_iter().map(|text| id(text).unwrap_or_default()).collect()
}

/// The JSON text of each element of a batch, or of the one message; none if it is no JSON.
pub(super) fn texts(json: &Bytes) -> Vec<&RawValue> {
    if is_batch(json) {
        return serde_json::from_slice(json).unwrap_or_default();
    }
    serde_json::from_slice(json).map(|one| vec![one]).unwrap_or_default()
}

/// Whether the JSON text is an array.
#[must_use]
pub fn is_batch(json: &[u8]) -> bool {
    json.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

fn read(source: &Bytes, json: &[u8]) -> Option<Message> {
    let raw: RawMessage<'_> = serde_json::from_slice(json).ok()?;
    let id = raw.id.and_then(Id::read);
    let kind = match (&raw.method, &id) {
        (Some(_), Some(_)) => Kind::Request,
        (Some(_), None) => Kind::Notification,
        (None, _) if raw.result.is_some() => Kind::Response,
        (None, _) if raw.error.is_some() => Kind::Error,
        (None, _) => return None,
    };
    let share = |raw: Option<&RawValue>| raw.map_or_else(Bytes::new, |raw| source.slice_ref(raw.get().as_bytes()));
    let params: RawParams<'_> =
        raw.params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let text = |value: Option<&RawValue>| {
        value.filter(|value| value.get().starts_with('"')).and_then(text_of).map(Cow::into_owned)
    };
    let cancel = raw.method.as_deref() == Some("notifications/cancelled");
    Some(Message {
        kind,
        id,
        name: text(params.name).or_else(|| text(params.uri)).or_else(|| text(params.task)),
        asks_progress: params.meta.and_then(|meta| member(meta.get().as_bytes(), "progressToken")).and_then(Id::read),
        tells_progress: params.progress.and_then(Id::read),
        cancels: params.request.filter(|_| cancel).and_then(Id::read),
        params: share(raw.params),
        result: share(raw.result),
        code: raw.error.and_then(|error| member(error.get().as_bytes(), "code")).map(|code| code.get().to_owned()),
        method: raw.method.map(Cow::into_owned),
    })
}

/// The value at a JSON pointer (RFC 6901) in a JSON text.
#[must_use]
pub fn pointer<'a>(json: &'a [u8], pointer: &str) -> Option<&'a RawValue> {
    Way(&tokens(pointer).collect::<Vec<_>>()).through(json)
}

/// The tokens of a JSON pointer (RFC 6901), unescaped.
pub(super) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// The W3C trace context in a message's `_meta.traceparent`: version, trace, parent and flags in hex. Text of another form is
/// none: it could be anything, and is written down.
#[must_use]
pub fn traceparent(params: &[u8]) -> Option<String> {
    // Most messages have none, and large ones are not read again for it.
    memchr::memmem::find(params, b"traceparent")?;
    let text = text_of(pointer(params, "/_meta/traceparent")?)?;
    let parts: Vec<_> = text.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let formed = parts.iter().map(|part| part.len()).eq([2, 32, 16, 2]) && parts.iter().all(hex);
    formed.then(|| text.into_owned())
}

/// One member of an object; the last, if its name is there twice.
fn member<'a>(json: &'a [u8], name: &str) -> Option<&'a RawValue> {
    if json.first() == Some(&b'{') { Way(&[name]).through(json) } else { None }
}

/// The text that a glob is compared with: that of a string, the JSON text of a number or boolean (rule R10).
#[must_use]
pub fn text_of(value: &RawValue) -> Option<Cow<'_, str>> {
    match value.get().as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(value.get()).ok().map(Cow::Owned),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(value.get())),
    }
}
