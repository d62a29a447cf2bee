//! Who did something, and who is asked.

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::id::TokenId;
use domain::person::{Actor, Audience, PersonId};
use serde::{Deserialize, Serialize};

use super::{Text, is_false};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum StoredActor<'a> {
    Person(#[serde(borrow)] Cow<'a, str>),
    Program {
        token: Text<TokenId>,
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        by: Option<Cow<'a, str>>,
    },
    Runtime,
}

impl<'a> From<&'a Actor> for StoredActor<'a> {
    fn from(actor: &'a Actor) -> StoredActor<'a> {
        match actor {
            Actor::Person(id) => StoredActor::Person(id.as_str().into()),
            Actor::Program { token, name, minted_by } => StoredActor::Program {
                token: Text(*token),
                name: name.into(),
                by: minted_by.as_ref().map(|by| by.as_str().into()),
            },
            Actor::Runtime => StoredActor::Runtime,
        }
    }
}

impl From<StoredActor<'_>> for Actor {
    fn from(stored: StoredActor<'_>) -> Actor {
        match stored {
            StoredActor::Person(id) => Actor::Person(PersonId::new(&id)),
            StoredActor::Program { token: Text(token), name, by } => Actor::Program {
                token,
                name: name.into_owned(),
                minted_by: by.map(|by| PersonId::new(&by)),
            },
            StoredActor::Runtime => Actor::Runtime,
        }
    }
}

/// What two records of the same caller have in common, for looking things up. The runtime is
/// nobody's caller and has no key.
pub(crate) fn key_of(actor: &Actor) -> Option<String> {
    match actor {
        Actor::Person(id) => Some(format!("p:{id}")),
        Actor::Program { token, .. } => Some(format!("t:{token}")),
        Actor::Runtime => None,
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredAudience<'a> {
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    people: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    roles: Vec<Cow<'a, str>>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    quorum: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    exclude_requester: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    refuse_made_logins: bool,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    login_makers: Vec<Cow<'a, str>>,
}

fn one() -> u32 {
    1
}

fn is_one(quorum: &u32) -> bool {
    *quorum == 1
}

impl<'a> From<&'a Audience> for StoredAudience<'a> {
    fn from(audience: &'a Audience) -> StoredAudience<'a> {
        StoredAudience {
            people: audience.people.iter().map(|id| id.as_str().into()).collect(),
            roles: audience.roles.iter().map(Cow::from).collect(),
            quorum: audience.quorum,
            exclude_requester: audience.exclude_requester,
            refuse_made_logins: audience.refuse_made_logins,
            login_makers: audience.login_makers.iter().map(|id| id.as_str().into()).collect(),
        }
    }
}

impl From<StoredAudience<'_>> for Audience {
    fn from(stored: StoredAudience<'_>) -> Audience {
        Audience {
            people: stored.people.iter().map(|id| PersonId::new(id)).collect(),
            roles: stored.roles.into_iter().map(Cow::into_owned).collect::<BTreeSet<String>>(),
            quorum: stored.quorum,
            exclude_requester: stored.exclude_requester,
            refuse_made_logins: stored.refuse_made_logins,
            login_makers: stored.login_makers.iter().map(|id| PersonId::new(id)).collect(),
        }
    }
}
