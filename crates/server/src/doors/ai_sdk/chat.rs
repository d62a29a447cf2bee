//! `POST …/chat`: a message of the person's, or an assistant message that comes back with answers. Both
//! get the stream of what follows.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domain::id::{RunId, SessionId};
use domain::session::{RunStatus, Session};
use engine::{Error, Keep, MessageReceipt, NewMessage};
use serde_json::Value;

use super::super::agreed::{self, Name};
use super::super::conversation;
use super::super::flow::{RunFollower, Since};
use super::super::kept::KeptRun;
use super::super::limits::HISTORY_BYTES_MAX;
use super::super::stream::{self, Heartbeat, Style};
use super::super::unique_keys::UniqueKeys;
use super::chunk_writer::ChunkWriter;
use super::history::LastMessage;
use super::read::{self, AiSdkPost, PostedMessage};
use super::wire::Stopped;
use super::{AiSdkContext, NAME, Ui, answers, edits, refusal, version};
use crate::asked::{json, parse, read_body, read_long};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::streams::StreamPermit;

const STYLE: Style = Style {
    // A comment: the client's parser passes it over.
    heartbeat: Heartbeat(b": still here\n\n"),
    headers: &[("x-vercel-ai-ui-message-stream", "v1")],
};

pub(crate) async fn say(
    State(here): State<AiSdkContext>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    who: Who,
    body: Body,
) -> Response {
    let serving = async {
        let bytes = read_long(&here.app, body, HISTORY_BYTES_MAX).await?;
        let LastMessage(body) = parse(&bytes)?;
        let (place, posted) = read::chat(&body)?;
        let asked = AiSdkRequest::new(&here, query.as_deref(), &headers)?;
        converse(&here, &who, &place, posted, &asked).await
    };
    Box::pin(serving).await.unwrap_or_else(|refused| refusal::worded(refused, refusal::problem))
}

/// `DELETE …/chat/{chat}/run`: stops what runs and what waits behind it. A client that only hangs up
/// stops nothing.
pub(crate) async fn stop(
    State(here): State<AiSdkContext>,
    Path(chat): Path<String>,
    who: Who,
) -> Response {
    let stopping = async {
        let found = conversation::find(&here.app, &who.caller, NAME, &chat).await?;
        let session = found.ok_or_else(|| Problem::not_found("chat"))?;
        let stopped = conversation::stop(&here.app, &who.caller, &session, None).await?;
        Ok(json(StatusCode::OK, &Stopped { success: None, stopped }))
    };
    stopping.await.unwrap_or_else(|refused| refusal::worded(refused, refusal::problem))
}

pub(crate) async fn read_json(here: &AiSdkContext, body: Body) -> Reply<Value> {
    let bytes = read_body(&here.app, body).await?;
    read_value(&bytes)
}

pub(super) fn read_value(bytes: &[u8]) -> Reply<Value> {
    parse::<UniqueKeys>(bytes).map(|UniqueKeys(value)| value)
}

/// What an address and headers say.
pub(crate) struct AiSdkRequest {
    pub(crate) ui: Ui,
    /// The client says that it has the messages of the chat.
    pub(crate) has_messages: bool,
    agent: Arc<str>,
}

