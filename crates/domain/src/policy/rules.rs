//! The compiled policy.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::compare::Truth;
use super::condition::Conditions;
use super::decider::Decider;
use super::pattern::NamePattern;
use super::place::Looked;
use super::shell_match::shell_facts;
use super::spec::{AskSpec, PolicySpec, RuleSpec, Then};
use super::verdict::{Ask, PolicyDecision, Verdict};
use crate::call::Call;
use crate::digest::Digest;
use crate::hold::Risk;
use crate::sql_facts::SqlFacts;
use crate::tool::Effects;
use crate::visible::visible;

/// Rules that can still be understood together.
const RULES_MAX: usize = 10_000;
/// Ten years: later than this is a mistake in the unit.
const EXPIRES_MS_MAX: u64 = 10 * 366 * 24 * 60 * 60 * 1000;

/// Ordered rules, indexed by tool.
///
/// ```
/// use holdpoint_domain::policy::{PolicyDecision, Facts, MatchSpec, Policy, PolicySpec, RuleSpec, Then};
/// use holdpoint_domain::tool::Effects;
/// let matcher = MatchSpec { effects: vec![Effects::ReadOnly], ..MatchSpec::default() };
/// let rule =
///     RuleSpec { name: "reading is free".into(), then: Then::Allow, matcher, ..RuleSpec::default() };
/// let policy = Policy::compile(PolicySpec { rules: vec![rule], ..PolicySpec::default() }).unwrap();
/// let arguments = serde_json::json!({});
/// let effects = Effects::ReadOnly;
/// let facts = Facts { tool: "ls", agent: "ops", effects, arguments: &arguments, sql: None };
/// assert_eq!(policy.rule(&facts).decision, PolicyDecision::Allow);
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) rules: Vec<Rule>,
    default: Verdict,
    default_expires_ms: u64,
    /// Rules about one tool, by its name.
    exact: HashMap<Box<str>, Vec<usize>>,
    /// Rules about several tools or all.
    wide: Vec<usize>,
    /// How many different places of the arguments rules look at.
    places: usize,
    version: Digest,
    decider: Option<Decider>,
}

/// What a rule can be about.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The tool's name, as the model calls it.
    pub tool: &'a str,
    /// Empty if an outside program proposes the call.
    pub agent: &'a str,
    /// As the tool declares them.
    pub effects: Effects,
    /// Always an object.
    pub arguments: &'a Value,
    /// What an SQL tool knows about its statement; `None` if nothing.
    pub sql: Option<&'a SqlFacts>,
}

