//! A button or a form that somebody pressed. It points to a prompt, and is believed about nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use domain::hold::{Hold, Question};
use domain::id::HoldId;
use domain::person::People;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use engine::{Answering, Caller, Error};
use ports::channel::{
    Busy, ButtonAction, DeliveryKey, Inbox, IncomingMessage, Opened, Press, PressReply, Redraw,
    ReportedDecision, Ruling,
};
use subtle::ConstantTimeEq as _;

use crate::meaning::{NoAnswer, of_press};
use crate::prompt_record::{PromptRecord, Stage, StoredPosted};
use crate::refuse::Tried;
use crate::words::ChatWords;
use crate::{ChannelRuntime, ChatService, item};

#[async_trait]
impl Inbox for ChatService {
    async fn opens(&self, channel: &str, press: &Press) -> Result<Opened, Busy> {
        let opened = match self.0.lines.get(channel) {
            Some(wire) => self.open_form(wire, press).await,
            None => Ok(Opened::Refused(PressReply::NotHere)),
        };
        opened.map_err(|error| {
            tracing::warn!(%channel, %error, "a form could not be opened");
            Busy
        })
    }

    async fn pressed(&self, channel: &str, press: Press) -> Result<PressReply, Busy> {
        let told = match self.0.lines.get(channel) {
            Some(wire) => self.press(wire, &press).await,
            None => Ok(PressReply::NotHere),
        };
        told.map_err(|error| {
            tracing::warn!(%channel, %error, "a press could not be taken; the person is asked to press again");
            Busy
        })
    }

    async fn decided(&self, channel: &str, decided: ReportedDecision) -> Result<Ruling, Busy> {
        let ruling = match self.0.lines.get(channel) {
            Some(wire) => self.rule(wire, decided).await,
            None => Ok(Ruling::NotEntitled),
        };
        ruling.map_err(|error| {
            tracing::warn!(%channel, %error, "a decision could not be taken; it may be sent again");
            Busy
        })
    }

    async fn moved(&self, channel: &str, from: &str, to: &str) -> Result<(), Busy> {
        let moved = match self.0.lines.get(channel) {
            Some(wire) => self.chat_moved(wire, from, to).await,
            None => Ok(()),
        };
        moved.map_err(|error| {
            tracing::warn!(%channel, %error, "that a chat has moved could not be written down");
            Busy
        })
    }

    async fn wrote(&self, channel: &str, wrote: IncomingMessage) -> Result<(), Busy> {
        let heard = match self.0.lines.get(channel) {
            Some(wire) => self.handle_message(wire, &wrote).await,
            None => Ok(()),
        };
        heard.map_err(|error| {
            tracing::warn!(%channel, %error, "a message could not be taken; the platform may deliver it again");
            Busy
        })
    }
}

/// A press on a prompt that stands, by a known person who may see its hold. Whether they may answer is judged later.
pub(crate) struct VerifiedPress {
    pub(crate) caller: Caller,
    pub(crate) delivery: PromptRecord,
    pub(crate) posted: StoredPosted,
    pub(crate) hold: Arc<Hold>,
}

impl VerifiedPress {
    /// Whether the person who pressed is among those who may answer.
    pub(crate) fn is_admitted(&self, people: &People) -> bool {
        let person = self.caller.person();
        person.is_some_and(|person| self.hold.admits(person.id(), people))
    }
}

/// A prompt that stands somewhere.
struct Standing {
    delivery: PromptRecord,
    posted: StoredPosted,
    /// The press is for what was asked there before.
    old: bool,
    /// Another message with it, which was found just now.
    is_copy: bool,
}

