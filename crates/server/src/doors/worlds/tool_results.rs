//! `POST tool-results`: an answer of the first generation. It is stored before anything is said, runs
//! what is stored, and said again it says and does the same.

use std::sync::Arc;

use axum::response::Response;
use domain::event::{Event, HoldEvent};
use domain::hold::Hold;
use engine::Answering;

use super::DOOR;
use super::fault::{WorldsFault, WorldsResult};
use super::find::Found;
use super::limits::ENTRIES_PAGE;
use super::name::kebab;
use super::telling::{Generation, ReservedStream, streamed};
use super::tool_result::{ResultVerdict, ToolResult};
use super::wire::{SubmittedResult, Success, WorldsEvent};
use super::world_request::{PostRequest, WorldRequest, ok};
use crate::doors::flow::{RunFollower, Since};
use crate::doors::shown;

pub(super) async fn post(posted: PostRequest) -> WorldsResult<Response> {
    // mutant: worlds-body-read-twice.reader
    let given = ToolResult::read(&posted.strict()?)?;
    let here = posted.here;
    let agent = here.agent(&given.agent).ok_or_else(WorldsFault::no_agent)?;
    let found = here.find(&given.call, given.chat.as_deref()).await?;
    // An address, and no authority: a prompt of another agent is not found at this one.
    let addressed =
        |found: &Found| here.source(&found.chat, &found.session).agent == kebab(&agent.name);
    // mutant: worlds-any-agent
    let found = found.filter(addressed);
    let found = found.ok_or_else(WorldsFault::no_call)?;
    if given.chat.as_ref().is_some_and(|chat| *chat != found.chat) {
        return Err(WorldsFault::no_call());
    }
    here.caller().must_be_person()?;
    let since = match found.hold.is_pending() {
        true => Since::now(&found.session),
        // mutant: worlds-repeat-not-reattached
        false => after_decision(&here, &found).await?,
    };
    let stream = ReservedStream::take_if(given.stream, &here, Generation::First)?;
    answer_hold(&here, &found, |hold| given.answer(hold)).await?;
    let decision = given.decision.unwrap_or(ResultVerdict::Approve).name();
    let data = SubmittedResult {
        tool_call_id: given.call.clone(),
        agent_id: given.agent.clone(),
        decision,
        scope: given.scope.unwrap_or("once"),
    };
    let Some(reserved) = stream else {
        let message = "Tool result submitted successfully";
        return Ok(ok(&Success { success: true, message, data }));
    };
    let submitted = WorldsEvent::ToolResultSubmitted { data };
    result_reply(&here, reserved, &found, since, submitted).await
}

/// Answers a hold with what was shown of it on this wire.
pub(super) async fn answer_hold(
    here: &WorldRequest,
    found: &Found,
    answer: impl FnOnce(&Hold) -> WorldsResult<domain::answer::Answer>,
) -> WorldsResult<Arc<Hold>> {
    // Of a hold that is decided already, only who says the same again hears yes.
    let digest = match found.hold.is_pending() {
        // mutant: worlds-newest-digest
        true => Some(shown::digest(here.app(), here.caller(), DOOR, &found.hold).await?),
        false => None,
    };
    let answering = Answering { digest, answer: answer(&found.hold)? };
    let engine = &here.app().engine;
    Ok(Box::pin(engine.answer(here.caller(), found.hold.id, answering, None)).await?)
}

async fn result_reply(
    here: &WorldRequest,
    reserved: ReservedStream,
    found: &Found,
    since: Since,
    first: WorldsEvent,
) -> WorldsResult<Response> {
    let app = here.app();
    let flow =
        RunFollower::open(app, here.caller(), &found.session, found.hold.run(), since).await?;
    let source = here.source(&found.chat, &found.session);
    Ok(streamed(here, reserved, flow, &found.session, source, vec![first]))
}

/// Just after a hold of the latest run was decided: whoever answers again hears what came of it.
async fn after_decision(here: &WorldRequest, found: &Found) -> WorldsResult<Since> {
    let (app, session) = (here.app(), &found.session);
    let now = Since::now(session);
    if session.run.as_ref().map(|run| run.id) != found.hold.run() {
        return Ok(now);
    }
    let mut position = Since::latest_run(app, session).await?.position;
    loop {
        let entries = app.engine.read_log_after(session.id, position, ENTRIES_PAGE).await?;
        for entry in &entries {
            let decides = |event: &Event| matches!(event.hold_event(), Some(HoldEvent::Decided { hold, .. }) if *hold == found.hold.id);
            if let Some(offset) = entry.events.iter().position(decides) {
                let position = entry.first + offset as u64;
                return Ok(Since { position, current: found.hold.run() });
            }
            position = entry.first + entry.events.len() as u64 - 1;
        }
        if entries.len() < ENTRIES_PAGE {
            return Ok(now);
        }
    }
}
