//! Rules that can be used as they are written, and that probably do not mean what their author wants.

use super::rules::{Policy, Rule};
use super::spec::{ConditionSpec, Op, Then};
use crate::visible::visible;

/// Advice about one rule, for its author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: rule `{}` {why}", visible(rule))]
pub struct DoubtfulRule {
    /// The rule's name, as its author wrote it.
    pub rule: String,
    /// Where it stands in its file, from 1.
    pub line: usize,
    /// What is doubtful, as the end of a sentence about the rule.
    pub why: String,
}

impl Policy {
    /// `sql_tools` are the names of the tools that run SQL statements.
    pub fn doubtful_rules(&self, sql_tools: &[&str]) -> Vec<DoubtfulRule> {
        let advice = |rule: &Rule| {
            let why = match () {
                () if rule.reads_sql_text(sql_tools) => {
                    "looks for a pattern in the text of SQL, which comments, WITH and other spellings \
                     get around; match what the tool knows, such as `sql.kind = \"delete\"`"
                        .to_owned()
                }
                () if rule.asks_every_tool_for_facts() => format!(
                    "asks for facts about {} and names no tool: of other tools' calls they are unknown, \
                     so it would {} those, too; add `tool = …`",
                    if rule.spec.matcher.sql.is_empty() { "a shell command" } else { "SQL" },
                    if rule.spec.then == Then::Deny { "deny" } else { "ask about" }
                ),
                () => return None,
            };
            Some(DoubtfulRule { rule: rule.spec.name.clone(), line: rule.spec.line, why })
        };
        self.rules.iter().filter_map(advice).collect()
    }
}

impl Rule {
    fn reads_sql_text(&self, sql_tools: &[&str]) -> bool {
        let is_pattern = |condition: &ConditionSpec| {
            condition.pointer == "/sql"
                && matches!(condition.op, Op::Regex(_) | Op::Glob(_) | Op::Contains(_))
        };
        self.spec.matcher.args.iter().any(is_pattern)
            && sql_tools.iter().any(|tool| self.tool.matches(tool))
    }

    fn asks_every_tool_for_facts(&self) -> bool {
        let matcher = &self.spec.matcher;
        (!matcher.sql.is_empty() || !matcher.shell.is_empty())
            && self.spec.then != Then::Allow
            && matcher.tool.as_deref().is_none_or(|pattern| pattern == "*")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MatchSpec, PolicySpec, RuleSpec, SqlCondition};
    use super::*;

    #[test]
    fn patterns_over_sql_and_rules_about_every_tool_are_advised_against() {
        let rule = |name: &str, line, then, matcher| RuleSpec {
            name: name.into(),
            line,
            then,
            matcher,
            ..RuleSpec::default()
        };
        let text = |tool: &str, op| MatchSpec {
            tool: Some(tool.into()),
            args: vec![ConditionSpec { pointer: "/sql".into(), op }],
            ..MatchSpec::default()
        };
        let sql = |tool: Option<&str>| MatchSpec {
            tool: tool.map(str::to_owned),
            sql: vec![SqlCondition::HasWhere(false)],
            ..MatchSpec::default()
        };
        let rules = vec![
            rule("text", 1, Then::Ask, text("sql_*", Op::Regex("^DELETE".into()))),
            rule("part", 2, Then::Allow, text("sql_query", Op::Contains("SELECT".into()))),
            rule("same", 3, Then::Allow, text("sql_query", Op::Equals("SELECT 1".into()))),
            rule("other", 4, Then::Deny, text("search", Op::Regex("x".into()))),
            rule("good", 5, Then::Deny, sql(Some("sql_modify"))),
            rule("all", 6, Then::Deny, sql(None)),
            rule("every", 7, Then::Ask, sql(Some("*"))),
            rule("free", 8, Then::Allow, sql(None)),
        ];
        let policy = Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).unwrap();
        let found = policy.doubtful_rules(&["sql_query", "sql_modify"]);
        assert_eq!(found.iter().map(|advice| advice.line).collect::<Vec<_>>(), [1, 2, 6, 7]);
        assert!(found[0].to_string().starts_with("line 1: rule `text` looks for a pattern"));
        assert!(found[2].why.contains("it would deny those"), "{}", found[2]);
    }
}
