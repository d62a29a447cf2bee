//! `[policy]` and `[[policy.rules]]`, handed to the domain with their lines.

use std::collections::BTreeMap;

use domain::hold::Risk;
use domain::person::People;
use domain::policy::{
    AskSpec, BadPolicy, ConditionSpec, MatchSpec, Op, Policy, PolicySpec, RuleSpec, ShellCondition,
    SqlCondition, Then, Unsatisfiable,
};
use domain::tool::Effects;
use serde::Deserialize;
use toml::Spanned;

use super::error::unknown_key;
use super::json::json;
use super::mistakes::Mistakes;
use super::policy_source::RulePack;
use super::source::{ConfigSource, Result};
use super::tool::{ToolConfig, ToolKind};
use crate::checks;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyTable {
    default: Option<Spanned<String>>,
    expires: Option<Spanned<String>>,
    /// Files with further rules, which come after those that stand here.
    #[serde(default)]
    include: Vec<Spanned<String>>,
    #[serde(default)]
    rules: Vec<Spanned<RuleTable>>,
}

/// A file of rules: `[[policy.rules]]` and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    policy: RulesTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesTable {
    rules: Vec<Spanned<RuleTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    name: Spanned<String>,
    #[serde(default)]
    r#match: MatchTable,
    then: Spanned<String>,
    risk: Option<Spanned<String>>,
    ask: Option<AskTable>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchTable {
    tool: Option<String>,
    agent: Option<String>,
    effects: Option<Spanned<toml::Value>>,
    #[serde(default)]
    args: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, toml::Value>>,
    /// What the SQL tool knows about its statement, by the name of the fact.
    #[serde(default)]
    sql: BTreeMap<Spanned<String>, toml::Value>,
    /// What a shell command does, by the name of the fact.
    #[serde(default)]
    shell: BTreeMap<Spanned<String>, toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskTable {
    #[serde(default)]
    roles: Vec<Spanned<String>>,
    #[serde(default)]
    people: Vec<Spanned<String>>,
    quorum: Option<Spanned<u32>>,
    exclude_requester: Option<bool>,
    refuse_made_logins: Option<bool>,
    expires: Option<Spanned<String>>,
    remind_after: Option<Spanned<toml::Value>>,
    escalate_to: Option<Spanned<toml::Value>>,
}

/// Rules that are sound, and perhaps not what their author means.
pub(super) fn warnings(policy: &Policy, tools: &[ToolConfig]) -> Vec<String> {
    let sql = tools.iter().filter(|tool| matches!(tool.kind, ToolKind::Sql(_)));
    let names: Vec<&str> = sql.map(|tool| &*tool.name).collect();
    policy.doubtful_rules(&names).iter().map(ToString::to_string).collect()
}

pub(super) const THEN: [(&str, Then); 3] =
    [("allow", Then::Allow), ("deny", Then::Deny), ("ask", Then::Ask)];

impl PolicyTable {
    /// `line` is that of the section, for mistakes that belong to no rule. `None`: there are some.
    pub(super) fn check(
        self,
        people: &People,
        line: usize,
        source: &ConfigSource<'_>,
        mistakes: &mut Mistakes,
    ) -> Option<Policy> {
        let base = PolicySpec::default();
        let default = self.default.as_ref().map(|given| source.word("default", given, &THEN));
        let default = mistakes.note(default.transpose());
        let expires = self.expires.as_ref().map(|given| source.expires(given));
        let expires = mistakes.note(expires.transpose());
        let or_section = |at: usize| if at == 0 { line } else { at };
        let bad = |bad: BadPolicy| {
            source.error_at(or_section(bad.line), format!("rule `{}`: {}", bad.rule, bad.why))
        };
        let mut rules = Vec::new();
        let mut sound = true;
        let own = self.rules.into_iter().map(|rule| source.rule(rule, people));
        let mut read: Vec<Result<RuleSpec>> = own.collect();
        for file in &self.include {
            match source.included(file, people) {
                Ok(rules) => read.extend(rules),
                Err(error) => read.push(Err(error)),
            }
        }
        for rule in read {
            let rule = mistakes.note(rule);
            // Each alone first, because all together tell only the first mistake.
            let alone =
                rule.as_ref().map(|rule| PolicySpec { rules: vec![rule.clone()], ..base.clone() });
            let alone = alone.and_then(|spec| mistakes.note(Policy::compile(spec).map_err(bad)));
            sound &= alone.is_some();
            rules.extend(rule);
        }
        let (Some(default), Some(expires), true) = (default, expires, sound) else { return None };
        let spec = PolicySpec {
            default: default.unwrap_or(base.default),
            default_expires_ms: expires.unwrap_or(base.default_expires_ms),
            rules,
        };
        let policy = mistakes.note(Policy::compile(spec).map_err(bad))?;
        let unsound = policy.check(people);
        let is_sound = unsound.is_empty();
        for Unsatisfiable { rule, line, why, .. } in unsound {
            mistakes.push(source.error_at(or_section(line), format!("rule `{rule}`: {why}")));
        }
        is_sound.then_some(policy)
    }
}

/// A longer file is something else.
const RULES_BYTES_MAX: u64 = 4 << 20;

/// Only a file: a device or a pipe might never end.
pub(super) fn read_rules(path: &std::path::Path) -> std::io::Result<String> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() || about.len() > RULES_BYTES_MAX {
        let why = format!("it is no file of at most {RULES_BYTES_MAX} bytes");
        return Err(std::io::Error::other(why));
    }
    std::fs::read_to_string(path)
}

