//! A message that somebody wrote: an answer to what is asked there, or something for the agent.

use std::sync::Arc;

use domain::answer::Answer;
use domain::context::WhilePending;
use domain::hold::Hold;
use domain::person::PersonId;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use engine::{Answering, Caller, Error};
use ports::channel::{Destination, IncomingMessage};
use ports::store::PutNote;
use ports::unpoisoned::Unpoisoned as _;
use reply_parser::{
    AmbiguityReason, ApprovalCode, ChatMessage, GateResult, OpenPrompt, ReplyContext, ReplyVerdict,
    gate_message, parse_reply, reserved_by, without_tags,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connector::OnAmbiguous;
use crate::meaning::{expected_reply, of_verdict, reasoned_denial, without_doubt};
use crate::notes::{self, chat_key};
use crate::prompt_record::{PromptRecord, Stage, StoredPosted};
use crate::refuse::Tried;
use crate::saying::TextRecord;
use crate::words::ChatWords;
use crate::{ChannelRuntime, ChatService, item};

/// What is known of an event that arrived before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Seen {
    /// An answer to this hold was about to be given when the note was written.
    Answering(String),
    Done,
}

/// A message and who really wrote it.
pub(crate) struct VerifiedMessage<'a> {
    pub(crate) runtime: &'a Arc<ChannelRuntime>,
    pub(crate) wrote: &'a IncomingMessage,
    pub(crate) caller: Caller,
    pub(crate) person: PersonId,
    pub(crate) identity: &'a str,
    /// The codes of the prompts that stand here: no model hears them.
    pub(crate) codes: Vec<String>,
}

/// A prompt that waits in a chat.
pub(crate) struct WaitingPrompt {
    pub(crate) key: String,
    pub(crate) delivery: PromptRecord,
    pub(crate) hold: Arc<Hold>,
    pub(crate) posted: StoredPosted,
    since: Timestamp,
    is_latest: bool,
}

/// What stands in a chat.
#[derive(Default)]
struct ChatPrompts {
    waiting: Vec<WaitingPrompt>,
    codes: Vec<String>,
    /// Something may stand there that we do not know of yet.
    unsettled: bool,
}

impl ChatService {
    pub(crate) async fn handle_message(
        &self,
        runtime: &Arc<ChannelRuntime>,
        wrote: &IncomingMessage,
    ) -> Result<(), Error> {
        // A message without a named sender counts for nothing; and what was edited was said before.
        // mutant: words-of-bots, edited-words-count
        let named = wrote.operator.as_ref().filter(|_| wrote.from_a_person && !wrote.edited);
        let Some(operator) = named else { return Ok(()) };
        let _lock = runtime.lock_chat(&wrote.chat).await;
        let event = chat_key(&wrote.event);
        let seen = notes::read_note::<Seen>(&self.0.records, &runtime.shelves.seen, &event).await?;
        match seen {
            // mutant: redelivered-words-answer-the-next
            Some(Seen::Done) => return Ok(()),
            // A process ended in the middle of it. What is decided by now was decided by this.
            // mutant: half-an-answer-becomes-a-message
            Some(Seen::Answering(hold)) if !self.still_waits(&hold).await? => {
                return self.mark(runtime, &event, &Seen::Done).await;
            }
            _ => {}
        }
        let identity = operator.identity.as_str();
        let caller = self.caller(runtime, operator, &wrote.message);
        let person = caller.as_ref().and_then(|caller| caller.person());
        let person = person.map(|person| person.id().clone());
        match (caller, person) {
            (Some(caller), Some(person)) => {
                let here = self.waiting(runtime, &wrote.chat).await?;
                let codes = here.codes;
                let heard = VerifiedMessage { runtime, wrote, caller, person, identity, codes };
                self.interpret_reply(&heard, &here.waiting, &event).await?;
            }
            _ => {
                self.stranger_answers(runtime, wrote).await?;
                self.tell_a_stranger(runtime, wrote, identity).await?;
            }
        }
        self.mark(runtime, &event, &Seen::Done).await
    }

