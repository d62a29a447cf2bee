//! A button or a form that somebody pressed. It points to a prompt, and is believed about nothing else.

use std::sync::Arc;

use domain::hold::{Hold, Question};
use domain::id::HoldId;
use domain::person::People;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use engine::{Answering, Caller, Error};
use ports::channel::{ButtonAction, DeliveryKey, Opened, Press, PressReply, Redraw};
use subtle::ConstantTimeEq as _;

use crate::meaning::{NoAnswer, of_press};
use crate::prompt_record::{PromptRecord, Stage, StoredPosted};
use crate::refuse::Tried;
use crate::words::ChatWords;
use crate::{ChannelRuntime, ChatService, item};

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
    pub(crate) async fn press(
        &self,
        runtime: &Arc<ChannelRuntime>,
        press: &Press,
    ) -> Result<PressReply, Error> {
        let looked = match self.verify_press(runtime, press).await? {
            Ok(looked) => looked,
            Err(told) => return Ok(told),
        };
        let (key, said) = (&press.pointer.key, press.pointer.said);
        if let Some(once_more) = self.is_a_step(runtime, said, &looked) {
            return self.ask_once_more(runtime, press, &looked, once_more).await;
        }
        let VerifiedPress { caller, mut delivery, posted, hold } = looked;
        let words = ChatWords(runtime.connector.language);
        let answer = match of_press(&hold, said, &press.form, delivery.accepts_approval) {
            Ok(answer) => answer,
            Err(NoAnswer::NoSuchButton) => {
                let why = "there is no such button";
                return Ok(self
                    .refused(runtime, press, Some(hold.id), PressReply::NotHere, why)
                    .await);
            }
            Err(NoAnswer::NothingWritten) => {
                return Ok(PressReply::Invalid(words.nothing_written()));
            }
            Err(NoAnswer::NothingChosen) => return Ok(PressReply::Invalid(words.nothing_chosen())),
        };
        runtime.delay_repaint(key.as_str(), self.0.clock.now());
        let answering = Answering { digest: Some(hold.digest()), answer };
        let answered = self.0.engine.answer(&caller, hold.id, answering, None).await;
        let was_armed = matches!(&answered, Ok(hold) if hold.is_pending()) && delivery.disarm();
        // The vote is on disk: a note that cannot be written does not make it undone.
        if was_armed && let Err(error) = self.disarm(runtime, key).await {
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
                self.changed(runtime, press, &posted, &hold).await
            }
            Err(Error::Refused(Refusal::NotEntitled { .. } | Refusal::NotFound { .. })) => {
                let why = "it is not for them";
                Ok(self.refused(runtime, press, Some(hold.id), PressReply::NotEntitled, why).await)
            }
            Err(Error::Refused(Refusal::AlreadyVoted { hold })) => {
                Ok(PressReply::Invalid(words.already_voted(&hold.tag)))
            }
            Err(Error::Refused(refusal)) => Ok(PressReply::Invalid(words.not_taken(&refusal))),
            Err(error) => Err(error),
        }
    }

    /// Only shows what could be filled in.
    pub(crate) async fn open_form(
        &self,
        runtime: &Arc<ChannelRuntime>,
        press: &Press,
    ) -> Result<Opened, Error> {
        let looked = match self.verify_press(runtime, press).await? {
            Ok(looked) => looked,
            Err(told) => return Ok(Opened::Refused(told)),
        };
        let admitted = looked.is_admitted(self.0.engine.people());
        let VerifiedPress { delivery, posted, hold, .. } = looked;
        // A no can be given a reason also where a yes cannot be given.
        let has_form = match (&hold.question, press.pointer.said) {
            (Question::Settle, _) => false,
            (_, ButtonAction::Explain) => true,
            (Question::Choose { multiple, .. }, _) => *multiple && delivery.accepts_approval,
            (Question::Fill { .. }, _) => delivery.accepts_approval,
            _ => false,
        };
        Ok(match (admitted, self.card_snapshot(&press.pointer.key, &delivery, &posted, &hold)) {
            (false, _) => {
                let (about, told) = (Some(hold.id), PressReply::NotEntitled);
                let why = "it is not for them";
                Opened::Refused(self.refused(runtime, press, about, told, why).await)
            }
            (true, Some(redraw)) if has_form => Opened::Form(redraw),
            _ => Opened::Refused(PressReply::NotHere),
        })
    }

    /// Everything that is asked of a press before its meaning. `Err` says what the person is told.
    async fn verify_press(
        &self,
        runtime: &Arc<ChannelRuntime>,
        press: &Press,
    ) -> Result<Result<VerifiedPress, PressReply>, Error> {
        let key = &press.pointer.key;
        let refused =
            async |hold, told, why| Ok(Err(self.refused(runtime, press, hold, told, why).await));
        let standing = self.standing(runtime, key, press).await?;
        let Some(Standing { delivery, posted, old, is_copy }) = standing else {
            return refused(None, PressReply::NotHere, "it points to no prompt of ours").await;
        };
        let about = delivery.hold();
        let elsewhere = runtime.connector.channel.names_chats() && posted.chat != press.chat;
        // mutant: press-any-message
        if elsewhere || posted.message != press.message {
            return refused(about, PressReply::NotHere, "its prompt stands elsewhere").await;
        }
        let Some(operator) = &press.operator else {
            return refused(about, PressReply::NotEntitled, "the platform names nobody").await;
        };
        let Some(caller) = self.caller(runtime, operator, &press.message) else {
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
            self.found_copy(runtime, key, &posted).await?;
        }
        let redraw = || self.card_snapshot(key, &delivery, &posted, &hold);
        if !hold.is_pending() {
            return Ok(Err(redraw().map_or(PressReply::NotHere, PressReply::Already)));
        }
        // Pressed on what is no longer asked.
        if old || !delivery.shows(&hold) {
            return self.changed(runtime, press, &posted, &hold).await.map(Err);
        }
        Ok(Ok(VerifiedPress { caller, delivery, posted, hold }))
    }

    /// What was pressed is no longer asked.
    async fn changed(
        &self,
        runtime: &ChannelRuntime,
        press: &Press,
        posted: &StoredPosted,
        hold: &Hold,
    ) -> Result<PressReply, Error> {
        let key = &press.pointer.key;
        runtime.delay_repaint(key.as_str(), self.0.clock.now());
        let turned = self.schedule_repaint(runtime, key.as_str(), Some(hold)).await?;
        let redraw = turned.and_then(|delivery| self.card_snapshot(key, &delivery, posted, hold));
        let told = redraw.map_or(PressReply::NotHere, PressReply::Changed);
        let why = "it has changed since it was shown there";
        Ok(self.refused(runtime, press, Some(hold.id), told, why).await)
    }

    /// The prompt that a pointer means, if its nonce is right, and where it stands. People are quick: a
    /// prompt may be pressed before the platform has told us where it put it.
    async fn standing(
        &self,
        runtime: &ChannelRuntime,
        key: &DeliveryKey,
        press: &Press,
    ) -> Result<Option<Standing>, Error> {
        let note = format!("d/{}", key.as_str());
        let unknown = || Err(Error::Unavailable("the prompt is not written down yet".into()));
        let look = async {
            loop {
                let noted = runtime.noted.notified();
                tokio::pin!(noted);
                noted.as_mut().enable();
                let read =
                    item::read_record::<PromptRecord>(&self.0.records, &runtime.shelves, &note)
                        .await?;
                let Some(read) = read else { return Ok(None) };
                let coming = runtime.is_coming(&read, self.soon());
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

    /// The latest moment until which a press or a message waits for a prompt that is being sent.
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
        runtime: &ChannelRuntime,
        press: &Press,
        hold: Option<HoldId>,
        told: PressReply,
        why: &'static str,
    ) -> PressReply {
        let operator = press.operator.as_ref();
        self.refuse(runtime, Tried { operator, hold, event: &press.event, why }).await;
        told
    }
}