impl AiSdkRequest {
    pub(crate) fn new(
        here: &AiSdkContext,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<AiSdkRequest, Problem> {
        let param = |name: &str| {
            let pairs =
                query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
            pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let ui = version(here, param("ui").as_deref(), headers);
        let mut agents = here.wire.agents.iter();
        let agent = match param("agent") {
            None => agents.next(),
            Some(name) => agents.find(|agent| agent.name == name),
        };
        let agent = agent.ok_or_else(|| {
            let names: Vec<&str> = here.wire.agents.iter().map(|it| it.name.as_str()).collect();
            Problem::invalid("agent", format!("the agents here are: {}", names.join(", ")))
        })?;
        let has_messages = param("have").as_deref() == Some("messages");
        Ok(AiSdkRequest { ui, has_messages, agent: agent.agent.clone() })
    }
}

pub(crate) async fn converse(
    here: &AiSdkContext,
    who: &Who,
    place: &str,
    posted: AiSdkPost,
    asked: &AiSdkRequest,
) -> Reply {
    let (app, caller) = (&here.app, &who.caller);
    // Before anything is stored: a caller who hears "too many" has said nothing, and may say it again.
    let permit = app.streams.take(caller.stable_name())?;
    match &posted.message {
        PostedMessage::User { id, texts } => {
            if texts.iter().all(|text| text.trim().is_empty()) {
                return Err(Problem::invalid("messages", "say something").into());
            }
            let session =
                conversation::find_or_open(app, caller, NAME, place, &asked.agent).await?;
            let session =
                edits::superseded(here, who, place, session, id.as_deref(), &posted).await?;
            let name = id.as_ref().map(|id| post_name(session.id, id, texts));
            // Asking for another reply says nothing new.
            if !posted.regenerate
                && let Some((flow, teller)) =
                    answer_in_words(here, who, &session, texts, name.clone(), asked.ui).await?
            {
                return Ok(streamed(here, who, permit, flow, teller));
            }
            let (flow, teller) =
                send_user_message(here, who, place, session, name, &posted, asked.ui).await?;
            Ok(streamed(here, who, permit, flow, teller))
        }
        PostedMessage::Assistant { id, parts } => {
            let found = conversation::find(app, caller, NAME, place).await?;
            let session = found.ok_or_else(|| Problem::not_found("chat"))?;
            let given = answers::read_answers(here, caller, &session, parts, asked.ui).await?;
            let waits = given.is_empty() && given.auto_resubmits;
            answers::store(here, caller, &given).await?;
            let message = id.clone().or_else(|| latest(&session)).unwrap_or_default();
            let is_queued = session.queue.iter().any(|queued| queued.run.to_string() == message);
            let teller = ChunkWriter::new(here, caller, asked.ui, message, given.upto);
            let teller = teller.with(given.calls);
            match is_queued {
                // The reply to a message that waits has shown the open calls again: what it waits for
                // goes on in it, and then its own answer follows.
                true => {
                    let since = Since::latest_run(app, &session).await?;
                    let mut flow = RunFollower::open(app, caller, &session, None, since).await?;
                    if waits {
                        flow.wait_for_change();
                    }
                    Ok(streamed(here, who, permit, flow, teller))
                }
                false => {
                    let flow = follow_run(here, who, &session, given.run, waits).await?;
                    Ok(streamed(here, who, permit, flow, teller))
                }
            }
        }
    }
}

fn latest(session: &Session) -> Option<String> {
    session.run.as_ref().map(|run| run.id.to_string())
}

/// A message that is the agreed answer to an open hold gets the stream of what follows from it.
async fn answer_in_words(
    here: &AiSdkContext,
    who: &Who,
    session: &Session,
    texts: &[String],
    name: Option<Name>,
    ui: Ui,
) -> Reply<Option<(RunFollower, ChunkWriter)>> {
    let (app, caller) = (&here.app, &who.caller);
    let text = texts.join("\n");
    let Some(agreed) = agreed::answer_agreed(app, caller, NAME, session, &text, name).await? else {
        return Ok(None);
    };
    let fresh = app.engine.session(caller, session.id).await?;
    let flow = RunFollower::open(app, caller, &fresh, agreed.run, agreed.since).await?;
    let message = begun(agreed.run, agreed.since);
    Ok(Some((flow, ChunkWriter::new(here, caller, ui, message, None))))
}

/// The client has begun a new message: what follows an answer in words goes into it.
fn begun(run: Option<RunId>, since: Since) -> String {
    format!("{}-{}", run.map(|run| run.to_string()).unwrap_or_default(), since.position)
}

async fn send_user_message(
    here: &AiSdkContext,
    who: &Who,
    place: &str,
    session: Arc<Session>,
    name: Option<Name>,
    posted: &AiSdkPost,
    ui: Ui,
) -> Reply<(RunFollower, ChunkWriter)> {
    let (engine, caller) = (&here.app.engine, &who.caller);
    let PostedMessage::User { id, texts } = &posted.message else {
        return Err(Problem::bad_request("say something").into());
    };
    let run = session.run.as_ref();
    if let (true, Some(run)) = (posted.regenerate, run)
        && run.status() == RunStatus::Failed
    {
        engine.retry_run(caller, run.id).await?;
        let session = engine.session(caller, session.id).await?;
        let message = run.id.to_string();
        let teller = ChunkWriter::new(here, caller, ui, message, None);
        return Ok((follow_run(here, who, &session, None, false).await?, teller));
    }
    let since = Since::now(&session);
    let kept = |said: &MessageReceipt| {
        let kept = KeptRun::new(session.id, Some(said.run)).since(since);
        (200, kept.written())
    };
    let keep = name.map(|Name { key, request }| Keep {
        caller: caller.stable_name(),
        key,
        request,
        render: &kept,
    });
    // Listen first, then speak: what is thought aloud is not stored, and nothing of it is missed.
    let follow = engine.follow_session(session.id, Some(session.version)).await?;
    let files = Vec::new();
    // mutant: ai-sdk-said-twice
    let saying = NewMessage { texts: texts.clone(), files, while_pending: posted.while_pending };
    let (flow, message) = match engine.say(caller, session.id, saying, keep).await {
        Ok(said) => {
            if let Some(id) = id {
                edits::remember(here, place, id, said.message, texts).await?;
            }
            let run = Some(said.run);
            let flow = RunFollower::on(follow, &here.app, caller, &session, run, since).await?;
            (flow, said.run.to_string())
        }
        // It was said before: the repeat gets what came of it.
        Err(Error::Replayed(reply)) => {
            let (run, since, message) = before(&reply.body)?;
            let flow = RunFollower::open(&here.app, caller, &session, Some(run), since).await?;
            (flow, message)
        }
        Err(error) => return Err(error.into()),
    };
    Ok((flow, ChunkWriter::new(here, caller, ui, message, None)))
}

/// A message is its id and its words: the same id with other words is another message.
fn post_name(session: SessionId, id: &str, texts: &[String]) -> Name {
    let request = edits::digest("holdpoint.ai_sdk.message.v2", &session.to_string(), id, texts);
    Name { key: format!("{NAME}:{session}:message:{request}"), request }
}

fn before(kept: &[u8]) -> Result<(RunId, Since, String), Problem> {
    let kept = KeptRun::read(kept);
    let gone = || Problem::unavailable("what was said before cannot be found; try again", 1);
    let (run, since) = kept.run_id().zip(kept.began()).ok_or_else(gone)?;
    let message = match kept.agreed {
        true => begun(Some(run), since),
        false => run.to_string(),
    };
    Ok((run, since, message))
}

/// A run, or the latest, from its beginning: the teller passes over what the client has.
pub(crate) async fn follow_run(
    here: &AiSdkContext,
    who: &Who,
    session: &Session,
    run: Option<RunId>,
    waits: bool,
) -> Reply<RunFollower> {
    let latest = session.run.as_ref().map(|run| run.id);
    let run = run.or(latest);
    let since = match run == latest {
        true => Since::latest_run(&here.app, session).await?,
        false => Since { position: 0, current: None },
    };
    let mut flow = RunFollower::open(&here.app, &who.caller, session, run, since).await?;
    if waits {
        flow.wait_for_change();
    }
    Ok(flow)
}

pub(crate) fn streamed(
    here: &AiSdkContext,
    who: &Who,
    permit: StreamPermit,
    flow: RunFollower,
    teller: ChunkWriter,
) -> Response {
    let (app, door, session, end) =
        (here.app.clone(), here.door.clone(), flow.session(), teller.end_mark());
    let taken = move || door.delivered.record(&app, NAME, session, &end);
    stream::reply(&here.app, who, permit, &STYLE, taken, |out| teller.tell(flow, out))
}
