//! What the policy says about one call.

use std::sync::Arc;

use crate::hold::Risk;
use crate::warning::WarningKind;

/// Cheap to clone: it shares what the policy compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What happens to the call.
    pub decision: PolicyDecision,
    /// How carefully people should look, if they are asked.
    pub risk: Risk,
    /// A rule or code says so. Otherwise it is the default, and the program that proposes the call may say less.
    pub risk_stated: bool,
    pub(super) rule: Option<Arc<str>>,
    pub(super) line: usize,
    /// The rule could not be told, and was taken because it is the stricter way.
    pub in_doubt: bool,
}

/// What the policy says about one call.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyDecision {
    /// It runs, and nobody is asked.
    Allow,
    /// People decide.
    Ask(Arc<Ask>),
    /// It does not run, and nobody is asked.
    Deny,
}

/// Whom to ask. If it names nobody, that is the session's requester and every admin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
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
    /// How long the question waits, in milliseconds.
    pub expires_ms: u64,
    /// The rule says so itself. Otherwise it is the default, and a channel may have its own.
    pub expires_by_rule: bool,
}

impl Ask {
    /// Whether the requester and the admins are asked, as nobody else is named.
    pub(super) fn names_nobody(&self) -> bool {
        self.roles.is_empty() && self.people.is_empty()
    }
}

impl PolicyDecision {
    /// Higher is stricter.
    fn strictness(&self) -> (u8, u32, bool, bool, bool) {
        match self {
            PolicyDecision::Allow => (0, 0, false, false, false),
            PolicyDecision::Ask(ask) => {
                (1, ask.quorum, ask.exclude_requester, ask.refuse_made_logins, !ask.names_nobody())
            }
            PolicyDecision::Deny => (2, 0, false, false, false),
        }
    }
}

impl Verdict {
    /// The rule that decided; `None` is the default.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// The stricter of two verdicts on the same call: deny before ask before allow; of two
    /// questions the one that needs more people; of equals this one. The higher risk counts.
    #[must_use]
    pub fn stricter(self, other: Verdict) -> Verdict {
        let risk = self.risk.max(other.risk);
        let risk_stated = self.risk_stated || other.risk_stated;
        let verdict = match other.decision.strictness() > self.decision.strictness() {
            true => other,
            false => self,
        };
        Verdict { risk, risk_stated, ..verdict }
    }

    /// Why an approval that was given before does not stand: the policy is stricter by now, and asks so.
    pub(crate) fn stricter_than_before(&self, ask: &Ask) -> WarningKind {
        WarningKind::StricterPolicy(Box::new(self.asked_by_rule(ask)))
    }

    fn asked_by_rule(&self, ask: &Ask) -> AskedByRule {
        AskedByRule {
            roles: ask.roles.clone(),
            people: ask.people.clone(),
            quorum: ask.quorum,
            exclude_requester: ask.exclude_requester,
            refuse_made_logins: ask.refuse_made_logins,
            rule: self.rule().map(str::to_owned),
            line: self.line,
            in_doubt: self.in_doubt,
        }
    }

    /// One sentence for people.
    pub fn explain(&self) -> String {
        let what = match &self.decision {
            PolicyDecision::Allow => "allowed",
            PolicyDecision::Deny => "denied",
            PolicyDecision::Ask(ask) => return self.asked_by_rule(ask).explain(),
        };
        format!("{what} {}", by_rule(self.rule(), self.line, self.in_doubt))
    }
}

/// Who is asked, and which rule says so: as much of a verdict as people are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedByRule {
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
    /// `None` is the default.
    pub rule: Option<String>,
    /// Rules that are written in code stand in no line: 0.
    pub line: usize,
    /// The rule asks because it could not be told whether it matches.
    pub in_doubt: bool,
}

impl AskedByRule {
    /// One sentence for people, in English.
    pub fn explain(&self) -> String {
        format!("ask {} {}", self.whom(), by_rule(self.rule.as_deref(), self.line, self.in_doubt))
    }

    fn whom(&self) -> String {
        let roles = self.roles.iter().map(|role| format!("role `{role}`"));
        let people = self.people.iter().map(|person| format!("`{person}`"));
        let names: Vec<String> = roles.chain(people).collect();
        let mut text = match names.is_empty() {
            true => "the requester or an admin".to_owned(),
            false => names.join(" or "),
        };
        if self.quorum > 1 {
            text = format!("{} of {text}", self.quorum);
        }
        if self.exclude_requester {
            text.push_str(", but not the requester");
        }
        if self.refuse_made_logins {
            text.push_str(", by logins that nobody else made");
        }
        text
    }
}

fn by_rule(rule: Option<&str>, line: usize, in_doubt: bool) -> String {
    let Some(rule) = rule else { return "by default: no rule decides".to_owned() };
    let line = match line {
        0 => String::new(),
        line => format!(" (line {line})"),
    };
    let doubt = if in_doubt { ", in doubt: it cannot be told" } else { "" };
    format!("by rule `{rule}`{line}{doubt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(decision: PolicyDecision, risk: Risk) -> Verdict {
        Verdict {
            decision,
            risk,
            risk_stated: true,
            rule: Some("r".into()),
            line: 3,
            in_doubt: false,
        }
    }

    fn ask(quorum: u32, exclude_requester: bool, roles: &[&str]) -> PolicyDecision {
        PolicyDecision::Ask(Arc::new(Ask {
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            people: Vec::new(),
            quorum,
            exclude_requester,
            refuse_made_logins: false,
            expires_ms: 1,
            expires_by_rule: false,
        }))
    }

    #[test]
    fn i07_the_stricter_verdict_wins_either_way() {
        let ladder = [
            PolicyDecision::Allow,
            ask(1, false, &[]),
            ask(1, false, &["dba"]),
            ask(1, true, &[]),
            ask(2, false, &[]),
            PolicyDecision::Deny,
        ];
        for (low, one) in ladder.iter().enumerate() {
            for (high, other) in ladder.iter().enumerate() {
                let both =
                    verdict(one.clone(), Risk::Low).stricter(verdict(other.clone(), Risk::High));
                assert_eq!(both.decision, ladder[low.max(high)]);
                assert_eq!(both.risk, Risk::High);
            }
        }
    }

    #[test]
    fn explains_itself() {
        let says = |decision| verdict(decision, Risk::Low).explain();
        assert_eq!(says(PolicyDecision::Deny), "denied by rule `r` (line 3)");
        assert_eq!(says(ask(1, false, &[])), "ask the requester or an admin by rule `r` (line 3)");
        assert_eq!(
            says(ask(2, true, &["dba", "sre"])),
            "ask 2 of role `dba` or role `sre`, but not the requester by rule `r` (line 3)"
        );
        let doubtful = Verdict { in_doubt: true, ..verdict(PolicyDecision::Deny, Risk::Low) };
        assert!(doubtful.explain().ends_with("in doubt: it cannot be told"));
        let default = Verdict { rule: None, ..verdict(PolicyDecision::Allow, Risk::Low) };
        assert_eq!(default.explain(), "allowed by default: no rule decides");
    }
}