    async fn interpret_reply(
        &self,
        heard: &VerifiedMessage<'_>,
        waiting: &[WaitingPrompt],
        event: &str,
    ) -> Result<(), Error> {
        let people = self.0.engine.people();
        let opens: Vec<OpenPrompt<'_>> =
            waiting.iter().map(|one| one.open(one.hold.admits(&heard.person, people))).collect();
        match gate_message(&message(heard.wrote), &opens) {
            GateResult::NotAReply => self.talk(heard, None).await,
            GateResult::NotEntitled(which) => {
                let about = which.first().and_then(|index| waiting.get(*index));
                if let Some(one) = about {
                    let (_, text) = without_tags(&heard.wrote.text, &[&one.hold.tag]);
                    if one.is_answered_by(&text, heard.wrote) {
                        let text = heard.words().not_entitled(&one.hold.tag);
                        self.record_refused_answer(heard, one, "it is not for them").await;
                        self.whisper(heard, "not-entitled", &text).await?;
                    }
                }
                self.talk(heard, None).await
            }
            GateResult::Several(which) => {
                let which: Vec<&WaitingPrompt> =
                    which.iter().filter_map(|index| waiting.get(*index)).collect();
                self.ask_which(heard, &which).await
            }
            GateResult::For { open, text, weak_ok } => {
                let Some(one) = waiting.get(open) else { return Ok(()) };
                let context = one.context(heard.wrote, weak_ok);
                let verdict = without_doubt(&one.hold, parse_reply(&text, &context));
                let denial = match verdict {
                    ReplyVerdict::Ambiguous(_) => reasoned_denial(&text, &context),
                    _ => None,
                };
                // A code may be that of what was asked before: that is no wrong one.
                let an_answer = match verdict {
                    _ if denial.is_some() => true,
                    ReplyVerdict::Ambiguous(
                        AmbiguityReason::BadCode | AmbiguityReason::CodeRequired,
                    ) => true,
                    ReplyVerdict::Ambiguous(_) => false,
                    _ => true,
                };
                if an_answer && !one.delivery.shows(&one.hold) {
                    return self.changed_meanwhile(heard, one).await;
                }
                let answer = match (verdict, denial) {
                    (_, Some(denial)) => Some(denial),
                    (ReplyVerdict::Ambiguous(reason), None) => {
                        return self.ambiguous(heard, one, reason).await;
                    }
                    (verdict, None) => of_verdict(&one.hold, &verdict),
                };
                match answer {
                    Some(answer) => self.answered(heard, one, answer, event).await,
                    None => Ok(()),
                }
            }
        }
    }

    /// Words that are clear. Whether they count is judged like any other answer.
    async fn answered(
        &self,
        heard: &VerifiedMessage<'_>,
        one: &WaitingPrompt,
        answer: Answer,
        event: &str,
    ) -> Result<(), Error> {
        let (words, tag) = (heard.words(), &one.hold.tag);
        if !one.delivery.accepts_approval && !matches!(answer, Answer::Deny { .. }) {
            return self.reply(heard, "not-whole", &words.not_whole(tag)).await;
        }
        // So that a redelivery after a crash does not make another message of it.
        self.mark(heard.runtime, event, &Seen::Answering(one.hold.id.to_string())).await?;
        let answering = Answering { digest: Some(one.hold.digest()), answer };
        let people = self.0.engine.people();
        match self.0.engine.answer(&heard.caller, one.hold.id, answering, None).await {
            Ok(hold) => self.reply(heard, "taken", &words.ended(&hold, people)).await,
            Err(Error::Refused(Refusal::AlreadyDecided { hold } | Refusal::Expired { hold })) => {
                self.reply(heard, "already", &words.ended(&hold, people)).await
            }
            Err(Error::Refused(Refusal::VersionConflict { .. })) => {
                self.changed_meanwhile(heard, one).await
            }
            Err(Error::Refused(Refusal::NotEntitled { .. } | Refusal::NotFound { .. })) => {
                self.record_refused_answer(heard, one, "it is not for them").await;
                self.whisper(heard, "not-entitled", &words.not_entitled(tag)).await
            }
            Err(Error::Refused(Refusal::AlreadyVoted { .. })) => {
                self.reply(heard, "voted", &words.already_voted(tag)).await
            }
            Err(Error::Refused(refusal)) => {
                self.reply(heard, "invalid", &words.invalid(tag, &refusal)).await
            }
            Err(error) => Err(error),
        }
    }

