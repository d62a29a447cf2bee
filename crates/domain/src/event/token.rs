//! Tokens, by which programs and people are let in.

use crate::digest::Digest;
use crate::id::TokenId;
use crate::person::{Actor, CredentialMaker, EarlierHand, PersonId};
use crate::time::Timestamp;

/// A token as it is kept: never its secret, only the secret's digest.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub id: TokenId,
    pub owner: TokenOwner,
    pub scopes: Vec<Scope>,
    pub secret: Digest,
    pub minted_by: Actor,
    /// Set if the maker had come in by a credential that was not certainly their own.
    pub through: Option<EarlierHand>,
    pub minted_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub note: Option<String>,
}

impl Token {
    pub fn made_by(&self) -> CredentialMaker {
        CredentialMaker { by: self.minted_by.clone(), through: self.through.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenOwner {
    Person(PersonId),
    /// A program: it may ask and run, and never answers a hold.
    Program(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Ask,
    Answer,
    Run,
    Admin,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Ask, Scope::Answer, Scope::Run, Scope::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Scope::Ask => "ask",
            Scope::Answer => "answer",
            Scope::Run => "run",
            Scope::Admin => "admin",
        }
    }

    pub fn parse(text: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == text)
    }
}
