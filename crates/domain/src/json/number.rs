//! Which numbers survive being read.
//!
//! A reader turns `0.10000000000000000001` into the double nearest to it, which is another number.
//! If the tool reads it more exactly than the policy did, what was checked is not what runs.

use serde_json::Value;

/// Where the first number begins that reading would change. The text is JSON, or nearly so.
pub(super) fn first_unfaithful(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = after_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let end = bytes[at..]
                    .iter()
                    .position(|byte| {
                        !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
                    })
                    .map_or(bytes.len(), |length| at + length);
                if !is_faithful(&text[at..end]) {
                    return Some(at);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

fn after_string(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn is_faithful(token: &str) -> bool {
    if !token.contains(['.', 'e', 'E']) {
        return token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok();
    }
    match token.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            // Some doubles have two shortest spellings, and writers differ in which they choose.
            let written = [format!("{value:e}"), Value::from(value).to_string()];
            let token = Decimal::of(token);
            written.iter().any(|spelling| Decimal::of(spelling) == token)
        }
        _ => false,
    }
}

/// A decimal number as written, without the freedom of spelling: 0.[digits] × 10^exponent.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(token: &str) -> Decimal {
        let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let point = whole.len() as i64 - (all.len() - digits.len()) as i64;
        let digits = digits.trim_end_matches('0').to_owned();
        // Zero has no exponent that matters; one too large to count belongs to no finite double.
        let exponent = match digits.is_empty() {
            true => 0,
            false => exponent.parse::<i64>().unwrap_or(i64::MAX).saturating_add(point),
        };
        Decimal { negative, digits, exponent }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_double_with_two_shortest_spellings_may_be_written_either_way() {
        assert!(is_faithful("-233412385601675.62"));
        assert!(is_faithful("-233412385601675.63"));
        assert!(!is_faithful("-233412385601675.61"));
    }

    #[test]
    fn looks_at_numbers_and_not_into_strings() {
        assert_eq!(first_unfaithful(r#"{"1e999":"\"1e999","a":1}"#), None);
        assert_eq!(first_unfaithful(r#"{"a":[1,1e999]}"#), Some(8));
        assert_eq!(first_unfaithful("\"\\"), None);
    }

    #[test]
    fn spelling_is_free_and_value_is_not() {
        for token in ["1.0", "1.50", "150e-2", "-0", "-0.0", "0e5", "1E+2", "123456789.125"] {
            assert!(is_faithful(token), "{token}");
        }
        for token in ["1.00000000000000001", "1e309", "1e-330", "36893488147419103232", "-", "1-1"]
        {
            assert!(!is_faithful(token), "{token}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_double_prints_is_faithful(value in any::<f64>()) {
            prop_assume!(value.is_finite());
            let plain = serde_json::Value::from(value).to_string();
            prop_assert!(is_faithful(&plain), "{}", plain);
            let scientific = format!("{value:e}");
            prop_assert!(is_faithful(&scientific) || !scientific.contains(['.', 'e']));
        }

        #[test]
        fn one_digit_more_than_a_double_can_hold_is_not(value in 1u64 << 62..1 << 63) {
            let token = format!("0.{value}1");
            prop_assert!(!is_faithful(&token), "{}", token);
        }
    }
}
