//! Conditions on what a shell command does.
//!
//! The command is part of the call's arguments, which people approve to the byte, so nothing about it is stored:
//! it is read again wherever a rule asks.

use std::fmt;

use serde_json::{Map, Value};

use super::compare::Truth;
use super::spec::Then;
use crate::digest::Framed;
use crate::shell::{ShellFacts, ShellKind, is_secret_path};
use crate::visible::visible;

/// What a rule demands of the kinds of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellCondition {
    /// To allow: every kind is one of these. To ask or deny: any is.
    KindIn(Vec<ShellKind>),
    /// To allow: no kind is one of these. To ask or deny: any is another.
    KindNotIn(Vec<ShellKind>),
}

/// Arguments that stand beside a command and do not change what it does.
const HARMLESS: [&str; 6] =
    ["description", "timeout", "timeout_ms", "run_in_background", "is_background", "justification"];

/// Where it runs. A folder of secrets makes whatever it reads a secret.
const FOLDERS: [&str; 4] = ["cwd", "workdir", "directory", "dir_path"];

/// What the command in these arguments does. `None`: there is none, or what stands beside it may change its meaning.
///
/// A command is a text under `command` or `cmd`, or a list of arguments under one of those or `argv`, at the top or in
/// `input`, where the hooks of coding agents put what the agent said.
pub fn shell_facts(arguments: &Value) -> Option<ShellFacts> {
    let top = arguments.as_object()?;
    let facts = match hook_input(top) {
        Some(input) => facts_in(input),
        None => facts_in(top),
    }?;
    Some(if runs_among_secrets(top) { facts.with_secrets() } else { facts })
}

/// What an agent said, in arguments of the shape that our hooks make. With anything else beside it, a tool may well
/// run that and ignore `input`.
pub fn hook_input(top: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let is_ours = |key: &String| ["cwd", "input", "files", "files_in"].contains(&key.as_str());
    top.get("input").and_then(Value::as_object).filter(|_| top.keys().all(is_ours))
}

fn runs_among_secrets(arguments: &Map<String, Value>) -> bool {
    FOLDERS.iter().filter_map(|key| arguments.get(*key)).any(|folder| match folder {
        Value::String(folder) => is_secret_path(folder),
        _ => true,
    })
}

fn facts_in(arguments: &Map<String, Value>) -> Option<ShellFacts> {
    let mut command = None;
    for (key, value) in arguments {
        match key.as_str() {
            "command" | "cmd" | "argv" if command.is_none() => command = Some(value),
            key if HARMLESS.contains(&key) || FOLDERS.contains(&key) => {}
            _ => return None,
        }
    }
    let facts = match command? {
        Value::String(text) => ShellFacts::of_text(text),
        Value::Array(list) => {
            let argv: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
            ShellFacts::of_argv(&argv)
        }
        _ => return None,
    };
    Some(if runs_among_secrets(arguments) { facts.with_secrets() } else { facts })
}

