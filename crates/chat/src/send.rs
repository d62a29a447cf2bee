//! Sends one thing, or draws it again, and writes down what came of it.

mod steps;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::hold::Hold;
use domain::id::HoldId;
use domain::time::Timestamp;
use engine::{Error, Undelivered};
use ports::backoff::wait_after;
use ports::channel::{ChannelError, DeliveryKey, Nonce, Showing, Shown};
use ports::store::{OutboxLease, OutboxWrite, PutNote};

use crate::ask::index;
use crate::item::Next;
use crate::limits::LEASE_MS;
use crate::notes::{self, chat_key};
use crate::prompt_record::{PromptRecord, Reason, Stage, StoredPlace, StoredPosted};
use crate::saying::TextRecord;
use crate::{ChannelRuntime, ChatService, words};

pub(crate) use steps::{Steps, kind_of};

/// A record that was taken up.
struct ClaimedPrompt {
    key: DeliveryKey,
    nonce: Nonce,
    delivery: PromptRecord,
    hold: Arc<Hold>,
    /// No earlier attempt can have been heard.
    first: bool,
}

impl ClaimedPrompt {
    fn digest(&self) -> Option<String> {
        Some(self.hold.digest().to_string())
    }
}

impl ChatService {
    /// `false` if there is no such record, or none that this version can read.
    pub(crate) async fn send(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
    ) -> Result<bool, Error> {
        match note.split_once('/') {
            Some(("s", _)) => self.speak(runtime, note).await,
            Some(("d", key)) => self.send_delivery(runtime, note, key).await,
            _ => Ok(false),
        }
    }

    async fn send_delivery(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
        key: &str,
    ) -> Result<bool, Error> {
        // On disk before anything leaves: after a crash it is known that it may have been sent.
        let now = self.0.clock.now();
        let lease = self.lease(runtime, now);
        let (mut idle, mut first) = (false, false);
        let take = |delivery: &mut PromptRecord, due_at: Option<Timestamp>| {
            // Another task has it in hand, or has just put it back for later.
            if due_at.is_none_or(|at| at > now) {
                idle = true;
                return None;
            }
            idle = match &delivery.stage {
                Stage::Reserved => false,
                Stage::Over { posted: None, .. } => true,
                Stage::Pending { .. } | Stage::Over { .. } => delivery.painted >= delivery.wanted,
            };
            if idle {
                return Some(self.resting(delivery));
            }
            first = !delivery.maybe_sent;
            // mutant: sent-before-it-is-written-down
            delivery.maybe_sent = true;
            delivery.attempts += 1;
            Some(Next::leased(lease))
        };
        let Some(taken) = self.update(runtime, note, take).await? else { return Ok(false) };
        if !idle {
            self.send_taken(runtime, note, key, taken, first).await?;
        }
        Ok(true)
    }

    async fn send_taken(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
        key: &str,
        delivery: PromptRecord,
        first: bool,
    ) -> Result<(), Error> {
        let (Some(id), Ok(key)) = (delivery.hold(), DeliveryKey::new(key)) else {
            return self.end(runtime, note, Reason::RestartInvalidated).await;
        };
        let Some(hold) = self.0.records.hold(id).await? else {
            return self.end(runtime, note, Reason::RestartInvalidated).await;
        };
        let wanted = delivery.wanted;
        let Some((mut delivery, nonce)) = self.turned(runtime, note, delivery, &hold).await? else {
            return self.end(runtime, note, Reason::RestartInvalidated).await;
        };
        // The hold may have changed since it was read: that is still to be drawn.
        delivery.wanted = wanted;
        let taken = ClaimedPrompt { key, nonce, delivery, hold, first };
        let every_step = runtime.connector.channel.every_step();
        match taken.delivery.posted().cloned() {
            None if taken.first && !taken.hold.is_pending() && !every_step => {
                let reason = Reason::of(&taken.hold);
                if reason == Reason::Expired {
                    let why = "it expired before it could be shown there";
                    self.undelivered(runtime, &taken, why).await?;
                }
                self.end(runtime, note, reason).await
            }
            None => self.show(runtime, note, &taken).await,
            Some(posted) if every_step => self.tell(runtime, note, &taken, &posted).await,
            Some(posted) => self.repaint(runtime, note, &taken, &posted).await,
        }
    }

