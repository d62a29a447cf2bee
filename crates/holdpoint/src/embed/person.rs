//! A person who can answer.

use std::collections::{BTreeMap, BTreeSet};

use domain::person::{ADMIN, Person as Known, PersonId};

/// A person, as the set-up names them. How they prove who they are is the program's business
/// ([`crate::Holdpoint::vouch`]), or that of a login link of the web page.
///
/// ```
/// use holdpoint::prelude::*;
/// let ana = Person::new("ana").name("Ana Torres").role("dba").admin();
/// ```
#[derive(Clone, Debug)]
pub struct Person {
    id: String,
    name: Option<String>,
    roles: BTreeSet<String>,
    identities: BTreeMap<String, String>,
}

impl Person {
    /// `id` is what the record says about who did what; it should stay the same for ever.
    pub fn new(id: impl Into<String>) -> Person {
        Person { id: id.into(), name: None, roles: BTreeSet::new(), identities: BTreeMap::new() }
    }

    /// What others are shown; the id without it.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Person {
        Person { name: Some(name.into()), ..self }
    }

    /// A role that rules can ask for. May be said several times.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Person {
        self.roles.insert(role.into());
        self
    }

    /// The role `admin`: sees everything, may freeze everything, and is asked where a rule names nobody.
    #[must_use]
    pub fn admin(self) -> Person {
        self.role(ADMIN)
    }

    /// Who this person is on a platform (`slack`, `feishu`, …), or on one channel, by its name: what the
    /// platform vouches for, such as a user id. An answer from there is then this person's.
    #[must_use]
    pub fn account(mut self, on: impl Into<String>, account: impl Into<String>) -> Person {
        self.identities.insert(on.into(), account.into());
        self
    }

    pub(super) fn accounts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.identities.iter().map(|(on, account)| (on.as_str(), account.as_str()))
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }

    pub(super) fn known(self) -> Known {
        Known {
            name: self.name.unwrap_or_else(|| self.id.clone()),
            id: PersonId::new(&self.id),
            roles: self.roles,
            identities: self.identities,
        }
    }
}
