//! Where a hold comes from, and with it which stream it lives in. Each origin holds only what is true of it.

use std::sync::Arc;

use super::Hold;
use crate::id::{RunId, SessionId, StreamId};

/// Where a hold comes from. It says in which stream the hold lives.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldOrigin {
    /// A run of a session. The hold is part of the session's stream.
    Session {
        /// The session whose stream it is in.
        session: SessionId,
        /// The run that waits for it.
        run: RunId,
        /// The agent whose run it is.
        agent: Arc<str>,
    },
    /// A call of this agent, which asks while it runs. The hold is a stream of its own.
    RunningCall {
        /// The agent whose call asks.
        agent: Arc<str>,
    },
    /// A program that asks before it acts. The hold is a stream of its own.
    Program {
        /// Where the program wants to be told. `None` if it asks again by itself.
        callback: Option<Callback>,
    },
}

/// Where a program wants to be told, and the environment variable with the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Where the decision is posted to. It was accepted when the hold was opened, and is checked again with each attempt.
    pub url: String,
    /// The name of the environment variable; the secret itself is never stored.
    pub secret_env: String,
}

impl Hold {
    /// The session that it is part of; `None` if it is a stream of its own.
    pub fn session(&self) -> Option<SessionId> {
        match self.origin {
            HoldOrigin::Session { session, .. } => Some(session),
            HoldOrigin::RunningCall { .. } | HoldOrigin::Program { .. } => None,
        }
    }

    /// The run of its session that waits for it.
    pub fn run(&self) -> Option<RunId> {
        match self.origin {
            HoldOrigin::Session { run, .. } => Some(run),
            HoldOrigin::RunningCall { .. } | HoldOrigin::Program { .. } => None,
        }
    }

    /// The agent that asks.
    pub fn agent(&self) -> Option<&str> {
        match &self.origin {
            HoldOrigin::Session { agent, .. } | HoldOrigin::RunningCall { agent } => Some(agent),
            HoldOrigin::Program { .. } => None,
        }
    }

    /// Where the program wants to be told. `None` for holds of sessions and running calls.
    pub fn callback(&self) -> Option<&Callback> {
        match &self.origin {
            HoldOrigin::Program { callback } => callback.as_ref(),
            HoldOrigin::Session { .. } | HoldOrigin::RunningCall { .. } => None,
        }
    }

    /// The stream in which its events are.
    pub fn stream(&self) -> StreamId {
        self.session().map_or(StreamId::ExternalHold(self.id), StreamId::Session)
    }
}