    async fn record_refused_answer(
        &self,
        heard: &VerifiedMessage<'_>,
        one: &WaitingPrompt,
        why: &'static str,
    ) {
        let (operator, hold) = (heard.wrote.operator.as_ref(), Some(one.hold.id));
        self.refuse(heard.runtime, Tried { operator, hold, event: &heard.wrote.event, why }).await;
    }

    async fn changed_meanwhile(
        &self,
        heard: &VerifiedMessage<'_>,
        one: &WaitingPrompt,
    ) -> Result<(), Error> {
        self.record_refused_answer(heard, one, "it has changed since it was shown there").await;
        self.schedule_repaint(heard.runtime, &one.key, None).await?;
        self.reply(heard, "changed", &heard.words().changed(&one.hold.tag)).await
    }

    /// What becomes of a text that decided nothing: it is for the agent that the hold is about, wherever its
    /// session lives; if it may be about holds of several, for the agent of the chat.
    pub(crate) async fn keep_text(
        &self,
        heard: &VerifiedMessage<'_>,
        hold: Option<&Hold>,
    ) -> Result<(), Error> {
        let while_pending = match heard.runtime.connector.on_ambiguous {
            OnAmbiguous::ReaskAndQueue => WhilePending::Queue,
            OnAmbiguous::ReaskOnly => return Ok(()),
            OnAmbiguous::ForwardNow => WhilePending::Deliver,
        };
        match hold.filter(|hold| hold.session().is_some()) {
            Some(hold) => self.talk_about(heard, hold, while_pending).await,
            // A program asks, and there is no agent to tell.
            None => self.talk(heard, Some(while_pending)).await,
        }
    }

    /// The prompts that wait in a chat. People are quick: one that the platform shows already and that we
    /// do not know of yet is waited for.
    async fn waiting(&self, runtime: &ChannelRuntime, chat: &str) -> Result<ChatPrompts, Error> {
        let known = async {
            loop {
                let noted = runtime.noted.notified();
                tokio::pin!(noted);
                noted.as_mut().enable();
                let here = self.open_prompts(runtime, chat).await?;
                if !here.unsettled {
                    return Ok(here);
                }
                noted.await;
            }
        };
        tokio::select! {
            biased;
            here = known => here,
            () = self.0.clock.sleep(self.0.limits.press_wait) => self.open_prompts(runtime, chat).await,
        }
    }

