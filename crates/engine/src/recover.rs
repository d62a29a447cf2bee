//! What an earlier process left. A call whose start is on disk and whose result is not is never
//! simply run again: it is looked at, and in doubt a person is asked.

use domain::call::Call;
use domain::id::{CallId, SessionId};
use domain::outcome::Outcome;
use domain::person::Actor;
use domain::scrub::Scrubber;
use domain::session::{CallState, Command, Recovered};
use domain::tool::Effects;
use ports::tool_host::Recovery;

use crate::secrets::{scrubbed, scrubber};
use crate::{Engine, Error};

impl Engine {
    pub(crate) async fn recover(&self) -> Result<(), Error> {
        ports::failpoint!("recover.before");
        let mut after = None;
        loop {
            let owing = self.0.store.owing(after, 500).await?;
            let Some((last, _)) = owing.last() else { return Ok(()) };
            after = Some(*last);
            for (session, owner) in owing {
                if owner == self.0.node
                    || self.0.store.is_gone(owner).await?
                    || self.has_orphans(session).await?
                {
                    self.recover_session(session).await?;
                }
            }
        }
    }

    /// Whoever wrote to a session last is its owner, and need not be whoever runs its calls: a node
    /// that takes a message does not finish what another was doing when it died.
    async fn has_orphans(&self, id: SessionId) -> Result<bool, Error> {
        let session = self.load_session(id).await?;
        for (_, record) in session.turn_calls() {
            if let CallState::Running { node, .. } = record.state
                && node != self.0.node
                && self.0.store.is_gone(node).await?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) async fn recover_session(&self, id: SessionId) -> Result<(), Error> {
        ports::failpoint!("recover.session");
        let session = self.load_session(id).await?;
        for (call, record) in session.calls.iter() {
            let (CallState::Running { attempt, node, .. }, Some(stored)) =
                (&record.state, &record.call)
            else {
                continue;
            };
            if *node == self.0.node || !self.0.store.is_gone(*node).await? {
                continue;
            }
            self.withdraw_questions(*call, *attempt).await;
            let known = self.secrets_of(&session).await?;
            let found = self.look_for(stored, *attempt).await;
            let found = clean(found, &scrubber(Some(stored), &known));
            ports::failpoint!("recover.looked");
            tracing::info!(session = %id, call = %call, found = found.name(), "a call was interrupted");
            self.recovered(id, *call, *attempt, found).await?;
            ports::failpoint!("recover.wrote");
        }
        // Whatever else waited, a turn to be thought or a call to be started, goes on.
        let submitted = self.submit(id, &Actor::Runtime, &Command::Wake, None).await?;
        self.dispatch(&submitted.session);
        ports::failpoint!("recover.woken");
        Ok(())
    }

    async fn look_for(&self, call: &Call, attempt: u32) -> Recovered {
        let Some(host) = self.0.tools.get(&call.tool) else {
            return Recovered::Unknown {
                evidence: format!("the tool `{}` is not configured any more", call.tool),
            };
        };
        match call.effects {
            Effects::ReadOnly | Effects::Idempotent => Recovered::Again,
            Effects::Transactional | Effects::AtMostOnce => {
                match host.recover(call, attempt).await {
                    Recovery::Done(Outcome::Unknown { evidence })
                    | Recovery::Unknown { evidence } => Recovered::Unknown { evidence },
                    Recovery::Done(outcome) => Recovered::Done(outcome),
                    Recovery::NeverHappened => Recovered::Again,
                }
            }
        }
    }

    async fn recovered(
        &self,
        session: SessionId,
        call: CallId,
        attempt: u32,
        found: Recovered,
    ) -> Result<(), Error> {
        let command = Command::Recover { call, attempt, found };
        match self.submit(session, &Actor::Runtime, &command, None).await {
            Ok(_) | Err(Error::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// What traces say may hold what the tool was given.
fn clean(found: Recovered, scrubber: &Scrubber) -> Recovered {
    match found {
        Recovered::Again => Recovered::Again,
        Recovered::Done(outcome) => Recovered::Done(scrubbed(outcome, scrubber)),
        Recovered::Unknown { evidence } => {
            Recovered::Unknown { evidence: scrubber.scrub_cut(&evidence) }
        }
    }
}
