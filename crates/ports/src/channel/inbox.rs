//! What people do in a channel, on its way in.

use std::sync::Arc;

use async_trait::async_trait;
use domain::answer::Answer;
use domain::digest::Digest;
use domain::hold::Hold;
use domain::id::HoldId;
use domain::person::People;
use domain::time::Timestamp;
use serde_json::{Map, Value};

use super::pointer::{DeliveryKey, Nonce, Pointer};
use super::{MessageRef, Showing};

/// Who made a gesture, as the platform vouches for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// What people are linked by, and how something reaches them.
    pub identity: String,
    /// Other names of theirs that the platform vouches for, where it has several for one person. People
    /// may be linked by any of them.
    pub also: Vec<String>,
    /// Never an identity: anybody can call themselves anything.
    pub display: Option<String>,
}

impl Operator {
    /// A person with one name.
    pub fn named(identity: impl Into<String>) -> Operator {
        Operator { identity: identity.into(), also: Vec::new(), display: None }
    }

    /// Every name of theirs.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.identity).chain(&self.also).map(String::as_str)
    }
}

/// A button or a form. `None` as operator refuses it: somebody whom the platform does not name is
/// nobody.
#[derive(Clone, Debug)]
pub struct Press {
    /// For the log: the same over redeliveries, and different for each press.
    pub event: String,
    /// Who pressed. `None` if the platform vouches for no account.
    pub operator: Option<Operator>,
    /// Where it was pressed: a forwarded card is pressed elsewhere.
    pub chat: String,
    /// The message that the button stands on, as the platform names it.
    pub message: String,
    /// What the button carries. It is believed only after the inbox has looked up what it points to.
    pub pointer: Pointer,
    /// The platform itself says that this button stands on that message, and not just the person who pressed.
    pub is_on_it: bool,
    /// Empty for a button without a form.
    pub form: Form,
    /// When the press arrived, by our clock.
    pub at: Timestamp,
}

/// What was filled in or picked beside the button.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    /// Values by the names of the form's fields.
    pub fields: Map<String, Value>,
    /// Options by their place in the prompt, from 1.
    pub options: Vec<u8>,
}

/// A message that somebody wrote.
#[derive(Clone, Debug)]
pub struct IncomingMessage {
    /// The same over redeliveries: the platform's id of the message.
    pub event: String,
    /// The message itself, as the platform names it: a reply can point to it.
    pub message: String,
    /// Who wrote it. `None` if the platform vouches for no account.
    pub operator: Option<Operator>,
    /// Where it was written, as the platform names the chat.
    pub chat: String,
    /// Set where it was written in a thread of the chat.
    pub thread: Option<String>,
    /// Between one person and us.
    pub direct: bool,
    /// As it was written, our own mention included.
    pub text: String,
    /// Our account is mentioned in it, and not only named.
    pub mentions_us: bool,
    /// How the platform spells our name in this text.
    pub mentions: Vec<String>,
    /// Another person is mentioned too.
    pub mentions_others: bool,
    /// The message of ours that it replies to.
    pub replies_to: Option<String>,
    /// Bots, channels and anonymous admins are nobody who can answer.
    pub from_a_person: bool,
    /// It replaces an earlier text of the same message.
    pub edited: bool,
    /// The sender passes on what somebody else wrote.
    pub forwarded: bool,
    /// Something hangs on it, whether or not it was fetched.
    pub attachment: bool,
    /// Some of it is struck out, quoted, hidden or set as code, so it decides nothing.
    pub formatted: bool,
    /// When it was written, by the platform's clock.
    pub at: Timestamp,
}

/// Everything that is needed to draw a hold again, now, in the reply to a press.
#[derive(Clone, Debug)]
pub struct Redraw {
    /// As it is now.
    pub hold: Arc<Hold>,
    /// For the names of those who voted.
    pub people: Arc<People>,
    /// The prompt that is drawn again.
    pub key: DeliveryKey,
    /// Another one than before if something else is asked by now.
    pub nonce: Nonce,
    /// See [`Showing::link`].
    pub link: Option<String>,
    /// See [`Showing::words_answer`].
    pub words_answer: bool,
    /// See [`Showing::code`].
    pub code: Option<String>,
    /// See [`Showing::armed`].
    pub armed: bool,
    /// Where the prompt stands.
    pub posted: MessageRef,
}

