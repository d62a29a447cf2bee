//! One stream, told from beginning to end. Every way through it ends: at a pause, at the end of the run,
//! or with an error. Of a pause that this wire has no prompt for, a sentence says where to answer.

use domain::id::{RunId, SessionId};
use domain::message::{Part, Role};
use domain::session::Session;
use domain::tool::Place as Where;
use engine::{Caller, Error};

use super::attached::Connection;
use super::limits::HINTS_MAX;
use super::wire::{Awaited, FinalWord, FormatWriter, Meta, STYLE, StreamItem, framed};
use super::{Frontend, awaiting, body, repeats, transcript};
use crate::auth::Who;
use crate::doors::delivered::EndMark;
use crate::doors::flow::{End, FlowStep, RunFollower, Settled, SpeechKind};
use crate::doors::stream::{self, Gone, Out};
use crate::doors::{AgentType, DoorContext, shown};
use crate::problem::Reply;
use crate::streams::StreamPermit;
use axum::response::Response;

pub(super) struct Telling {
    pub(super) room: DoorContext<Frontend>,
    pub(super) caller: Caller,
    pub(super) session: SessionId,
    pub(super) kind: AgentType,
    /// The first item of a run's stream.
    pub(super) opener: Option<Meta>,
}

impl Telling {
    /// The client counts as connected for as long as it reads.
    pub(super) fn stream(
        self,
        who: &Who,
        place: StreamPermit,
        flow: RunFollower,
        connection: Connection,
    ) -> Response {
        let (app, door, session) = (self.room.app.clone(), self.room.door.clone(), self.session);
        let end = EndMark::default();
        let taken = {
            let (app, end) = (app.clone(), end.clone());
            move || door.delivered.record(&app, door.name, session, &end)
        };
        stream::reply(&app, who, place, &STYLE, taken, |out| async move {
            let _connected = connection;
            let agent = body::uuid(self.session);
            let mut teller = FrontendTeller {
                writer: FormatWriter::new(self.kind.format, &agent, &self.kind.agent),
                told: self,
                out,
                calls: 0,
                end,
            };
            // A client that has gone is told nothing.
            let _ = teller.tell(flow).await;
        })
    }
}

struct FrontendTeller {
    told: Telling,
    writer: FormatWriter,
    out: Out,
    /// Calls of the model's turn that are still to be told.
    calls: usize,
    /// Set at a pause: a client that has it knows of the run, and does not look for it again.
    end: EndMark,
}

impl FrontendTeller {
    async fn tell(&mut self, mut flow: RunFollower) -> Result<(), Gone> {
        if let Some(meta) = self.told.opener.take() {
            self.say(&StreamItem::Opened(meta)).await?;
        }
        loop {
            let says = match flow.next().await {
                Ok(Some(FlowStep::End(end))) => {
                    let says = self.end(end, flow.run()).await;
                    return self.say_all(says).await;
                }
                Ok(Some(step)) => self.step(step, &flow).await,
                Ok(None) => return Ok(()),
                Err(error) => Err(error),
            };
            let failed = says.is_err();
            self.say_all(says).await?;
            if failed {
                return Ok(());
            }
        }
    }

    /// All of it, or one error in its place.
    async fn say_all(&mut self, says: Result<Vec<StreamItem>, Error>) -> Result<(), Gone> {
        match says {
            Ok(says) => {
                for say in says {
                    self.say(&say).await?;
                }
                Ok(())
            }
            Err(error) => {
                tracing::debug!(%error, "a stream of the frontend tools door ends");
                let message = "this cannot be told any further at present; come back";
                self.say(&failed_item("unavailable", message)).await
            }
        }
    }

    async fn say(&mut self, say: &StreamItem) -> Result<(), Gone> {
        for item in self.writer.write(say) {
            self.out.send(framed(&item)).await?;
        }
        Ok(())
    }

