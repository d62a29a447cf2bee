//! `GET /agent/{uuid}/conversations`: the runs of a session, the newest first. After a reload, a client
//! finds here what it is still asked.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::budget::Usage;
use domain::event::{Event, SessionEvent};
use domain::id::RunId;
use domain::message::{Message, Role};
use domain::session::RunStatus;
use domain::time::Timestamp;
use ports::store::Entry;
use serde::{Deserialize, Serialize};

use super::limits::{CONVERSATIONS_DEFAULT, CONVERSATIONS_MAX};
use super::sessions::{QueryResult, within};
use super::transcript::TranscriptMessage;
use super::wire::Awaited;
use super::{Frontend, awaiting, find, transcript};
use crate::asked::json as reply;
use crate::auth::Who;
use crate::doors::{DoorContext, shown};
use crate::problem::{Problem, Reply};

#[derive(Deserialize)]
pub(super) struct Wanted {
    before: Option<usize>,
    limit: Option<usize>,
    agent_type: Option<String>,
}

impl Wanted {
    /// How many, before which, and of which type.
    pub(super) fn read(
        wanted: QueryResult<Wanted>,
    ) -> Result<(usize, Option<usize>, Option<String>), Problem> {
        let Query(wanted) = wanted.map_err(|no| Problem::invalid("query", no.body_text()))?;
        let limit = within("limit", wanted.limit, CONVERSATIONS_DEFAULT, CONVERSATIONS_MAX)?;
        Ok((limit, wanted.before, wanted.agent_type))
    }
}

pub(super) async fn list(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    Path(uuid): Path<String>,
    wanted: QueryResult<Wanted>,
) -> Reply<Response> {
    let (limit, before, agent_type) = Wanted::read(wanted)?;
    if let Some(name) = &agent_type {
        room.wire.kind(Some(name))?;
    }
    let session = find(&room, &who.caller, &uuid).await?;
    let engine = &room.app.engine;
    let all = runs_in_log(&engine.read_log(session.id).await?);
    let numbered = all.iter().enumerate().map(|(index, run)| (index + 1, run));
    let mut chosen: Vec<(usize, &RunRecord)> =
        numbered.filter(|(number, _)| before.is_none_or(|before| *number < before)).collect();
    let has_more = chosen.len() > limit;
    chosen.drain(..chosen.len().saturating_sub(limit));
    chosen.reverse();
    let open = awaiting::open_prompts(&session, room.wire.setup.bridge_approvals);
    for prompt in &open {
        shown::record(&room.app, &who.caller, room.door.name, &prompt.hold).await?;
    }
    let prompts: Vec<Awaited> = open.iter().map(awaiting::FrontendPrompt::shown).collect();
    let conversations: Vec<Conversation<'_>> = chosen
        .into_iter()
        .map(|(number, run)| {
            let messages = run.messages.iter().map(|message| &**message);
            let messages = transcript::messages(messages, &session, engine);
            let prompts: &[Awaited] = if number == all.len() { &prompts } else { &[] };
            run.shown(number, messages, prompts)
        })
        .collect();
    let page = ConversationsPage { conversations, has_more, title: session.title.as_deref() };
    Ok(reply(StatusCode::OK, &page))
}

#[derive(Debug, Serialize)]
struct ConversationsPage<'a> {
    conversations: Vec<Conversation<'a>>,
    has_more: bool,
    title: Option<&'a str>,
}

/// One run, as this wire shows it.
#[derive(Debug, Serialize)]
struct Conversation<'a> {
    conversation_id: String,
    run_id: String,
    sequence_number: usize,
    user_message: Cow<'a, str>,
    final_response: Option<Cow<'a, str>>,
    started_at: String,
    completed_at: Option<String>,
    stop_reason: Option<&'static str>,
    total_steps: usize,
    usage: ConversationUsage,
    /// Always null: files are not made here.
    generated_files: Option<()>,
    messages: Vec<TranscriptMessage>,
    #[serde(skip_serializing_if = "<[Awaited]>::is_empty")]
    pending_frontend_tools: &'a [Awaited],
}

#[derive(Debug, Serialize)]
struct ConversationUsage {
    input_tokens: u64,
    output_tokens: u64,
}

/// One run, as the log tells of it.
#[derive(Clone, Debug)]
struct RunRecord {
    run: RunId,
    status: RunStatus,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    messages: Vec<Arc<Message>>,
    usage: Usage,
}

fn runs_in_log(entries: &[Entry]) -> Vec<RunRecord> {
    let mut runs: Vec<RunRecord> = Vec::new();
    for (entry, event) in
        entries.iter().flat_map(|entry| entry.events.iter().map(move |it| (entry, it)))
    {
        if let Event::Session(SessionEvent::RunStarted { run }) = event {
            runs.push(RunRecord {
                run: *run,
                status: RunStatus::Running,
                started_at: entry.at,
                ended_at: None,
                messages: Vec::new(),
                usage: Usage::default(),
            });
        }
        let Some(latest) = runs.last_mut() else { continue };
        match event {
            Event::Session(SessionEvent::MessageAdded { message }) => {
                latest.messages.push(message.clone())
            }
            Event::Session(SessionEvent::TurnCounted { usage, .. }) => {
                latest.usage.input_tokens += usage.input_tokens;
                latest.usage.output_tokens += usage.output_tokens;
            }
            Event::Session(SessionEvent::RunPaused { .. }) => latest.status = RunStatus::Paused,
            Event::Session(SessionEvent::RunResumed { .. }) => latest.status = RunStatus::Running,
            Event::Session(SessionEvent::RunCompleted { .. }) => {
                latest.end(RunStatus::Completed, entry.at)
            }
            Event::Session(SessionEvent::RunFailed { .. }) => {
                latest.end(RunStatus::Failed, entry.at)
            }
            Event::Session(SessionEvent::RunCancelled { .. }) => {
                latest.end(RunStatus::Cancelled, entry.at)
            }
            _ => {}
        }
    }
    runs
}

impl RunRecord {
    fn end(&mut self, status: RunStatus, at: Timestamp) {
        self.status = status;
        self.ended_at = Some(at);
    }

    fn shown<'a>(
        &'a self,
        number: usize,
        messages: Vec<TranscriptMessage>,
        prompts: &'a [Awaited],
    ) -> Conversation<'a> {
        let said = self.messages.iter().find(|message| message.role == Role::User);
        let last = self.messages.iter().rfind(|message| message.role == Role::Assistant);
        let steps = self.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let stop_reason = match self.status {
            RunStatus::Running => None,
            RunStatus::Paused => Some("awaiting_frontend_tools"),
            RunStatus::Completed => Some("end_turn"),
            RunStatus::Failed => Some("error"),
            RunStatus::Cancelled => Some("cancelled"),
        };
        let is_over = self.status.is_over();
        Conversation {
            conversation_id: said
                .map_or_else(|| self.run.to_string(), |message| message.id.to_string()),
            run_id: self.run.to_string(),
            sequence_number: number,
            user_message: said.map(|message| message.text()).unwrap_or_default(),
            final_response: last.filter(|_| is_over).map(|message| message.text()),
            started_at: self.started_at.to_string(),
            completed_at: self.ended_at.map(|at| at.to_string()),
            stop_reason,
            total_steps: steps,
            usage: ConversationUsage {
                input_tokens: self.usage.input_tokens,
                output_tokens: self.usage.output_tokens,
            },
            generated_files: None,
            messages,
            pending_frontend_tools: prompts,
        }
    }
}
