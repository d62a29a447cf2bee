//! Conditions on the arguments of a call.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use regex::Regex;
use serde_json::{Number, Value};

use super::compare::{Truth, equal, order};
use super::pattern::{ValueGlob, regex};
use super::place::{Found, Looked, find, steps};
use super::spec::{ConditionSpec, Op};
use crate::visible::visible;

/// Conditions that must all hold.
///
/// ```
/// use holdpoint_domain::policy::{ConditionSpec, Conditions, Op};
/// use serde_json::json;
/// let small = ConditionSpec { pointer: "/amount".into(), op: Op::AtMost(100.into()) };
/// let conditions = Conditions::compile(vec![small]).unwrap();
/// assert!(conditions.hold_for(&json!({"amount": 99.5})));
/// assert!(!conditions.hold_for(&json!({"amount": "99.5"})));
/// assert!(!conditions.hold_for(&json!({})));
/// ```
#[derive(Clone, Default)]
pub struct Conditions {
    specs: Vec<ConditionSpec>,
    compiled: Vec<Condition>,
}

/// More than this on one rule is a program.
const CONDITIONS_MAX: usize = 64;
const VALUES_MAX: usize = 10_000;

impl Conditions {
    /// The error says which condition is wrong and why.
    pub fn compile(specs: Vec<ConditionSpec>) -> Result<Conditions, String> {
        if specs.len() > CONDITIONS_MAX {
            return Err(format!("has more than {CONDITIONS_MAX} conditions"));
        }
        let compiled = specs.iter().map(Condition::compile).collect::<Result<_, _>>()?;
        Ok(Conditions { specs, compiled })
    }

    /// As they were written, for records and people.
    pub fn specs(&self) -> &[ConditionSpec] {
        &self.specs
    }

    /// Whether all of them certainly hold: for leave to run, doubt is no.
    pub fn hold_for(&self, arguments: &Value) -> bool {
        self.truth(arguments) == Truth::Yes
    }

    fn truth(&self, arguments: &Value) -> Truth {
        self.all(|condition| find(arguments, &condition.steps))
    }

    /// The same, where others look at the same places.
    pub(super) fn truth_in(&self, looked: &mut Looked<'_>) -> Truth {
        self.all(|condition| looked.at(condition.place, &condition.steps))
    }

    fn all<'a>(&self, mut find: impl FnMut(&Condition) -> Found<'a>) -> Truth {
        let mut truth = Truth::Yes;
        for condition in &self.compiled {
            truth = truth.and(condition.truth(find(condition)));
            if truth == Truth::No {
                break;
            }
        }
        truth
    }

    /// Numbers the places that conditions look at; `places` has those of others.
    pub(super) fn number_places(&mut self, places: &mut HashMap<String, usize>) {
        for (spec, condition) in self.specs.iter().zip(&mut self.compiled) {
            let next = places.len();
            condition.place = *places.entry(spec.pointer.clone()).or_insert(next);
        }
    }

    /// Each condition with what became of it.
    pub(super) fn truths<'a>(
        &'a self,
        arguments: &'a Value,
    ) -> impl Iterator<Item = (&'a ConditionSpec, Truth)> {
        self.specs.iter().zip(&self.compiled).map(move |(spec, condition)| {
            (spec, condition.truth(find(arguments, &condition.steps)))
        })
    }
}

impl PartialEq for Conditions {
    fn eq(&self, other: &Conditions) -> bool {
        self.specs == other.specs
    }
}

