//! Values of fields that should be strings or booleans, read without trusting that they are.
//!
//! A newer harness may change the type of a field; one odd field must not cost the whole entry.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string, borrowed from the input unless it holds escapes. Anything else reads as `None`.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

/// A boolean. Anything else reads as `false`.
#[derive(Debug, Default)]
pub(super) struct Flag(pub(super) bool);

/// A count. Anything that is not a whole number from 0 up reads as 0.
#[derive(Debug, Default)]
pub(super) struct Count(pub(super) u64);

#[derive(Default)]
struct Scalar<'a> {
    text: Option<Cow<'a, str>>,
    flag: bool,
    count: u64,
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar { text: Some(Cow::Borrowed(text)), ..Scalar::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar { text: Some(Cow::Owned(text.to_owned())), ..Scalar::default() })
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar { flag, ..Scalar::default() })
    }

    fn visit_u64<E>(self, count: u64) -> Result<Self::Value, E> {
        Ok(Scalar { count, ..Scalar::default() })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Scalar::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Scalar::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor).map(|scalar| Self(scalar.text))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor).map(|scalar| Self(scalar.flag))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor).map(|scalar| Self(scalar.count))
    }
}
