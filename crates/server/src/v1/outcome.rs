//! What an outside call did, as its program says.

use axum::extract::State;
use axum::http::StatusCode;
use domain::hold::Hold;
use domain::id::HoldId;
use engine::Reported;
use serde_json::Value;

use crate::app::App;
use crate::asked::{Asked, Id, bytes, json};
use crate::problem::{Problem, Reply};
use crate::wire::{self, OutcomeBody};

pub(crate) async fn report(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: Asked<OutcomeBody>,
) -> Reply {
    let caller = &asked.who.caller;
    app.engine.hold(caller, id).await?;
    let render = |hold: &Hold| (200, bytes(&wire::Hold::of(hold)).into());
    let keep = asked.keep(&render);
    let succeeded = match asked.body.state.as_str() {
        "succeeded" => true,
        "failed" => false,
        _ => return Err(Problem::invalid("state", "write `succeeded` or `failed`").into()),
    };
    let result = asked.body.result.map(|result| match result {
        Value::String(text) => text,
        other => other.to_string(),
    });
    let hold = app.engine.report_outcome(caller, id, Reported { succeeded, result }, keep).await?;
    Ok(json(StatusCode::OK, &wire::Hold::of(&hold)))
}
