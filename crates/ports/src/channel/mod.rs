//! Where people are asked: a chat platform, a mailbox, a program that signs what it says.
//!
//! A channel never decides. It puts a hold where people see it, repaints it when it changes, and hands
//! every gesture of theirs to the [`Inbox`]. Who may answer, and what an answer means, is judged behind
//! that.

mod inbox;
mod pointer;
mod step;

use async_trait::async_trait;
use domain::hold::Hold;
use domain::person::People;
use domain::time::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub use inbox::{
    Busy, Form, Inbox, IncomingMessage, Opened, Operator, Press, PressReply, Redraw,
    ReportedDecision, ReportedReply,
};
pub use pointer::{BadPointer, ButtonAction, DeliveryKey, Nonce, Pointer};
pub use step::{Step, StepKind};

/// Where something is put.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// A conversation, as the platform names it.
    Chat {
        /// The platform's id of the chat.
        chat: String,
        /// Set for a thread of the chat, where the platform has threads.
        thread: Option<String>,
        /// Between one person and us.
        direct: bool,
    },
    /// One person, by their identity on this platform: the platform finds the chat.
    Person(String),
}

/// A message of ours that stands somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageRef {
    /// The platform's id of the chat.
    pub chat: String,
    /// Set where it stands in a thread of the chat.
    pub thread: Option<String>,
    /// Between one person and us.
    pub direct: bool,
    /// As the platform names it.
    pub message: String,
    /// The platform's own time of it, where it says one.
    pub at: Option<Timestamp>,
}

/// A hold that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Where it stands; later repaints go there.
    pub posted: MessageRef,
    /// A card that had to be cut takes none, by button or in words: nobody approves what they were
    /// not shown.
    pub accepts_approval: bool,
}

/// One hold as it is to be seen in one place.
#[derive(Clone, Copy, Debug)]
pub struct Showing<'a> {
    /// As it is now.
    pub hold: &'a Hold,
    /// For the names of those who voted.
    pub people: &'a People,
    /// Which prompt this is. It stays the same over retries, so that a second attempt can be recognised.
    pub key: &'a DeliveryKey,
    /// Every button of the prompt carries it.
    pub nonce: &'a Nonce,
    /// The page with everything on it.
    pub link: Option<&'a str>,
    /// Whether words answer here.
    pub words_answer: bool,
    /// What somebody must repeat in words before a yes is believed.
    pub code: Option<&'a str>,
    /// A person has pressed a dangerous yes once: it asks once more before it counts.
    pub armed: bool,
    /// An answer is being written: no button may look alive.
    pub processing: bool,
    /// This very question is certainly shown there already. What has changed is who voted, or until when
    /// it waits: nothing that an approver must read anew.
    pub stands: bool,
}

/// Something that we say in a chat beside the cards: the agent's words, a question back.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingText<'a> {
    /// Stays the same over retries.
    pub key: &'a str,
    /// What to say, in plain text.
    pub text: &'a str,
    /// The message that it replies to.
    pub reply_to: Option<&'a str>,
    /// For the eyes of this identity only, where the platform can; else it goes to them directly.
    pub whisper_to: Option<&'a str>,
}

/// How far a text was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextProgress {
    /// Nothing is left to say.
    All,
    /// Another piece follows this one.
    More,
}

/// A variant for each remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// Certainly not done. Try again, not before this time has passed.
    #[error("not now: {why}")]
    Again {
        /// The least wait that the platform asked for; `None` leaves it to the caller.
        after: Option<Duration>,
        /// For the log.
        why: String,
    },
    /// It may have been done: the platform did not say.
    #[error("nobody knows whether it was done: {0}")]
    Unknown(String),
    /// It will not work until somebody changes something.
    #[error("it cannot be done: {0}")]
    Never(String),
    /// The message is gone, or too old to be changed.
    #[error("the message cannot be changed any more: {0}")]
    Gone(String),
    /// Certainly not done: the chat has this name now, and what stands in the old one stays as it is.
    #[error("the chat has another name now: {0}")]
    Moved(String),
}

/// A request to `/channels/{name}/…`, to the byte.
#[derive(Clone, Debug)]
pub struct WebhookRequest {
    /// In upper case: `POST`.
    pub method: String,
    /// What follows the channel's name: `events`.
    pub path: String,
    /// As it came, without the question mark.
    pub query: Option<String>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Not yet decrypted or parsed: signatures are over these bytes.
    pub body: Vec<u8>,
    /// When it arrived, by our clock. Signatures that are too old are refused by it.
    pub at: Timestamp,
}

impl WebhookRequest {
    /// Among the headers: who connected, as far as the server can know. No request can bring a header of
    /// this name.
    pub const PEER: &str = ":peer";

    /// Who connected, from the header [`WebhookRequest::PEER`]. `None` if the server does not know.
    pub fn peer(&self) -> Option<IpAddr> {
        let (_, address) = self.headers.iter().find(|(name, _)| name == WebhookRequest::PEER)?;
        address.parse().ok()
    }
}

/// What the platform gets for its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReply {
    /// The HTTP status.
    pub status: u16,
    /// The media type of `body`.
    pub content_type: &'static str,
    /// What the platform expects to read; often a challenge that it sent, or a new card.
    pub body: Vec<u8>,
}

/// One thing that `channels check` looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What was looked at, in words for the operator.
    pub what: String,
    /// What is wrong and where to mend it; `None` when it is well.
    pub wrong: Option<String>,
}