    async fn step(&mut self, step: FlowStep, flow: &RunFollower) -> Result<Vec<StreamItem>, Error> {
        Ok(match step {
            FlowStep::Delta { kind: SpeechKind::Text, text, .. } => vec![StreamItem::Text(text)],
            FlowStep::Delta { kind: SpeechKind::Reasoning, text, .. } => {
                vec![StreamItem::Thinking(text)]
            }
            FlowStep::Close { .. } => vec![StreamItem::Closed],
            FlowStep::Withdrawn { .. } => vec![StreamItem::Withdrawn],
            FlowStep::Thought { message } => {
                let calls =
                    message.parts.iter().filter(|part| matches!(part, Part::ToolCall { .. }));
                self.calls = calls.count();
                match self.calls {
                    0 => vec![StreamItem::TurnEnded { calls: false }],
                    _ => Vec::new(),
                }
            }
            FlowStep::Called(called) => {
                self.calls = self.calls.saturating_sub(1);
                let mut says = vec![StreamItem::Called {
                    id: called.tool_use_id,
                    name: called.tool.to_string(),
                    input: called.input.to_string(),
                }];
                if self.calls == 0 {
                    says.push(StreamItem::TurnEnded { calls: true });
                }
                says
            }
            FlowStep::Settled(settled) => self.result(settled, &*flow.fresh().await?),
            _ => Vec::new(),
        })
    }

    /// What the client did itself it knows; it is repeated only where the whole history is sent.
    fn result(&self, settled: Settled, session: &Session) -> Vec<StreamItem> {
        let call = session.calls.get(&settled.call).and_then(|record| record.call.as_ref());
        let is_theirs = call.is_some_and(|call| call.place == Where::Client);
        if is_theirs && !self.told.kind.history {
            return Vec::new();
        }
        vec![StreamItem::Result {
            id: settled.tool_use_id,
            name: settled.tool.to_string(),
            text: settled.result.content,
        }]
    }

    async fn end(&self, end: End, told: Option<RunId>) -> Result<Vec<StreamItem>, Error> {
        Ok(match end {
            End::Paused | End::Waiting => {
                let room = &self.told.room;
                let session = room.app.engine.session(&self.told.caller, self.told.session).await?;
                let prompts = self.prompts(&session).await?;
                let paused = session.run.as_ref().map(|run| run.id);
                self.end.set(repeats::delivered_runs(&[paused, told]));
                let mut says = match prompts.is_empty() {
                    true => elsewhere(&room.app.origin, &session),
                    false => vec![StreamItem::Awaiting(prompts)],
                };
                says.push(StreamItem::Done);
                says
            }
            End::Completed if self.told.kind.history => {
                vec![self.final_word().await?, StreamItem::Done]
            }
            End::Completed => vec![StreamItem::Done],
            End::Failed(why) => vec![failed_item("run_failed", &why)],
            End::Cancelled => vec![failed_item("run_cancelled", "the run was cancelled")],
            End::Closed => vec![failed_item("unavailable", "the server is stopping; come back")],
        })
    }

    /// What is asked now. What was shown of each is on record before it goes out.
    async fn prompts(&self, session: &Session) -> Result<Vec<Awaited>, Error> {
        let room = &self.told.room;
        let prompts = awaiting::open_prompts(session, room.wire.setup.bridge_approvals);
        // mutant: frontend-nothing-recorded-as-shown
        for prompt in &prompts {
            let (caller, door) = (&self.told.caller, room.door.name);
            let recorded: Reply<()> = shown::record(&room.app, caller, door, &prompt.hold).await;
            if recorded.is_err() {
                return Err(Error::Unavailable("what is shown could not be recorded".into()));
            }
        }
        Ok(prompts.iter().map(awaiting::FrontendPrompt::shown).collect())
    }

    async fn final_word(&self) -> Result<StreamItem, Error> {
        let told = &self.told;
        let engine = &told.room.app.engine;
        let session = engine.session(&told.caller, told.session).await?;
        let all = session.transcript.iter().map(|message| &**message);
        let steps = transcript::of_latest_run(&session);
        let steps = steps.filter(|message| message.role == Role::Assistant).count();
        Ok(StreamItem::Final(FinalWord {
            conversation_history: transcript::messages(all, &session, engine),
            stop_reason: "end_turn",
            total_steps: steps,
            generated_files: [],
        }))
    }
}

/// Choices, forms and the like: there is no prompt for them on this wire, but a page of ours.
fn elsewhere(origin: &str, session: &Session) -> Vec<StreamItem> {
    let lines: Vec<String> = session
        .open_holds()
        .take(HINTS_MAX)
        .map(|hold| format!("Waiting for an answer: {} ({origin}/holds/{})", hold.title, hold.id))
        .collect();
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![StreamItem::Text(lines.join("\n")), StreamItem::Closed],
    }
}

fn failed_item(code: &str, message: &str) -> StreamItem {
    StreamItem::Failed { code: code.to_owned(), message: message.to_owned() }
}
