//! A second opinion, in code: for programs that embed the engine and know more than arguments tell.
//!
//! It stands beside the rules and never above them: of its opinion and theirs the stricter counts. So
//! a program whose code alone decides has no rules and the default `allow`. Of two questions that need
//! equally many people, the rules' is asked. Whatever goes wrong in the code asks a person.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::rules::{Facts, decision};
use super::spec::{AskSpec, Then};
use super::verdict::Verdict;
use crate::digest::{Digest, Framed};
use crate::hold::Risk;

/// What a decider has to say about one call.
#[derive(Clone, Debug, PartialEq)]
pub enum Opinion {
    /// As far as it is concerned the call may run; the rules have the last word.
    Fine,
    /// The call does not run.
    Deny,
    /// People decide. Where the rules ask as well, the stricter question counts.
    Ask {
        /// Whom to ask, how many of them, until when.
        whom: AskSpec,
        /// How carefully people should look.
        risk: Risk,
    },
}

impl Opinion {
    /// A person must look.
    pub fn ask(whom: impl Into<AskSpec>) -> Opinion {
        Opinion::Ask { whom: whom.into(), risk: Risk::default() }
    }
}

type Judge = dyn Fn(&Facts<'_>) -> Result<Opinion, String> + Send + Sync;

/// Code that has an opinion on every call. It is asked when a call is proposed or edited and again
/// right before it starts, so it must be quick, must not wait for anything, and may change its mind:
/// the later opinion counts if it is stricter.
///
/// ```
/// use holdpoint_domain::policy::{Decider, PolicyDecision, Facts, Opinion, Policy, PolicySpec, Then};
/// use holdpoint_domain::tool::Effects;
/// let decider = Decider::new("office hours", |facts| match facts.tool {
///     "transfer" => Ok(Opinion::Deny),
///     _ => Ok(Opinion::Fine),
/// });
/// let spec = PolicySpec { default: Then::Allow, ..PolicySpec::default() };
/// let policy = Policy::compile(spec).unwrap().with_decider(decider);
/// let arguments = serde_json::json!({});
/// let effects = Effects::AtMostOnce;
/// let facts = Facts { tool: "transfer", agent: "ops", effects, arguments: &arguments, sql: None };
/// assert_eq!(policy.rule(&facts).decision, PolicyDecision::Deny);
/// ```
#[derive(Clone)]
pub struct Decider {
    name: Arc<str>,
    judge: Arc<Judge>,
}

impl Decider {
    /// The name is shown to people like that of a rule, and is part of the policy's version: give the
    /// code another name when it comes to decide otherwise.
    pub fn new(
        name: &str,
        judge: impl Fn(&Facts<'_>) -> Result<Opinion, String> + Send + Sync + 'static,
    ) -> Decider {
        Decider { name: name.into(), judge: Arc::new(judge) }
    }

    pub(super) fn version(&self, rules: Digest) -> Digest {
        Framed::new("holdpoint.decider.v1")
            .field("rules", rules.as_bytes())
            .field("name", self.name.as_bytes())
            .finish()
    }

    /// The stricter of the rules' verdict and its own.
    pub(super) fn and(&self, facts: &Facts<'_>, rules: Verdict, default_expires: u64) -> Verdict {
        let verdict = |decision, risk, in_doubt| Verdict {
            decision,
            risk,
            risk_stated: rules.risk_stated || risk != Risk::default(),
            rule: Some(self.name.clone()),
            line: 0,
            in_doubt,
        };
        let asking = |whom: &AskSpec| decision(Then::Ask, Some(whom), default_expires);
        let said = catch_unwind(AssertUnwindSafe(|| (self.judge)(facts)));
        let own = match said {
            Ok(Ok(Opinion::Fine)) => return rules,
            Ok(Ok(Opinion::Deny)) => {
                return verdict(super::PolicyDecision::Deny, rules.risk, false);
            }
            Ok(Ok(Opinion::Ask { whom, risk })) => {
                asking(&whom).map(|ask| verdict(ask, risk.max(rules.risk), false))
            }
            Ok(Err(_)) | Err(_) => Err(String::new()),
        };
        match own.or_else(|_| {
            asking(&AskSpec::default()).map(|ask| verdict(ask, rules.risk.max(Risk::High), true))
        }) {
            Ok(own) => rules.stricter(own),
            // It cannot be asked about, so it is not done.
            Err(_) => verdict(super::PolicyDecision::Deny, rules.risk, true),
        }
    }
}

impl fmt::Debug for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decider({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Policy, PolicyDecision, PolicySpec, RuleSpec};
    use super::*;
    use crate::tool::Effects;

    fn policy(default: Then) -> Policy {
        let two = AskSpec { roles: vec!["dba".into()], quorum: 2, ..AskSpec::default() };
        let rule = |name: &str, tool: &str, then| RuleSpec {
            name: name.into(),
            matcher: super::super::MatchSpec { tool: Some(tool.into()), ..Default::default() },
            then,
            ask: (then == Then::Ask).then(|| two.clone()),
            ..RuleSpec::default()
        };
        let rules = vec![rule("two", "drop", Then::Ask), rule("never", "nuke", Then::Deny)];
        let spec = PolicySpec { default, rules, ..PolicySpec::default() };
        Policy::compile(spec).unwrap().with_decider(Decider::new("own", |facts| {
            let whom = AskSpec { people: vec!["ana".into()], ..AskSpec::default() };
            match facts.arguments["say"].as_str() {
                Some("fine") => Ok(Opinion::Fine),
                Some("deny") => Ok(Opinion::Deny),
                Some("ask") => Ok(Opinion::Ask { whom, risk: Risk::Critical }),
                Some("nobody") => {
                    Ok(Opinion::Ask { whom: AskSpec { quorum: 0, ..whom }, risk: Risk::Low })
                }
                Some("panic") => panic!("a bug"),
                _ => Err("cannot tell".into()),
            }
        }))
    }

    #[track_caller]
    fn check(default: Then, tool: &str, say: &str, picture: &str) {
        let arguments: Value = json!({"say": say});
        let effects = Effects::AtMostOnce;
        let facts = Facts { tool, agent: "a", effects, arguments: &arguments, sql: None };
        assert_eq!(policy(default).rule(&facts).explain(), picture, "{default:?} {tool} {say}");
    }

    #[test]
    fn the_stricter_of_rules_and_code_counts() {
        check(Then::Allow, "ls", "fine", "allowed by default: no rule decides");
        check(Then::Allow, "ls", "ask", "ask `ana` by rule `own`");
        check(Then::Allow, "ls", "deny", "denied by rule `own`");
        // Code never allows what the rules ask about or deny.
        check(Then::Ask, "ls", "fine", "ask the requester or an admin by default: no rule decides");
        check(Then::Allow, "drop", "fine", "ask 2 of role `dba` by rule `two`");
        check(Then::Allow, "drop", "ask", "ask 2 of role `dba` by rule `two`");
        check(Then::Allow, "nuke", "fine", "denied by rule `never`");
        check(Then::Allow, "drop", "deny", "denied by rule `own`");
    }

    #[test]
    fn i06_code_that_fails_or_panics_asks() {
        let asks = "ask the requester or an admin by rule `own`, in doubt: it cannot be told";
        for say in ["panic", "error", "nobody"] {
            check(Then::Allow, "ls", say, asks);
            check(Then::Deny, "ls", say, "denied by default: no rule decides");
        }
        check(Then::Allow, "drop", "panic", "ask 2 of role `dba` by rule `two`");
    }

    #[test]
    fn i07_other_code_is_another_version() {
        let with = |name: &str| {
            let rules = Policy::compile(PolicySpec::default()).unwrap();
            rules.with_decider(Decider::new(name, |_| Ok(Opinion::Fine))).version()
        };
        assert_eq!(with("a"), with("a"));
        assert_ne!(with("a"), with("b"));
        assert_ne!(with("a"), Policy::compile(PolicySpec::default()).unwrap().version());
    }

    #[test]
    fn its_risk_counts_if_it_is_higher() {
        let arguments = json!({"say": "ask"});
        let effects = Effects::AtMostOnce;
        let facts = Facts { tool: "drop", agent: "a", effects, arguments: &arguments, sql: None };
        let verdict = policy(Then::Allow).rule(&facts);
        assert_eq!((verdict.rule(), verdict.risk), (Some("two"), Risk::Critical));
        assert!(matches!(verdict.decision, PolicyDecision::Ask(ask) if ask.quorum == 2));
    }
}