/// A place where people are asked, and where they may write to an agent. It carries and decides nothing: whose gesture
/// counts is the [`Inbox`]'s to say. The conformance suite of `testkit` holds each to what it declares here.
///
/// ```
/// use async_trait::async_trait;
/// use holdpoint_ports::channel::{
///     Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
///     Showing, Shown, TextProgress, WebhookRequest,
/// };
///
/// /// A sign on the wall: it shows what waits, and leads to the page.
/// struct Sign;
///
/// #[async_trait]
/// impl Channel for Sign {
///     fn name(&self) -> &str {
///         "sign"
///     }
///
///     fn platform(&self) -> &'static str {
///         "sign"
///     }
///
///     fn account(&self) -> &str {
///         "hall 2"
///     }
///
///     fn has_buttons(&self) -> bool {
///         false
///     }
///
///     fn talks(&self) -> bool {
///         false
///     }
///
///     async fn show(&self, _: &Destination, what: &Showing<'_>) -> Result<Shown, ChannelError> {
///         let _drawn = domain::view::render(what.hold);
///         let posted = MessageRef {
///             chat: "wall".into(),
///             thread: None,
///             direct: false,
///             message: what.key.as_str().into(),
///             at: None,
///         };
///         Ok(Shown { posted, accepts_approval: false })
///     }
///
///     async fn repaint(&self, _: &MessageRef, what: &Showing<'_>) -> Result<bool, ChannelError> {
///         let _drawn = domain::view::render(what.hold);
///         Ok(false)
///     }
///
///     async fn say_piece(
///         &self,
///         _: &Destination,
///         _: &OutgoingText<'_>,
///         _: usize,
///     ) -> Result<TextProgress, ChannelError> {
///         Err(ChannelError::Never("a sign says nothing".into()))
///     }
///
///     async fn hook(&self, _: WebhookRequest, _: &dyn Inbox) -> HookReply {
///         HookReply { status: 404, content_type: "text/plain", body: Vec::new() }
///     }
///
///     async fn check(&self) -> Vec<Checked> {
///         vec![Checked { what: "the sign has power".into(), wrong: None }]
///     }
/// }
/// ```
#[async_trait]
pub trait Channel: Send + Sync {
    /// As the configuration names it.
    fn name(&self) -> &str;

    /// The key of people's identities: `feishu`.
    fn platform(&self) -> &'static str;

    /// Our own account there, so that two apps on one platform are two channels.
    fn account(&self) -> &str;

    /// Whether a press says in which chat it was made. Where it does not, the message alone must tell,
    /// and stands in one place only.
    fn names_chats(&self) -> bool {
        true
    }

    /// How long one call of it may take at most, where that is longer than with chats.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Whether something can be said beside the prompts.
    fn talks(&self) -> bool {
        true
    }

    /// Whether people answer on the message itself, with buttons. Where there are none it leads to the
    /// page.
    fn has_buttons(&self) -> bool {
        true
    }

    /// Whether a message changes with its hold. Where it stays as it was, `repaint` does nothing.
    fn redraws(&self) -> bool {
        true
    }

    /// Whether the platform itself asks once more before the press of a dangerous yes arrives. Where it does not, the
    /// first press draws another card, and a second press of the same person counts.
    fn has_confirm_dialog(&self) -> bool {
        false
    }

    /// A second press that comes sooner belongs to the first: the time is too short to read the question.
    fn second_press_after(&self) -> Duration {
        Duration::from_millis(600)
    }

    /// The pauses before the second attempt, the third and so on, where the platform's rules name them;
    /// after the last it is given up.
    fn retries(&self) -> Option<&'static [Duration]> {
        None
    }

    /// Whether each step of a hold is told by itself and in order, as to a program. Where people look,
    /// a hold is only drawn as it now is.
    fn every_step(&self) -> bool {
        false
    }

    /// Whether the same key twice may be two messages: the platform neither knows a key nor lets us look
    /// for the first one.
    fn may_show_twice(&self) -> bool {
        false
    }

    /// Shows a hold. The same key twice is one message, as far as the platform allows; where it does
    /// not, the channel looks for the first one before it sends a second.
    async fn show(&self, place: &Destination, showing: &Showing<'_>)
    -> Result<Shown, ChannelError>;

    /// Makes a message look as its hold now is, and says whether it takes a yes.
    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError>;

    /// Says one piece of a text, counted from 0, in one message; the text is always cut in the same way.
    /// The caller counts, so that what was said is not said again when a later piece fails.
    async fn say_piece(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
        piece: usize,
    ) -> Result<TextProgress, ChannelError>;

    /// The whole of it, for a caller that need not know how far it came.
    async fn say(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
    ) -> Result<(), ChannelError> {
        let mut piece = 0;
        while self.say_piece(place, saying, piece).await? == TextProgress::More {
            piece += 1;
        }
        Ok(())
    }

    /// Tells of one step of a hold that was shown. Only a channel that wants every step is asked to, and
    /// then instead of `repaint`.
    async fn tell(
        &self,
        _posted: &MessageRef,
        _showing: &Showing<'_>,
        _step: &Step,
    ) -> Result<(), ChannelError> {
        Err(ChannelError::Never("holds are drawn here, and not told step by step".into()))
    }

    /// Receives over a connection of its own until it is told to stop, and connects again whenever
    /// that breaks. A channel that is only called by webhook, or never, has nothing to do here.
    async fn listen(&self, _inbox: Arc<dyn Inbox>, stop: CancellationToken) {
        stop.cancelled().await;
    }

    /// Receives one request. Nothing in it is believed before its signature is.
    async fn hook(&self, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply;

    /// Credentials, scopes, subscriptions, clock: what is missing, and where to click.
    async fn check(&self) -> Vec<Checked>;
}
