use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[track_caller]
fn check<T: Serialize>(value: &T) {
    let mut out = b"before".to_vec();
    write(value, &mut out).unwrap();
    let wanted = format!("before{}", serde_json::to_string(value).unwrap());
    assert_eq!(String::from_utf8(out), Ok(wanted));
}

#[derive(Serialize)]
enum Shape<'a> {
    Unit,
    New(&'a str),
    Tuple(u8, i16, char),
    Named { a: Option<f64>, b: (), c: [u32; 2] },
}

#[derive(Serialize)]
struct Pair(i8, u16);

#[derive(Serialize)]
struct Whole<'a> {
    shapes: Vec<Shape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<bool>,
    pair: Pair,
    map: BTreeMap<&'a str, Shape<'a>>,
    none: [Shape<'a>; 0],
    float: f32,
}

#[test]
fn every_shape_is_written_as_the_library_writes_it() {
    check(&Whole {
        shapes: vec![
            Shape::Unit,
            Shape::New("x\"y"),
            Shape::Tuple(1, -2, 'é'),
            Shape::Named { a: Some(0.1), b: (), c: [0, u32::MAX] },
            Shape::Named { a: None, b: (), c: [1, 2] },
        ],
        absent: None,
        pair: Pair(-8, 9),
        map: [("k\n", Shape::Unit), ("", Shape::New(""))].into(),
        none: [],
        float: 1.5,
    });
    check(&(i64::MIN, u64::MAX, f64::NAN, true, "\u{7f}\u{0}\u{1f}", 'ß'));
}

#[test]
fn keys_are_text() {
    let numbers: BTreeMap<u8, u8> = [(1, 2)].into();
    assert!(write(&numbers, &mut Vec::new()).is_err());
}

#[test]
fn raw_json_is_refused_and_not_written_as_something_else() {
    let raw = serde_json::value::RawValue::from_string("{}".into()).unwrap();
    assert!(write(&raw, &mut Vec::new()).is_err());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        // Where one that must be escaped stands among eight that need not.
        "[a-z]{0,20}[\\\\\"\n\u{0}-\u{20}]?[a-z\u{7f}-\u{200}]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_is_written_as_the_library_writes_it(value in any_value()) {
        check(&value);
    }
}
