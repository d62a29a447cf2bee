//! A policy as it is written down, before it is checked and compiled.

use serde_json::{Number, Value};

use super::shell_match::ShellCondition;
use super::sql_match::SqlCondition;
use crate::digest::{Digest, Framed};
use crate::hold::Risk;
use crate::json::canonical;
use crate::tool::Effects;

/// A policy as it is written down, before its patterns are compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySpec {
    /// What happens to a call that no rule matches.
    pub default: Then,
    /// How long a question waits if its rule does not say.
    pub default_expires_ms: u64,
    /// In order: the first rule that matches decides.
    pub rules: Vec<RuleSpec>,
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Default for PolicySpec {
    fn default() -> PolicySpec {
        PolicySpec { default: Then::Ask, default_expires_ms: DAY_MS, rules: Vec::new() }
    }
}

/// One rule as it is written down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSpec {
    /// What messages and holds call it.
    pub name: String,
    /// Where it stands in its file, for messages.
    pub line: usize,
    /// Which calls it is about.
    pub matcher: MatchSpec,
    /// What happens to those calls.
    pub then: Then,
    /// How carefully people should look, at least. `None`: the default, and the program that asks may say less.
    pub risk: Option<Risk>,
    /// Only for rules that ask. Without it the rule names nobody.
    pub ask: Option<AskSpec>,
}

/// All of it must hold; what is left out always holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchSpec {
    /// A glob over the whole name.
    pub tool: Option<String>,
    /// A glob over the whole name. `None` matches every agent, and outside programs.
    pub agent: Option<String>,
    /// One of these.
    pub effects: Vec<Effects>,
    /// All of these must hold.
    pub args: Vec<ConditionSpec>,
    /// On what an SQL tool knows about its statement.
    pub sql: Vec<SqlCondition>,
    /// On what a shell command does.
    pub shell: Vec<ShellCondition>,
}

/// What a rule does with a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// The call runs, and nobody is asked.
    Allow,
    /// The call does not run, and nobody is asked.
    Deny,
    /// People decide.
    #[default]
    Ask,
}

impl Then {
    /// The word by which configurations and records tell it.
    pub fn name(self) -> &'static str {
        match self {
            Then::Allow => "allow",
            Then::Deny => "deny",
            Then::Ask => "ask",
        }
    }

    /// The effect of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<Then> {
        [Then::Allow, Then::Deny, Then::Ask].into_iter().find(|then| then.name() == text)
    }
}

/// Whom a rule asks, how many of them, until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskSpec {
    /// People with one of these roles may answer.
    pub roles: Vec<String>,
    /// These people may answer, by id.
    pub people: Vec<String>,
    /// How many different people must give the same answer.
    pub quorum: u32,
    /// The person in whose name the call is made may not answer.
    pub exclude_requester: bool,
    /// Votes of a login or token that another person made do not count.
    pub refuse_made_logins: bool,
    /// How long the question waits, in milliseconds. `None`: the policy's default.
    pub expires_ms: Option<u64>,
}

impl Default for AskSpec {
    fn default() -> AskSpec {
        AskSpec {
            roles: Vec::new(),
            people: Vec::new(),
            quorum: 1,
            exclude_requester: false,
            refuse_made_logins: false,
            expires_ms: None,
        }
    }
}

/// What must hold for the value at one place of the arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionSpec {
    /// JSON pointer, such as `/path` or `/items/0/amount`.
    pub pointer: String,
    /// What must hold there.
    pub op: Op,
}

/// What a condition demands of a value. Where there is none, only `Exists(false)` is met, and the negative ones are in doubt.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Equal as JSON. Numbers are compared by value.
    Equals(Value),
    /// There, and not equal.
    NotEquals(Value),
    /// Equal to one of these.
    In(Vec<Value>),
    /// There, and equal to none of these.
    NotIn(Vec<Value>),
    /// Over the whole text. `*` stays within one path segment, `**` does not.
    Glob(String),
    /// Anchored only as written.
    Regex(String),
    /// A number below this.
    LessThan(Number),
    /// A number of this or below.
    AtMost(Number),
    /// A number above this.
    MoreThan(Number),
    /// A number of this or above.
    AtLeast(Number),
    /// Whether there is a value at all.
    Exists(bool),
    /// A text within a text, an element of an array, a key of an object.
    Contains(Value),
    /// Characters of a text, elements of an array, members of an object.
    LengthAtMost(u64),
    /// As [`Op::LengthAtMost`] counts it.
    LengthMoreThan(u64),
}

impl Op {
    /// Every operator by the name it has in the configuration.
    pub const NAMES: [&'static str; 14] = [
        "equals",
        "not_equals",
        "in",
        "not_in",
        "glob",
        "regex",
        "less_than",
        "at_most",
        "more_than",
        "at_least",
        "exists",
        "contains",
        "length_at_most",
        "length_more_than",
    ];

