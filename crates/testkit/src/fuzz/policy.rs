//! Rules and conditions: whatever they say, they say it every time, and a value of another kind
//! than a rule expects never makes the rule more lenient.

use domain::policy::{ConditionSpec, Conditions, Facts, Op};
use domain::tool::Effects;
use holdpoint::config::Config;
use serde_json::{Value, json};

use super::{Pieces, text};

const PEOPLE: &str = "[[people]]\nid = \"ana\"\nroles = [\"admin\", \"dba\"]\n\
                      [[people]]\nid = \"bob\"\nroles = [\"dba\"]\n";

/// The arguments of a call on the first line; on the rest either one condition as JSON
/// (`["/pointer", "op", operand]`) or the policy of a configuration.
pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let arguments = serde_json::from_slice(pieces.line()).unwrap_or_else(|_| json!({"n": 1}));
    let rest = pieces.rest();
    condition(rest, &arguments);
    let Some(policy) = text(rest) else { return };
    let Ok(config) = Config::parse(&format!("{PEOPLE}{policy}"), "fuzz.toml") else { return };
    for (tool, effects) in [("sql_modify", Effects::Transactional), ("x", Effects::ReadOnly)] {
        let facts = Facts { tool, agent: "ops", effects, arguments: &arguments, sql: None };
        let verdict = config.policy.rule(&facts);
        assert_eq!(
            format!("{verdict:?}"),
            format!("{:?}", config.policy.rule(&facts)),
            "a verdict is a verdict"
        );
        assert!(!config.policy.explain(&facts).is_empty());
    }
}

fn condition(bytes: &[u8], arguments: &Value) {
    let Ok(Value::Array(parts)) = serde_json::from_slice::<Value>(bytes) else { return };
    let [Value::String(pointer), Value::String(name), operand] = parts.as_slice() else { return };
    let Ok(op) = Op::parse(name, operand.clone()) else { return };
    assert_eq!(op.name(), name);
    let spec = ConditionSpec { pointer: pointer.clone(), op };
    let Ok(conditions) = Conditions::compile(vec![spec.clone()]) else { return };
    let holds = conditions.hold_for(arguments);
    assert_eq!(conditions.hold_for(arguments), holds);
    let twice = Conditions::compile(vec![spec.clone(), spec]).expect("sound once is sound twice");
    assert_eq!(twice.hold_for(arguments), holds, "said twice it means the same");
}
