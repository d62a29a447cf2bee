//! A token as it is kept: never its secret.

use std::borrow::Cow;

use domain::event::{Scope, Token, TokenOwner};
use domain::id::TokenId;
use domain::person::{EarlierHand, PersonId};
use serde::{Deserialize, Serialize};

use super::actor::StoredActor;
use super::credential::StoredHand;
use super::{Broken, Hex, Ms, Text, damaged};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredToken<'a> {
    id: Text<TokenId>,
    #[serde(borrow)]
    owner: StoredOwner<'a>,
    #[serde(borrow)]
    scopes: Vec<Cow<'a, str>>,
    /// SHA-256 of the secret.
    secret: Hex,
    #[serde(borrow)]
    minted_by: StoredActor<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    through: Option<StoredHand<'a>>,
    minted_at: Ms,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Ms>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    note: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredOwner<'a> {
    Person(#[serde(borrow)] Cow<'a, str>),
    Program(#[serde(borrow)] Cow<'a, str>),
}

impl<'a> From<&'a Token> for StoredToken<'a> {
    fn from(token: &'a Token) -> StoredToken<'a> {
        StoredToken {
            id: Text(token.id),
            owner: match &token.owner {
                TokenOwner::Person(id) => StoredOwner::Person(id.as_str().into()),
                TokenOwner::Program(name) => StoredOwner::Program(name.into()),
            },
            scopes: token.scopes.iter().map(|scope| scope.name().into()).collect(),
            secret: Hex(token.secret),
            minted_by: (&token.minted_by).into(),
            through: token.through.as_ref().map(StoredHand::from),
            minted_at: token.minted_at.into(),
            expires_at: token.expires_at.map(Ms::from),
            note: token.note.as_deref().map(Cow::from),
        }
    }
}

impl StoredToken<'_> {
    pub(super) fn token(self) -> Result<Token, Broken> {
        let scopes = self.scopes.iter().map(|scope| match Scope::parse(scope) {
            Some(scope) => Ok(scope),
            None => damaged(format!("{} has an unknown scope", self.id.0)),
        });
        Ok(Token {
            id: self.id.0,
            scopes: scopes.collect::<Result<_, _>>()?,
            owner: match self.owner {
                StoredOwner::Person(id) => TokenOwner::Person(PersonId::new(&id)),
                StoredOwner::Program(name) => TokenOwner::Program(name.into_owned()),
            },
            secret: self.secret.0,
            minted_by: self.minted_by.into(),
            through: self.through.map(EarlierHand::from),
            minted_at: self.minted_at.into(),
            expires_at: self.expires_at.map(Ms::into),
            note: self.note.map(Cow::into_owned),
        })
    }
}