impl ShellCondition {
    /// The facts by the names that they have after `shell.` in a rule.
    pub const FACTS: [&'static str; 1] = ["kind"];

    /// One condition as it is written down. A fact with a bare value is `equals`.
    pub fn parse(fact: &str, op: &str, operand: Value) -> Result<ShellCondition, String> {
        if fact != "kind" {
            return Err(format!("there is no fact `shell.{}`; there is shell.kind", visible(fact)));
        }
        let known = || {
            let names: Vec<&str> = ShellKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("`shell.kind` takes one or several of {}", names.join(", "))
        };
        let kind = |value: Value| value.as_str().and_then(ShellKind::parse).ok_or_else(known);
        let kinds = match operand {
            Value::Array(values) => values.into_iter().map(kind).collect::<Result<Vec<_>, _>>()?,
            one => vec![kind(one)?],
        };
        match op {
            "equals" | "in" => Ok(ShellCondition::KindIn(kinds)),
            "not_equals" | "not_in" => Ok(ShellCondition::KindNotIn(kinds)),
            _ => Err("`shell.kind` takes equals, in, not_equals or not_in".into()),
        }
    }

    pub(super) fn check(&self, then: Then) -> Result<(), String> {
        let (ShellCondition::KindIn(kinds) | ShellCondition::KindNotIn(kinds)) = self;
        if kinds.is_empty() {
            return Err(format!("the condition {self} lists none"));
        }
        match self {
            ShellCondition::KindIn(kinds)
                if then == Then::Allow && !kinds.iter().all(|kind| kind.is_known()) =>
            {
                Err("it would allow commands of which nobody knows what they do; `unknown` and \
                     `uninspectable` are for rules that ask or deny"
                    .into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn truth(&self, then: Then, facts: Option<&ShellFacts>) -> Truth {
        let Some(facts) = facts else { return Truth::Doubt };
        let kinds = facts.kinds();
        let in_doubt = kinds.iter().any(|kind| !kind.is_known());
        let or_doubt = |truth: Truth| match truth {
            Truth::No if in_doubt => Truth::Doubt,
            truth => truth,
        };
        match (self, then) {
            (ShellCondition::KindIn(named), Then::Allow) => {
                or_doubt(Truth::from(kinds.iter().all(|kind| named.contains(kind))))
            }
            (ShellCondition::KindIn(named), Then::Ask | Then::Deny) => {
                or_doubt(Truth::from(kinds.iter().any(|kind| named.contains(kind))))
            }
            (ShellCondition::KindNotIn(named), Then::Allow) => {
                match kinds.iter().any(|kind| named.contains(kind)) {
                    true => Truth::No,
                    false if in_doubt => Truth::Doubt,
                    false => Truth::Yes,
                }
            }
            (ShellCondition::KindNotIn(named), Then::Ask | Then::Deny) => {
                Truth::from(kinds.iter().any(|kind| !named.contains(kind)))
            }
        }
    }

    fn written(&self) -> (&'static str, Value) {
        let names =
            |kinds: &[ShellKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().into();
        match self {
            ShellCondition::KindIn(kinds) => ("in", names(kinds)),
            ShellCondition::KindNotIn(kinds) => ("not_in", names(kinds)),
        }
    }

    pub(super) fn frame(&self, framed: Framed) -> Framed {
        let (op, operand) = self.written();
        framed
            .field("shell_fact", b"kind")
            .field("op", op.as_bytes())
            .field("operand", &crate::json::canonical(&operand))
    }
}

impl fmt::Display for ShellCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, operand) = self.written();
        write!(f, "`shell.kind` {op} {}", visible(&operand.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn truth(then: Then, op: &str, kinds: Value, command: &str) -> Truth {
        let facts = shell_facts(&json!({"command": command}));
        ShellCondition::parse("kind", op, kinds).unwrap().truth(then, facts.as_ref())
    }

    #[test]
    fn to_allow_every_kind_must_be_named_and_to_ask_any() {
        let reads_and_deletes = "cat a.txt && rm a.txt";
        for (then, kinds, wanted) in [
            (Then::Allow, json!("read"), Truth::No),
            (Then::Allow, json!(["read", "delete"]), Truth::Yes),
            (Then::Ask, json!("delete"), Truth::Yes),
            (Then::Deny, json!(["push", "read"]), Truth::Yes),
            (Then::Deny, json!("push"), Truth::No),
        ] {
            assert_eq!(
                truth(then, "in", kinds.clone(), reads_and_deletes),
                wanted,
                "{then:?} {kinds}"
            );
        }
        assert_eq!(truth(Then::Allow, "not_in", json!("push"), reads_and_deletes), Truth::Yes);
        assert_eq!(truth(Then::Allow, "not_in", json!("delete"), reads_and_deletes), Truth::No);
        assert_eq!(truth(Then::Ask, "not_in", json!("read"), reads_and_deletes), Truth::Yes);
        assert_eq!(
            truth(Then::Ask, "not_in", json!(["read", "delete"]), reads_and_deletes),
            Truth::No
        );
    }

    #[test]
    fn i06_what_cannot_be_read_is_in_doubt_and_never_allows() {
        for command in ["frobnicate", "cat $(rm x)", ""] {
            assert_eq!(
                truth(Then::Allow, "in", json!(["read"]), command),
                Truth::Doubt,
                "{command}"
            );
            assert_eq!(
                truth(Then::Allow, "not_in", json!(["delete"]), command),
                Truth::Doubt,
                "{command}"
            );
            assert_eq!(
                truth(Then::Deny, "in", json!("delete"), command),
                Truth::Doubt,
                "{command}"
            );
            assert_eq!(truth(Then::Ask, "not_in", json!("read"), command), Truth::Yes, "{command}");
        }
        let unknown = ShellCondition::parse("kind", "equals", json!("unknown")).unwrap();
        assert!(unknown.check(Then::Allow).unwrap_err().contains("nobody knows"));
        assert!(unknown.check(Then::Ask).is_ok());
        assert_eq!(unknown.truth(Then::Ask, None), Truth::Doubt);
    }

    #[test]
    fn a_command_is_found_only_where_nothing_beside_it_changes_its_meaning() {
        let read = [ShellKind::Read];
        for arguments in [
            json!({"command": "ls", "description": "x", "timeout": 5}),
            json!({"argv": ["ls", "a b"], "cwd": "/"}),
            json!({"cwd": "/", "input": {"command": "ls"}, "files_in": "repository"}),
            json!({"cmd": ["bash", "-c", "ls | wc -l"]}),
        ] {
            let facts = shell_facts(&arguments).unwrap();
            assert_eq!(facts.kinds(), read, "{arguments}");
        }
        for arguments in [
            json!({"command": "find", "args": ["-delete"]}),
            json!({"command": "ls", "env": {"LD_PRELOAD": "x"}}),
            json!({"command": "ls", "cmd": "rm x"}),
            json!({"command": 1}),
            json!({"argv": ["ls", 1]}),
            json!({"input": "rm x", "command": "ls"}),
            json!({"input": {"command": "ls"}, "command": "rm -rf x"}),
            json!({"input": {"command": "ls"}, "argv": ["rm", "x"], "cwd": "/"}),
            json!({}),
            json!(["ls"]),
        ] {
            assert_eq!(shell_facts(&arguments), None, "{arguments}");
        }
    }

    #[test]
    fn a_command_in_a_folder_of_secrets_shows_secrets() {
        for arguments in [
            json!({"command": "cat config", "directory": "/h/.kube"}),
            json!({"cwd": "/h/.ssh", "input": {"command": "cat config"}}),
            json!({"cwd": "/", "input": {"command": "cat config", "workdir": "/h/.aws"}}),
        ] {
            let facts = shell_facts(&arguments).unwrap();
            assert_eq!(facts.kinds(), [ShellKind::Read, ShellKind::Secret], "{arguments}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (fact, op, operand, why) in [
            ("kind", "equals", json!("rm"), "one or several of read, write"),
            ("kind", "regex", json!("read"), "equals, in"),
            ("program", "equals", json!("rm"), "there is shell.kind"),
        ] {
            let told = ShellCondition::parse(fact, op, operand).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
        assert!(ShellCondition::KindIn(vec![]).check(Then::Ask).is_err());
    }
}
