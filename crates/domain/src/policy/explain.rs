//! Says for each rule why it did or did not decide, for people who write rules.

use super::compare::Truth;
use super::rules::{Facts, Policy, Rule};
use super::shell_match::shell_facts;
use super::spec::Then;
use crate::visible::visible;

impl Facts<'_> {
    /// One line that says what the rules are asked about. Values of arguments are not repeated.
    pub fn describe(&self) -> String {
        let sql = self.sql.cloned().unwrap_or_default();
        let shell = shell_facts(self.arguments).map(|facts| format!(", {facts}"));
        let (tool, effects) = (visible(self.tool), self.effects.name());
        let shell = shell.unwrap_or_default();
        format!("facts: tool = {tool}, effects = {effects}, {sql}{shell}")
    }
}

impl Policy {
    /// One line for each rule and one for the verdict. Values of arguments are not repeated.
    pub fn explain(&self, facts: &Facts<'_>) -> Vec<String> {
        let mut lines = Vec::with_capacity(self.rules.len() + 1);
        let mut decided = false;
        for rule in &self.rules {
            // A rule that a program builds stands in no file.
            let line = match rule.spec.line {
                0 => String::new(),
                line => format!(" (line {line})"),
            };
            let title = format!("rule `{}`{line}", visible(&rule.spec.name));
            if decided {
                lines.push(format!("{title} is not reached"));
                continue;
            }
            let then = rule.spec.then.name();
            lines.push(match (rule.obstacle(facts), rule.spec.then) {
                (None, _) => {
                    decided = true;
                    format!("{title} matches: {then}")
                }
                (Some((Truth::Doubt, why)), Then::Allow) => {
                    format!("{title} cannot be told ({why}), and in doubt it does not allow")
                }
                (Some((Truth::Doubt, why)), Then::Deny) => {
                    decided = true;
                    format!("{title} cannot be told ({why}), and in doubt it denies")
                }
                (Some((Truth::Doubt, why)), Then::Ask) => format!(
                    "{title} cannot be told ({why}), and in doubt it asks, unless a later one denies"
                ),
                (Some((_, why)), _) => format!("{title} does not match: {why}"),
            });
        }
        lines.push(self.rule(facts).explain());
        lines
    }
}

impl Rule {
    /// What keeps the rule from matching for certain.
    fn obstacle(&self, facts: &Facts<'_>) -> Option<(Truth, String)> {
        let wants = |what: &str, is: &str, pattern: &Option<String>| {
            let pattern = visible(pattern.as_deref().unwrap_or("*"));
            (Truth::No, format!("the {what} is `{}`, and not `{pattern}`", visible(is)))
        };
        let matcher = &self.spec.matcher;
        if !self.tool.matches(facts.tool) {
            return Some(wants("tool", facts.tool, &matcher.tool));
        }
        if !self.agent.matches(facts.agent) {
            return Some(wants("agent", facts.agent, &matcher.agent));
        }
        if !self.has_effects(facts.effects) {
            let wanted: Vec<&str> = matcher.effects.iter().map(|effects| effects.name()).collect();
            let is = facts.effects;
            return Some((Truth::No, format!("the tool is {is}, and not {}", wanted.join(" or "))));
        }
        let sql =
            matcher.sql.iter().map(|condition| (condition.to_string(), condition.truth(facts.sql)));
        let found = if matcher.shell.is_empty() { None } else { shell_facts(facts.arguments) };
        let shell = matcher.shell.iter().map(|condition| {
            let told = match &found {
                Some(found) => format!("{condition} ({found})"),
                None => format!("{condition} (there is no command to read)"),
            };
            (told, condition.truth(self.spec.then, found.as_ref()))
        });
        let args = self.conditions.truths(facts.arguments);
        let args = args.map(|(condition, truth)| (condition.to_string(), truth));
        let mut doubt = None;
        for (condition, truth) in sql.chain(shell).chain(args) {
            match truth {
                Truth::Yes => {}
                Truth::No => return Some((Truth::No, format!("not so: {condition}"))),
                Truth::Doubt => {
                    doubt.get_or_insert((Truth::Doubt, condition));
                }
            }
        }
        doubt
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{ConditionSpec, MatchSpec, Op, PolicySpec, RuleSpec};
    use super::*;
    use crate::tool::Effects;

    #[test]
    fn tells_the_story_of_a_verdict() {
        let rule = |name: &str, line, then, tool: &str, condition: Option<Op>| RuleSpec {
            name: name.into(),
            line,
            then,
            matcher: MatchSpec {
                tool: Some(tool.into()),
                args: condition
                    .map(|op| ConditionSpec { pointer: "/env".into(), op })
                    .into_iter()
                    .collect(),
                ..MatchSpec::default()
            },
            ..RuleSpec::default()
        };
        let policy = Policy::compile(PolicySpec {
            rules: vec![
                rule("sql", 1, Then::Deny, "sql_*", None),
                rule("dev", 2, Then::Allow, "deploy", Some(Op::Equals(json!("dev")))),
                rule("sure", 3, Then::Allow, "deploy", Some(Op::NotEquals(json!("prod")))),
                rule("odd", 4, Then::Ask, "deploy", Some(Op::NotIn(vec![json!("dev")]))),
                rule("rest", 5, Then::Allow, "deploy", None),
                rule("last", 0, Then::Deny, "*", None),
            ],
            ..PolicySpec::default()
        })
        .unwrap();
        let arguments = json!({"env": ["hunter2"]});
        let facts = Facts {
            tool: "deploy",
            agent: "ops",
            effects: Effects::AtMostOnce,
            arguments: &arguments,
            sql: None,
        };
        assert_eq!(
            policy.explain(&facts),
            [
                "rule `sql` (line 1) does not match: the tool is `deploy`, and not `sql_*`",
                "rule `dev` (line 2) cannot be told (`/env` equals \"dev\"), and in doubt it does \
                 not allow",
                "rule `sure` (line 3) cannot be told (`/env` not_equals \"prod\"), and in doubt it \
                 does not allow",
                "rule `odd` (line 4) cannot be told (`/env` not_in [\"dev\"]), and in doubt it \
                 asks, unless a later one denies",
                "rule `rest` (line 5) matches: allow",
                "rule `last` is not reached",
                "ask the requester or an admin by rule `odd` (line 4), in doubt: it cannot be told",
            ]
        );
    }
}
