//! Finds questions that nobody could ever answer, before they are asked.

use super::rules::Policy;
use super::verdict::{Ask, PolicyDecision};
use crate::person::{ADMIN, People, Person};
use crate::visible::visible;

/// Who there is to ask.
pub trait Directory {
    /// Whether anybody has the role.
    fn has_role(&self, role: &str) -> bool;
    /// Whether the configuration names this person.
    fn has_person(&self, id: &str) -> bool;
    /// How many different people could be among those asked; naming nobody asks the requester and
    /// every admin.
    fn reach(&self, roles: &[String], people: &[String]) -> usize;
}

/// A question that cannot be answered as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: rule `{}`: {why}", visible(rule))]
pub struct Unsatisfiable {
    /// `default` for calls that no rule matches.
    pub rule: String,
    /// Where the rule stands in its file, from 1.
    pub line: usize,
    /// What is misspelled, or who is missing.
    pub why: String,
}

impl Policy {
    /// Every audience that is misspelled or too small. Empty is good.
    pub fn check(&self, directory: &dyn Directory) -> Vec<Unsatisfiable> {
        let asks = self.rules.iter().map(|rule| &rule.verdict).chain([self.default_verdict()]);
        asks.filter_map(|verdict| match &verdict.decision {
            PolicyDecision::Ask(ask) => Some((verdict, ask)),
            PolicyDecision::Allow | PolicyDecision::Deny => None,
        })
        .flat_map(|(verdict, ask)| {
            problems(ask, directory).into_iter().map(|why| Unsatisfiable {
                rule: verdict.rule.as_deref().unwrap_or("default").to_owned(),
                line: verdict.line,
                why,
            })
        })
        .collect()
    }
}

fn problems(ask: &Ask, directory: &dyn Directory) -> Vec<String> {
    let roles = ask.roles.iter().filter(|role| !directory.has_role(role));
    let people = ask.people.iter().filter(|person| !directory.has_person(person));
    let mut problems: Vec<String> = roles
        .map(|role| format!("nobody has the role `{}`", visible(role)))
        .chain(people.map(|person| format!("there is no person `{}`", visible(person))))
        .collect();
    let reach = directory.reach(&ask.roles, &ask.people);
    if (reach as u64) < u64::from(ask.quorum) {
        problems.push(match reach {
            0 => "there is nobody to ask".to_owned(),
            reach => format!("it needs {} people, and only {reach} could answer", ask.quorum),
        });
    }
    problems
}

impl Directory for People {
    fn has_role(&self, role: &str) -> bool {
        self.iter().any(|person| person.roles.contains(role))
    }

    fn has_person(&self, id: &str) -> bool {
        self.iter().any(|person| person.id.as_str() == id)
    }

    fn reach(&self, roles: &[String], people: &[String]) -> usize {
        if roles.is_empty() && people.is_empty() {
            let admins = self.iter().filter(|person| person.roles.contains(ADMIN)).count();
            // The requester may be one more.
            return admins + usize::from(admins < self.iter().count());
        }
        let is_asked = |person: &&Person| {
            roles.iter().any(|role| person.roles.contains(role))
                || people.iter().any(|id| person.id.as_str() == id)
        };
        self.iter().filter(is_asked).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AskSpec, PolicySpec, RuleSpec, Then};
    use super::*;
    use crate::person::PersonId;

    fn people() -> People {
        let all = [("ana", "dba"), ("bob", "dba"), ("eve", "admin")];
        People::new(all.map(|(id, role)| Person {
            id: PersonId::new(id),
            name: id.to_uppercase(),
            roles: [role.to_owned()].into(),
            identities: Default::default(),
        }))
    }

    fn check(ask: AskSpec, picture: &[&str]) {
        let rule = RuleSpec { name: "r".into(), line: 7, ask: Some(ask), ..RuleSpec::default() };
        let policy =
            Policy::compile(PolicySpec { rules: vec![rule], ..PolicySpec::default() }).unwrap();
        let found: Vec<String> = policy.check(&people()).iter().map(|p| p.to_string()).collect();
        assert_eq!(found, picture);
    }

    fn ask(roles: &[&str], people: &[&str], quorum: u32) -> AskSpec {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        AskSpec { roles: owned(roles), people: owned(people), quorum, ..AskSpec::default() }
    }

    #[test]
    fn audiences_that_can_answer_are_fine() {
        check(ask(&[], &[], 1), &[]);
        check(ask(&["dba"], &[], 2), &[]);
        check(ask(&["dba"], &["eve"], 3), &[]);
    }

    #[test]
    fn i12_people_are_counted_once() {
        check(
            ask(&["dba"], &["ana", "bob"], 3),
            &["line 7: rule `r`: it needs 3 people, and only 2 could answer"],
        );
    }

    #[test]
    fn unknown_names_are_told() {
        check(
            ask(&["sre"], &["joe"], 1),
            &[
                "line 7: rule `r`: nobody has the role `sre`",
                "line 7: rule `r`: there is no person `joe`",
                "line 7: rule `r`: there is nobody to ask",
            ],
        );
        check(ask(&["sre", "dba"], &[], 1), &["line 7: rule `r`: nobody has the role `sre`"]);
    }

    #[test]
    fn the_default_needs_somebody_too() {
        let policy = Policy::compile(PolicySpec::default()).unwrap();
        let found = policy.check(&People::default());
        assert_eq!(found[0].to_string(), "line 0: rule `default`: there is nobody to ask");
        let deny = PolicySpec { default: Then::Deny, ..PolicySpec::default() };
        assert!(Policy::compile(deny).unwrap().check(&People::default()).is_empty());
    }
}
