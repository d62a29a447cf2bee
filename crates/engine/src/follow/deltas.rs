//! Text on its way from a model to those who watch. Not stored: the finished message is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use domain::id::{MessageId, SessionId};
use domain::id_map::IdMap;
use ports::model::Delta;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::Notify;

/// What watchers of a session hear between events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    Text {
        message: MessageId,
        text: Arc<str>,
    },
    Reasoning {
        message: MessageId,
        text: Arc<str>,
    },
    /// What was heard of this message is void.
    Discarded {
        message: MessageId,
    },
}

impl Spoken {
    pub fn message(&self) -> MessageId {
        match self {
            Spoken::Text { message, .. }
            | Spoken::Reasoning { message, .. }
            | Spoken::Discarded { message } => *message,
        }
    }
}

/// Deltas that a slow watcher may fall behind; then it gets what it missed of the text as one delta.
const BACKLOG: usize = 256;

/// One thing said, and how much of its message has been said with it.
#[derive(Clone, Debug)]
pub(crate) struct LiveDelta {
    pub(crate) spoken: Spoken,
    pub(crate) upto: Upto,
}

/// How far into a message somebody has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Upto {
    message: MessageId,
    /// Attempts that were discarded before this one.
    discarded: u32,
    /// Bytes of text.
    bytes: usize,
}

#[derive(Clone, Default)]
pub(crate) struct Live(Arc<Mutex<IdMap<SessionId, Channel>>>);

#[derive(Default)]
struct Channel {
    speaking: Option<Speaking>,
    listeners: Vec<Weak<Queue>>,
}

/// Listens to one session. Most runs say little while somebody listens, so there is room only for
/// what was said and not heard yet.
pub(crate) struct Ear(Arc<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Mutex<LiveBacklog>,
    something: Notify,
}

#[derive(Default)]
struct LiveBacklog {
    said: VecDeque<LiveDelta>,
    missed: bool,
}

/// What an ear hears.
pub(crate) enum LiveUpdate {
    Said(LiveDelta),
    /// More was said than the backlog holds: the rest is to be had by listening anew.
    Missed,
}

impl Ear {
    /// What was said and not heard yet.
    pub(crate) fn try_next(&mut self) -> Option<LiveUpdate> {
        let mut waiting = self.0.waiting();
        if waiting.missed {
            return Some(LiveUpdate::Missed);
        }
        waiting.said.pop_front().map(LiveUpdate::Said)
    }

    /// Waits for ever if nothing is said. Giving up loses nothing.
    pub(crate) async fn next(&mut self) -> LiveUpdate {
        loop {
            if let Some(heard) = self.try_next() {
                return heard;
            }
            self.0.something.notified().await;
        }
    }
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, LiveBacklog> {
        self.waiting.lock().unpoisoned()
    }

    fn put(&self, said: LiveDelta) {
        let mut waiting = self.waiting();
        if waiting.said.len() < BACKLOG && !waiting.missed {
            waiting.said.push_back(said);
        } else {
            *waiting = LiveBacklog { said: VecDeque::new(), missed: true };
        }
        drop(waiting);
        self.something.notify_one();
    }
}

struct Speaking {
    message: MessageId,
    discarded: u32,
    text: String,
}

impl Upto {
    pub(crate) fn is_of(&self, message: MessageId) -> bool {
        self.message == message
    }
}

impl Speaking {
    fn upto(&self) -> Upto {
        Upto { message: self.message, discarded: self.discarded, bytes: self.text.len() }
    }
}

/// Clears up when a turn ends, however it ends.
pub(crate) struct LiveTurn(Live, SessionId);

impl Drop for LiveTurn {
    fn drop(&mut self) {
        self.0.sweep(self.1);
    }
}

impl Live {
    pub(crate) fn begin(&self, session: SessionId, message: MessageId) -> LiveTurn {
        self.with(session, |channel| {
            channel.speaking = Some(Speaking { message, discarded: 0, text: String::new() });
        });
        LiveTurn(self.clone(), session)
    }

    pub(crate) fn delta(&self, session: SessionId, delta: Delta) {
        self.with(session, |channel| {
            let Some(speaking) = &mut channel.speaking else { return };
            let message = speaking.message;
            let spoken = match delta {
                Delta::Text(text) => {
                    speaking.text.push_str(&text);
                    Spoken::Text { message, text: text.into() }
                }
                Delta::Reasoning(text) => Spoken::Reasoning { message, text: text.into() },
                Delta::Discard => {
                    speaking.text.clear();
                    speaking.discarded += 1;
                    Spoken::Discarded { message }
                }
            };
            let upto = speaking.upto();
            channel.tell(LiveDelta { spoken, upto });
        });
    }

    pub(crate) fn end(&self, session: SessionId) {
        self.with(session, |channel| channel.speaking = None);
        self.sweep(session);
    }

    pub(crate) fn discard(&self, session: SessionId) {
        self.with(session, |channel| {
            if let Some(speaking) = channel.speaking.take() {
                let spoken = Spoken::Discarded { message: speaking.message };
                channel.tell(LiveDelta { spoken, upto: speaking.upto() });
            }
        });
        self.sweep(session);
    }

