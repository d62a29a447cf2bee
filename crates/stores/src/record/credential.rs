//! How somebody proved who they are, and who made what they proved it with.

use std::borrow::Cow;

use domain::hold::{Decision, Hold, HoldState, Vote};
use domain::id::TokenId;
use domain::message::Message;
use domain::person::{Audience, CredentialMaker, EarlierHand, LinkOrigin, PersonId, Proof};
use serde::{Deserialize, Serialize};

use super::actor::StoredActor;
use super::call::version_of_call;
use super::caption::version_of_caption;
use super::comment::TELLS_COMMENTS;
use super::state::is_spelled_as_superseded;
use super::warning::version_of_preview;
use super::{Broken, FIRST, Text};

/// The record version that first tells who made a credential.
pub(super) const TELLS_THE_MAKER: u32 = 4;
/// The record version that first tells who made the credential of a requester.
const TELLS_WHO_ELSE_ASKED: u32 = 5;
/// The record version that first tells a caller's reason from our own word for the same.
const TELLS_STATED_REASONS: u32 = 6;
/// Readers before this one know no files of messages.
const TELLS_FILES: u32 = 7;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredProof<'a> {
    Token(Text<TokenId>),
    Login,
    Channel {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
    Door(#[serde(borrow)] Cow<'a, str>),
    MintedToken {
        id: Text<TokenId>,
        #[serde(borrow)]
        made_by: StoredMaker<'a>,
    },
    Link(#[serde(borrow)] StoredLink<'a>),
    Vouched(#[serde(borrow)] Cow<'a, str>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredMaker<'a> {
    #[serde(borrow)]
    by: StoredActor<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    through: Option<StoredHand<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredHand<'a> {
    Person(#[serde(borrow)] Cow<'a, str>),
    Unrecorded,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredLink<'a> {
    #[serde(borrow)]
    made_by: StoredMaker<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    channel: Option<Cow<'a, str>>,
}

impl<'a> From<&'a EarlierHand> for StoredHand<'a> {
    fn from(hand: &'a EarlierHand) -> StoredHand<'a> {
        match hand {
            EarlierHand::Person(id) => StoredHand::Person(id.as_str().into()),
            EarlierHand::Unrecorded => StoredHand::Unrecorded,
        }
    }
}

impl From<StoredHand<'_>> for EarlierHand {
    fn from(stored: StoredHand<'_>) -> EarlierHand {
        match stored {
            StoredHand::Person(id) => EarlierHand::Person(PersonId::new(&id)),
            StoredHand::Unrecorded => EarlierHand::Unrecorded,
        }
    }
}

impl<'a> From<&'a CredentialMaker> for StoredMaker<'a> {
    fn from(maker: &'a CredentialMaker) -> StoredMaker<'a> {
        let through = maker.through.as_ref().map(StoredHand::from);
        StoredMaker { by: (&maker.by).into(), through }
    }
}

impl From<StoredMaker<'_>> for CredentialMaker {
    fn from(stored: StoredMaker<'_>) -> CredentialMaker {
        let through = stored.through.map(EarlierHand::from);
        CredentialMaker { by: stored.by.into(), through }
    }
}

impl<'a> From<&'a LinkOrigin> for StoredLink<'a> {
    fn from(origin: &'a LinkOrigin) -> StoredLink<'a> {
        let channel = origin.channel.as_deref().map(Cow::from);
        StoredLink { made_by: (&origin.made_by).into(), channel }
    }
}

impl From<StoredLink<'_>> for LinkOrigin {
    fn from(stored: StoredLink<'_>) -> LinkOrigin {
        let channel = stored.channel.map(Cow::into_owned);
        LinkOrigin { made_by: stored.made_by.into(), channel }
    }
}

impl<'a> From<&'a Proof> for StoredProof<'a> {
    fn from(proof: &'a Proof) -> StoredProof<'a> {
        match proof {
            Proof::Token(id) => StoredProof::Token(Text(*id)),
            Proof::MintedToken { id, made_by } => {
                StoredProof::MintedToken { id: Text(*id), made_by: made_by.into() }
            }
            Proof::Login => StoredProof::Login,
            Proof::Link(origin) => StoredProof::Link(origin.into()),
            Proof::Channel { name, message } => {
                StoredProof::Channel { name: name.into(), message: message.into() }
            }
            Proof::Door(name) => StoredProof::Door(name.into()),
            Proof::Vouched(how) => StoredProof::Vouched(how.into()),
        }
    }
}

impl From<StoredProof<'_>> for Proof {
    fn from(stored: StoredProof<'_>) -> Proof {
        match stored {
            StoredProof::Token(Text(id)) => Proof::Token(id),
            StoredProof::MintedToken { id: Text(id), made_by } => {
                Proof::MintedToken { id, made_by: made_by.into() }
            }
            StoredProof::Login => Proof::Login,
            StoredProof::Link(link) => Proof::Link(link.into()),
            StoredProof::Channel { name, message } => {
                Proof::Channel { name: name.into_owned(), message: message.into_owned() }
            }
            StoredProof::Door(name) => Proof::Door(name.into_owned()),
            StoredProof::Vouched(how) => Proof::Vouched(how.into_owned()),
        }
    }
}

/// Beside a login link or a cookie in the store.
pub(crate) fn write_origin(origin: &LinkOrigin) -> Vec<u8> {
    super::write_record(&StoredLink::from(origin))
}

pub(crate) fn read_origin(bytes: &[u8]) -> Result<LinkOrigin, Broken> {
    match serde_json::from_slice::<StoredLink<'_>>(bytes) {
        Ok(stored) => Ok(stored.into()),
        Err(error) => super::damaged(format!("a login's origin: {:?}", error.classify())),
    }
}

/// The oldest record version whose readers know what these say.
pub(super) fn version_of_vote(vote: &Vote) -> u32 {
    match &vote.proof {
        Proof::MintedToken { .. } | Proof::Link(_) | Proof::Vouched(_) => TELLS_THE_MAKER,
        Proof::Token(_) | Proof::Login | Proof::Channel { .. } | Proof::Door(_) => FIRST,
    }
}

pub(super) fn version_of_state(state: &HoldState) -> u32 {
    match state {
        HoldState::Cancelled { reason, .. } if is_spelled_as_superseded(reason) => {
            TELLS_STATED_REASONS
        }
        _ => state.decision().and_then(Decision::vote).map_or(FIRST, |vote| version_of_vote(vote)),
    }
}

pub(super) fn version_of_audience(audience: &Audience) -> u32 {
    match audience {
        audience if !audience.login_makers.is_empty() => TELLS_WHO_ELSE_ASKED,
        audience if audience.refuse_made_logins => TELLS_THE_MAKER,
        _ => FIRST,
    }
}

pub(super) fn version_of_message(message: &Message) -> u32 {
    let asked = if message.login_makers.is_empty() { FIRST } else { TELLS_WHO_ELSE_ASKED };
    if message.files().next().is_some() { TELLS_FILES } else { asked }
}

pub(super) fn version_of_hold(hold: &Hold) -> u32 {
    let votes = hold.votes.iter().map(|vote| version_of_vote(vote)).max().unwrap_or(FIRST);
    let call = hold.call().map_or(FIRST, |call| version_of_call(call));
    let audience = version_of_audience(&hold.audience);
    let shown = version_of_caption(&hold.title).max(version_of_preview(&hold.preview));
    let said = if hold.comments.is_empty() { FIRST } else { TELLS_COMMENTS };
    votes.max(call).max(version_of_state(&hold.state)).max(audience).max(shown).max(said)
}