    /// The name that it has in the configuration, one of [`Op::NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            Op::Equals(_) => "equals",
            Op::NotEquals(_) => "not_equals",
            Op::In(_) => "in",
            Op::NotIn(_) => "not_in",
            Op::Glob(_) => "glob",
            Op::Regex(_) => "regex",
            Op::LessThan(_) => "less_than",
            Op::AtMost(_) => "at_most",
            Op::MoreThan(_) => "more_than",
            Op::AtLeast(_) => "at_least",
            Op::Exists(_) => "exists",
            Op::Contains(_) => "contains",
            Op::LengthAtMost(_) => "length_at_most",
            Op::LengthMoreThan(_) => "length_more_than",
        }
    }

    /// The one reading of an operator from configuration, records and requests.
    pub fn parse(name: &str, operand: Value) -> Result<Op, String> {
        let wants = |what: &str| format!("`{name}` takes {what}");
        Ok(match (name, operand) {
            ("equals", value) => Op::Equals(value),
            ("not_equals", value) => Op::NotEquals(value),
            ("contains", value) => Op::Contains(value),
            ("in", Value::Array(values)) => Op::In(values),
            ("not_in", Value::Array(values)) => Op::NotIn(values),
            ("in" | "not_in", _) => return Err(wants("a list of values")),
            ("glob", Value::String(pattern)) => Op::Glob(pattern),
            ("regex", Value::String(pattern)) => Op::Regex(pattern),
            ("glob" | "regex", _) => return Err(wants("a pattern in quotes")),
            ("less_than", Value::Number(number)) => Op::LessThan(number),
            ("at_most", Value::Number(number)) => Op::AtMost(number),
            ("more_than", Value::Number(number)) => Op::MoreThan(number),
            ("at_least", Value::Number(number)) => Op::AtLeast(number),
            ("less_than" | "at_most" | "more_than" | "at_least", _) => {
                return Err(wants("a number"));
            }
            ("exists", Value::Bool(exists)) => Op::Exists(exists),
            ("exists", _) => return Err(wants("true or false")),
            ("length_at_most", value) => {
                Op::LengthAtMost(value.as_u64().ok_or_else(|| wants("a whole number"))?)
            }
            ("length_more_than", value) => {
                Op::LengthMoreThan(value.as_u64().ok_or_else(|| wants("a whole number"))?)
            }
            (_, _) => {
                return Err(format!(
                    "there is no condition `{name}`; there are {}",
                    Op::NAMES.join(", ")
                ));
            }
        })
    }

    /// What stands behind the name in the configuration.
    pub fn operand(&self) -> Value {
        match self {
            Op::Equals(value) | Op::NotEquals(value) | Op::Contains(value) => value.clone(),
            Op::In(values) | Op::NotIn(values) => Value::Array(values.clone()),
            Op::Glob(pattern) | Op::Regex(pattern) => Value::from(pattern.as_str()),
            Op::LessThan(number)
            | Op::AtMost(number)
            | Op::MoreThan(number)
            | Op::AtLeast(number) => Value::Number(number.clone()),
            Op::Exists(exists) => Value::Bool(*exists),
            Op::LengthAtMost(length) | Op::LengthMoreThan(length) => Value::from(*length),
        }
    }
}

impl PolicySpec {
    /// Names exactly this policy. Lines do not count: moving a rule in its file changes nothing.
    pub(super) fn version(&self) -> Digest {
        let framed = Framed::new("holdpoint.policy.v1")
            .field("default", self.default.name().as_bytes())
            .number("default_expires_ms", self.default_expires_ms)
            .number("rules", self.rules.len() as u64);
        self.rules.iter().fold(framed, |framed, rule| rule.frame(framed)).finish()
    }
}

