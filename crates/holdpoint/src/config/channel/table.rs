//! Reading one `[channels.NAME]` as the table of its platform.
//!
//! Which table it is stands in the section itself, so the file is read once for the common keys and once
//! more for each channel. Positions in the file stay true that way.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{PlatformConfig, Section};
use crate::config::source::Result;

/// The keys of one platform, as they are written.
pub(super) trait PlatformTable {
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig>;
}

/// A platform's own keys. The common ones may stand beside them, and are read elsewhere.
macro_rules! platform_table {
    ($(#[$meta:meta])* $visible:vis struct $name:ident { $($field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $visible struct $name {
            $($field: $kind,)*
            #[serde(default, rename = "platform")]
            _platform: serde::de::IgnoredAny,
            #[serde(default, rename = "enabled")]
            _enabled: serde::de::IgnoredAny,
            #[serde(default, rename = "agent")]
            _agent: serde::de::IgnoredAny,
            #[serde(default, rename = "ask")]
            _ask: serde::de::IgnoredAny,
            #[serde(default, rename = "expires")]
            _expires: serde::de::IgnoredAny,
            #[serde(default, rename = "on_ambiguous")]
            _on_ambiguous: serde::de::IgnoredAny,
            #[serde(default, rename = "language")]
            _language: serde::de::IgnoredAny,
            #[serde(default, rename = "zone")]
            _zone: serde::de::IgnoredAny,
        }
    };
}

pub(super) use platform_table;

impl<'a> Section<'a> {
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Result<T> {
        let keys = ["channels", self.name];
        match self.source.read_with(In { keys: &keys, found: PhantomData })? {
            Some(found) => Ok(found),
            // The first reading found it, so this cannot happen.
            None => self.wrong("this section cannot be read"),
        }
    }
}

/// Goes down these keys and past all others.
struct In<'a, T> {
    keys: &'a [&'a str],
    found: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for In<'_, T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Option<T>, D::Error> {
        match self.keys {
            [] => T::deserialize(deserializer).map(Some),
            _ => deserializer.deserialize_map(self),
        }
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for In<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Option<T>, A::Error> {
        let (first, rest) = self.keys.split_first().map_or(("", &[][..]), |(a, b)| (*a, b));
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == first {
                found = map.next_value_seed(In { keys: rest, found: PhantomData })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