impl ChatService {
    async fn press(&self, wire: &Arc<ChannelRuntime>, press: &Press) -> Result<PressReply, Error> {
        let looked = match self.verify_press(wire, press).await? {
            Ok(looked) => looked,
            Err(told) => return Ok(told),
        };
        let (key, said) = (&press.pointer.key, press.pointer.said);
        if let Some(once_more) = self.is_a_step(wire, said, &looked) {
            return self.ask_once_more(wire, press, &looked, once_more).await;
        }
        let VerifiedPress { caller, mut delivery, posted, hold } = looked;
        let words = ChatWords(wire.line.language);
        let answer = match of_press(&hold, said, &press.form, delivery.takes_a_yes) {
            Ok(answer) => answer,
            Err(NoAnswer::NoSuchButton) => {
                let why = "there is no such button";
                return Ok(self
                    .refused(wire, press, Some(hold.id), PressReply::NotHere, why)
                    .await);
            }
            Err(NoAnswer::NothingWritten) => {
                return Ok(PressReply::Invalid(words.nothing_written()));
            }
            Err(NoAnswer::NothingChosen) => return Ok(PressReply::Invalid(words.nothing_chosen())),
        };
        wire.delay_repaint(key.as_str(), self.0.clock.now());
        let answering = Answering { digest: Some(hold.digest()), answer };
        let answered = self.0.engine.answer(&caller, hold.id, answering, None).await;
        let was_armed = matches!(&answered, Ok(hold) if hold.is_pending()) && delivery.disarm();
        // The vote is on disk: a note that cannot be written does not make it undone.
        if was_armed && let Err(error) = self.disarm(wire, key).await {
            tracing::warn!(%error, hold = %hold.id, "a prompt could not be noted as pressed once");
        }
        let redraw = |hold: &Hold| self.card_snapshot(key, &delivery, &posted, hold);
        match answered {
            Ok(hold) => {
                let told = if hold.is_pending() { PressReply::Counted } else { PressReply::Taken };
                Ok(redraw(&hold).map_or(PressReply::NotHere, told))
            }
            Err(Error::Refused(Refusal::AlreadyDecided { hold } | Refusal::Expired { hold })) => {
                Ok(redraw(&hold).map_or(PressReply::NotHere, PressReply::Already))
            }
            Err(Error::Refused(Refusal::VersionConflict { hold })) => {
                self.changed(wire, press, &posted, &hold).await
            }
            Err(Error::Refused(Refusal::NotEntitled { .. } | Refusal::NotFound { .. })) => {
                let why = "it is not for them";
                Ok(self.refused(wire, press, Some(hold.id), PressReply::NotEntitled, why).await)
            }
            Err(Error::Refused(Refusal::AlreadyVoted { hold })) => {
                Ok(PressReply::Invalid(words.already_voted(&hold.tag)))
            }
            Err(Error::Refused(refusal)) => Ok(PressReply::Invalid(words.not_taken(&refusal))),
            Err(error) => Err(error),
        }
    }

    /// Only shows what could be filled in.
    async fn open_form(&self, wire: &Arc<ChannelRuntime>, press: &Press) -> Result<Opened, Error> {
        let looked = match self.verify_press(wire, press).await? {
            Ok(looked) => looked,
            Err(told) => return Ok(Opened::Refused(told)),
        };
        let admitted = looked.is_admitted(self.0.engine.people());
        let VerifiedPress { delivery, posted, hold, .. } = looked;
        // A no can be given a reason also where a yes cannot be given.
        let has_form = match (&hold.question, press.pointer.said) {
            (Question::Settle, _) => false,
            (_, ButtonAction::Explain) => true,
            (Question::Choose { multiple, .. }, _) => *multiple && delivery.takes_a_yes,
            (Question::Fill { .. }, _) => delivery.takes_a_yes,
            _ => false,
        };
        Ok(match (admitted, self.card_snapshot(&press.pointer.key, &delivery, &posted, &hold)) {
            (false, _) => {
                let (about, told) = (Some(hold.id), PressReply::NotEntitled);
                let why = "it is not for them";
                Opened::Refused(self.refused(wire, press, about, told, why).await)
            }
            (true, Some(redraw)) if has_form => Opened::Form(redraw),
            _ => Opened::Refused(PressReply::NotHere),
        })
    }

    /// Everything that is asked of a press before its meaning. `Err` says what the person is told.
    async fn verify_press(
        &self,
        wire: &Arc<ChannelRuntime>,
        press: &Press,
    ) -> Result<Result<VerifiedPress, PressReply>, Error> {
        let key = &press.pointer.key;
        let refused =
            async |hold, told, why| Ok(Err(self.refused(wire, press, hold, told, why).await));
        let standing = self.standing(wire, key, press).await?;
        let Some(Standing { delivery, posted, old, is_copy }) = standing else {
            return refused(None, PressReply::NotHere, "it points to no prompt of ours").await;
        };
        let about = delivery.hold();
        let elsewhere = wire.line.channel.names_chats() && posted.chat != press.chat;
        // mutant: press-any-message
        if elsewhere || posted.message != press.message {
            return refused(about, PressReply::NotHere, "its prompt stands elsewhere").await;
        }
        let Some(operator) = &press.operator else {
            return refused(about, PressReply::NotEntitled, "the platform names nobody").await;
        };
        let Some(caller) = self.caller(wire, operator, &press.message) else {
            return refused(about, PressReply::NotEntitled, "nobody is linked to them").await;
        };
        let Some(id) = about else {
            return refused(None, PressReply::NotHere, "its prompt names no hold").await;
        };
        let hold = match self.0.engine.hold(&caller, id).await {
            Ok(hold) => hold,
            Err(Error::Refused(_)) => {
                return refused(about, PressReply::NotEntitled, "it is not for them").await;
            }
            Err(error) => return Err(error),
        };
        if is_copy {
            self.found_copy(wire, key, &posted).await?;
        }
        let redraw = || self.card_snapshot(key, &delivery, &posted, &hold);
        if !hold.is_pending() {
            return Ok(Err(redraw().map_or(PressReply::NotHere, PressReply::Already)));
        }
        // Pressed on what is no longer asked.
        if old || !delivery.shows(&hold) {
            return self.changed(wire, press, &posted, &hold).await.map(Err);
        }
        Ok(Ok(VerifiedPress { caller, delivery, posted, hold }))
    }

