//! The way to one value in a JSON text.
//!
//! It is gone in one pass, and nothing beside it is kept: a body of 15 MiB is looked into while the whole run waits. The one
//! rule it keeps: what it finds is the text as it stands there.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The way to a value, by the tokens of a pointer. Of a name that is there twice it takes the last.
pub(super) struct Way<'t, T>(pub(super) &'t [T]);

impl<T: AsRef<str>> Way<'_, T> {
    /// The JSON text of the value there; `None` if there is none, or the text around it is no JSON.
    pub(super) fn through(self, json: &[u8]) -> Option<&RawValue> {
        let mut json = serde_json::Deserializer::from_slice(json);
        let found = self.deserialize(&mut json).ok()?;
        json.end().ok().and(found)
    }
}

impl<'de, T: AsRef<str>> DeserializeSeed<'de> for Way<'_, T> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() { <&RawValue>::deserialize(json).map(Some) } else { json.deserialize_any(self) }
    }
}

impl<'de, T: AsRef<str>> Visitor<'de> for Way<'_, T> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut found, Some((token, rest))) = (None, self.0.split_first()) else { return Ok(None) };
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            if name == token.as_ref() {
                found = members.next_value_seed(Way(rest))?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let (mut found, Some((token, rest))) = (None, self.0.split_first()) else { return Ok(None) };
        let wanted = token.as_ref().parse::<usize>().ok();
        for place in 0.. {
            let more = if wanted == Some(place) {
                let element = elements.next_element_seed(Way(rest))?;
                found = element.flatten();
                element.is_some()
            } else {
                elements.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                break;
            }
        }
        Ok(found)
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
