//! Says something in a chat, message by message. How far it came is on disk before the next one leaves, so
//! that a restart repeats at most the one message whose fate is unknown.

use std::sync::Arc;

use domain::time::Timestamp;
use engine::Error;
use ports::channel::{ChannelError, OutgoingText as Words, TextProgress};
use ports::store::PutNote;

use crate::item::Next;
use crate::notes::{self, chat_key};
use crate::prompt_record::StoredPlace;
use crate::saying::TextRecord;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    pub(crate) async fn speak(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
    ) -> Result<bool, Error> {
        let now = self.0.clock.now();
        let lease = self.lease(runtime, now);
        let (mut idle, mut stale) = (false, false);
        let take = |saying: &mut TextRecord, due_at: Option<Timestamp>| {
            idle = due_at.is_none_or(|at| at > now);
            if idle {
                return None;
            }
            stale = saying.is_stale(now);
            if stale {
                return Some(self.ended(None));
            }
            saying.attempts += 1;
            Some(Next::leased(lease))
        };
        let Some(taken) = self.update(runtime, note, take).await? else { return Ok(false) };
        if stale {
            let channel = &runtime.name;
            tracing::error!(%channel, note, "a message could not be sent for half a day, and was given up");
        }
        let mut next = Some(taken).filter(|_| !idle && !stale);
        while let Some(saying) = next {
            next = self.say_a_piece(runtime, note, &saying).await?;
        }
        Ok(true)
    }

    /// What is still to be said at once, if anything.
    async fn say_a_piece(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
        saying: &TextRecord,
    ) -> Result<Option<TextRecord>, Error> {
        let place = saying.place.place();
        let words = Words {
            key: note.trim_start_matches("s/"),
            text: &saying.text,
            reply_to: saying.reply_to.as_deref(),
            whisper_to: saying.whisper_to.as_deref(),
        };
        let spoken = self
            .in_time(runtime, runtime.connector.channel.say_piece(&place, &words, saying.said))
            .await;
        let now = self.0.clock.now();
        let (channel, attempts) = (&runtime.name, saying.attempts);
        if let Err(ChannelError::Moved(to)) = &spoken
            && attempts < self.0.limits.attempts
            && saying.place.chat().is_some()
        {
            self.say_there(runtime, note, saying, to).await?;
            return Ok(None);
        }
        let next = match &spoken {
            Ok(TextProgress::More) => {
                let lease = self.lease(runtime, now);
                let change = |saying: &mut TextRecord, _| {
                    saying.said += 1;
                    saying.attempts = 1;
                    Some(Next::leased(lease))
                };
                return self.finish(runtime, note, change).await;
            }
            Ok(TextProgress::All) => self.ended(self.latest(runtime, note, saying)),
            Err(error) => match self.again_at(runtime, error, attempts) {
                Some(at) => {
                    tracing::warn!(%channel, %error, attempts, "a message will be tried again");
                    Next::due(at)
                }
                None => {
                    tracing::error!(%channel, %error, attempts, "a message was given up");
                    self.ended(None)
                }
            },
        };
        // mutant: said-from-the-beginning
        let change = |_: &mut TextRecord, _| Some(next.clone());
        self.finish(runtime, note, change).await?;
        Ok(None)
    }

    /// Its mark stays for a while, so that it is not said a second time.
    fn ended(&self, beside: Option<PutNote>) -> Next {
        Next { beside: beside.into_iter().collect::<Vec<_>>().into(), ..Next::rests() }
    }

    /// Our latest message in a chat is what a short answer there is about.
    fn latest(&self, runtime: &ChannelRuntime, note: &str, saying: &TextRecord) -> Option<PutNote> {
        match (&saying.place, &saying.whisper_to) {
            (StoredPlace::Chat { chat, .. }, None) => {
                Some(notes::put(&runtime.shelves.latest, &chat_key(chat), &note))
            }
            _ => None,
        }
    }
}