    /// A hold that asks something else gets a nonce and a code of its own, on disk before it is drawn.
    async fn turned(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        delivery: PromptRecord,
        hold: &Hold,
    ) -> Result<Option<(PromptRecord, Nonce)>, Error> {
        let mut turned = Some(delivery);
        if hold.is_pending()
            && turned.as_ref().is_some_and(|it| it.asks != hold.digest().to_string())
        {
            let turn = |delivery: &mut PromptRecord, due_at| {
                delivery.turn_to(hold, || self.0.rng.bits());
                Some(Next { due_at, ..Next::rests() })
            };
            turned = self.update(runtime, note, turn).await?;
        }
        Ok(turned.and_then(|delivery| delivery.nonce().map(|nonce| (delivery, nonce))))
    }

    async fn show(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
        taken: &ClaimedPrompt,
    ) -> Result<(), Error> {
        let place = taken.delivery.place.place();
        let link = self.link(&taken.hold);
        let showing = self.showing(taken, link.as_deref());
        match self.in_time(runtime, runtime.connector.channel.show(&place, &showing)).await {
            Ok(shown) => self.stands(runtime, note, taken, &shown).await,
            Err(error) => self.failed(runtime, note, taken, &error).await,
        }
    }

    /// It was shown, perhaps by an earlier attempt: what stands there is drawn again if it may be old.
    async fn stands(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        taken: &ClaimedPrompt,
        shown: &Shown,
    ) -> Result<(), Error> {
        let now = self.0.clock.now();
        let since = shown.posted.at.unwrap_or(now);
        let may_be_old = !taken.first || !taken.hold.is_pending();
        let posted = StoredPosted::from(&shown.posted);
        let change = |delivery: &mut PromptRecord, _| {
            delivery.stage = Stage::Pending { posted: posted.clone(), since_ms: since.as_ms() };
            // mutant: a-copy-of-a-prompt-is-dead
            delivery.copies.possible |= !taken.first && runtime.connector.channel.may_show_twice();
            // An earlier attempt may have shown what was asked then; that is known when it is drawn again.
            let certain = taken.first || delivery.old_nonces.is_empty();
            delivery.digest = taken.digest().filter(|digest| certain && delivery.asks == *digest);
            delivery.accepts_approval = shown.accepts_approval;
            delivery.attempts = 0;
            if runtime.connector.channel.every_step() {
                delivery.painted = delivery.wanted - delivery.steps.waiting();
            } else if !may_be_old {
                delivery.painted = taken.delivery.wanted;
            }
            let mut notes = vec![
                notes::put(&runtime.shelves.here, &here(&posted.chat, taken.key.as_str()), &()),
                notes::put(&runtime.shelves.latest, &chat_key(&posted.chat), &taken.key.as_str()),
            ];
            // A platform may call the chat otherwise than we did.
            if let Some(asked) = delivery.place.chat().filter(|chat| *chat != posted.chat) {
                let here = here(asked, taken.key.as_str());
                notes.push(notes::remove(&runtime.shelves.here, &here));
            }
            let drawn = delivery.painted >= delivery.wanted;
            let due_at = (!drawn).then_some(now);
            Some(Next { due_at, beside: notes.into(), ..Next::rests() })
        };
        self.change(runtime, note, change).await
    }

    async fn repaint(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
        taken: &ClaimedPrompt,
        posted: &StoredPosted,
    ) -> Result<(), Error> {
        let link = self.link(&taken.hold);
        let showing = self.showing(taken, link.as_deref());
        let accepts_approval =
            match self.repaint_all(runtime, &taken.delivery, posted, &showing).await {
                Ok(accepts_approval) => accepts_approval,
                Err(error) => return self.failed(runtime, note, taken, &error).await,
            };
        let now = self.0.clock.now();
        let change = |delivery: &mut PromptRecord, _| {
            let digest = taken.digest().filter(|digest| delivery.asks == *digest);
            if delivery.digest != digest {
                // What was said to the old question does not answer the new one.
                delivery.digest = digest;
                if let Stage::Pending { since_ms, .. } = &mut delivery.stage {
                    *since_ms = now.as_ms();
                }
            }
            delivery.accepts_approval = accepts_approval;
            // mutant: change-during-a-repaint-forgotten
            delivery.painted = taken.delivery.wanted;
            delivery.attempts = 0;
            if delivery.painted < delivery.wanted {
                return Some(Next::due(now));
            }
            // A copy of it was found late, when all was said.
            // mutant: a-late-copy-says-goodbye-again
            if matches!(delivery.stage, Stage::Over { .. }) {
                return Some(self.resting(delivery));
            }
            if !taken.hold.is_finished() {
                // A card that asks once more does so for a while.
                return Some(match delivery.disarms_at(now).filter(|_| taken.hold.is_pending()) {
                    Some(at) => {
                        delivery.wanted += 1;
                        Next::due(at)
                    }
                    None => Next::rests(),
                });
            }
            let reason = Reason::of(&taken.hold);
            delivery.stage = Stage::Over { posted: Some(posted.clone()), reason };
            let mut next = self.resting(delivery);
            next.beside = self.farewell(runtime, taken, posted, reason, now);
            Some(next)
        };
        self.change(runtime, note, change).await
    }

