//! Notices to a person's own browsers and phones, by way of the push services of their makers.

use async_trait::async_trait;
use domain::hold::Hold;

/// A browser as it subscribed. None of it is believed: the endpoint is an address that a client names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushTarget {
    /// Where its push service takes messages for it.
    pub endpoint: String,
    /// Its public key on P-256, uncompressed, in base64url.
    pub p256dh: String,
    /// Its secret of 16 bytes, in base64url.
    pub auth: String,
}

/// Why a notice is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushKind {
    /// The hold waits for this person.
    Asks,
    /// It does, and not for long.
    Soon,
    /// A comment is addressed to them.
    Said,
    /// It needs nobody any more.
    Settled,
}

impl PushKind {
    /// Every one that there is.
    pub const ALL: [PushKind; 4] =
        [PushKind::Asks, PushKind::Soon, PushKind::Said, PushKind::Settled];

    /// On the wire and on disk.
    pub const fn name(self) -> &'static str {
        match self {
            PushKind::Asks => "asks",
            PushKind::Soon => "soon",
            PushKind::Said => "said",
            PushKind::Settled => "settled",
        }
    }

    /// The one with this name.
    pub fn parse(name: &str) -> Option<PushKind> {
        PushKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a notice is worded in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushLanguage {
    /// `en`
    #[default]
    English,
    /// `zh`
    Chinese,
}

impl PushLanguage {
    /// On the wire and on disk.
    pub const fn name(self) -> &'static str {
        match self {
            PushLanguage::English => "en",
            PushLanguage::Chinese => "zh",
        }
    }

    /// The one with this name.
    pub fn parse(name: &str) -> Option<PushLanguage> {
        [PushLanguage::English, PushLanguage::Chinese].into_iter().find(|one| one.name() == name)
    }
}

/// What one browser is told. The wording is the sender's: nothing of the call leaves, and no word that anybody else wrote.
#[derive(Clone, Copy, Debug)]
pub struct PushNotice<'a> {
    /// Why.
    pub kind: PushKind,
    /// About what, as it now is.
    pub hold: &'a Hold,
    /// How many holds wait for this person now: the count on the icon of an installed page.
    pub waiting: usize,
    /// In which language.
    pub language: PushLanguage,
}

/// A subscription that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPushTarget {
    /// Which part of it.
    pub field: &'static str,
    /// What to do about it, without repeating it.
    pub why: String,
}

/// Why a notice was not taken. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// Try again later.
    #[error("the push service cannot be reached or is busy: {0}")]
    Again(String),
    /// The browser is subscribed no longer: forget it.
    #[error("the subscription has ended")]
    Gone,
    /// It will never work.
    #[error("the notice cannot be delivered: {0}")]
    Never(String),
}

/// Sends notices.
#[async_trait]
pub trait Pusher: Send + Sync {
    /// The public key that a browser subscribes with, in base64url: its push service takes messages from nobody else.
    fn public_key(&self) -> &str;

    /// Refuses, when a browser subscribes, what could never be sent to.
    fn accepts(&self, target: &PushTarget) -> Result<(), BadPushTarget>;

    /// Sends it once.
    async fn push(&self, target: &PushTarget, notice: PushNotice<'_>) -> Result<(), PushError>;
}
