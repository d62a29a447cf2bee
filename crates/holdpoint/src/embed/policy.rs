//! Rules, written in code.

use std::time::Duration;

use domain::hold::Risk;
use domain::person::People;
use domain::policy::{AskSpec, ConditionSpec, MatchSpec, Op, RuleSpec, SqlCondition, Then};
use domain::tool::Effects;
use serde_json::Value;

use crate::checks;

/// One rule. They are tried in the order in which the builder was given them, and the first that
/// matches decides; what a rule does not say always matches.
///
/// ```
/// use std::time::Duration;
///
/// use holdpoint::prelude::*;
///
/// let rules = [
///     Rule::allow("looking is free").effects(Effects::ReadOnly),
///     Rule::deny("never the ledger").tool("sql_*").when("/table", Is::equal_to("ledger")),
///     Rule::ask("much money needs two", Whom::role("finance").quorum(2).not_the_requester())
///         .tool("refund")
///         .when("/amount", Is::more_than(10_000))
///         .risk(Risk::High),
///     Rule::ask("money needs one", Whom::role("finance").expires(Duration::from_secs(3_600)))
///         .tool("refund"),
/// ];
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    spec: RuleSpec,
    conditions: Vec<(String, Is)>,
}

impl Rule {
    /// The call runs without a question.
    pub fn allow(name: impl Into<String>) -> Rule {
        Rule::new(name, Then::Allow, None)
    }

    /// The call does not run, and the model is told the name of the rule.
    pub fn deny(name: impl Into<String>) -> Rule {
        Rule::new(name, Then::Deny, None)
    }

    /// The call waits for people, who are shown the name of the rule.
    pub fn ask(name: impl Into<String>, whom: Whom) -> Rule {
        Rule::new(name, Then::Ask, Some(whom.into()))
    }

    fn new(name: impl Into<String>, then: Then, ask: Option<AskSpec>) -> Rule {
        let spec = RuleSpec { name: name.into(), then, ask, ..RuleSpec::default() };
        Rule { spec, conditions: Vec::new() }
    }

    /// A glob over the tool's whole name: `refund`, `sql_*`.
    #[must_use]
    pub fn tool(mut self, pattern: impl Into<String>) -> Rule {
        self.spec.matcher.tool = Some(pattern.into());
        self
    }

    /// A glob over the agent's whole id.
    #[must_use]
    pub fn agent(mut self, pattern: impl Into<String>) -> Rule {
        self.spec.matcher.agent = Some(pattern.into());
        self
    }

    /// What the tool declares about itself. Said several times, one must fit.
    #[must_use]
    pub fn effects(mut self, effects: Effects) -> Rule {
        self.spec.matcher.effects.push(effects);
        self
    }

    /// What must hold of one of the arguments, by JSON pointer. Said several times, all must hold.
    #[must_use]
    pub fn when(mut self, pointer: impl Into<String>, is: Is) -> Rule {
        self.conditions.push((pointer.into(), is));
        self
    }

    /// What must hold of the statement of an SQL tool, as the tool found it out. Said several times, all
    /// must hold. What is not known never allows.
    #[must_use]
    pub fn sql(mut self, condition: SqlCondition) -> Rule {
        self.spec.matcher.sql.push(condition);
        self
    }

    /// How carefully people should look.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Rule {
        self.spec.risk = Some(risk);
        self
    }

    pub(super) fn checked(self, people: &People) -> Result<RuleSpec, String> {
        let name = domain::visible::visible(&self.spec.name);
        let bad = |why: String| format!("rule `{name}`: {why}");
        let remedy = "mend the rule, or add a person";
        if let Some(ask) = &self.spec.ask {
            for role in &ask.roles {
                checks::role_of_somebody(role, people, remedy).map_err(bad)?;
            }
            for person in &ask.people {
                checks::person(person, people, remedy).map_err(bad)?;
            }
        }
        let mut args = Vec::new();
        for (pointer, is) in self.conditions {
            let op = Op::parse(is.name, is.operand).map_err(bad)?;
            args.push(ConditionSpec { pointer, op });
        }
        Ok(RuleSpec { matcher: MatchSpec { args, ..self.spec.matcher }, ..self.spec })
    }
}