    /// What is left to do when a prompt is over: it is no longer among the open ones, and where nobody
    /// answered in time, that is said.
    fn farewell(
        &self,
        runtime: &ChannelRuntime,
        taken: &ClaimedPrompt,
        posted: &StoredPosted,
        reason: Reason,
        now: Timestamp,
    ) -> OutboxWrite {
        let key = taken.key.as_str();
        let mut write = self.leaves(runtime, taken.hold.id, Some(&posted.chat), key);
        if reason == Reason::Expired && runtime.connector.channel.talks() {
            let text = words::ChatWords(runtime.connector.language).expired(&taken.hold);
            let saying = TextRecord::new(&posted.place(), &text, now).replying_to(&posted.message);
            write.extend(saying.put_beside(&runtime.shelves, &format!("expired-{key}"), now));
        }
        write
    }

    /// No longer among the open ones of its chat, and to be forgotten with its record.
    fn leaves(
        &self,
        runtime: &ChannelRuntime,
        hold: HoldId,
        chat: Option<&str>,
        key: &str,
    ) -> OutboxWrite {
        let forget_at = Some(self.0.clock.now().plus_ms(self.0.limits.kept_ms));
        let index = notes::put(&runtime.shelves.holds, &index(hold, key), &());
        let gone = chat.map(|chat| notes::remove(&runtime.shelves.here, &here(chat, key)));
        gone.into_iter().chain([PutNote { forget_at, ..index }]).collect::<Vec<_>>().into()
    }

    async fn failed(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        taken: &ClaimedPrompt,
        error: &ChannelError,
    ) -> Result<(), Error> {
        let attempts = taken.delivery.attempts;
        let (channel, hold) = (&runtime.name, taken.hold.id);
        let stands = taken.delivery.posted().is_some();
        if let ChannelError::Moved(to) = error
            && attempts < self.0.limits.attempts
            && let Some(from) = taken.delivery.chat()
        {
            self.chat_moved(runtime, from, to).await?;
            self.relocate(runtime, taken.key.as_str(), from, to).await?;
            // This prompt was claimed here, and the attempt is over.
            let change = |delivery: &mut PromptRecord, _| {
                // Nothing is drawn any more where it stood, if it is over.
                Some(match delivery.stage {
                    Stage::Over { .. } => self.resting(delivery),
                    _ => Next::due(self.0.clock.now()),
                })
            };
            return self.change(runtime, note, change).await;
        }
        // The prompt is tried once more: its hold still waits, and the platform may have been away all the time.
        let own_pauses = runtime.connector.channel.retries().is_some();
        // Only what certainly nobody has seen: a card that stands there has to be told how it ended.
        let unseen = taken.first && matches!(error, ChannelError::Again { .. });
        let stale = !own_pauses && unseen && taken.delivery.is_stale(self.0.clock.now());
        match self.again_at(runtime, error, attempts).filter(|_| !stale) {
            Some(at) => {
                tracing::warn!(%channel, %hold, %error, attempts, "a prompt will be tried again");
                let certainly_not = taken.first && matches!(error, ChannelError::Again { .. });
                let change = |delivery: &mut PromptRecord, _| {
                    delivery.maybe_sent &= !certainly_not;
                    Some(Next::due(at))
                };
                self.change(runtime, note, change).await
            }
            // What stands there still asks. It is drawn when the hold changes the next time.
            None if stands && !taken.hold.is_finished() => {
                tracing::warn!(%channel, %hold, %error, attempts, "a prompt stays as it looks");
                let change = |delivery: &mut PromptRecord, _| {
                    delivery.painted = taken.delivery.wanted;
                    delivery.attempts = 0;
                    let more = delivery.painted < delivery.wanted;
                    Some(Next { due_at: more.then(|| self.0.clock.now()), ..Next::rests() })
                };
                self.change(runtime, note, change).await
            }
            None => {
                tracing::error!(%channel, %hold, %error, attempts, "a prompt was given up; the hold can be answered elsewhere");
                let reason = match taken.delivery.stage {
                    Stage::Reserved => {
                        // mutant: undelivered-in-silence
                        self.undelivered(runtime, taken, &error.to_string()).await?;
                        Reason::DeliveryFailed
                    }
                    _ => Reason::DispatchFailed,
                };
                self.end(runtime, note, reason).await
            }
        }
    }