impl<'a> Facts<'a> {
    /// The facts of a call that is fixed.
    pub fn of(call: &'a Call) -> Facts<'a> {
        Facts {
            tool: &call.tool,
            agent: &call.agent,
            effects: call.effects,
            arguments: call.arguments.value(),
            sql: call.context.sql.as_ref(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) spec: RuleSpec,
    pub(super) tool: NamePattern,
    pub(super) agent: NamePattern,
    pub(super) conditions: Conditions,
    pub(super) verdict: Verdict,
}

/// Why a policy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: rule `{}`: {why}", visible(rule))]
pub struct BadPolicy {
    /// The rule's name; `default` for what concerns the whole policy.
    pub rule: String,
    /// Where the rule stands in its file, from 1; 0 for the whole policy.
    pub line: usize,
    /// What to change.
    pub why: String,
}

impl Policy {
    /// Makes every pattern and condition ready. A rule that cannot be read is an error here, and never skipped.
    pub fn compile(spec: PolicySpec) -> Result<Policy, BadPolicy> {
        let version = spec.version();
        let whole = |why: String| BadPolicy { rule: "default".into(), line: 0, why };
        if spec.rules.len() > RULES_MAX {
            return Err(whole(format!("there are more than {RULES_MAX} rules")));
        }
        let default_expires_ms = check_expires(spec.default_expires_ms).map_err(whole)?;
        let default = Verdict {
            decision: decision(spec.default, None, default_expires_ms).map_err(whole)?,
            risk: Risk::default(),
            risk_stated: false,
            rule: None,
            line: 0,
            in_doubt: false,
        };
        let mut names = HashSet::new();
        let (mut exact, mut wide) = (HashMap::<Box<str>, Vec<usize>>::new(), Vec::new());
        let mut places = HashMap::new();
        let mut rules = Vec::with_capacity(spec.rules.len());
        for (index, rule) in spec.rules.into_iter().enumerate() {
            let bad = BadPolicy { rule: rule.name.clone(), line: rule.line, why: String::new() };
            if !names.insert(rule.name.clone()) {
                return Err(BadPolicy { why: "another rule has the same name".into(), ..bad });
            }
            let mut rule =
                Rule::compile(rule, default_expires_ms).map_err(|why| BadPolicy { why, ..bad })?;
            rule.conditions.number_places(&mut places);
            match &rule.tool {
                NamePattern::Exact(tool) => exact.entry(tool.clone()).or_default().push(index),
                _ => wide.push(index),
            }
            rules.push(rule);
        }
        let places = places.len();
        Ok(Policy {
            rules,
            default,
            default_expires_ms,
            exact,
            wide,
            places,
            version,
            decider: None,
        })
    }

    /// The same rules, with a second opinion beside them.
    #[must_use]
    pub fn with_decider(mut self, decider: Decider) -> Policy {
        self.version = decider.version(self.version);
        self.decider = Some(decider);
        self
    }

    /// Whether the same version may say something else tomorrow.
    pub fn may_change_its_mind(&self) -> bool {
        self.decider.is_some()
    }

    /// What to do with a call.
    pub fn rule(&self, facts: &Facts<'_>) -> Verdict {
        let verdict = self.by_rules(facts);
        match &self.decider {
            None => verdict,
            Some(decider) => decider.and(facts, verdict, self.default_expires_ms),
        }
    }

    fn by_rules(&self, facts: &Facts<'_>) -> Verdict {
        let mut doubted: Option<Verdict> = None;
        let and = |doubted: Option<Verdict>, verdict: Verdict| match doubted {
            None => verdict,
            Some(doubted) => doubted.stricter(verdict),
        };
        let mut looked = Looked::new(facts.arguments, self.places);
        for rule in self.candidates(facts.tool) {
            match rule.truth(facts, &mut looked) {
                Truth::No => {}
                Truth::Yes => return and(doubted, rule.verdict.clone()),
                Truth::Doubt => match rule.spec.then {
                    // Whatever comes later is at least as strict.
                    Then::Allow => {}
                    Then::Deny => return Verdict { in_doubt: true, ..rule.verdict.clone() },
                    Then::Ask => {
                        let verdict = Verdict { in_doubt: true, ..rule.verdict.clone() };
                        doubted = Some(and(doubted, verdict));
                    }
                },
            }
        }
        and(doubted, self.default.clone())
    }

    /// Names exactly these rules; part of what is approved.
    pub fn version(&self) -> Digest {
        self.version
    }

    /// How long a question waits if nothing else says so.
    pub fn default_expires_ms(&self) -> u64 {
        self.default_expires_ms
    }

    /// Whether a rule is about this tool by its name or a pattern, and not only as one of all tools.
    pub fn names_tool(&self, tool: &str) -> bool {
        let mut named = self.rules.iter().map(|rule| &rule.tool);
        named.any(|pattern| !matches!(pattern, NamePattern::Any) && pattern.matches(tool))
    }

    pub(super) fn default_verdict(&self) -> &Verdict {
        &self.default
    }

    /// The rules that could be about this tool, in order.
    fn candidates<'p>(&'p self, tool: &str) -> impl Iterator<Item = &'p Rule> {
        let mut exact = self.exact.get(tool).map_or(&[][..], Vec::as_slice).iter().peekable();
        let mut wide = self.wide.iter().peekable();
        std::iter::from_fn(move || {
            let next = match (exact.peek(), wide.peek()) {
                (Some(one), Some(other)) if one < other => exact.next(),
                (Some(_), None) => exact.next(),
                _ => wide.next(),
            };
            next.and_then(|index| self.rules.get(*index))
        })
    }
}

impl Rule {
    fn compile(spec: RuleSpec, default_expires: u64) -> Result<Rule, String> {
        if spec.name.trim().is_empty() {
            return Err("it has no name; people are shown the name of the rule that asks".into());
        }
        let tool = NamePattern::compile(spec.matcher.tool.as_deref())
            .map_err(|why| format!("the tool pattern {why}"))?;
        let agent = NamePattern::compile(spec.matcher.agent.as_deref())
            .map_err(|why| format!("the agent pattern {why}"))?;
        let conditions = Conditions::compile(spec.matcher.args.clone())?;
        for condition in &spec.matcher.sql {
            condition.check(spec.then)?;
        }
        for condition in &spec.matcher.shell {
            condition.check(spec.then)?;
        }
        let verdict = Verdict {
            decision: decision(spec.then, spec.ask.as_ref(), default_expires)?,
            risk: spec.risk.unwrap_or_default(),
            risk_stated: spec.risk.is_some(),
            rule: Some(spec.name.as_str().into()),
            line: spec.line,
            in_doubt: false,
        };
        Ok(Rule { spec, tool, agent, conditions, verdict })
    }

