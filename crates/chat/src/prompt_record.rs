//! A prompt in one place: written down before it is sent, and kept until its buttons are forgotten.

use domain::digest::Framed;
use domain::hold::{CancelReason, Hold, HoldState, Question, Risk};
use domain::id::HoldId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::channel::{DeliveryKey, Destination, MessageRef, Nonce, Press};
use ports::store::OutboxKind;
use reply_parser::ApprovalCode;
use serde::{Deserialize, Serialize};

use crate::copies::Copies;
use crate::item::{Order, Outgoing};
use crate::limits::{ARMED_MS, OLD_NONCES, PATIENT_ATTEMPTS, STALE_MS};
use crate::notes::short;
use crate::send::Steps;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptRecord {
    v: u8,
    #[serde(rename = "ticket")]
    order: Order,
    /// Since when it is to be shown where it is now. A hold may be much older than a channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reserved_ms: Option<i64>,
    pub(crate) hold: String,
    pub(crate) place: StoredPlace,
    /// Where nobody talks there is no order to keep: it waits for no other, and no other for it.
    #[serde(default)]
    apart: bool,
    /// Of the hold that nonce and code were made for. Whatever else is asked gets others, so that a
    /// press says by its nonce what was seen.
    pub(crate) asks: String,
    pub(crate) nonce: String,
    /// Nonces of what was asked here before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) old_nonces: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// Whether words answer this kind of question.
    pub(crate) words: bool,
    pub(crate) stage: Stage,
    /// Of the hold as it is certainly shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    #[serde(default, rename = "takes_a_yes")]
    pub(crate) accepts_approval: bool,
    /// Counts the changes of the hold, and how many of them are drawn.
    #[serde(default)]
    pub(crate) wanted: u64,
    #[serde(default)]
    pub(crate) painted: u64,
    /// What is still to be told, where each step is.
    #[serde(default, skip_serializing_if = "Steps::is_empty")]
    pub(crate) steps: Steps,
    /// Since something last worked.
    #[serde(default)]
    pub(crate) attempts: u32,
    /// It may stand there, though nobody has said so.
    #[serde(default, rename = "perhaps_sent")]
    pub(crate) maybe_sent: bool,
    #[serde(default)]
    pub(crate) bad_codes: u32,
    #[serde(default)]
    pub(crate) reasks: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reasked_ms: Option<i64>,
    /// Only read: earlier versions gave a sign once in half a minute, and noted when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed_ms: Option<i64>,
    /// When somebody last pressed its dangerous yes for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) armed_ms: Option<i64>,
    /// Who did. The second press is theirs alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) armed_by: Option<String>,
    /// Where it stood before its chat got another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<StoredPosted>,
    /// Other messages with it.
    #[serde(default, skip_serializing_if = "Copies::are_none")]
    pub(crate) copies: Copies,
}

/// Where a prompt is on its way. Each stage holds only what is true in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Stage {
    /// Perhaps it was never shown.
    Reserved,
    /// It stands there since then.
    Pending { posted: StoredPosted, since_ms: i64 },
    /// No button of it that we know of is alive.
    Over { posted: Option<StoredPosted>, reason: Reason },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    Answered,
    Cancelled,
    Expired,
    Superseded,
    DeliveryFailed,
    DispatchFailed,
    RestartInvalidated,
}

