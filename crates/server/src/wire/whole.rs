//! A whole number as JSON means it: `60.0` is one, too. Some languages write every number so.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole(pub(super) u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Whole, D::Error> {
        from.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number that is not below zero")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
        // 2⁶⁴, which is the first that does not fit.
        const END: f64 = 18_446_744_073_709_551_616.0;
        if number.fract() == 0.0 && (0.0..END).contains(&number) {
            return Ok(Whole(number as u64));
        }
        Err(E::invalid_value(serde::de::Unexpected::Float(number), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_one_however_it_is_written() {
        let read = |text: &str| serde_json::from_str::<Whole>(text).ok().map(|whole| whole.0);
        assert_eq!(read("60"), Some(60));
        assert_eq!(read("60.0"), Some(60));
        assert_eq!(read("6e1"), Some(60));
        assert_eq!(read("18446744073709551615"), Some(u64::MAX));
        for none in ["60.5", "-1", "-1.0", "18446744073709551616", "1e300", "\"60\"", "true"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
