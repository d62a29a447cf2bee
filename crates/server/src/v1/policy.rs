//! What the policy in force says: of a call that somebody thinks of, and of those of the last days.

use axum::extract::State;
use axum::http::StatusCode;

use super::figures::DaysQuery;
use crate::app::App;
use crate::asked::{ChangeRequest, Params, bytes, json};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire;

pub(crate) async fn explain(
    State(app): State<App>,
    asked: ChangeRequest<wire::ImaginedCallBody>,
) -> Reply {
    let caller = &asked.who.caller;
    caller.must_be_admin()?;
    let imagined = asked.body.parse()?;
    let act = async {
        app.previews.take(&caller.stable_name(), app.engine.now()).map_err(|seconds| {
            Problem::too_many("calls are explained faster than tools can look at them", seconds)
        })?;
        let explained = Box::pin(app.engine.explain_ruling(caller, &imagined)).await?;
        Ok((StatusCode::OK, bytes(&wire::Explained::of(&explained))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

pub(crate) async fn replay(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<DaysQuery>,
) -> Reply {
    who.caller.must_be_admin()?;
    let days = asked.parse()?;
    app.previews.take(&who.caller.stable_name(), app.engine.now()).map_err(|seconds| {
        Problem::too_many("the policy is replayed faster than the log can be read", seconds)
    })?;
    let replay = app.engine.replay_policy(&who.caller, days).await?;
    Ok(json(StatusCode::OK, &wire::PolicyReplay::of(&replay, days)))
}