    async fn open_prompts(
        &self,
        runtime: &ChannelRuntime,
        chat: &str,
    ) -> Result<ChatPrompts, Error> {
        let prefix = format!("{}/", chat_key(chat));
        let latest =
            notes::read_note::<String>(&self.0.records, &runtime.shelves.latest, &chat_key(chat))
                .await?;
        let limit = self.0.limits.open_in_a_chat;
        let notes = self.0.records.notes(&runtime.shelves.here, &prefix, None, limit).await?;
        let mut here = ChatPrompts::default();
        let soon = self.soon();
        for key in notes.iter().filter_map(|note| note.key.strip_prefix(&prefix)) {
            let note = format!("d/{key}");
            let read =
                item::read_record::<PromptRecord>(&self.0.records, &runtime.shelves, &note).await?;
            let Some(read) = read else { continue };
            let coming = runtime.is_coming(&read, soon);
            let delivery = read.record;
            here.codes.extend(delivery.code.clone());
            let (posted, since_ms) = match delivery.stage.clone() {
                Stage::Pending { posted, since_ms } => (posted, since_ms),
                Stage::Reserved => {
                    here.unsettled |= delivery.maybe_sent && coming;
                    continue;
                }
                Stage::Over { .. } => continue,
            };
            // mutant: codes-tried-out
            let in_words = delivery.words && delivery.bad_codes < self.0.limits.bad_codes;
            let Some(id) = delivery.hold().filter(|_| in_words && posted.chat == chat) else {
                continue;
            };
            let hold = self.0.records.hold(id).await?.filter(|hold| hold.is_pending());
            let Some(hold) = hold else { continue };
            here.waiting.push(WaitingPrompt {
                is_latest: latest.as_deref() == Some(key),
                since: Timestamp::from_ms(since_ms),
                key: key.to_owned(),
                delivery,
                hold,
                posted,
            });
        }
        Ok(here)
    }

    async fn still_waits(&self, hold: &str) -> Result<bool, Error> {
        let Ok(id) = hold.parse() else { return Ok(true) };
        Ok(self.0.records.hold(id).await?.is_none_or(|hold| hold.is_pending()))
    }

    async fn mark(&self, runtime: &ChannelRuntime, event: &str, seen: &Seen) -> Result<(), Error> {
        let forget_at = Some(self.0.clock.now().plus_ms(self.0.limits.seen_ms));
        let put = PutNote { forget_at, ..notes::put(&runtime.shelves.seen, event, seen) };
        self.0.records.put_notes(vec![put]).await?;
        Ok(())
    }

    /// An account that is linked to no person decides nothing; that it tried is written down.
    async fn stranger_answers(
        &self,
        runtime: &ChannelRuntime,
        wrote: &IncomingMessage,
    ) -> Result<(), Error> {
        let to_us = wrote.direct || wrote.mentions_us || wrote.replies_to.is_some();
        if !to_us {
            return Ok(());
        }
        let here = self.open_prompts(runtime, &wrote.chat).await?;
        let tags: Vec<&str> = here.waiting.iter().map(|one| one.hold.tag.as_str()).collect();
        let (named, text) = without_tags(&wrote.text, &tags);
        let mut answered = here.waiting.iter().enumerate().filter(|(index, one)| {
            (named.is_empty() || named.contains(index)) && one.is_answered_by(&text, wrote)
        });
        if let Some((_, one)) = answered.next() {
            let (operator, hold) = (wrote.operator.as_ref(), Some(one.hold.id));
            let why = "nobody is linked to them";
            self.refuse(runtime, Tried { operator, hold, event: &wrote.event, why }).await;
        }
        Ok(())
    }

    /// The owner of an account that is linked to no person is told how to link it, once a day.
    async fn tell_a_stranger(
        &self,
        runtime: &ChannelRuntime,
        wrote: &IncomingMessage,
        identity: &str,
    ) -> Result<(), Error> {
        if !wrote.direct && !wrote.mentions_us {
            return Ok(());
        }
        let now = self.0.clock.now();
        let stranger = format!("stranger {}", chat_key(identity));
        let first = PutNote {
            expected: Some(0),
            forget_at: Some(now.plus_ms(self.0.limits.seen_ms)),
            ..notes::put(&runtime.shelves.seen, &stranger, &())
        };
        let text =
            ChatWords(runtime.connector.language).unlinked(self.key_of_links(runtime), identity);
        let saying = TextRecord::new(&reply_destination(wrote), &text, now).whispered_to(identity);
        let key = format!("stranger-{}", chat_key(&wrote.event));
        let mut write = saying.put(&runtime.shelves, &key, now);
        write.notes.push(first);
        if self.0.records.write_outbox(write, now).await? {
            runtime.wake();
        }
        Ok(())
    }

