//! What an outside call did, as its program says: that it starts, and how it ended.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::hold::Hold;
use domain::id::HoldId;
use engine::{Caller, Keep, Reported};
use serde_json::Value;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::problem::{Problem, Reply};
use crate::wire::{self, OutcomeBody};

pub(crate) async fn reported(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<OutcomeBody>,
) -> Reply {
    let caller = &asked.who.caller;
    app.engine.hold(caller, id).await?;
    let render = |hold: &Hold| (200, bytes(&wire::Hold::of(hold)).into());
    let keep = asked.keep(&render);
    let hold = match asked.body.state.as_str() {
        "executing" if asked.body.result.is_some() => {
            return Err(Problem::invalid("result", "a call that starts has no result yet").into());
        }
        "executing" => app.engine.start_outside(caller, id, keep).await?,
        "succeeded" => report(&app, caller, id, true, asked.body.result, keep).await?,
        "failed" => report(&app, caller, id, false, asked.body.result, keep).await?,
        _ => {
            let how = "write `executing`, `succeeded` or `failed`";
            return Err(Problem::invalid("state", how).into());
        }
    };
    Ok(json(StatusCode::OK, &wire::Hold::of(&hold)))
}

async fn report(
    app: &App,
    caller: &Caller,
    id: HoldId,
    succeeded: bool,
    result: Option<Value>,
    keep: Option<Keep<'_, Hold>>,
) -> Result<Arc<Hold>, engine::Error> {
    let result = result.map(|result| match result {
        Value::String(text) => text,
        other => other.to_string(),
    });
    app.engine.report_outcome(caller, id, Reported { succeeded, result }, keep).await
}