impl Reason {
    /// Why a prompt of a hold that no longer waits is over.
    pub(crate) fn of(hold: &Hold) -> Reason {
        match &hold.state {
            HoldState::Expired { .. } => Reason::Expired,
            HoldState::Cancelled { reason: CancelReason::Superseded, .. } => Reason::Superseded,
            HoldState::Cancelled { .. } => Reason::Cancelled,
            _ => Reason::Answered,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum StoredPlace {
    Chat { chat: String, thread: Option<String>, direct: bool },
    Person(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredPosted {
    pub(crate) chat: String,
    pub(crate) thread: Option<String>,
    pub(crate) direct: bool,
    pub(crate) message: String,
    at_ms: Option<i64>,
}

impl PromptRecord {
    /// A prompt of this hold that nobody has seen yet, from fresh random bits. What it shows of the risk
    /// decides about the code: a person who says yes to something dangerous has read it.
    pub(crate) fn reserve(
        hold: &Hold,
        place: &Destination,
        apart: bool,
        now: Timestamp,
        random_bits: impl Fn() -> u128,
    ) -> PromptRecord {
        let words = matches!(hold.question, Question::Approve | Question::Choose { .. });
        PromptRecord {
            v: 1,
            order: Order::of_a_prompt(hold.opened_at),
            reserved_ms: Some(now.as_ms()),
            hold: hold.id.to_string(),
            place: StoredPlace::from(place),
            apart,
            asks: hold.digest().to_string(),
            nonce: Nonce::make(random_bits()).as_str().to_owned(),
            old_nonces: Vec::new(),
            code: code_of(hold, random_bits),
            words,
            stage: Stage::Reserved,
            digest: None,
            accepts_approval: false,
            wanted: 1,
            painted: 0,
            steps: Steps::default(),
            attempts: 0,
            maybe_sent: false,
            bad_codes: 0,
            reasks: 0,
            reasked_ms: None,
            signed_ms: None,
            armed_ms: None,
            armed_by: None,
            left: None,
            copies: Copies::default(),
        }
    }

    /// If the hold asks something else now: the buttons and the code of what was shown are no longer
    /// those of this prompt.
    pub(crate) fn turn_to(&mut self, hold: &Hold, random_bits: impl Fn() -> u128) {
        let digest = hold.digest().to_string();
        if !hold.is_pending() || self.asks == digest {
            return;
        }
        // mutant: nonce-of-another-question begins
        let old =
            std::mem::replace(&mut self.nonce, Nonce::make(random_bits()).as_str().to_owned());
        self.old_nonces.push(old);
        // mutant: nonce-of-another-question ends
        let forgotten = self.old_nonces.len().saturating_sub(OLD_NONCES);
        self.old_nonces.drain(..forgotten);
        self.code = code_of(hold, random_bits);
        self.asks = digest;
        self.digest = None;
        self.disarm();
    }

    pub(crate) fn arm(&mut self, by: &PersonId, now: Timestamp) {
        self.armed_ms = Some(now.as_ms());
        self.armed_by = Some(by.as_str().to_owned());
    }

    /// Says whether it was armed.
    pub(crate) fn disarm(&mut self) -> bool {
        self.armed_by = None;
        self.armed_ms.take().is_some()
    }

    /// How long ago this person pressed its dangerous yes for the first time, if that still counts.
    pub(crate) fn armed_by_for_ms(&self, person: &PersonId, now: Timestamp) -> Option<u64> {
        let theirs = self.armed_by.as_deref() == Some(person.as_str());
        self.armed_for_ms(now).filter(|ms| theirs && *ms < ARMED_MS)
    }

    /// When it is to look as before the first press.
    pub(crate) fn disarms_at(&self, now: Timestamp) -> Option<Timestamp> {
        let at = self.armed_ms.filter(|_| self.is_armed(now))?;
        Some(Timestamp::from_ms(at).plus_ms(ARMED_MS))
    }

    /// Whether its dangerous yes was pressed once, of late.
    pub(crate) fn is_armed(&self, now: Timestamp) -> bool {
        self.armed_for_ms(now).is_some_and(|ms| ms < ARMED_MS)
    }

    fn armed_for_ms(&self, now: Timestamp) -> Option<u64> {
        self.armed_ms.map(|at| now.ms_since(Timestamp::from_ms(at)))
    }

    /// Its chat has another name: what stands under the old one cannot be changed any more, so it is
    /// shown again under the new one, whatever has become of its hold. Says whether that concerned it.
    pub(crate) fn move_to(&mut self, from: &str, to: &str) -> bool {
        let mut moved = self.place.rename(from, to);
        if let Stage::Pending { posted, .. } = &self.stage
            && posted.chat == from
        {
            self.left = Some(posted.clone());
            self.copies = Copies::default();
            self.stage = Stage::Reserved;
            self.digest = None;
            self.accepts_approval = false;
            // Even if it is decided by now: people still see the old one ask.
            self.maybe_sent = true;
            self.wanted += 1;
            moved = true;
        }
        moved && !matches!(self.stage, Stage::Over { .. })
    }

    /// It could not be shown for so long that nobody counts on it.
    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        let since = self.reserved_ms.map(Timestamp::from_ms);
        matches!(self.stage, Stage::Reserved)
            && since.is_some_and(|since| now.ms_since(since) > STALE_MS)
    }

    /// Certainly nobody has seen it.
    pub(crate) fn never_left(&self) -> bool {
        matches!(self.stage, Stage::Reserved) && !self.maybe_sent
    }

    pub(crate) fn shows(&self, hold: &Hold) -> bool {
        self.digest.as_deref() == Some(hold.digest().to_string().as_str())
    }

    pub(crate) fn hold(&self) -> Option<HoldId> {
        self.hold.parse().ok()
    }

    pub(crate) fn nonce(&self) -> Option<Nonce> {
        Nonce::new(&self.nonce).ok()
    }

    /// Where it stands or is to stand, unless that is known by its person alone.
    pub(crate) fn chat(&self) -> Option<&str> {
        let stands = self.posted().map(|posted| posted.chat.as_str());
        stands.or_else(|| self.place.chat())
    }

    pub(crate) fn posted(&self) -> Option<&StoredPosted> {
        match &self.stage {
            Stage::Reserved => None,
            Stage::Pending { posted, .. } => Some(posted),
            Stage::Over { posted, .. } => posted.as_ref(),
        }
    }
}

impl Outgoing for PromptRecord {
    const IS_NOTE: bool = true;

    fn kind(&self) -> OutboxKind {
        match self.stage {
            Stage::Reserved => OutboxKind::Prompt,
            Stage::Pending { .. } | Stage::Over { .. } => OutboxKind::Repaint,
        }
    }

    fn lane(&self) -> String {
        let chat = match self.posted() {
            Some(posted) => posted.chat.clone(),
            None => self.place.lane(),
        };
        if self.apart { format!("{}/{chat}", self.hold) } else { chat }
    }

    fn order(&self) -> Option<Order> {
        let in_line = self.attempts < PATIENT_ATTEMPTS;
        (in_line && matches!(self.stage, Stage::Reserved)).then_some(self.order)
    }

    fn attempts(&self) -> u32 {
        self.attempts
    }
}

fn code_of(hold: &Hold, random_bits: impl Fn() -> u128) -> Option<String> {
    let needs_code = hold.question == Question::Approve && hold.risk >= Risk::High;
    needs_code.then(|| ApprovalCode::generate(random_bits(), hold.risk).as_shown().to_owned())
}

/// The name of the prompt of a hold in a place: always the same, so that it is never made twice.
pub(crate) fn key_of(channel: &str, hold: HoldId, place: &Destination) -> Option<DeliveryKey> {
    let named = Framed::new("holdpoint.delivery.v1")
        .field("channel", channel.as_bytes())
        .field("hold", hold.to_string().as_bytes());
    let named = match place {
        Destination::Chat { chat, thread, .. } => named
            .field("chat", chat.as_bytes())
            .optional("thread", thread.as_deref().map(str::as_bytes)),
        Destination::Person(identity) => named.field("person", identity.as_bytes()),
    };
    DeliveryKey::new(&short(named.finish())).ok()
}

impl StoredPlace {
    pub(crate) fn lane(&self) -> String {
        match self {
            StoredPlace::Chat { chat, .. } => chat.clone(),
            StoredPlace::Person(identity) => format!("person {identity}"),
        }
    }

    pub(crate) fn chat(&self) -> Option<&str> {
        match self {
            StoredPlace::Chat { chat, .. } => Some(chat),
            StoredPlace::Person(_) => None,
        }
    }

    /// Says whether it was this chat.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> bool {
        match self {
            StoredPlace::Chat { chat, .. } if chat == from => {
                *chat = to.to_owned();
                true
            }
            _ => false,
        }
    }

    pub(crate) fn place(&self) -> Destination {
        match self.clone() {
            StoredPlace::Chat { chat, thread, direct } => {
                Destination::Chat { chat, thread, direct }
            }
            StoredPlace::Person(identity) => Destination::Person(identity),
        }
    }
}

impl From<&Destination> for StoredPlace {
    fn from(place: &Destination) -> StoredPlace {
        match place.clone() {
            Destination::Chat { chat, thread, direct } => {
                StoredPlace::Chat { chat, thread, direct }
            }
            Destination::Person(identity) => StoredPlace::Person(identity),
        }
    }
}

impl StoredPosted {
    pub(crate) fn is_at(&self, press: &Press) -> bool {
        (&self.chat, &self.message) == (&press.chat, &press.message)
    }

    /// Another message in the same place.
    pub(crate) fn with_message(&self, message: &str) -> StoredPosted {
        StoredPosted { message: message.to_owned(), ..self.clone() }
    }

    pub(crate) fn posted(&self) -> MessageRef {
        MessageRef {
            chat: self.chat.clone(),
            thread: self.thread.clone(),
            direct: self.direct,
            message: self.message.clone(),
            at: self.at_ms.map(Timestamp::from_ms),
        }
    }

    pub(crate) fn place(&self) -> Destination {
        Destination::Chat {
            chat: self.chat.clone(),
            thread: self.thread.clone(),
            direct: self.direct,
        }
    }
}

impl From<&MessageRef> for StoredPosted {
    fn from(posted: &MessageRef) -> StoredPosted {
        StoredPosted {
            chat: posted.chat.clone(),
            thread: posted.thread.clone(),
            direct: posted.direct,
            message: posted.message.clone(),
            at_ms: posted.at.map(Timestamp::as_ms),
        }
    }
}
