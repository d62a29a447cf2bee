//! Looking, without changing anything.

use std::sync::Arc;
use std::time::Duration;

use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, SessionId, StreamId};
use domain::refusal::Refusal;
use domain::session::{CallRecord, CallState, Session};
use ports::store::{SessionQuery, SessionRow};

use crate::accounts::Caller;
use crate::{Engine, Error};

/// How long somebody wants to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    Decided,
    /// Decided, and if a call was approved, carried out too.
    Settled,
}

impl Until {
    fn is_reached(self, hold: &Hold) -> bool {
        match self {
            Until::Decided => !hold.is_pending(),
            Until::Settled => hold.is_finished(),
        }
    }
}

impl Engine {
    pub async fn sessions(
        &self,
        caller: &Caller,
        agent: Option<String>,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, Error> {
        let viewer = caller.viewer();
        let query = SessionQuery { viewer, agent, home: None, after, limit };
        Ok(self.0.store.sessions(query).await?)
    }

    /// Sessions of one door or channel that the caller may see, newest first; with `place`, those of
    /// one conversation there.
    pub async fn sessions_at(
        &self,
        caller: &Caller,
        door: &str,
        place: Option<String>,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, Error> {
        let (viewer, home) = (caller.viewer(), Some((door.into(), place)));
        let query = SessionQuery { viewer, agent: None, home, after, limit };
        Ok(self.0.store.sessions(query).await?)
    }

    pub async fn grants(&self, caller: &Caller) -> Result<Vec<Arc<Grant>>, Error> {
        Ok(self.0.store.grants(caller.viewer()).await?)
    }

    /// The hold as soon as it has come that far; `None` when the time is up.
    pub async fn wait(
        &self,
        caller: &Caller,
        id: HoldId,
        until: Until,
        timeout: Duration,
    ) -> Result<Option<Arc<Hold>>, Error> {
        let hold = self.hold(caller, id).await?;
        // It never goes back: what has come that far needs no waiting.
        if until.is_reached(&hold) {
            return Ok(Some(hold));
        }
        let stream = hold.stream();
        // First listen, then look: what happens in between is heard.
        let mut bus = self.subscribe(stream);
        let waiting = async {
            loop {
                let hold = self.fresh(stream, id).await?;
                if until.is_reached(&hold) {
                    return Ok(hold);
                }
                // A lagging receiver only means that there is something to look at.
                if let Err(tokio::sync::broadcast::error::RecvError::Closed) = bus.recv().await {
                    return Err(Error::Unavailable("the server is stopping".into()));
                }
            }
        };
        let waited = tokio::select! {
            biased;
            hold = waiting => hold.map(Some),
            () = self.0.clock.sleep(timeout) => Ok(None),
            () = self.0.closing.begins() => Err(Error::Unavailable("the server is stopping".into())),
        };
        // Our own receiver still counts.
        self.0.bus.sweep(stream, 1);
        waited
    }

    async fn fresh(&self, stream: StreamId, id: HoldId) -> Result<Arc<Hold>, Error> {
        let found = match stream {
            StreamId::Session(session) => self.load_session(session).await?.holds.get(&id).cloned(),
            _ => self.0.store.hold(id).await?,
        };
        found.ok_or_else(|| Refusal::NotFound { what: "hold" }.into())
    }

    /// Where secrets stand in what a tool takes. `None`: there is no such tool now.
    pub fn secret_places(&self, tool: &str) -> Option<Vec<String>> {
        self.0.tools.get(tool).map(|host| host.tool().secrets().to_vec())
    }

    /// What an approved call of this session waits for that is no person.
    pub fn blocked(&self, session: &Session) -> Option<String> {
        let mut waiting = session
            .turn_calls()
            .filter(|(_, record)| matches!(record.state, CallState::Cleared { .. }));
        let undecided = session
            .turn_calls()
            .any(|(_, record)| matches!(record.state, CallState::Waiting { .. }));
        let missing = |record: &CallRecord| self.0.tools.get(&record.tool).is_none();
        match (self.frozen(), undecided) {
            (Some(freeze), _) => {
                waiting.next().map(|_| format!("everything is frozen: {}", freeze.reason))
            }
            (None, true) => None,
            (None, false) => waiting.find(|(_, record)| missing(record)).map(|(_, record)| {
                format!("the tool `{}` is not configured; the call waits until it is", record.tool)
            }),
        }
    }

    /// Whether the store would take a write now.
    pub async fn ready(&self) -> Result<(), Error> {
        if self.0.closing.has_begun() {
            return Err(Error::Unavailable("the server is stopping".into()));
        }
        Ok(self.0.store.probe().await?)
    }
}
