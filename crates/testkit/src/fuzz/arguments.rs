//! Arguments of a call: taken only if every reader reads them alike, and kept to the byte.

use domain::json::{ARGUMENTS_BYTES_MAX, Arguments, BadArguments, canonical};
use serde_json::Value;

use super::told_plainly;

pub(super) fn run(bytes: &[u8]) {
    let theirs = serde_json::from_slice::<Value>(bytes);
    match Arguments::parse(bytes) {
        Ok(ours) => {
            assert_eq!(ours.bytes(), bytes, "kept to the byte");
            let theirs = theirs.expect("what is taken is JSON to every reader");
            assert_eq!(*ours.value(), theirs, "and means the same to every reader");
            sound(&ours);
        }
        Err(why) => {
            told_plainly(&why.to_string(), bytes.len());
            // Whatever serde_json takes is refused for a reason of ours only.
            if let Ok(value) = theirs {
                let ours = match why {
                    BadArguments::NotJson { .. } | BadArguments::NotUtf8 { .. } => false,
                    BadArguments::NotAnObject { .. } => !value.is_object(),
                    BadArguments::TooLong { .. } => bytes.len() > ARGUMENTS_BYTES_MAX,
                    _ => true,
                };
                assert!(ours, "refused without a reason: {why:?}");
            }
        }
    }
}

fn sound(arguments: &Arguments) {
    let again = Arguments::from_value(arguments.value().clone()).expect("its own value is sound");
    assert_eq!(again.value(), arguments.value());
    let canon = canonical(arguments.value());
    let read = Arguments::parse(&canon).expect("the canonical form is sound");
    assert_eq!(canonical(read.value()), canon, "and the same again");
    let Value::Object(members) = arguments.value() else { panic!("always an object") };
    for key in members.keys().map(String::as_str).chain(["confirmed"]).take(8) {
        let without = arguments.without(key);
        let read = Arguments::parse(without.bytes()).expect("still sound without a member");
        assert_eq!(read.value(), without.value(), "bytes and value of one cloth");
        let mut expected = members.clone();
        expected.remove(key);
        assert_eq!(*without.value(), Value::Object(expected), "exactly one member is gone");
    }
    assert!(format!("{arguments:?}").len() < 60, "debug output tells nothing");
}
