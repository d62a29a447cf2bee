//! Where a hold comes from, and with it which stream it lives in. Each origin holds only what is true of it.

use std::sync::Arc;

use super::Hold;
use crate::id::{RunId, SessionId, StreamId};

#[derive(Clone, Debug, PartialEq)]
pub enum HoldOrigin {
    /// A run of a session. The hold is part of the session's stream.
    Session { session: SessionId, run: RunId, agent: Arc<str> },
    /// A call of this agent, which asks while it runs. The hold is a stream of its own.
    RunningCall { agent: Arc<str> },
    /// A program that asks before it acts. The hold is a stream of its own.
    Program { callback: Option<Callback> },
}

/// Where a program wants to be told, and the environment variable with the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub url: String,
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

    pub fn callback(&self) -> Option<&Callback> {
        match &self.origin {
            HoldOrigin::Program { callback } => callback.as_ref(),
            HoldOrigin::Session { .. } | HoldOrigin::RunningCall { .. } => None,
        }
    }

    pub fn stream(&self) -> StreamId {
        self.session().map_or(StreamId::ExternalHold(self.id), StreamId::Session)
    }
}
