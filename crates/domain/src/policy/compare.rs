//! Whether a value is what a rule means, told in three words.
//!
//! Tools convert freely: to many, `"1"`, `1` and `1.0` are one thing. So only values of the same
//! kind are told apart for certain; across kinds there is doubt.

use std::cmp::Ordering;

use serde_json::{Number, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    No,
    Doubt,
    Yes,
}

impl Truth {
    pub(super) fn from(holds: bool) -> Truth {
        if holds { Truth::Yes } else { Truth::No }
    }

    /// Met only if both are; in doubt unless one certainly is not.
    pub(super) fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::No, _) | (_, Truth::No) => Truth::No,
            (Truth::Yes, Truth::Yes) => Truth::Yes,
            _ => Truth::Doubt,
        }
    }

    pub(super) fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    pub(super) fn not(self) -> Truth {
        match self {
            Truth::No => Truth::Yes,
            Truth::Doubt => Truth::Doubt,
            Truth::Yes => Truth::No,
        }
    }
}

pub(super) fn equal(a: &Value, b: &Value) -> Truth {
    match (a, b) {
        (Value::Null, Value::Null) => Truth::Yes,
        (Value::Null, _) | (_, Value::Null) => Truth::No,
        (Value::Bool(a), Value::Bool(b)) => Truth::from(a == b),
        (Value::String(a), Value::String(b)) => Truth::from(a == b),
        (Value::Number(a), Value::Number(b)) => match order(a, b) {
            Some(Ordering::Equal) if a == b => Truth::Yes,
            // `1` and `1.0`.
            Some(Ordering::Equal) | None => Truth::Doubt,
            Some(_) => Truth::No,
        },
        (Value::Array(a), Value::Array(b)) => {
            if a.len() != b.len() {
                return Truth::No;
            }
            a.iter().zip(b).fold(Truth::Yes, |truth, (a, b)| truth.and(equal(a, b)))
        }
        (Value::Object(a), Value::Object(b)) => {
            if a.len() != b.len() {
                return Truth::No;
            }
            a.iter().fold(Truth::Yes, |truth, (key, a)| {
                truth.and(b.get(key).map_or(Truth::No, |b| equal(a, b)))
            })
        }
        _ => Truth::Doubt,
    }
}

/// By exact value, whatever the two are stored as.
pub(super) fn order(a: &Number, b: &Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => order_mixed(a, b.as_f64()?),
        (None, Some(b)) => order_mixed(b, a.as_f64()?).map(Ordering::reverse),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Turning a large integer into a double would round it, and two different amounts would be equal.
fn order_mixed(whole: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // Integers here have at most 64 bits, so the cast saturates only beyond all of them.
    let floor = double.floor();
    let order = whole.cmp(&(floor as i128));
    Some(if order == Ordering::Equal && double > floor { Ordering::Less } else { order })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn number(value: Value) -> Number {
        match value {
            Value::Number(number) => number,
            other => panic!("{other} is no number"),
        }
    }

    #[test]
    fn equality_is_certain_only_within_a_kind() {
        for (a, b, truth) in [
            (json!(1), json!(1), Truth::Yes),
            (json!(1), json!(2), Truth::No),
            (json!(1), json!(1.0), Truth::Doubt),
            (json!(1), json!("1"), Truth::Doubt),
            (json!(true), json!("true"), Truth::Doubt),
            (json!("prod"), json!(["prod"]), Truth::Doubt),
            (json!("prod"), json!(null), Truth::No),
            (json!("prod"), json!("PROD"), Truth::No),
            (json!([1, "a"]), json!([1.0, "a"]), Truth::Doubt),
            (json!([1, "a"]), json!([1.0, "b"]), Truth::No),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), Truth::Yes),
            (json!({"a": 1}), json!({"b": 1}), Truth::No),
        ] {
            assert_eq!(equal(&a, &b), truth, "{a} {b}");
            assert_eq!(equal(&b, &a), truth, "{b} {a}");
        }
    }

    #[test]
    fn order_is_exact_where_doubles_are_not() {
        let large = number(json!(9_007_199_254_740_993_u64));
        assert_eq!(order(&large, &number(json!(9_007_199_254_740_992.0))), Some(Ordering::Greater));
        assert_eq!(order(&number(json!(u64::MAX)), &number(json!(1e300))), Some(Ordering::Less));
        assert_eq!(
            order(&number(json!(i64::MIN)), &number(json!(-1e300))),
            Some(Ordering::Greater)
        );
        assert_eq!(order(&number(json!(-1)), &number(json!(u64::MAX))), Some(Ordering::Less));
        assert_eq!(order(&number(json!(-1)), &number(json!(-0.5))), Some(Ordering::Less));
        assert_eq!(order(&number(json!(0)), &number(json!(-0.5))), Some(Ordering::Greater));
        assert_eq!(order(&number(json!(2)), &number(json!(2.0))), Some(Ordering::Equal));
    }

    proptest! {
        #[test]
        fn order_is_antisymmetric(a in any::<i64>(), b in any::<f64>(), c in -3i64..3, d in -3.0..3.0f64) {
            for (a, b) in [(a, b), (c, d), (a, a as f64)] {
                prop_assume!(b.is_finite());
                let (a, b) = (number(json!(a)), number(json!(b)));
                prop_assert_eq!(order(&a, &b), order(&b, &a).map(Ordering::reverse));
            }
        }

        #[test]
        fn small_numbers_order_as_doubles_do(a in -1000i64..1000, b in -1000.0..1000.0f64) {
            prop_assert_eq!(order(&number(json!(a)), &number(json!(b))), (a as f64).partial_cmp(&b));
        }
    }
}
