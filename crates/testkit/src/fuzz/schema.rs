//! Schemas come from tools and from programs that open holds; values come from models and people.

use domain::schema::{Validator, redact, write_only_pointers};
use serde_json::Value;

use super::{Pieces, told_plainly};

/// The schema on the first line, a value on the rest.
pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let Ok(schema) = serde_json::from_slice::<Value>(pieces.line()) else { return };
    let Ok(value) = serde_json::from_slice::<Value>(pieces.rest()) else { return };
    let secrets = write_only_pointers(&schema);
    let shown = redact(&value, &secrets);
    assert_eq!(redact(&shown, &secrets), shown, "what is redacted stays so");
    for pointer in secrets.iter().filter(|pointer| !pointer.contains('*')) {
        if let (Some(before), Some(after)) = (value.pointer(pointer), shown.pointer(pointer))
            && before.as_str().is_some_and(|text| text.len() > 40)
        {
            assert_ne!(before, after, "{pointer} is secret, and shown");
        }
    }
    match Validator::new(&schema) {
        Err(why) => assert!(why.len() <= 2_000 + 16 * bytes.len()),
        Ok(validator) => {
            let first = validator.check(&value).map_err(|errors| errors.to_string());
            let again = validator.check(&value).map_err(|errors| errors.to_string());
            assert_eq!(first, again, "the same value fits or does not");
            if let Err(told) = first {
                told_plainly(&told, bytes.len());
            }
        }
    }
}