impl RuleSpec {
    fn frame(&self, framed: Framed) -> Framed {
        let effects: Vec<&str> =
            self.matcher.effects.iter().map(|effects| effects.name()).collect();
        let framed = framed
            .field("name", self.name.as_bytes())
            .optional("tool", self.matcher.tool.as_deref().map(str::as_bytes))
            .optional("agent", self.matcher.agent.as_deref().map(str::as_bytes))
            .list("effects", &effects)
            .number("args", self.matcher.args.len() as u64);
        let framed = self.matcher.args.iter().fold(framed, |framed, condition| {
            framed
                .field("pointer", condition.pointer.as_bytes())
                .field("op", condition.op.name().as_bytes())
                .field("operand", &canonical(&condition.op.operand()))
        });
        // Only where there are any, so that other policies keep their version.
        let framed = match self.matcher.sql.is_empty() {
            true => framed,
            false => framed.number("sql", self.matcher.sql.len() as u64),
        };
        let framed =
            self.matcher.sql.iter().fold(framed, |framed, condition| condition.frame(framed));
        // As above: rules without it keep the version that they had before there was any.
        let framed = match self.matcher.shell.is_empty() {
            true => framed,
            false => framed.number("shell", self.matcher.shell.len() as u64),
        };
        let framed =
            self.matcher.shell.iter().fold(framed, |framed, condition| condition.frame(framed));
        let framed = framed
            .field("then", self.then.name().as_bytes())
            .optional("risk", self.risk.map(|risk| risk.name().as_bytes()))
            .number("ask", u64::from(self.ask.is_some()));
        match &self.ask {
            None => framed,
            Some(ask) => {
                let framed = framed
                    .list("roles", &ask.roles)
                    .list("people", &ask.people)
                    .number("quorum", u64::from(ask.quorum))
                    .number("exclude_requester", u64::from(ask.exclude_requester))
                    .optional(
                        "expires_ms",
                        ask.expires_ms.map(u64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice),
                    );
                // Only where it is said: a policy that does not say it keeps the version it had.
                match ask.refuse_made_logins {
                    true => framed.number("refuse_made_logins", 1),
                    false => framed,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operators_are_read_as_they_are_written() {
        for name in Op::NAMES {
            let operand = match name {
                "in" | "not_in" => json!(["a"]),
                "glob" | "regex" => json!("a*"),
                "exists" => json!(true),
                _ => json!(3),
            };
            let op = Op::parse(name, operand.clone()).unwrap();
            assert_eq!((op.name(), op.operand()), (name, operand));
        }
        assert_eq!(Op::parse("in", json!("a")), Err("`in` takes a list of values".into()));
        assert_eq!(Op::parse("at_most", json!("3")), Err("`at_most` takes a number".into()));
        assert_eq!(Op::parse("exists", json!(1)), Err("`exists` takes true or false".into()));
        assert_eq!(
            Op::parse("length_at_most", json!(-1)),
            Err("`length_at_most` takes a whole number".into())
        );
        assert!(Op::parse("equal", json!(1)).unwrap_err().contains("there are equals, not_equals"));
    }

    #[test]
    fn i07_every_change_of_meaning_is_another_version() {
        let rule = || RuleSpec {
            name: "r".into(),
            matcher: MatchSpec {
                tool: Some("t".into()),
                args: vec![ConditionSpec { pointer: "/a".into(), op: Op::Equals(json!(1)) }],
                ..MatchSpec::default()
            },
            ask: Some(AskSpec::default()),
            ..RuleSpec::default()
        };
        let with = |change: fn(&mut PolicySpec)| {
            let mut spec = PolicySpec { rules: vec![rule(), rule()], ..PolicySpec::default() };
            change(&mut spec);
            spec.version()
        };
        let changes: [fn(&mut PolicySpec); 21] = [
            |_| {},
            |spec| spec.default = Then::Deny,
            |spec| spec.default_expires_ms += 1,
            |spec| drop(spec.rules.pop()),
            |spec| spec.rules[0].name = "s".into(),
            |spec| spec.rules[0].then = Then::Allow,
            |spec| spec.rules[0].risk = Some(Risk::Low),
            |spec| spec.rules[0].ask = None,
            |spec| spec.rules[0].matcher.tool = None,
            |spec| spec.rules[0].matcher.agent = Some(String::new()),
            |spec| spec.rules[0].matcher.effects.push(Effects::ReadOnly),
            |spec| spec.rules[0].matcher.args[0].op = Op::Equals(json!(1.0)),
            |spec| spec.rules[0].matcher.args[0].op = Op::NotEquals(json!(1)),
            |spec| spec.rules[0].matcher.args[0].pointer = "/b".into(),
            |spec| spec.rules[0].matcher.sql.push(SqlCondition::HasWhere(true)),
            |spec| spec.rules[0].matcher.sql.push(SqlCondition::HasWhere(false)),
            |spec| spec.rules[1].matcher.sql.push(SqlCondition::HasWhere(false)),
            |spec| {
                let kinds = vec![crate::shell::ShellKind::Read];
                spec.rules[0].matcher.shell.push(ShellCondition::KindIn(kinds));
            },
            |spec| {
                let kinds = vec![crate::shell::ShellKind::Read];
                spec.rules[0].matcher.shell.push(ShellCondition::KindNotIn(kinds));
            },
            |spec| spec.rules[1].ask.as_mut().unwrap().quorum = 2,
            |spec| spec.rules[1].ask.as_mut().unwrap().expires_ms = Some(0),
        ];
        let versions: std::collections::HashSet<Digest> = changes.into_iter().map(with).collect();
        assert_eq!(versions.len(), changes.len());
        assert_eq!(with(|spec| spec.rules[0].line = 9), with(|_| {}));
    }
}
