//! A token as it is kept: never its secret.

use std::borrow::Cow;

use domain::event::{Token, TokenOwner, TokenScope};
use domain::id::TokenId;
use domain::person::{EarlierHand, PersonId};
use serde::{Deserialize, Serialize};

use super::actor::StoredActor;
use super::credential::TELLS_THE_MAKER;
use super::{Broken, FIRST, Hex, Ms, Text, damaged};

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
    through: Option<TokenHand<'a>>,
    minted_at: Ms,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Ms>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    note: Option<Cow<'a, str>>,
}

/// Whose hand was on the maker's credential. A person's token says it also if there was none: one that says
/// nothing is older than record version 4, and nobody knows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TokenHand<'a> {
    None,
    Person(#[serde(borrow)] Cow<'a, str>),
    Unrecorded,
}

/// The oldest record version that can say this of a token.
pub(super) fn version_of_token(token: &Token) -> u32 {
    if through(token).is_some() { TELLS_THE_MAKER } else { FIRST }
}

fn through(token: &Token) -> Option<TokenHand<'_>> {
    match (&token.owner, &token.through) {
        (_, Some(EarlierHand::Person(by))) => Some(TokenHand::Person(by.as_str().into())),
        (TokenOwner::Person(_), None) => Some(TokenHand::None),
        (TokenOwner::Person(_), Some(EarlierHand::Unrecorded)) => None,
        (TokenOwner::Program(_), Some(EarlierHand::Unrecorded)) => Some(TokenHand::Unrecorded),
        (TokenOwner::Program(_), None) => None,
    }
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
            through: through(token),
            minted_at: token.minted_at.into(),
            expires_at: token.expires_at.map(Ms::from),
            note: token.note.as_deref().map(Cow::from),
        }
    }
}

impl StoredToken<'_> {
    pub(super) fn token(self) -> Result<Token, Broken> {
        let scopes = self.scopes.iter().map(|scope| match TokenScope::parse(scope) {
            Some(scope) => Ok(scope),
            None => damaged(format!("{} has an unknown scope", self.id.0)),
        });
        let through = match (&self.owner, self.through) {
            (_, Some(TokenHand::None)) | (StoredOwner::Program(_), None) => None,
            (_, Some(TokenHand::Person(by))) => Some(EarlierHand::Person(PersonId::new(&by))),
            (_, Some(TokenHand::Unrecorded)) | (StoredOwner::Person(_), None) => {
                Some(EarlierHand::Unrecorded)
            }
        };
        Ok(Token {
            id: self.id.0,
            scopes: scopes.collect::<Result<_, _>>()?,
            owner: match self.owner {
                StoredOwner::Person(id) => TokenOwner::Person(PersonId::new(&id)),
                StoredOwner::Program(name) => TokenOwner::Program(name.into_owned()),
            },
            secret: self.secret.0,
            minted_by: self.minted_by.into(),
            through,
            minted_at: self.minted_at.into(),
            expires_at: self.expires_at.map(Ms::into),
            note: self.note.map(Cow::into_owned),
        })
    }
}