    /// What was pressed is no longer asked.
    async fn changed(
        &self,
        wire: &ChannelRuntime,
        press: &Press,
        posted: &StoredPosted,
        hold: &Hold,
    ) -> Result<PressReply, Error> {
        let key = &press.pointer.key;
        wire.delay_repaint(key.as_str(), self.0.clock.now());
        let turned = self.schedule_repaint(wire, key.as_str(), Some(hold)).await?;
        let redraw = turned.and_then(|delivery| self.card_snapshot(key, &delivery, posted, hold));
        let told = redraw.map_or(PressReply::NotHere, PressReply::Changed);
        let why = "it has changed since it was shown there";
        Ok(self.refused(wire, press, Some(hold.id), told, why).await)
    }

    /// The prompt that a pointer means, if its nonce is right, and where it stands. People are quick: a
    /// prompt may be pressed before the platform has told us where it put it.
    async fn standing(
        &self,
        wire: &ChannelRuntime,
        key: &DeliveryKey,
        press: &Press,
    ) -> Result<Option<Standing>, Error> {
        let note = format!("d/{}", key.as_str());
        let unknown = || Err(Error::Unavailable("the prompt is not written down yet".into()));
        let look = async {
            loop {
                let noted = wire.noted.notified();
                tokio::pin!(noted);
                noted.as_mut().enable();
                let read =
                    item::read_record::<PromptRecord>(self.store(), &wire.shelves, &note).await?;
                let Some(read) = read else { return Ok(None) };
                let coming = wire.is_coming(&read, self.soon());
                let delivery = read.record;
                let pressed = press.pointer.nonce.as_str().as_bytes();
                let is = |nonce: &String| bool::from(nonce.as_bytes().ct_eq(pressed));
                // mutant: press-what-was-shown-before
                let old = delivery.old_nonces.iter().any(is);
                // mutant: press-any-nonce
                if !old && !is(&delivery.nonce) {
                    return Ok(None);
                }
                // Where it stood before its chat moved it can only be told so.
                let left = delivery.left.as_ref().filter(|left| left.is_at(press));
                if let Some(posted) = left.cloned() {
                    return Ok(Some(Standing { delivery, posted, old: true, is_copy: false }));
                }
                if let Some(posted) = delivery.posted().cloned() {
                    let copy = delivery.copy_at(press);
                    let is_copy = copy.is_some();
                    let posted = copy.unwrap_or(posted);
                    return Ok(Some(Standing { delivery, posted, old, is_copy }));
                }
                // Never shown, as far as we know, and never will be.
                if matches!(delivery.stage, Stage::Over { .. }) {
                    return Ok(None);
                }
                if !coming {
                    return unknown();
                }
                noted.await;
            }
        };
        tokio::select! {
            biased;
            found = look => found,
            () = self.0.clock.sleep(self.0.limits.press_wait) => {
                unknown()
            }
        }
    }

    /// Until then somebody can wait who must have an answer.
    pub(crate) fn soon(&self) -> Timestamp {
        self.0.clock.now().plus_ms(self.0.limits.press_wait.as_millis() as u64)
    }

    pub(crate) fn card_snapshot(
        &self,
        key: &DeliveryKey,
        delivery: &PromptRecord,
        posted: &StoredPosted,
        hold: &Hold,
    ) -> Option<Box<Redraw>> {
        Some(Box::new(Redraw {
            hold: Arc::new(hold.clone()),
            people: self.0.people.clone(),
            key: key.clone(),
            nonce: delivery.nonce()?,
            link: self.link(hold),
            words_answer: delivery.words,
            code: delivery.code.clone(),
            armed: delivery.is_armed(self.0.clock.now()),
            posted: posted.posted(),
        }))
    }

    pub(crate) async fn refused(
        &self,
        wire: &ChannelRuntime,
        press: &Press,
        hold: Option<HoldId>,
        told: PressReply,
        why: &'static str,
    ) -> PressReply {
        let operator = press.operator.as_ref();
        self.refuse(wire, Tried { operator, hold, event: &press.event, why }).await;
        told
    }
}