impl ConfigSource<'_> {
    /// The rules of another file, or of a pack that comes with the program.
    fn included(&self, file: &Spanned<String>, people: &People) -> Result<Vec<Result<RuleSpec>>> {
        let name = file.get_ref().as_str();
        let (text, shown) = match name.strip_prefix("builtin:") {
            Some(pack) => {
                let pack = RulePack::find(pack).map_err(|why| self.error(file.span(), why))?;
                (pack.rules.to_owned(), name.to_owned())
            }
            None => {
                let path = self.path(name);
                let text = read_rules(&path).map_err(|why| {
                    let path = path.display();
                    self.error(file.span(), format!("{path} cannot be read: {why}"))
                })?;
                (text, path.display().to_string())
            }
        };
        let source = ConfigSource::new(&text, &shown);
        let rules: RulesFile = source.read_with(std::marker::PhantomData)?;
        Ok(rules.policy.rules.into_iter().map(|rule| source.rule(rule, people)).collect())
    }

    fn rule(&self, rule: Spanned<RuleTable>, people: &People) -> Result<RuleSpec> {
        let (line, rule) = (self.line(rule.span()), rule.into_inner());
        let risk = |given: &Spanned<String>| {
            self.word("risk", given, &Risk::ALL.map(|risk| (risk.name(), risk)))
        };
        Ok(RuleSpec {
            name: rule.name.get_ref().clone(),
            line,
            matcher: self.matcher(rule.r#match)?,
            then: self.word("then", &rule.then, &THEN)?,
            risk: rule.risk.as_ref().map(risk).transpose()?,
            ask: rule.ask.map(|ask| self.ask(ask, people)).transpose()?,
        })
    }

    fn matcher(&self, table: MatchTable) -> Result<MatchSpec> {
        let mut args = Vec::new();
        for (pointer, conditions) in table.args {
            if conditions.is_empty() {
                let message = "say what must hold here, such as `{ equals = 1 }`";
                return Err(self.error(pointer.span(), message));
            }
            for (name, operand) in conditions {
                if !Op::NAMES.contains(&name.get_ref().as_str()) {
                    let message = unknown_key(name.get_ref(), &Op::NAMES);
                    return Err(self.error(name.span(), message));
                }
                let op = Op::parse(name.get_ref(), json(operand))
                    .map_err(|why| self.error(name.span(), why))?;
                args.push(ConditionSpec { pointer: pointer.get_ref().clone(), op });
            }
        }
        let sql = self.fact_conditions(table.sql, &SqlCondition::FACTS, SqlCondition::parse)?;
        let shell =
            self.fact_conditions(table.shell, &ShellCondition::FACTS, ShellCondition::parse)?;
        Ok(MatchSpec {
            sql,
            shell,
            tool: table.tool,
            agent: table.agent,
            effects: table
                .effects
                .map(|given| self.effects(given))
                .transpose()?
                .unwrap_or_default(),
            args,
        })
    }

    /// Conditions on facts: `sql.kind = "delete"`, `sql.rows = { at_most = 10 }`.
    fn fact_conditions<C>(
        &self,
        table: BTreeMap<Spanned<String>, toml::Value>,
        known: &[&str],
        parse: impl Fn(&str, &str, serde_json::Value) -> std::result::Result<C, String>,
    ) -> Result<Vec<C>> {
        let mut found = Vec::new();
        for (fact, wanted) in table {
            if !known.contains(&fact.get_ref().as_str()) {
                return Err(self.error(fact.span(), unknown_key(fact.get_ref(), known)));
            }
            let conditions = match wanted {
                toml::Value::Table(table) if table.is_empty() => {
                    let message = "say what must hold here, such as `{ at_most = 10 }`";
                    return Err(self.error(fact.span(), message));
                }
                toml::Value::Table(table) => table.into_iter().collect(),
                // `sql.kind = "delete"` and `sql.kind = ["update", "delete"]`.
                value => vec![("equals".to_owned(), value)],
            };
            for (op, operand) in conditions {
                let condition = parse(fact.get_ref(), &op, json(operand))
                    .map_err(|why| self.error(fact.span(), why))?;
                found.push(condition);
            }
        }
        Ok(found)
    }

    /// One, or a list of which one must fit.
    fn effects(&self, given: Spanned<toml::Value>) -> Result<Vec<Effects>> {
        let span = given.span();
        let items = match given.into_inner() {
            toml::Value::Array(items) => items,
            one => vec![one],
        };
        let known = Effects::ALL.map(|effects| (effects.name(), effects));
        let effects = items.into_iter().map(|item| match item {
            toml::Value::String(name) => {
                self.word("effects", &Spanned::new(span.clone(), name), &known)
            }
            _ => Err(self
                .error(span.clone(), "`effects` is a word such as `read_only`, or a list of them")),
        });
        effects.collect()
    }

    fn ask(&self, ask: AskTable, people: &People) -> Result<AskSpec> {
        for (key, given) in [("remind_after", &ask.remind_after), ("escalate_to", &ask.escalate_to)]
        {
            if let Some(given) = given {
                let message =
                    format!("`{key}` comes with a later version; leave it out until then");
                return Err(self.error(given.span(), message));
            }
        }
        // The domain would find these too, but not say in which line of a long rule.
        let remedy = "mend the rule, or add it under `[[people]]`";
        for role in &ask.roles {
            self.checked(role, checks::role_of_somebody(role.get_ref(), people, remedy))?;
        }
        for person in &ask.people {
            self.checked(person, checks::person(person.get_ref(), people, remedy))?;
        }
        Ok(AskSpec {
            roles: ask.roles.into_iter().map(Spanned::into_inner).collect(),
            people: ask.people.into_iter().map(Spanned::into_inner).collect(),
            quorum: ask.quorum.map_or(1, Spanned::into_inner),
            exclude_requester: ask.exclude_requester.unwrap_or_default(),
            refuse_made_logins: ask.refuse_made_logins.unwrap_or_default(),
            expires_ms: ask.expires.map(|given| self.expires(&given)).transpose()?,
        })
    }

    pub(super) fn expires(&self, given: &Spanned<String>) -> Result<u64> {
        let duration = self.duration(given)?;
        if duration.is_zero() {
            let message =
                "a question that expires at once cannot be answered; give people some time";
            return Err(self.error(given.span(), message));
        }
        u64::try_from(duration.as_millis())
            .map_err(|_| self.error(given.span(), "this is longer than ten years"))
    }
}