    /// The hold shows who was not asked, and why.
    async fn undelivered(
        &self,
        runtime: &ChannelRuntime,
        taken: &ClaimedPrompt,
        why: &str,
    ) -> Result<(), Error> {
        let undelivered = Undelivered {
            channel: runtime.name.to_string(),
            to: self.whom(runtime, &taken.delivery.place),
            why: why.to_owned(),
            at: self.0.clock.now(),
        };
        let key = taken.key.as_str();
        self.0.engine.note_undelivered(taken.hold.id, key, &undelivered).await
    }

    /// People by their own names; chats as their platform calls them.
    fn whom(&self, runtime: &ChannelRuntime, place: &StoredPlace) -> String {
        match place {
            StoredPlace::Chat { chat, .. } => chat.clone(),
            StoredPlace::Person(identity) => {
                let platform = runtime.connector.channel.platform();
                let mut people = self.0.people.iter();
                let known = people.find(|person| {
                    person.identity_on(&runtime.name, platform) == Some(identity.as_str())
                });
                known.map_or_else(|| identity.clone(), |person| person.id.to_string())
            }
        }
    }

    async fn end(&self, runtime: &ChannelRuntime, note: &str, reason: Reason) -> Result<(), Error> {
        let key = note.trim_start_matches("d/");
        let change = |delivery: &mut PromptRecord, _| {
            let posted = delivery.posted().cloned();
            let chat = posted.as_ref().map(|posted| posted.chat.as_str());
            let chat = chat.or_else(|| delivery.place.chat());
            let beside = delivery.hold().map(|hold| self.leaves(runtime, hold, chat, key));
            delivery.stage = Stage::Over { posted, reason };
            delivery.painted = delivery.wanted;
            let mut next = self.resting(delivery);
            next.beside = beside.unwrap_or_default();
            Some(next)
        };
        self.change(runtime, note, change).await
    }

    async fn change(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        change: impl FnMut(&mut PromptRecord, Option<Timestamp>) -> Option<Next>,
    ) -> Result<(), Error> {
        self.finish(runtime, note, change).await?;
        runtime.noted.notify_waiters();
        runtime.wake();
        Ok(())
    }

    /// An old prompt stays, so that its buttons answer with the truth, and then goes.
    fn resting(&self, delivery: &PromptRecord) -> Next {
        let over = matches!(delivery.stage, Stage::Over { .. });
        let forget_at = over.then(|| self.0.clock.now().plus_ms(self.0.limits.kept_ms));
        Next { forget_at, ..Next::rests() }
    }

    /// When it is tried again, if that has a point.
    pub(crate) fn again_at(
        &self,
        runtime: &ChannelRuntime,
        error: &ChannelError,
        attempts: u32,
    ) -> Option<Timestamp> {
        let limits = &self.0.limits;
        let asked = match error {
            ChannelError::Never(_) | ChannelError::Gone(_) | ChannelError::Moved(_) => {
                return None;
            }
            // A platform that wants us to wait for longer is asked again all the same.
            ChannelError::Again { after, .. } => after.unwrap_or_default().min(limits.retry_max),
            ChannelError::Unknown(_) => Duration::ZERO,
        };
        if let Some(pauses) = runtime.connector.channel.retries() {
            let pause = pauses.get(attempts.saturating_sub(1) as usize)?.max(&asked);
            return Some(self.0.clock.now().plus_ms(pause.as_millis() as u64));
        }
        let (most, longest) = match runtime.connector.channel.talks() {
            true => (limits.chat_attempts, limits.chat_retry_max),
            false => (limits.attempts, limits.retry_max),
        };
        if attempts >= most {
            return None;
        }
        let before = attempts.saturating_sub(1);
        let pause = retry_pause(before, limits.retry, longest, asked, self.0.rng.bits());
        Some(self.0.clock.now().plus_ms(pause.as_millis() as u64))
    }