impl Redraw {
    /// The same as the platform's drawing takes it.
    pub fn showing(&self) -> Showing<'_> {
        Showing {
            hold: &self.hold,
            people: &self.people,
            key: &self.key,
            nonce: &self.nonce,
            link: self.link.as_deref(),
            words_answer: self.words_answer,
            code: self.code.as_deref(),
            armed: self.armed,
            processing: false,
            stands: true,
        }
    }
}

/// What the person who pressed is told at once. The words are the channel's, in its language.
#[derive(Clone, Debug)]
pub enum PressReply {
    /// It counts, and is on disk.
    Taken(Box<Redraw>),
    /// It counts as one vote of several; the hold still waits.
    Counted(Box<Redraw>),
    /// Nothing is decided yet: the card asks once more.
    AskAgain(Box<Redraw>),
    /// Nothing was decided: the card is as it was before it asked once more.
    AsItWas(Box<Redraw>),
    /// Too late: the hold says who decided, or that its time ran out.
    Already(Box<Redraw>),
    /// The hold has changed since this card was drawn; a new one follows.
    Changed(Box<Redraw>),
    /// For their eyes only; nothing public changes.
    NotEntitled,
    /// Not a button of ours, or pressed where it does not stand.
    NotHere,
    /// Something that was filled in or picked does not fit; says what.
    Invalid(String),
}

/// The form behind a button.
#[derive(Clone, Debug)]
pub enum Opened {
    /// The hold whose form is to be shown.
    Form(Box<Redraw>),
    /// There is none for them.
    Refused(PressReply),
}

/// What a program says that somebody decided, on a channel whose every word is signed. Unlike a press
/// it names the hold itself, and the digest of what they were shown.
#[derive(Clone, Debug)]
pub struct ReportedDecision {
    /// The same over repeats.
    pub event: String,
    /// Of whom the program says that they decided. The signature covers it.
    pub operator: Operator,
    /// Which hold they decided.
    pub hold: HoldId,
    /// Of what they were shown; a hold that has changed since is not decided.
    pub digest: Digest,
    /// The answer, as the program reports it.
    pub answer: Answer,
}

/// What came of it, for a program.
#[derive(Clone, Debug)]
pub enum ReportedReply {
    /// It counts, and is on disk. The same answer once more is told the same.
    Taken(Arc<Hold>),
    /// Another answer stands, or the time ran out.
    Already(Arc<Hold>),
    /// The hold has changed since.
    Changed(Arc<Hold>),
    /// They may not answer, or there is no such hold for them.
    NotEntitled,
    /// The answer does not fit the question; the text says why, for the program's author.
    Invalid(String),
}

/// It could not be written down. The platform should deliver a message again; the person should press again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not now")]
pub struct Busy;

/// Takes gestures. What it says is on disk when it returns, so that the platform can be told that it
/// need not deliver it again.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// A button was pressed. The reply is what the person is told, or what the prompt looks like now.
    async fn pressed(&self, channel: &str, press: Press) -> Result<PressReply, Busy>;

    /// A message was written. Whatever is said to it is sent later, as a message of ours.
    async fn wrote(&self, channel: &str, wrote: IncomingMessage) -> Result<(), Busy>;

    /// A chat has another name from now on, and is the same chat. An inbox that keeps no chats has
    /// nothing to do.
    async fn moved(&self, _channel: &str, _from: &str, _to: &str) -> Result<(), Busy> {
        Ok(())
    }

    /// The form that a button opens, on platforms where a form has a place of its own. It is judged as
    /// a press would be; nothing is decided and nothing written. An inbox without forms has none here.
    async fn opens(&self, _channel: &str, _press: &Press) -> Result<Opened, Busy> {
        Ok(Opened::Refused(PressReply::NotHere))
    }

    /// A decision that a program brings. An inbox that takes none refuses it.
    async fn decided(
        &self,
        _channel: &str,
        _decided: ReportedDecision,
    ) -> Result<ReportedReply, Busy> {
        Ok(ReportedReply::NotEntitled)
    }
}
