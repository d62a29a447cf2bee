//! Following a log from a position. What was stored is read from the store, what is stored now
//! comes over the bus; positions make the two fit without a gap and without a repeat.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use domain::event::{Event, SessionEvent};
use domain::id::{MessageId, SessionId, StreamId};
use domain::id_map::IdMap;
use domain::person::Actor;
use domain::session::Session;
use domain::time::Timestamp;
use ports::store::Entry;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::accounts::Caller;
use crate::follow::deltas::{self, Ear, LiveDelta, Spoken, Upto};
use crate::{Engine, Error};

/// Entries that a slow follower may fall behind before it reads from the store again.
const BACKLOG: usize = 16;
/// The same for those who follow everything. There is one such queue, so it may be long.
const BACKLOG_OF_ALL: usize = 1_024;
const PAGE: usize = 200;

/// Tells followers in this process of every commit. Only a wake-up with the entry attached: a
/// follower that misses one reads it.
pub(crate) struct Bus(Mutex<Lines>);

struct Lines {
    streams: IdMap<StreamId, broadcast::Sender<CommitNotice>>,
    all: broadcast::Sender<CommitNotice>,
    /// Nobody is told anything any more, and whoever listens hears that.
    is_closed: bool,
}

/// What followers hear of a commit.
#[derive(Clone, Debug)]
pub(crate) enum CommitNotice {
    Entry(Arc<Entry>),
    /// Something may be on disk that nobody can tell of: look.
    Unsure,
}

impl Bus {
    pub(crate) fn new() -> Bus {
        let all = broadcast::channel(BACKLOG_OF_ALL).0;
        Bus(Mutex::new(Lines { streams: IdMap::default(), all, is_closed: false }))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unpoisoned()
    }

    pub(crate) fn publish(&self, entry: &Entry) {
        let mut lines = self.lines();
        let Lines { streams, all, .. } = &mut *lines;
        let followed = streams.get(&entry.stream);
        if followed.is_none() && all.receiver_count() == 0 {
            return;
        }
        let (stream, heard) = (entry.stream, CommitNotice::Entry(Arc::new(entry.clone())));
        if let Some(followers) = followed
            && followers.send(heard.clone()).is_err()
        {
            streams.remove(&stream);
        }
        let _ = all.send(heard);
    }

    /// After a commit whose fate could not be found out.
    pub(crate) fn unsure(&self, stream: StreamId) {
        let lines = self.lines();
        // Whoever followed may have gone; that is no error.
        if let Some(followers) = lines.streams.get(&stream) {
            let _ = followers.send(CommitNotice::Unsure);
        }
        let _ = lines.all.send(CommitNotice::Unsure);
    }

    /// Forgets a stream that nobody follows besides so many.
    pub(crate) fn sweep(&self, stream: StreamId, besides: usize) {
        let streams = &mut self.lines().streams;
        if streams.get(&stream).is_some_and(|followers| followers.receiver_count() <= besides) {
            streams.remove(&stream);
        }
    }

    /// Ends whoever follows, once they have taken what they were told before.
    pub(crate) fn close(&self) {
        let mut lines = self.lines();
        lines.is_closed = true;
        lines.streams.clear();
        lines.all = broadcast::channel(1).0;
    }

    fn subscribe(&self, stream: Option<StreamId>) -> broadcast::Receiver<CommitNotice> {
        let mut lines = self.lines();
        match stream {
            _ if lines.is_closed => broadcast::channel(1).1,
            None => lines.all.subscribe(),
            Some(stream) => {
                let line = lines.streams.entry(stream);
                line.or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
            }
        }
    }
}

/// One event, where and when it happened. All who are told of it look at the same one.
#[derive(Clone, Debug)]
pub struct Happening {
    pub stream: StreamId,
    /// In the session's stream, or among all events when everything is followed.
    pub position: u64,
    pub at: Timestamp,
    entry: Arc<Entry>,
    offset: usize,
}

impl Happening {
    pub fn event(&self) -> &Event {
        &self.entry.events[self.offset]
    }

    pub fn actor(&self) -> &Actor {
        &self.entry.actor
    }
}

#[derive(Clone, Debug)]
pub enum Followed {
    Event(Happening),
    Spoken(Spoken),
    /// The position asked for does not exist: start over from this one.
    Reset {
        position: u64,
    },
}