    fn patience(&self, runtime: &ChannelRuntime) -> Duration {
        runtime.connector.channel.patience().unwrap_or(self.0.limits.send_timeout)
    }

    /// Until then a record that was taken up is nobody else's business.
    pub(crate) fn lease(&self, runtime: &ChannelRuntime, now: Timestamp) -> OutboxLease {
        let until = now.plus_ms(self.patience(runtime).as_millis() as u64 + LEASE_MS);
        OutboxLease { owner: self.0.engine.node(), until }
    }

    /// A platform that says nothing for too long may have done it or not.
    pub(crate) async fn in_time<T>(
        &self,
        runtime: &ChannelRuntime,
        sending: impl Future<Output = Result<T, ChannelError>>,
    ) -> Result<T, ChannelError> {
        tokio::select! {
            biased;
            sent = sending => sent,
            () = self.0.clock.sleep(self.patience(runtime)) => {
                Err(ChannelError::Unknown("the platform did not answer in time".into()))
            }
        }
    }

    pub(crate) fn link(&self, hold: &Hold) -> Option<String> {
        self.0.origin.get().map(|origin| format!("{origin}/holds/{}", hold.id))
    }

    fn showing<'a>(&'a self, taken: &'a ClaimedPrompt, link: Option<&'a str>) -> Showing<'a> {
        Showing {
            hold: &taken.hold,
            people: self.0.engine.people(),
            key: &taken.key,
            nonce: &taken.nonce,
            link,
            words_answer: taken.delivery.words,
            code: taken.delivery.code.as_deref(),
            armed: taken.delivery.is_armed(self.0.clock.now()),
            processing: false,
            stands: taken.delivery.shows(&taken.hold),
        }
    }
}

/// The wait after this many failures before the present one. Never earlier than the platform asked for, and what failed
/// together does not come back at that very moment together.
fn retry_pause(
    failed_before: u32,
    first: Duration,
    longest: Duration,
    asked: Duration,
    bits: u128,
) -> Duration {
    let pause = wait_after(failed_before, first, longest, bits);
    match asked {
        Duration::ZERO => pause,
        asked => pause.max(asked + pause.min(first)),
    }
}

pub(crate) fn here(chat: &str, key: &str) -> String {
    format!("{}/{key}", chat_key(chat))
}

#[cfg(test)]
mod tests {
    use ports::backoff::WHOLE_WAIT;

    use super::*;

    const FIRST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(60);

    fn pause(failed_before: u32, asked_s: u64, bits: u128) -> Duration {
        retry_pause(failed_before, FIRST, LONGEST, Duration::from_secs(asked_s), bits)
    }

    #[test]
    fn waits_grow_to_a_bound_and_differ() {
        let seconds = |failed, bits| pause(failed, 0, bits).as_secs_f64();
        assert_eq!(
            [0, 1, 5, 6, 700].map(|failed| seconds(failed, WHOLE_WAIT)),
            [1.0, 2.0, 32.0, 60.0, 60.0]
        );
        assert_eq!(
            [0, 1, 5, 6, 700].map(|failed| seconds(failed, 0)),
            [0.5, 1.0, 16.0, 30.0, 30.0]
        );
    }

    #[test]
    fn a_platform_that_names_a_time_is_not_asked_before_it_nor_by_all_at_once() {
        for bits in [0, 17, 250, WHOLE_WAIT] {
            let (asked, pause) = (Duration::from_secs(40), pause(0, 40, bits));
            assert!(pause >= asked && pause <= asked + FIRST, "{pause:?}");
        }
        assert_ne!(pause(0, 40, 0), pause(0, 40, WHOLE_WAIT));
        assert_eq!(pause(6, 2, WHOLE_WAIT), LONGEST, "it has failed for long");
    }
}
