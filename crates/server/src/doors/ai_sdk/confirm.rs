//! `…/hitl-confirm`: the button of a front end, for one call. What it says about the call besides its
//! id is compared or passed over, and never used.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::hold::{Hold, HoldOutcome, HoldState, Question};
use domain::outcome::{ResultKind, ToolResult};
use domain::refusal::Refusal;
use domain::session::{CallState, Session};
use engine::{Answering, Until};

use super::super::{conversation, shown};
use super::answers::{HoldStatus, stands, verdict};
use super::chat::read_json;
use super::values::call_of;
use super::wire::{Confirmed, Confirming, ToolOutput};
use super::{AiSdkContext, NAME, project, refusal};
use crate::asked::{json, shape};
use crate::auth::Who;
use crate::problem::{Problem, Refused, Reply};

/// Longer than this the button shows that it is running.
const WAITS: Duration = Duration::from_secs(30);

pub(crate) async fn confirm(
    State(here): State<AiSdkContext>,
    Path(project): Path<String>,
    who: Who,
    body: Body,
) -> Response {
    let confirming = async {
        let body = read_json(&here, body).await?;
        let asked =
            serde_json::from_value(body).map_err(|error| Problem::bad_request(shape(&error)))?;
        let result = confirmed(&here, &who, &project, &asked).await?;
        Ok(json(StatusCode::OK, &Confirmed { success: true, result }))
    };
    Box::pin(confirming)
        .await
        .unwrap_or_else(|refused| refusal::worded(refused, refusal::success_false))
}

async fn confirmed(
    here: &AiSdkContext,
    who: &Who,
    project: &str,
    asked: &Confirming,
) -> Reply<ToolOutput> {
    let missing = |key: &str| Problem::bad_request(format!("`{key}` is missing"));
    let id = asked.tool_call_id.as_deref().ok_or_else(|| missing("toolCallId"))?;
    let tool = asked.tool_name.as_deref().ok_or_else(|| missing("toolName"))?;
    let approved = asked.confirmed.ok_or_else(|| missing("confirmed"))?;
    let unknown = || Problem::not_found_as("Tool invocation not found");
    let caller = &who.caller;
    let place = project::project_place(project);
    let session = match conversation::find(&here.app, caller, NAME, &place).await {
        Ok(found) => found.ok_or_else(unknown)?,
        // Another person's is as if there were none.
        Err(Refused::Problem(problem)) if problem.is_not_found() => return Err(unknown().into()),
        Err(refused) => return Err(refused),
    };
    let call = call_of(&session, id).ok_or_else(unknown)?;
    let record = session.calls.get(&call).ok_or_else(unknown)?;
    if *record.tool != *tool {
        return Err(Problem::bad_request("`toolName` is not the tool of this call").into());
    }
    let hold = held(&session, call).ok_or_else(unknown)?;
    match stands(&hold, approved) {
        HoldStatus::Open => {
            let digest = shown::digest(&here.app, caller, NAME, &hold).await?;
            let answering = Answering { digest: Some(digest), answer: verdict(approved, None) };
            Box::pin(here.app.engine.answer(caller, hold.id, answering, None)).await?;
        }
        // The same answer, from any person: nothing runs again, and the result is the same.
        HoldStatus::Same => {}
        HoldStatus::Late(refusal) | HoldStatus::Other(refusal) => return Err(refusal.into()),
    }
    let settled = here.app.engine.wait(caller, hold.id, Until::Settled, WAITS).await?;
    match settled {
        None => Ok(ToolOutput::running()),
        Some(hold) => result(here, who, &session, &hold).await,
    }
}

/// The approve hold that a call stands under; a confirmed second call stands under the first one's.
fn held(session: &Session, call: domain::id::CallId) -> Option<Arc<Hold>> {
    let stored = session.calls.get(&call)?.call.as_ref().map_or(call, |stored| stored.id);
    session.hold_of(stored).filter(|hold| hold.question == Question::Approve).cloned()
}

async fn result(
    here: &AiSdkContext,
    who: &Who,
    session: &Session,
    hold: &Hold,
) -> Reply<ToolOutput> {
    if let Some(HoldOutcome::Succeeded(result) | HoldOutcome::Failed(result)) = hold.outcome() {
        return Ok(shaped(result));
    }
    match &hold.state {
        HoldState::Denied(_) => {
            let fresh = here.app.engine.session(&who.caller, session.id).await?;
            let settled =
                hold.call_id().and_then(|call| fresh.calls.get(&call)).and_then(|record| {
                    match &record.state {
                        CallState::Settled { result } if result.kind == ResultKind::Denied => {
                            Some(shaped(result))
                        }
                        _ => None,
                    }
                });
            Ok(settled.unwrap_or_else(|| ToolOutput::denied("")))
        }
        HoldState::Expired { .. } => Err(Refusal::Expired { hold: Box::new(hold.clone()) }.into()),
        _ => Ok(ToolOutput::running()),
    }
}

fn shaped(result: &ToolResult) -> ToolOutput {
    if let Some(shaped) = ToolOutput::of_two_phase(&result.content) {
        return shaped;
    }
    match result.kind {
        ResultKind::Output | ResultKind::Pending => ToolOutput::succeeded(&result.content),
        ResultKind::Denied => ToolOutput::denied(&result.content),
        ResultKind::Error | ResultKind::Expired | ResultKind::Cancelled => {
            ToolOutput::failed(&result.content)
        }
    }
}