impl fmt::Debug for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.specs.fmt(f)
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.specs.is_empty() {
            return f.write_str("any arguments");
        }
        for (index, spec) in self.specs.iter().enumerate() {
            write!(f, "{}{spec}", if index > 0 { " and " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for ConditionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = visible(&self.op.operand().to_string());
        write!(f, "`{}` {} {operand}", visible(&self.pointer), self.op.name())
    }
}

/// A condition made ready. Those that are the opposite of another share its test.
#[derive(Clone, Debug)]
struct Condition {
    steps: Box<[Box<str>]>,
    /// The number of the place that the steps lead to, among those of all rules.
    place: usize,
    negated: bool,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    OneOf(Vec<Value>),
    Glob(Box<ValueGlob>),
    Regex(Regex),
    /// The order of value and number that is meant, or must not be.
    Order {
        bound: Number,
        is: Ordering,
        negated: bool,
    },
    Exists,
    Contains(Value),
    LengthAtMost(u64),
    LengthMoreThan(u64),
}

impl Condition {
    fn compile(spec: &ConditionSpec) -> Result<Condition, String> {
        let wrong = |why: String| {
            format!("the condition {} on `{}` {why}", spec.op.name(), visible(&spec.pointer))
        };
        let order = |bound: &Number, is, negated| Test::Order { bound: bound.clone(), is, negated };
        let (negated, test) = match &spec.op {
            Op::Equals(value) => (false, Test::OneOf(vec![value.clone()])),
            Op::NotEquals(value) => (true, Test::OneOf(vec![value.clone()])),
            Op::In(values) | Op::NotIn(values) if values.is_empty() => {
                return Err(wrong("has an empty list".into()));
            }
            Op::In(values) | Op::NotIn(values) if values.len() > VALUES_MAX => {
                return Err(wrong(format!("lists more than {VALUES_MAX} values")));
            }
            Op::In(values) => (false, Test::OneOf(values.clone())),
            Op::NotIn(values) => (true, Test::OneOf(values.clone())),
            Op::Glob(pattern) => {
                let glob = ValueGlob::compile(pattern).map_err(wrong)?;
                (false, Test::Glob(Box::new(glob)))
            }
            Op::Regex(pattern) => (false, Test::Regex(regex(pattern).map_err(wrong)?)),
            Op::LessThan(bound) => (false, order(bound, Ordering::Less, false)),
            Op::AtMost(bound) => (false, order(bound, Ordering::Greater, true)),
            Op::MoreThan(bound) => (false, order(bound, Ordering::Greater, false)),
            Op::AtLeast(bound) => (false, order(bound, Ordering::Less, true)),
            Op::Exists(exists) => (!exists, Test::Exists),
            Op::Contains(value) => (false, Test::Contains(value.clone())),
            Op::LengthAtMost(length) => (false, Test::LengthAtMost(*length)),
            Op::LengthMoreThan(length) => (false, Test::LengthMoreThan(*length)),
        };
        Ok(Condition { steps: steps(&spec.pointer).map_err(wrong)?, place: 0, negated, test })
    }

    fn truth(&self, found: Found<'_>) -> Truth {
        let truth = match found {
            Found::Value(Value::Null) => self.test.on_null(self.negated),
            Found::Value(value) => self.test.on(value),
            Found::Missing => self.test.on_missing(self.negated),
            Found::Unclear => Truth::Doubt,
        };
        if self.negated { truth.not() } else { truth }
    }
}

impl Test {
    fn on(&self, value: &Value) -> Truth {
        match self {
            Test::OneOf(values) => one_of(value, values),
            Test::Glob(glob) => value.as_str().map_or(Truth::Doubt, |text| glob.matches(text)),
            Test::Regex(regex) => {
                value.as_str().map_or(Truth::Doubt, |text| Truth::from(regex.is_match(text)))
            }
            Test::Order { bound, is, negated } => match value {
                Value::Number(number) => order(number, bound)
                    .map_or(Truth::Doubt, |order| Truth::from((order == *is) != *negated)),
                _ => Truth::Doubt,
            },
            Test::Exists => Truth::Yes,
            Test::Contains(part) => match (value, part) {
                (Value::String(text), Value::String(part)) => {
                    Truth::from(text.contains(part.as_str()))
                }
                (Value::Array(items), part) => one_of(part, items),
                (Value::Object(object), Value::String(key)) => {
                    Truth::from(object.contains_key(key))
                }
                _ => Truth::Doubt,
            },
            Test::LengthAtMost(most) => {
                length(value).map_or(Truth::Doubt, |length| Truth::from(length <= *most))
            }
            Test::LengthMoreThan(more) => {
                length(value).map_or(Truth::Doubt, |length| Truth::from(length > *more))
            }
        }
    }

    /// What is not there equals nothing. But "is not prod" cannot be told either: the tool may well
    /// take prod when nothing is said.
    fn on_missing(&self, negated: bool) -> Truth {
        match self {
            Test::Exists => Truth::No,
            _ if negated => Truth::Doubt,
            _ => Truth::No,
        }
    }

    /// To some tools `null` is a value and to others it is nothing.
    fn on_null(&self, negated: bool) -> Truth {
        match self {
            Test::OneOf(values) if values.contains(&Value::Null) => Truth::Yes,
            Test::Exists => Truth::Doubt,
            _ => self.on_missing(negated),
        }
    }
}

fn one_of(value: &Value, values: &[Value]) -> Truth {
    let mut truth = Truth::No;
    for other in values {
        truth = truth.or(equal(value, other));
        if truth == Truth::Yes {
            break;
        }
    }
    truth
}

fn length(value: &Value) -> Option<u64> {
    let length = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(object) => object.len(),
        _ => return None,
    };
    Some(length as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn truth(name: &str, operand: Value, arguments: Value) -> Truth {
        let op = Op::parse(name, operand).unwrap();
        let spec = ConditionSpec { pointer: "/a".into(), op };
        Conditions::compile(vec![spec]).unwrap().truth(&arguments)
    }

    #[test]
    fn operators_on_values_of_their_kind() {
        for (name, operand, yes, no) in [
            ("equals", json!("x"), json!("x"), json!("y")),
            ("not_equals", json!("x"), json!("y"), json!("x")),
            ("in", json!([1, 2]), json!(2), json!(3)),
            ("not_in", json!([1, 2]), json!(3), json!(2)),
            ("glob", json!("/tmp/**"), json!("/tmp/x"), json!("/etc/x")),
            ("regex", json!("^rm "), json!("rm x"), json!("ls; rm x")),
            ("less_than", json!(3), json!(2.5), json!(3)),
            ("at_most", json!(3), json!(3), json!(3.5)),
            ("more_than", json!(3), json!(3.5), json!(3)),
            ("at_least", json!(3), json!(3), json!(2)),
            ("exists", json!(true), json!("x"), json!(null)),
            ("contains", json!("b"), json!("abc"), json!("ac")),
            ("contains", json!("b"), json!(["a", "b"]), json!(["a"])),
            ("contains", json!("b"), json!({"b": 1}), json!({"c": 1})),
            ("length_at_most", json!(2), json!("éé"), json!("abc")),
            ("length_more_than", json!(2), json!([1, 2, 3]), json!({"a": 1})),
        ] {
            assert_eq!(truth(name, operand.clone(), json!({"a": yes})), Truth::Yes, "{name}");
            if name != "exists" {
                assert_eq!(truth(name, operand, json!({"a": no})), Truth::No, "{name}");
            }
        }
        assert_eq!(truth("exists", json!(false), json!({})), Truth::Yes);
        assert_eq!(truth("exists", json!(true), json!({})), Truth::No);
    }

    #[test]
    fn other_kinds_are_doubtful_for_every_operator() {
        for (name, operand, value) in [
            ("equals", json!(1), json!("1")),
            ("not_equals", json!(1), json!("1")),
            ("in", json!(["1"]), json!(1)),
            ("not_in", json!([true]), json!("true")),
            ("glob", json!("x*"), json!(["x"])),
            ("regex", json!("x"), json!({"x": 1})),
            ("less_than", json!(3), json!("2")),
            ("at_least", json!(3), json!([3])),
            ("exists", json!(true), json!(null)),
            ("exists", json!(false), json!(null)),
            ("contains", json!(1), json!("1")),
            ("length_at_most", json!(3), json!(100)),
        ] {
            assert_eq!(truth(name, operand, json!({"a": value})), Truth::Doubt, "{name} {value}");
        }
    }

    #[test]
    fn a_missing_value_meets_nothing_and_leaves_negatives_in_doubt() {
        for arguments in [json!({}), json!({"a": null}), json!({"A": "prod"})] {
            for (name, operand) in [
                ("equals", json!("prod")),
                ("in", json!(["prod"])),
                ("glob", json!("*")),
                ("regex", json!("")),
                ("less_than", json!(3)),
                ("at_most", json!(3)),
                ("contains", json!("")),
                ("length_at_most", json!(3)),
            ] {
                assert_eq!(truth(name, operand, arguments.clone()), Truth::No, "{name}");
            }
            assert_eq!(truth("not_equals", json!("prod"), arguments.clone()), Truth::Doubt);
            assert_eq!(truth("not_in", json!(["prod"]), arguments), Truth::Doubt);
        }
        assert_eq!(truth("equals", json!(null), json!({"a": null})), Truth::Yes);
        assert_eq!(truth("not_equals", json!(null), json!({"a": null})), Truth::No);
    }

    #[test]
    fn pointers_reach_into_structures() {
        let at = |pointer: &str, arguments: &Value| {
            let op = Op::Equals(json!(1));
            let spec = ConditionSpec { pointer: pointer.into(), op };
            Conditions::compile(vec![spec]).map(|conditions| conditions.truth(arguments))
        };
        let arguments = json!({"a/b": {"~": [0, 1]}, "s": "{\"x\":1}", "0": 1, "": 1});
        assert_eq!(at("/a~1b/~0/1", &arguments), Ok(Truth::Yes));
        assert_eq!(at("/a~1b/~0/0", &arguments), Ok(Truth::No));
        assert_eq!(at("/a~1b/~0/9", &arguments), Ok(Truth::No));
        assert_eq!(at("/0", &arguments), Ok(Truth::Yes));
        assert_eq!(at("/", &arguments), Ok(Truth::Yes));
        // JSON in a text, or a name where only numbers fit: nobody can tell what the tool makes of it.
        assert_eq!(at("/s/x", &arguments), Ok(Truth::Doubt));
        assert_eq!(at("/a~1b/~0/01", &arguments), Ok(Truth::Doubt));
        assert!(at("a", &arguments).unwrap_err().contains("JSON pointer"));
        assert!(at("/a~b", &arguments).unwrap_err().contains("`~`"));
    }

    #[test]
    fn says_what_is_wrong_with_a_condition() {
        let compile =
            |op| Conditions::compile(vec![ConditionSpec { pointer: "/a".into(), op }]).unwrap_err();
        assert_eq!(compile(Op::In(vec![])), "the condition in on `/a` has an empty list");
        assert!(compile(Op::Regex("(".into())).contains("unclosed group"));
        assert!(compile(Op::Glob("[".into())).starts_with("the condition glob on `/a` "));
    }

    #[test]
    fn shows_itself_in_words() {
        let specs = vec![
            ConditionSpec { pointer: "/a".into(), op: Op::Equals(json!("x\u{202e}")) },
            ConditionSpec { pointer: "/b".into(), op: Op::AtMost(3.into()) },
        ];
        let conditions = Conditions::compile(specs).unwrap();
        assert_eq!(conditions.to_string(), "`/a` equals \"x⟦U+202E⟧\" and `/b` at_most 3");
        assert_eq!(Conditions::default().to_string(), "any arguments");
    }

    proptest! {
        #[test]
        fn opposites_are_never_both_certain(
            value in prop_oneof![
                Just(json!(null)), Just(json!("x")), any::<i64>().prop_map(Value::from),
                any::<f64>().prop_map(Value::from), Just(json!(["x", 1])), Just(json!({"x": 1})),
            ],
            operand in prop_oneof![Just(json!("x")), (-3i64..3).prop_map(Value::from)],
        ) {
            for arguments in [json!({"a": value}), json!({})] {
                for (one, other, operand) in [
                    ("equals", "not_equals", operand.clone()),
                    ("in", "not_in", json!([operand])),
                    ("less_than", "at_least", json!(1)),
                    ("more_than", "at_most", json!(1)),
                    ("length_at_most", "length_more_than", json!(1)),
                ] {
                    let one = truth(one, operand.clone(), arguments.clone());
                    let other = truth(other, operand, arguments.clone());
                    prop_assert!(one.and(other) != Truth::Yes);
                }
            }
        }
    }
}