    fn truth(&self, facts: &Facts<'_>, looked: &mut Looked<'_>) -> Truth {
        if self.tool.matches(facts.tool)
            && self.has_effects(facts.effects)
            && self.agent.matches(facts.agent)
        {
            let sql = self.spec.matcher.sql.iter();
            sql.map(|condition| condition.truth(facts.sql))
                .fold(Truth::Yes, Truth::and)
                .and(self.shell_truth(facts))
                .and(self.conditions.truth_in(looked))
        } else {
            Truth::No
        }
    }

    fn shell_truth(&self, facts: &Facts<'_>) -> Truth {
        if self.spec.matcher.shell.is_empty() {
            return Truth::Yes;
        }
        let found = shell_facts(facts.arguments);
        let conditions = self.spec.matcher.shell.iter();
        conditions
            .map(|condition| condition.truth(self.spec.then, found.as_ref()))
            .fold(Truth::Yes, Truth::and)
    }

    pub(super) fn has_effects(&self, effects: Effects) -> bool {
        self.spec.matcher.effects.is_empty() || self.spec.matcher.effects.contains(&effects)
    }
}

pub(super) fn decision(
    then: Then,
    ask: Option<&AskSpec>,
    default_expires: u64,
) -> Result<PolicyDecision, String> {
    match (then, ask) {
        (Then::Allow | Then::Deny, Some(_)) => Err(format!(
            "it says whom to ask, but its `then` is `{}`; write `then = \"ask\"`",
            then.name()
        )),
        (Then::Allow, None) => Ok(PolicyDecision::Allow),
        (Then::Deny, None) => Ok(PolicyDecision::Deny),
        (Then::Ask, ask) => {
            let ask = ask.cloned().unwrap_or_default();
            if ask.quorum == 0 {
                return Err("a quorum of 0 would approve by itself; it is at least 1".into());
            }
            Ok(PolicyDecision::Ask(Arc::new(Ask {
                expires_ms: check_expires(ask.expires_ms.unwrap_or(default_expires))?,
                expires_by_rule: ask.expires_ms.is_some(),
                roles: ask.roles,
                people: ask.people,
                quorum: ask.quorum,
                exclude_requester: ask.exclude_requester,
                refuse_made_logins: ask.refuse_made_logins,
            })))
        }
    }
}

fn check_expires(ms: u64) -> Result<u64, String> {
    match ms {
        0 => Err("a question that expires at once cannot be answered".into()),
        ms if ms > EXPIRES_MS_MAX => Err("it expires after more than ten years".into()),
        ms => Ok(ms),
    }
}

#[cfg(test)]
mod tests;
