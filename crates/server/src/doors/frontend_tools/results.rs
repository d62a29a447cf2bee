//! `POST /agent/tool_results`: the client answers the prompts of a pause, and what follows is streamed.
//! The answers are stored all or none, and before the stream opens.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use domain::answer::Answer;
use domain::event::TokenScope;
use domain::hold::Hold;
use domain::id::{HoldId, RunId};
use domain::session::Session;
use engine::{Answering, Caller, Error, Keep};

use super::answering::{self, Plan, Unfit};
use super::body::ResultsAsked;
use super::limits::BODY_BYTES_MAX;
use super::telling::Telling;
use super::{Frontend, find, format, repeats, run, transcript};
use crate::asked::read_at_most;
use crate::auth::Who;
use crate::doors::flow::{RunFollower, Since};
use crate::doors::{AgentType, DoorContext, shown};
use crate::idempotency::IdempotencyKey;
use crate::problem::{Problem, Refused, Reply};

pub(super) async fn answer(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let bytes = read_at_most(&room.app, body, BODY_BYTES_MAX).await?;
    let asked = ResultsAsked::parse(&bytes)?;
    let key = run::key(&room, &who, &headers, "/agent/tool_results", &bytes)?;
    let (app, caller) = (room.app.clone(), who.caller.clone());
    let session = find(&room, &caller, &asked.agent_uuid).await?;
    let kind = room.wire.kind_for(&session, asked.agent_type.as_deref())?;
    let by = caller.must_be_person()?.id().clone();
    caller.must_have(TokenScope::Answer)?;
    if let Some(key) = &key {
        // Another body under the same key is refused; the same one is a repeat by its own words.
        app.engine.kept(&key.caller, &key.key, key.request).await?;
    }
    let bridged = room.wire.setup.bridge_approvals;
    let mut plan =
        answering::plan(&session, bridged, &by, &asked.results).map_err(unfit_refusal)?;
    for (hold, answer) in std::mem::take(&mut plan.unsure) {
        // It is decided, so nothing can come of this but the same again, or a refusal.
        let answering = Answering { digest: None, answer };
        Box::pin(app.engine.answer(&caller, hold.id, answering, None)).await?;
        plan.repeated.push(hold.id);
    }
    let answers = with_digests(&room, &caller, &plan).await?;
    let place = app.streams.take(caller.stable_name())?;
    let connection = room.wire.attached.enter(session.id);
    let since = match answers.is_empty() {
        true => replayed(&room, &session, &plan).await?,
        false => Since::now(&session),
    };
    // Listen first, then answer: nothing of what follows is missed.
    let follow = app.engine.follow_session(session.id, Some(since.position)).await?;
    store(&room, &caller, key, answers).await?;
    let format = format::noted(&app, session.id).await?;
    let flow =
        RunFollower::on(follow, &app, &caller, &session, only(&session, &plan), since).await?;
    let kind = AgentType { format: format.unwrap_or(opened_in(&room, &session, &kind)?), ..kind };
    let session = session.id;
    let telling = Telling { room, caller, session, kind, opener: None };
    Ok(telling.stream(&who, place, flow, connection))
}

/// The format of the session's streams, whatever type the client names now.
fn opened_in(
    room: &DoorContext<Frontend>,
    session: &Session,
    kind: &AgentType,
) -> Result<crate::doors::Format, Problem> {
    match session.home.as_ref().is_some_and(|home| &*home.door == super::NAME) {
        true => Ok(room.wire.kind_for(session, None)?.format),
        false => Ok(kind.format),
    }
}

/// The run that a repeat is told of. What waited behind it when it was answered belongs to that stream
/// too; what was said since has a stream of its own.
fn only(session: &Session, plan: &Plan) -> Option<RunId> {
    let hold = session.holds.get(plan.repeated.first()?)?;
    let decided = hold.state.decision()?.at();
    let latest = session.transcript.iter().rfind(|message| transcript::is_prompt(message))?;
    hold.run().filter(|_| plan.answers.is_empty() && latest.at > decided)
}

/// After what this repeats.
async fn replayed(room: &DoorContext<Frontend>, session: &Session, plan: &Plan) -> Reply<Since> {
    let run = plan.repeated.first().and_then(|id| session.holds.get(id)?.run());
    match repeats::before(&room.app, session.id, &plan.repeated).await? {
        Some(position) => Ok(Since { position, current: run }),
        None => Ok(Since::now(session)),
    }
}

/// The answers, each with the digest of what this person was shown.
async fn with_digests(
    room: &DoorContext<Frontend>,
    caller: &Caller,
    plan: &Plan,
) -> Reply<Vec<(HoldId, Answering)>> {
    let mut answers = Vec::new();
    for (hold, answer) in &plan.answers {
        let digest = match answer {
            // What a client tool was asked to do cannot be edited; an approval is of what was shown.
            Answer::Perform { .. } => None,
            // mutant: frontend-newest-digest
            _ => Some(shown::digest(&room.app, caller, room.door.name, hold).await?),
        };
        answers.push((hold.id, Answering { digest, answer: answer.clone() }));
    }
    Ok(answers)
}

/// Stores all of them or none.
async fn store(
    room: &DoorContext<Frontend>,
    caller: &Caller,
    key: Option<IdempotencyKey>,
    answers: Vec<(HoldId, Answering)>,
) -> Reply<()> {
    let render = |_: &[Arc<Hold>]| (200, b"{}".to_vec());
    let keep = key.map(|IdempotencyKey { caller, key, request, .. }| Keep {
        caller,
        key,
        request,
        render: &render,
    });
    match Box::pin(room.app.engine.answer_all(caller, answers, keep)).await {
        // The same request came twice at once: it is stored.
        Ok(_) | Err(Error::Replayed(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn unfit_refusal(unfit: Unfit) -> Refused {
    match unfit {
        Unfit::Refused(refusal) => refusal.into(),
        Unfit::NotAwaiting => Problem::not_awaiting().into(),
        Unfit::Ids { unknown, duplicate, missing } => {
            Problem::other_ids(unknown, duplicate, missing).into()
        }
    }
}