/// What must hold of a value. If it cannot be told (another type, a `..` in a path), the stricter way
/// is taken; the guide to the policy says more.
#[derive(Clone, Debug)]
pub struct Is {
    name: &'static str,
    operand: Value,
}

impl Is {
    fn new(name: &'static str, operand: impl Into<Value>) -> Is {
        Is { name, operand: operand.into() }
    }

    /// The same JSON value.
    pub fn equal_to(value: impl Into<Value>) -> Is {
        Is::new("equals", value)
    }

    /// Another JSON value.
    pub fn other_than(value: impl Into<Value>) -> Is {
        Is::new("not_equals", value)
    }

    /// One of these.
    pub fn one_of<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Is {
        Is::new("in", values.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// None of these.
    pub fn none_of<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Is {
        Is::new("not_in", values.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// A glob over the whole text; `*` stays within one path segment, `**` does not.
    pub fn like(glob: impl Into<String>) -> Is {
        Is::new("glob", glob.into())
    }

    /// A regular expression, anchored only as written.
    pub fn matching(regex: impl Into<String>) -> Is {
        Is::new("regex", regex.into())
    }

    /// A number below this one.
    pub fn less_than(number: impl Into<Value>) -> Is {
        Is::new("less_than", number)
    }

    /// A number no greater than this one.
    pub fn at_most(number: impl Into<Value>) -> Is {
        Is::new("at_most", number)
    }

    /// A number above this one.
    pub fn more_than(number: impl Into<Value>) -> Is {
        Is::new("more_than", number)
    }

    /// A number no less than this one.
    pub fn at_least(number: impl Into<Value>) -> Is {
        Is::new("at_least", number)
    }

    /// There is something.
    pub fn present() -> Is {
        Is::new("exists", true)
    }

    /// There is nothing, or `null`.
    pub fn absent() -> Is {
        Is::new("exists", false)
    }

    /// A text or a list with this in it.
    pub fn containing(value: impl Into<Value>) -> Is {
        Is::new("contains", value)
    }

    /// A text or a list no longer than this.
    pub fn no_longer_than(length: u64) -> Is {
        Is::new("length_at_most", length)
    }

    /// A text or a list longer than this.
    pub fn longer_than(length: u64) -> Is {
        Is::new("length_more_than", length)
    }
}

/// Who is asked. One of them decides, unless a [`Whom::quorum`] is said.
#[derive(Clone, Debug)]
pub struct Whom(AskSpec);

impl Whom {
    /// The requester of the work, and every admin.
    pub fn requester_or_admin() -> Whom {
        Whom(AskSpec::default())
    }

    /// Everybody with this role.
    pub fn role(role: impl Into<String>) -> Whom {
        Whom(AskSpec { roles: vec![role.into()], ..AskSpec::default() })
    }

    /// This person.
    pub fn person(id: impl Into<String>) -> Whom {
        Whom(AskSpec { people: vec![id.into()], ..AskSpec::default() })
    }

    /// Also everybody with this role.
    #[must_use]
    pub fn or_role(mut self, role: impl Into<String>) -> Whom {
        self.0.roles.push(role.into());
        self
    }

    /// Also this person.
    #[must_use]
    pub fn or_person(mut self, id: impl Into<String>) -> Whom {
        self.0.people.push(id.into());
        self
    }

    /// So many different people must agree.
    #[must_use]
    pub fn quorum(mut self, people: u32) -> Whom {
        self.0.quorum = people;
        self
    }

    /// Four eyes: the requester of the work does not count.
    #[must_use]
    pub fn not_the_requester(mut self) -> Whom {
        self.0.exclude_requester = true;
        self
    }

    /// Votes of a login or token that another person made do not count.
    #[must_use]
    pub fn refuse_made_logins(mut self) -> Whom {
        self.0.refuse_made_logins = true;
        self
    }

    /// How long the question waits. Silence then means no.
    #[must_use]
    pub fn expires(mut self, after: Duration) -> Whom {
        self.0.expires_ms = Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        self
    }
}

impl From<Whom> for AskSpec {
    fn from(whom: Whom) -> AskSpec {
        whom.0
    }
}