/// A follower. Dropping it ends it.
pub struct Follow {
    engine: Engine,
    stream: Option<StreamId>,
    caller: Option<Caller>,
    position: u64,
    bus: broadcast::Receiver<CommitNotice>,
    spoken: Option<(SessionId, Ear)>,
    /// How much of the current message has been handed on.
    heard: Option<Upto>,
    /// Said of messages that come after events which are yet to be handed on.
    early: VecDeque<LiveDelta>,
    ready: VecDeque<Followed>,
    behind: bool,
}

impl Engine {
    /// Follows one session. Checks no rights: the caller of this function does.
    pub async fn follow_session(&self, id: SessionId, after: Option<u64>) -> Result<Follow, Error> {
        let stream = StreamId::Session(id);
        let bus = self.0.bus.subscribe(Some(stream));
        let version = self.load_session(id).await?.version;
        let (so_far, spoken) = self.0.live.listen(id, None);
        let mut follow = self.follower(Some(stream), None, after.unwrap_or(version), bus);
        follow.spoken = Some((id, spoken));
        if follow.position > version {
            follow.position = version;
            follow.ready.push_back(Followed::Reset { position: version });
        }
        // What is being said belongs after all that has happened. From here on is the usual wish, and
        // then nothing has.
        follow.behind = follow.position < version;
        if follow.behind {
            // mutant: event-lost-at-the-seam
            follow.catch_up().await?;
        }
        so_far.into_iter().for_each(|said| follow.hear(said));
        Ok(follow)
    }

    /// Follows one session from now on, and says what it is now. Nothing lies between the two, so nothing
    /// has to be read first.
    pub async fn follow_from_now(&self, id: SessionId) -> Result<(Arc<Session>, Follow), Error> {
        let stream = StreamId::Session(id);
        let bus = self.0.bus.subscribe(Some(stream));
        let session = self.load_session(id).await?;
        let (so_far, spoken) = self.0.live.listen(id, None);
        let mut follow = self.follower(Some(stream), None, session.version, bus);
        follow.spoken = Some((id, spoken));
        follow.behind = false;
        so_far.into_iter().for_each(|said| follow.hear(said));
        Ok((session, follow))
    }

    /// Follows everything that the caller may see.
    pub async fn follow_all(&self, caller: &Caller, after: Option<u64>) -> Result<Follow, Error> {
        let bus = self.0.bus.subscribe(None);
        let (last, _) = self.0.store.last().await?;
        let mut follow = self.follower(None, Some(caller.clone()), after.unwrap_or(last), bus);
        if follow.position > last {
            follow.position = last;
            follow.ready.push_back(Followed::Reset { position: last });
        }
        Ok(follow)
    }

    pub(crate) fn subscribe(&self, stream: StreamId) -> broadcast::Receiver<CommitNotice> {
        self.0.bus.subscribe(Some(stream))
    }

    fn follower(
        &self,
        stream: Option<StreamId>,
        caller: Option<Caller>,
        position: u64,
        bus: broadcast::Receiver<CommitNotice>,
    ) -> Follow {
        Follow {
            engine: self.clone(),
            stream,
            caller,
            position,
            bus,
            spoken: None,
            heard: None,
            early: VecDeque::new(),
            ready: VecDeque::new(),
            // mutant: stored-events-not-read
            behind: true,
        }
    }
}

