//! Somebody who can answer.

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
}

impl Person {
    /// `id` is what the record says about who did what; it should stay the same for ever.
    pub fn new(id: impl Into<String>) -> Person {
        Person { id: id.into(), name: None, roles: BTreeSet::new() }
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
            identities: BTreeMap::new(),
        }
    }
}
