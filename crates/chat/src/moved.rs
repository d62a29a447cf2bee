//! Chats that get another name: a group that becomes a supergroup is the same group, and what was said
//! and asked there goes on under the new name. Both names are noted for ever, because sessions and
//! configurations keep the old one.

use domain::time::Timestamp;
use engine::Error;
use ports::channel::Destination;

use crate::item::Next;
use crate::limits::{NAMES_MAX, PAGE};
use crate::notes::{self, chat_key};
use crate::prompt_record::{PromptRecord, Stage};
use crate::saying::TextRecord;
use crate::send::here;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// Notes it, and has every open prompt of that chat shown again under the new name. To be told twice
    /// does no harm.
    pub(crate) async fn chat_moved(
        &self,
        runtime: &ChannelRuntime,
        from: &str,
        to: &str,
    ) -> Result<(), Error> {
        if from == to {
            return Ok(());
        }
        let shelf = &runtime.shelves.moved;
        let known = self.follow_name(runtime, "to", from).await?;
        if known.as_deref() != Some(to) {
            let channel = &runtime.name;
            tracing::warn!(%channel, from, to, "a chat has another name now; if the configuration names it, change it there");
            // Both or neither.
            let there = notes::put(shelf, &format!("to/{}", chat_key(from)), &to);
            let back = notes::put(shelf, &format!("from/{}", chat_key(to)), &from);
            self.0.records.put_notes(vec![there, back]).await?;
        }
        let prefix = format!("{}/", chat_key(from));
        loop {
            let notes = self.0.records.notes(&runtime.shelves.here, &prefix, None, PAGE).await?;
            for key in notes.iter().filter_map(|note| note.key.strip_prefix(&prefix)) {
                self.relocate(runtime, key, from, to).await?;
            }
            // Those that were dealt with are no longer there.
            if notes.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// One prompt goes to where its chat is now.
    pub(crate) async fn relocate(
        &self,
        runtime: &ChannelRuntime,
        key: &str,
        from: &str,
        to: &str,
    ) -> Result<(), Error> {
        let note = format!("d/{key}");
        let now = self.0.clock.now();
        let mut moved = false;
        let change = |delivery: &mut PromptRecord, due_at: Option<Timestamp>| {
            // The task that sends it just now says what comes next.
            let leased =
                matches!(delivery.stage, Stage::Reserved) && runtime.is_on_its_way(delivery);
            let due_at = due_at.filter(|_| leased).unwrap_or(now);
            moved = delivery.move_to(from, to);
            if moved {
                delivery.reserved_ms = Some(now.as_ms());
            }
            let beside = vec![
                notes::remove(&runtime.shelves.here, &here(from, key)),
                notes::put(&runtime.shelves.here, &here(to, key), &()),
            ];
            moved.then_some(Next { beside: beside.into(), ..Next::due(due_at) })
        };
        self.update(runtime, &note, change).await?;
        if !moved {
            // Over, or gone: it is not among the open ones of this chat any more.
            let gone = notes::remove(&runtime.shelves.here, &here(from, key));
            self.0.records.put_notes(vec![gone]).await?;
        }
        runtime.noted.notify_waiters();
        runtime.wake();
        Ok(())
    }

    /// What was to be said in a chat that has moved is said where it is now.
    pub(crate) async fn say_there(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        saying: &TextRecord,
        to: &str,
    ) -> Result<(), Error> {
        let from = saying.place.chat().unwrap_or_default();
        self.chat_moved(runtime, from, to).await?;
        let change = |saying: &mut TextRecord, _| {
            saying.place.rename(from, to);
            Some(Next::due(self.0.clock.now()))
        };
        self.finish(runtime, note, change).await?;
        runtime.wake();
        Ok(())
    }

    /// A place under the first name that its chat had, and under the one that it has now.
    pub(crate) async fn names_of_place(
        &self,
        runtime: &ChannelRuntime,
        place: Destination,
    ) -> Result<(Destination, Destination), Error> {
        let Destination::Chat { chat, thread, direct } = place else {
            return Ok((place.clone(), place));
        };
        let named = |chat| Destination::Chat { chat, thread: thread.clone(), direct };
        let first = self.names(runtime, "from", &chat).await?.pop();
        let last = self.names(runtime, "to", &chat).await?.pop();
        let (first, last) = (first.unwrap_or_else(|| chat.clone()), last.unwrap_or(chat));
        Ok((named(first), named(last)))
    }

    /// This name and those that the chat had before, the newest first.
    pub(crate) async fn names_of_chat(
        &self,
        runtime: &ChannelRuntime,
        chat: &str,
    ) -> Result<Vec<String>, Error> {
        self.names(runtime, "from", chat).await
    }

    async fn names(
        &self,
        runtime: &ChannelRuntime,
        way: &str,
        chat: &str,
    ) -> Result<Vec<String>, Error> {
        let mut names = vec![chat.to_owned()];
        while names.len() < NAMES_MAX
            && let Some(last) = names.last()
            && let Some(next) = self.follow_name(runtime, way, last).await?
            && !names.contains(&next)
        {
            names.push(next);
        }
        Ok(names)
    }

    async fn follow_name(
        &self,
        runtime: &ChannelRuntime,
        way: &str,
        chat: &str,
    ) -> Result<Option<String>, Error> {
        let key = format!("{way}/{}", chat_key(chat));
        notes::read_note::<String>(&self.0.records, &runtime.shelves.moved, &key).await
    }
}
