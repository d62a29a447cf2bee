//! One stream, told from beginning to end. It ends at a pause that the client can do something about,
//! at the end of the run, or with an error; a pause that only others can end is waited for.

use domain::id::{RunId, SessionId};
use domain::message::{Part, Role};
use domain::session::Session;
use domain::tool::Place as Where;
use engine::{Caller, Error, Followed};
use serde_json::json;

use super::attached::Connection;
use super::wire::{Awaited, HEARTBEAT, Meta, Say, Writer, framed};
use super::{Frontend, awaiting, body, transcript};
use crate::auth::Who;
use crate::doors::flow::{End, Flow, Kind, Settled, Since, Step};
use crate::doors::stream::{self, Gone, Out};
use crate::doors::{AgentType, Room, shown};
use crate::problem::Reply;
use crate::streams::Place;
use axum::response::Response;

pub(super) struct Telling {
    pub(super) room: Room<Frontend>,
    pub(super) caller: Caller,
    pub(super) session: SessionId,
    /// Only of this run, or of all that follow.
    pub(super) run: Option<RunId>,
    pub(super) kind: AgentType,
    /// The first item of a run's stream.
    pub(super) opener: Option<Meta>,
}

/// Whether there is more to tell.
enum Next {
    Wait,
    Over,
}

impl Telling {
    /// The client counts as connected for as long as it reads.
    pub(super) fn stream(
        self,
        who: &Who,
        place: Place,
        flow: Flow,
        connection: Connection,
    ) -> Response {
        let app = self.room.app.clone();
        stream::reply(&app, who, place, HEARTBEAT, &[], |out| async move {
            let _connected = connection;
            let agent = body::uuid(self.session);
            let mut teller = Teller {
                writer: Writer::new(self.kind.format, &agent, &self.kind.agent),
                told: self,
                out,
                calls: 0,
            };
            // Whoever has gone has nothing to be told.
            let _ = teller.tell(flow).await;
        })
    }
}

struct Teller {
    told: Telling,
    writer: Writer,
    out: Out,
    /// Calls of the model's turn that are still to be told.
    calls: usize,
}

impl Teller {
    async fn tell(&mut self, mut flow: Flow) -> Result<(), Gone> {
        if let Some(meta) = self.told.opener.take() {
            self.say(&Say::Opened(meta)).await?;
        }
        loop {
            let next = match flow.next().await {
                Ok(Some(Step::End(end))) => self.end(end).await?,
                Ok(Some(step)) => match self.step(step, &flow).await {
                    Ok(says) => {
                        for say in says {
                            self.say(&say).await?;
                        }
                        continue;
                    }
                    Err(error) => Err(error),
                },
                Ok(None) => return Ok(()),
                Err(error) => Err(error),
            };
            let reopened = match next {
                Ok(Next::Over) => return Ok(()),
                Ok(Next::Wait) => self.wait().await,
                Err(error) => Err(error),
            };
            match reopened {
                Ok(reopened) => flow = reopened,
                Err(error) => {
                    tracing::debug!(%error, "a stream of the frontend tools door ends");
                    let message = "this cannot be told any further at present; come back";
                    return self.fail("unavailable", message).await;
                }
            }
        }
    }

    async fn say(&mut self, say: &Say) -> Result<(), Gone> {
        for item in self.writer.write(say) {
            self.out.send(framed(&item)).await?;
        }
        Ok(())
    }

    async fn fail(&mut self, code: &str, message: &str) -> Result<(), Gone> {
        self.say(&Say::Failed { code: code.to_owned(), message: message.to_owned() }).await
    }