impl Follow {
    /// The next thing that happens. Waits for ever if nothing does; ends when the engine closes.
    pub async fn next(&mut self) -> Result<Option<Followed>, Error> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Ok(Some(ready));
            }
            if self.behind {
                self.catch_up().await?;
                continue;
            }
            if !self.early.is_empty() {
                // What happened before it was said is on the bus by now.
                match self.bus.try_recv() {
                    Ok(heard) => self.take(heard).await?,
                    Err(TryRecvError::Lagged(_)) => self.behind = true,
                    Err(TryRecvError::Closed) => return Ok(None),
                    Err(TryRecvError::Empty) => {
                        self.early.pop_front().into_iter().for_each(|said| self.hear(said));
                    }
                }
                continue;
            }
            let spoken = async {
                match &mut self.spoken {
                    Some((id, ear)) => (*id, ear.next().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                entry = self.bus.recv() => match entry {
                    Ok(heard) => self.take(heard).await?,
                    Err(RecvError::Lagged(_)) => self.behind = true,
                    Err(RecvError::Closed) => return Ok(None),
                },
                (id, heard) = spoken => match heard {
                    deltas::LiveUpdate::Said(said) => self.hear(said),
                    deltas::LiveUpdate::Missed => {
                        let (missed, ear) = self.engine.0.live.listen(id, self.heard);
                        self.spoken = Some((id, ear));
                        missed.into_iter().for_each(|said| self.hear(said));
                    }
                },
            }
        }
    }

    /// What is known already, if there is anything: nobody has to wait for it.
    pub fn ready(&mut self) -> Option<Followed> {
        self.ready.pop_front()
    }

    fn first(&self, entry: &Entry) -> u64 {
        if self.stream.is_some() { entry.first } else { entry.global }
    }

    /// Commits of this node come over the bus in their order. A gap is another node's work, and is read.
    async fn take(&mut self, heard: CommitNotice) -> Result<(), Error> {
        // A follower that is dropped in the middle of this reads again.
        self.behind = true;
        let CommitNotice::Entry(entry) = heard else { return Ok(()) };
        // mutant: gap-on-the-bus-ignored
        if self.first(&entry) > self.position + 1 {
            return Ok(());
        }
        self.keep(&entry).await?;
        self.behind = false;
        Ok(())
    }

    /// Reads what the store has after our position, a page at a time.
    async fn catch_up(&mut self) -> Result<(), Error> {
        let entries = self.engine.0.store.entries(self.stream, self.position, PAGE).await?;
        let is_all = entries.len() < PAGE;
        for entry in entries {
            self.keep(&Arc::new(entry)).await?;
        }
        self.behind = !is_all;
        Ok(())
    }

    fn hear(&mut self, said: LiveDelta) {
        self.heard = match &said.spoken {
            Spoken::Text { .. } | Spoken::Reasoning { .. } => Some(said.upto),
            Spoken::Discarded { .. } => None,
        };
        self.ready.push_back(Followed::Spoken(said.spoken));
    }

    /// All that was said of a message. Whoever is slow may find that the next one is being said already:
    /// that belongs after this one.
    fn hear_out(&mut self, message: MessageId) {
        while self.early.front().is_some_and(|said| said.spoken.message() == message) {
            self.early.pop_front().into_iter().for_each(|said| self.hear(said));
        }
        loop {
            let Some((id, ear)) = &mut self.spoken else { return };
            match ear.try_next() {
                Some(deltas::LiveUpdate::Said(said))
                    if said.spoken.message() == message && self.early.is_empty() =>
                {
                    self.hear(said);
                }
                // mutant: engine-words-before-their-turn
                Some(deltas::LiveUpdate::Said(said)) => self.early.push_back(said),
                // Words after a gap would be the wrong ones. Of this message the whole follows, and of
                // the one that is being said now all of it can be had at once.
                Some(deltas::LiveUpdate::Missed) => {
                    let id = *id;
                    let (missed, ear) = self.engine.0.live.listen(id, self.heard);
                    self.spoken = Some((id, ear));
                    let others = missed.into_iter().filter(|it| it.spoken.message() != message);
                    self.early = others.collect();
                }
                None => return,
            }
        }
    }

    async fn keep(&mut self, entry: &Arc<Entry>) -> Result<(), Error> {
        let first = self.first(entry);
        let last = first + entry.events.len() as u64 - 1;
        if last <= self.position {
            return Ok(());
        }
        // What was read from the store may be ahead of what this process remembers.
        if let StreamId::Session(id) = entry.stream {
            let version = entry.first + entry.events.len() as u64 - 1;
            self.engine.0.sessions.note_published(id, version);
        }
        let seen = match &self.caller {
            None => true,
            Some(caller) => self.engine.sees_stream(caller, entry.stream).await?,
        };
        if seen {
            for (offset, event) in entry.events.iter().enumerate() {
                let position = first + offset as u64;
                if position > self.position {
                    // What was said of a message comes before the message, never after it.
                    if let Event::Session(SessionEvent::MessageAdded { message }) = event {
                        self.hear_out(message.id);
                        // It is whole now: nothing of it can be void or missing.
                        self.heard = self.heard.filter(|upto| !upto.is_of(message.id));
                    }
                    self.ready.push_back(Followed::Event(Happening {
                        stream: entry.stream,
                        position,
                        at: entry.at,
                        entry: entry.clone(),
                        offset,
                    }));
                }
            }
        }
        self.position = last;
        Ok(())
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        if let Some(stream) = self.stream {
            // Our own receiver still counts.
            self.engine.0.bus.sweep(stream, 1);
        }
        if let Some((id, ear)) = self.spoken.take() {
            drop(ear);
            self.engine.0.live.sweep(id);
        }
    }
}
