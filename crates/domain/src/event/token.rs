//! Tokens, by which programs and people are let in.

use crate::digest::Digest;
use crate::id::TokenId;
use crate::person::{Actor, CredentialMaker, EarlierHand, PersonId};
use crate::time::Timestamp;

/// A token as it is kept: never its secret, only the secret's digest.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Names the token. It is no secret, and part of what the bearer sends.
    pub id: TokenId,
    /// In whose name its bearer acts.
    pub owner: TokenOwner,
    /// What it opens. The scopes do not include one another.
    pub scopes: Vec<TokenScope>,
    /// Digest of the secret that the bearer sends.
    pub secret: Digest,
    /// Who made it. A rule about the requester counts them, for what a program asks.
    pub minted_by: Actor,
    /// Set if the maker had come in by a credential that was not certainly their own.
    pub through: Option<EarlierHand>,
    /// When it was made.
    pub minted_at: Timestamp,
    /// From this moment on it is refused. `None`: it stays good until it is revoked.
    pub expires_at: Option<Timestamp>,
    /// The maker's remark. Nothing reads it.
    pub note: Option<String>,
}

impl Token {
    /// The maker, with the hand that the maker's own credential had been in.
    pub fn made_by(&self) -> CredentialMaker {
        CredentialMaker { by: self.minted_by.clone(), through: self.through.clone() }
    }
}

/// In whose name a token acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenOwner {
    /// A person: with the scope `answer` the bearer answers holds as that person.
    Person(PersonId),
    /// A program: it may ask and run, and never answers a hold.
    Program(String),
}

/// One thing that a token may be good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenScope {
    /// To open holds.
    Ask,
    /// To answer holds. Only a person's token does.
    Answer,
    /// To open sessions and to speak in them.
    Run,
    /// To do what admins do. A person needs the role as well.
    Admin,
}

impl TokenScope {
    /// Every scope.
    pub const ALL: [TokenScope; 4] =
        [TokenScope::Ask, TokenScope::Answer, TokenScope::Run, TokenScope::Admin];

    /// The word by which records and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            TokenScope::Ask => "ask",
            TokenScope::Answer => "answer",
            TokenScope::Run => "run",
            TokenScope::Admin => "admin",
        }
    }

    /// The scope of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<TokenScope> {
        TokenScope::ALL.into_iter().find(|scope| scope.name() == text)
    }
}
