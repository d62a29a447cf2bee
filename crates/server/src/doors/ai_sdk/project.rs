//! `…/v1/chat`: an older generation of front ends, which posts one message and names a project.

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::super::conversation;
use super::chat::{AiSdkRequest, converse, read_json};
use super::wire::Stopped;
use super::{AiSdkContext, NAME, read, refusal};
use crate::asked::json;
use crate::auth::Who;
use crate::problem::Problem;

/// What the project's conversation is called, apart from chats of the same name.
pub(crate) fn project_place(project: &str) -> String {
    format!("project:{project}")
}

pub(crate) async fn say(
    State(here): State<AiSdkContext>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    who: Who,
    body: Body,
) -> Response {
    let serving = async {
        let body = read_json(&here, body).await?;
        let (project, posted) = read::project(&body)?;
        let asked = AiSdkRequest::new(&here, query.as_deref(), &headers)?;
        converse(&here, &who, &project_place(&project), posted, &asked).await
    };
    Box::pin(serving)
        .await
        .unwrap_or_else(|refused| refusal::worded(refused, refusal::success_false))
}

/// Stops the run and what waits behind it: open holds are cancelled, and every call still gets its result.
pub(crate) async fn stop(
    State(here): State<AiSdkContext>,
    Path(project): Path<String>,
    who: Who,
) -> Response {
    let stopping = async {
        let found =
            conversation::find(&here.app, &who.caller, NAME, &project_place(&project)).await?;
        let session = found.ok_or_else(|| Problem::not_found("chat"))?;
        let stopped = conversation::stop(&here.app, &who.caller, &session, None).await?;
        Ok(json(StatusCode::OK, &Stopped { success: Some(true), stopped }))
    };
    stopping.await.unwrap_or_else(|refused| refusal::worded(refused, refusal::success_false))
}
