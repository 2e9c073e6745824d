//! Reads values without trusting that they have the type that they should have.
//!
//! A newer harness may change the type of a field; one odd field must not cost the whole entry. So a type
//! says what it makes of the shapes that it knows ([`Lenient`]), and reads as its default from any other.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A type that can be read from any JSON value.
pub(super) trait Lenient<'de>: Default {
    /// From a string; borrowed unless it holds escapes.
    fn from_text(_: Cow<'de, str>) -> Self {
        Self::default()
    }

    /// From a boolean.
    fn from_flag(_: bool) -> Self {
        Self::default()
    }

    /// From a whole number from 0 up.
    fn from_count(_: u64) -> Self {
        Self::default()
    }

    /// From a list.
    fn from_list<A: SeqAccess<'de>>(mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    /// From an object.
    fn from_object<A: MapAccess<'de>>(mut fields: A) -> Result<Self, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Reads a [`Lenient`] type.
pub(super) struct Leniently<T>(pub(super) T);

impl<'de, T: Lenient<'de>> Deserialize<'de> for Leniently<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData)).map(Self)
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::from_flag(flag))
    }

    fn visit_u64<E>(self, count: u64) -> Result<T, E> {
        Ok(T::from_count(count))
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        T::from_list(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::from_object(fields)
    }
}

/// A string. Anything else reads as `None`.
pub(super) type Text<'a> = Leniently<Option<Cow<'a, str>>>;

impl<'de> Lenient<'de> for Option<Cow<'de, str>> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Some(text)
    }
}

/// A boolean. Anything else reads as `false`.
pub(super) type Flag = Leniently<bool>;

impl Lenient<'_> for bool {
    fn from_flag(flag: bool) -> Self {
        flag
    }
}

/// A count. Anything that is not a whole number from 0 up reads as 0.
pub(super) type Count = Leniently<u64>;

impl Lenient<'_> for u64 {
    fn from_count(count: u64) -> Self {
        count
    }
}

impl<T: Default> Default for Leniently<T> {
    fn default() -> Self {
        Self(T::default())
    }
}