    pub(crate) async fn reply(
        &self,
        heard: &VerifiedMessage<'_>,
        about: &str,
        text: &str,
    ) -> Result<(), Error> {
        let now = self.0.clock.now();
        let saying = TextRecord::new(&reply_destination(heard.wrote), text, now)
            .replying_to(&heard.wrote.message);
        self.say(heard, about, &saying).await
    }

    pub(crate) async fn whisper(
        &self,
        heard: &VerifiedMessage<'_>,
        about: &str,
        text: &str,
    ) -> Result<(), Error> {
        let now = self.0.clock.now();
        let saying = TextRecord::new(&reply_destination(heard.wrote), text, now)
            .replying_to(&heard.wrote.message)
            .whispered_to(heard.identity);
        self.say(heard, about, &saying).await
    }

    async fn say(
        &self,
        heard: &VerifiedMessage<'_>,
        about: &str,
        saying: &TextRecord,
    ) -> Result<(), Error> {
        let key = format!("{about}-{}", chat_key(&heard.wrote.event));
        let now = self.0.clock.now();
        let write = saying.put(&heard.runtime.shelves, &key, now);
        self.0.records.write_outbox(write, now).await?;
        heard.runtime.wake();
        Ok(())
    }
}

impl VerifiedMessage<'_> {
    pub(crate) fn words(&self) -> ChatWords {
        ChatWords(self.runtime.connector.language)
    }
}

impl WaitingPrompt {
    fn open(&self, admits_sender: bool) -> OpenPrompt<'_> {
        OpenPrompt {
            tag: &self.hold.tag,
            risk: self.hold.risk,
            admits_sender,
            message: &self.posted.message,
            thread: self.posted.thread.as_deref(),
            delivered_at: self.since,
            is_latest: self.is_latest,
        }
    }

    /// Whether the words would decide it if they came from an entitled person.
    fn is_answered_by(&self, text: &str, wrote: &IncomingMessage) -> bool {
        let context = self.context(wrote, false);
        match parse_reply(text, &context) {
            ReplyVerdict::Ambiguous(_) => reasoned_denial(text, &context).is_some(),
            _ => true,
        }
    }

    fn context(&self, wrote: &IncomingMessage, weak_ok: bool) -> ReplyContext {
        let tool = self.hold.call().map_or("", |call| &call.tool);
        ReplyContext {
            asked: expected_reply(&self.hold),
            code: self.delivery.code.as_deref().map(ApprovalCode::new),
            weak_ok,
            reserved: reserved_by(tool),
            mentions: wrote.mentions.clone(),
            mentions_others: wrote.mentions_others,
            attachment: wrote.attachment,
            // mutant: reply-struck-out-approves
            formatted: wrote.formatted,
        }
    }
}

impl ChannelRuntime {
    /// Waits until nothing else of this chat is being dealt with.
    async fn lock_chat(&self, chat: &str) -> Option<OwnedSemaphorePermit> {
        let locks = {
            let mut locks = self.chat_locks.lock().unpoisoned();
            // What nobody waits for need not be kept.
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            locks.entry(chat.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
        };
        locks.acquire_owned().await.ok()
    }
}

pub(crate) fn reply_destination(wrote: &IncomingMessage) -> Destination {
    Destination::Chat {
        chat: wrote.chat.clone(),
        thread: wrote.thread.clone(),
        direct: wrote.direct,
    }
}

fn message(wrote: &IncomingMessage) -> ChatMessage<'_> {
    ChatMessage {
        text: &wrote.text,
        at: wrote.at,
        from_a_person: wrote.from_a_person,
        edited: wrote.edited,
        forwarded: wrote.forwarded,
        attachment: wrote.attachment,
        direct: wrote.direct,
        mentions_us: wrote.mentions_us,
        replies_to: wrote.replies_to.as_deref(),
        thread: wrote.thread.as_deref(),
    }
}