    async fn step(&mut self, step: Step, flow: &Flow) -> Result<Vec<Say>, Error> {
        Ok(match step {
            Step::Delta { kind: Kind::Text, text, .. } => vec![Say::Text(text)],
            Step::Delta { kind: Kind::Reasoning, text, .. } => vec![Say::Thinking(text)],
            Step::Close { .. } => vec![Say::Closed],
            Step::Withdrawn { .. } => vec![Say::Withdrawn],
            Step::Thought { message } => {
                let calls =
                    message.parts.iter().filter(|part| matches!(part, Part::ToolCall { .. }));
                self.calls = calls.count();
                match self.calls {
                    0 => vec![Say::TurnEnded { calls: false }],
                    _ => Vec::new(),
                }
            }
            Step::Called(called) => {
                self.calls = self.calls.saturating_sub(1);
                let mut says = vec![Say::Called {
                    id: called.tool_use_id,
                    name: called.tool.to_string(),
                    input: called.input.to_string(),
                }];
                if self.calls == 0 {
                    says.push(Say::TurnEnded { calls: true });
                }
                says
            }
            Step::Settled(settled) => self.result(settled, &*flow.fresh().await?),
            _ => Vec::new(),
        })
    }

    /// What the client did itself it knows; it is repeated only where the whole history is sent.
    fn result(&self, settled: Settled, session: &Session) -> Vec<Say> {
        let call = session.calls.get(&settled.call).and_then(|record| record.call.as_ref());
        let is_theirs = call.is_some_and(|call| call.place == Where::Client);
        if is_theirs && !self.told.kind.history {
            return Vec::new();
        }
        vec![Say::Result {
            id: settled.tool_use_id,
            name: settled.tool.to_string(),
            text: settled.result.content,
        }]
    }

    async fn end(&mut self, end: End) -> Result<Result<Next, Error>, Gone> {
        match end {
            End::Paused | End::Waiting => {
                let prompts = match self.prompts().await {
                    Ok(prompts) if prompts.is_empty() => return Ok(Ok(Next::Wait)),
                    Ok(prompts) => prompts,
                    Err(error) => return Ok(Err(error)),
                };
                self.say(&Say::Awaiting(prompts)).await?;
                self.say(&Say::Done).await?;
            }
            End::Completed => {
                if self.told.kind.history {
                    match self.final_word().await {
                        Ok(say) => self.say(&say).await?,
                        Err(error) => return Ok(Err(error)),
                    }
                }
                self.say(&Say::Done).await?;
            }
            End::Failed(why) => self.fail("run_failed", &why).await?,
            End::Cancelled => self.fail("run_cancelled", "the run was cancelled").await?,
            End::Closed => self.fail("unavailable", "the server is stopping; come back").await?,
        }
        Ok(Ok(Next::Over))
    }

    /// What is asked now. What was shown of each is on record before it goes out.
    async fn prompts(&self) -> Result<Vec<Awaited>, Error> {
        let room = &self.told.room;
        let session = room.app.engine.session(&self.told.caller, self.told.session).await?;
        let prompts = awaiting::open(&session, room.wire.setup.bridge_approvals);
        for prompt in &prompts {
            let recorded: Reply<()> = shown::record(&room.app, room.door.name, &prompt.hold).await;
            if recorded.is_err() {
                return Err(Error::Unavailable("what is shown could not be recorded".into()));
            }
        }
        Ok(prompts.iter().map(awaiting::Prompt::shown).collect())
    }

    /// Nothing here is for this client: somebody else has to decide.
    async fn wait(&self) -> Result<Flow, Error> {
        let told = &self.told;
        let engine = &told.room.app.engine;
        let session = engine.session(&told.caller, told.session).await?;
        let mut follow = engine.follow_session(told.session, Some(session.version)).await?;
        loop {
            match follow.next().await? {
                Some(Followed::Event(_)) => break,
                Some(_) => {}
                None => return Err(Error::Unavailable("the server is stopping".into())),
            }
        }
        Flow::open(&told.room.app, &told.caller, &session, told.run, Since::now(&session)).await
    }

    async fn final_word(&self) -> Result<Say, Error> {
        let told = &self.told;
        let engine = &told.room.app.engine;
        let session = engine.session(&told.caller, told.session).await?;
        let all = session.transcript.iter().map(|message| &**message);
        let steps = transcript::of_latest_run(&session);
        let steps = steps.iter().filter(|message| message.role == Role::Assistant).count();
        Ok(Say::Final(json!({
            "conversation_history": transcript::messages(all, &session, engine),
            "stop_reason": "end_turn",
            "total_steps": steps,
            "generated_files": [],
        })))
    }
}