    /// What is heard from now on, and what has been said already of what was not heard. Both at
    /// once: nothing is missed between the two, and nothing is heard twice.
    pub(crate) fn listen(&self, session: SessionId, heard: Option<Upto>) -> (Vec<LiveDelta>, Ear) {
        self.with(session, |channel| {
            let ear = Ear(Arc::default());
            channel.listeners.retain(|listener| listener.strong_count() > 0);
            channel.listeners.push(Arc::downgrade(&ear.0));
            (channel.missed(heard), ear)
        })
    }

    fn with<T>(&self, session: SessionId, change: impl FnOnce(&mut Channel) -> T) -> T {
        let mut channels = self.0.lock().unpoisoned();
        change(channels.entry(session).or_default())
    }

    /// Forgets channels that nobody uses.
    pub(crate) fn sweep(&self, session: SessionId) {
        let mut channels = self.0.lock().unpoisoned();
        if channels.get(&session).is_some_and(Channel::is_idle) {
            channels.remove(&session);
        }
    }
}

impl Channel {
    fn tell(&mut self, said: LiveDelta) {
        // Listeners may have gone.
        self.listeners.retain(|listener| match listener.upgrade() {
            Some(queue) => {
                queue.put(said.clone());
                true
            }
            None => false,
        });
    }

    fn is_idle(&self) -> bool {
        self.speaking.is_none() && self.listeners.iter().all(|ear| ear.strong_count() == 0)
    }

    /// Only the rest of a text is said, however long it is: a slow listener must not get more to
    /// read than others.
    fn missed(&self, heard: Option<Upto>) -> Vec<LiveDelta> {
        let now = self.speaking.as_ref();
        let goes_on = |heard: &Upto| {
            now.is_some_and(|now| {
                (now.message, now.discarded) == (heard.message, heard.discarded)
                    && now.text.is_char_boundary(heard.bytes)
            })
        };
        let known = heard.filter(goes_on).map_or(0, |heard| heard.bytes);
        let void = heard.filter(|heard| !goes_on(heard)).map(|upto| {
            // If it was completed meanwhile, the whole message follows.
            LiveDelta { spoken: Spoken::Discarded { message: upto.message }, upto }
        });
        let rest = now.filter(|now| now.text.len() > known).map(|now| {
            let text = now.text[known..].into();
            LiveDelta { spoken: Spoken::Text { message: now.message, text }, upto: now.upto() }
        });
        void.into_iter().chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::new(1, 1)
    }

    fn message(number: u128) -> MessageId {
        MessageId::new(1, number)
    }

    /// What a follower has read in the end, if it hears all of this.
    fn read(text: &mut String, said: &[LiveDelta]) -> Option<Upto> {
        for said in said {
            match &said.spoken {
                Spoken::Text { text: piece, .. } => text.push_str(piece),
                Spoken::Discarded { .. } => text.clear(),
                Spoken::Reasoning { .. } => {}
            }
        }
        said.last().map(|said| said.upto)
    }

    #[test]
    fn whoever_fell_behind_hears_the_rest_and_nothing_twice() {
        let live = Live::default();
        let _slot = live.begin(session(), message(1));
        let (missed, mut ear) = live.listen(session(), None);
        assert!(missed.is_empty());
        live.delta(session(), Delta::Text("One é ".into()));
        let Some(LiveUpdate::Said(first)) = ear.try_next() else { panic!("a delta") };
        let mut text = String::new();
        let heard = read(&mut text, &[first]);
        for number in 0..2 * BACKLOG {
            live.delta(session(), Delta::Text(format!("{number} ")));
        }
        assert!(matches!(ear.try_next(), Some(LiveUpdate::Missed)), "it has fallen behind");
        let (missed, mut ear) = live.listen(session(), heard);
        assert_eq!(missed.len(), 1, "the rest is one delta");
        let heard = read(&mut text, &missed);
        let whole: String = (0..2 * BACKLOG).map(|number| format!("{number} ")).collect();
        assert_eq!(text, format!("One é {whole}"));
        assert!(ear.try_next().is_none(), "and nothing comes again");
        assert!(live.listen(session(), heard).0.is_empty());
    }

    #[test]
    fn whoever_missed_that_something_is_void_is_told() {
        let live = Live::default();
        let _slot = live.begin(session(), message(1));
        live.delta(session(), Delta::Text("wrong".into()));
        let mut text = String::new();
        let heard = read(&mut text, &live.listen(session(), None).0);
        live.delta(session(), Delta::Discard);
        live.delta(session(), Delta::Text("right, and longer".into()));
        let heard_again = read(&mut text, &live.listen(session(), heard).0);
        assert_eq!(text, "right, and longer");
        live.discard(session());
        read(&mut text, &live.listen(session(), heard_again).0);
        assert_eq!(text, "", "the turn failed");
        let _slot = live.begin(session(), message(2));
        live.delta(session(), Delta::Text("next".into()));
        read(&mut text, &live.listen(session(), heard_again).0);
        assert_eq!(text, "next");
    }
}
