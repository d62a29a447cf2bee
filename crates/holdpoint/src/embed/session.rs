//! One conversation with one agent.

use std::sync::Arc;

use domain::hold::Hold;
use domain::id::{RunId, SessionId};
use domain::message::Role;
use domain::refusal::Refusal;
use domain::session::{RunState, Session as State};
use engine::{Caller, Engine, Error, NewMessage};

use super::events::Events;

/// A handle to a session; clone it freely. Nothing is lost when it is dropped, or when the process ends:
/// [`crate::Holdpoint::session`] finds it again by its id.
#[derive(Clone)]
pub struct Session {
    engine: Engine,
    caller: Caller,
    id: SessionId,
}

/// Where a session came to rest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Rest {
    /// No message was sent yet.
    Idle,
    /// People are being asked. Answer in any order; the run goes on when it can.
    Paused {
        /// Every open question of the session.
        holds: Vec<Arc<Hold>>,
    },
    /// Something was approved and cannot start: everything is frozen, or a tool is missing.
    Blocked {
        /// What it waits for.
        why: String,
    },
    /// The model has nothing more to do.
    Completed {
        /// Its last words.
        text: String,
    },
    /// The model could not be asked. [`Session::retry`] tries again; nothing that ran is run twice.
    Failed {
        /// What went wrong, and what to do.
        error: String,
    },
    /// A person or program ended it.
    Cancelled {
        /// Why, if they said so.
        reason: Option<String>,
    },
}

impl Rest {
    /// The last words of a run that has ended well.
    pub fn text(&self) -> Option<&str> {
        match self {
            Rest::Completed { text } => Some(text),
            _ => None,
        }
    }

    /// The questions that are open.
    pub fn holds(&self) -> &[Arc<Hold>] {
        match self {
            Rest::Paused { holds } => holds,
            _ => &[],
        }
    }
}

impl Session {
    pub(super) fn new(engine: Engine, caller: Caller, id: SessionId) -> Session {
        Session { engine, caller, id }
    }

    /// Names it for ever.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Says something to the agent. When this returns it is on disk, and the agent is at work. A message
    /// never answers a hold, whatever it says.
    pub async fn say(&self, text: impl Into<String>) -> Result<RunId, Error> {
        let saying =
            NewMessage { texts: vec![text.into()], files: Vec::new(), while_pending: None };
        Ok(self.engine.say(&self.caller, self.id, saying, None).await?.run)
    }

    /// Waits until the run pauses or ends.
    pub async fn wait(&self) -> Result<Rest, Error> {
        // First listen, then look: what happens in between is heard.
        let mut follow = self.engine.follow_session(self.id, None).await?;
        loop {
            if let Some(rest) = self.rest(&*self.state().await?) {
                return Ok(rest);
            }
            if follow.next().await?.is_none() {
                return Err(Error::Unavailable("holdpoint is closing".into()));
            }
        }
    }

    /// Says something and waits until the run pauses or ends.
    pub async fn ask(&self, text: impl Into<String>) -> Result<Rest, Error> {
        self.say(text).await?;
        self.wait().await
    }

    /// Everything about the session, as it is now.
    pub async fn state(&self) -> Result<Arc<State>, Error> {
        self.engine.session(&self.caller, self.id).await
    }

    /// What happens from here on, and what is being said meanwhile.
    pub async fn events(&self) -> Result<Events, Error> {
        self.state().await?;
        Ok(Events::new(self.engine.follow_session(self.id, None).await?))
    }

    /// What happened after a position (0 is the beginning), and what happens from then on.
    pub async fn events_after(&self, position: u64) -> Result<Events, Error> {
        self.state().await?;
        Ok(Events::new(self.engine.follow_session(self.id, Some(position)).await?))
    }

    /// Ends the run: open holds are cancelled, running calls are stopped.
    pub async fn cancel(&self, reason: Option<&str>) -> Result<(), Error> {
        let run = self.run().await?;
        self.engine.cancel_run(&self.caller, run, reason.map(str::to_owned)).await?;
        Ok(())
    }

    /// Lets a failed run go on.
    pub async fn retry(&self) -> Result<(), Error> {
        let run = self.run().await?;
        self.engine.retry_run(&self.caller, run).await?;
        Ok(())
    }

    async fn run(&self) -> Result<RunId, Error> {
        let state = self.state().await?;
        let run = state.run.as_ref().map(|run| run.id);
        Ok(run.ok_or(Refusal::NotFound { what: "run" })?)
    }

    /// `None` while something is at work.
    fn rest(&self, state: &State) -> Option<Rest> {
        let Some(run) = &state.run else { return Some(Rest::Idle) };
        // One whose time is up is no question any more; what follows from that is on its way.
        let (overdue, holds): (Vec<Arc<Hold>>, Vec<Arc<Hold>>) =
            state.open_holds().cloned().partition(|hold| hold.is_overdue(self.engine.now()));
        match &run.state {
            RunState::Active { is_paused: true, .. } if !holds.is_empty() => {
                Some(Rest::Paused { holds })
            }
            RunState::Active { is_paused: true, .. } if !overdue.is_empty() => None,
            RunState::Active { .. } => self.engine.blocked(state).map(|why| Rest::Blocked { why }),
            // What was said meanwhile begins a run of its own, unless it may not.
            RunState::Completed | RunState::Cancelled(_) if self.waits_for_a_thaw(state) => {
                let reason = self.engine.frozen().map(|freeze| freeze.reason).unwrap_or_default();
                Some(Rest::Blocked { why: format!("everything is frozen: {reason}") })
            }
            RunState::Completed => Some(Rest::Completed { text: last_words(state) }),
            RunState::Failed { error } => Some(Rest::Failed { error: error.clone() }),
            RunState::Cancelled(stopping) => {
                Some(Rest::Cancelled { reason: stopping.reason.clone() })
            }
        }
    }
}

impl Session {
    fn waits_for_a_thaw(&self, state: &State) -> bool {
        !state.queue.is_empty() && self.engine.frozen().is_some()
    }
}

fn last_words(state: &State) -> String {
    let said = state.transcript.iter().rev().find(|message| message.role == Role::Assistant);
    said.map(|message| message.text().into_owned()).unwrap_or_default()
}
