//! Asks the model for the next turn, rules on its calls, and brings both in.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::budget::Usage;
use domain::id::{MessageId, SessionId};
use domain::person::Actor;
use domain::refusal::Refusal;
use domain::session::{Command, RuledTurn, Session};
use futures_util::FutureExt as _;
use ports::model::{Delta, ModelError};
use tokio_util::sync::CancellationToken;

use crate::effects::dispatch::Work;
use crate::{Engine, Error};

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnOutcome {
    /// It is on disk, or void.
    Done,
    /// It has a call that begins by being shown, and all is frozen: it is taken anew after the thaw.
    Frozen,
}

impl Engine {
    pub(crate) fn start_think(&self, id: SessionId) {
        let Some(mut stop) = self.0.at_work.take(Work::Think(id)) else { return };
        let engine = self.clone();
        self.spawn(async move {
            loop {
                let result = engine.think(id, &stop).await;
                engine.0.at_work.done(Work::Think(id));
                match result {
                    // A thaw looks at every session with pending work. If it came while this task ran, it
                    // started no other: so go round again.
                    Ok(TurnOutcome::Frozen) if engine.frozen().is_some() => return,
                    Ok(_) => {}
                    Err(error) => {
                        tracing::error!(session = %id, %error, "a turn could not be recorded; it is taken up again");
                        engine.0.clock.sleep(std::time::Duration::from_secs(1)).await;
                    }
                }
                // Another model call may have become pending while this task ended: the commit that made it
                // so found this task running, and started no other.
                if engine.0.closing.has_begun() {
                    return;
                }
                match engine.load_session(id).await {
                    Ok(session) if session.needs_model_call() => {}
                    Ok(_) | Err(Error::Refused(_)) => return,
                    // The session cannot be read: go round again, as no other task will.
                    Err(_) => {}
                }
                match engine.0.at_work.take(Work::Think(id)) {
                    Some(again) => stop = again,
                    None => return,
                }
            }
        });
    }

    async fn think(&self, id: SessionId, stop: &CancellationToken) -> Result<TurnOutcome, Error> {
        let session = self.load_session(id).await?;
        if !session.needs_model_call() {
            return Ok(TurnOutcome::Done);
        }
        let seen = session.transcript.len();
        // A model or a tool that panics ends the run, and not the session.
        let turn = AssertUnwindSafe(self.turn(&session, stop)).catch_unwind().await;
        let turn = turn.unwrap_or_else(|_| {
            self.0.live.discard(id);
            Err(ModelError::Malformed("the model or a tool failed badly".into()))
        });
        let command = match turn {
            Ok(thought) => Command::RecordTurn { seen, turn: thought },
            Err(ModelError::Stopped) => return Ok(TurnOutcome::Done),
            Err(error) => Command::ThinkFailed { seen, error: error.to_string() },
        };
        match self.submit(id, &Actor::Runtime, &command, None).await {
            // The run was cancelled or somebody spoke meanwhile: this turn is void.
            Err(Error::Refused(Refusal::Overtaken)) => {
                self.0.live.discard(id);
                Ok(TurnOutcome::Done)
            }
            Err(Error::Refused(Refusal::Frozen { .. })) => {
                self.0.live.discard(id);
                tracing::info!(session = %id, "a turn waits for the thaw: it has a call for a client");
                Ok(TurnOutcome::Frozen)
            }
            Err(Error::Refused(refusal)) => {
                tracing::warn!(session = %id, %refusal, "a turn was refused");
                Ok(TurnOutcome::Done)
            }
            Err(error) => Err(error),
            Ok(_) => {
                self.0.live.end(id);
                Ok(TurnOutcome::Done)
            }
        }
    }

    async fn turn(
        &self,
        session: &Arc<Session>,
        stop: &CancellationToken,
    ) -> Result<RuledTurn, ModelError> {
        let agent = self.0.agents.get(&session.agent).ok_or_else(|| {
            ModelError::Refused(format!("the agent `{}` is not configured any more", session.agent))
        })?;
        let offered = self.0.tools.offered(agent);
        let files = self.load_files(session, agent.model.takes_images()).await;
        let instructions = agent.instructions.as_deref();
        let request = agent::build_request_with(session, instructions, &offered.offers, &files);
        // The rule that no session is ever bricked: what would be refused is not sent.
        agent::validate(&request).map_err(|error| {
            tracing::error!(session = %session.id, %error, "the transcript is not sound");
            ModelError::Refused(error.to_string())
        })?;
        let message = MessageId::new(self.now().as_ms(), self.0.rng.bits());
        let _slot = self.0.live.begin(session.id, message);
        let live = self.0.live.clone();
        let id = session.id;
        let sink = Arc::new(move |delta: Delta| live.delta(id, delta));
        let _permit = self.0.thinking.acquire().await.map_err(|_| ModelError::Stopped)?;
        ports::failpoint!("think.before_model");
        let result = agent.model.think(&request, sink, stop.clone()).await;
        let turn = match result {
            Ok(turn) => turn,
            Err(error) => {
                self.0.live.discard(id);
                return Err(error);
            }
        };
        ports::failpoint!("think.thought");
        let calls = self.rule_turn(session, agent, turn.calls, &turn.parts).await;
        let usage = agent.prices.applied(Usage {
            input_tokens: turn.usage.input_tokens,
            cached_tokens: turn.usage.cached_tokens,
            output_tokens: turn.usage.output_tokens,
            money: 0,
        });
        Ok(RuledTurn { message, parts: turn.parts, calls, usage })
    }
}
