//! A fresh preview of an edited call, for those who may answer the hold.

use axum::extract::State;
use axum::http::StatusCode;
use domain::id::HoldId;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes};
use crate::problem::{Problem, Reply};
use crate::wire;

pub(crate) async fn preview(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<wire::EditBody>,
) -> Reply {
    let caller = &asked.who.caller;
    // Whoever may not see or answer it learns that, and not what is wrong with what they wrote.
    app.engine.hold(caller, id).await?;
    caller.must_be_person()?;
    let arguments = asked.body.parse()?;
    let act = async {
        app.previews.take(&caller.stable_name(), app.engine.now()).map_err(|seconds| {
            Problem::too_many("edits are previewed faster than tools can look at them", seconds)
        })?;
        let preview = Box::pin(app.engine.preview_edit(caller, id, arguments)).await?;
        Ok((StatusCode::OK, bytes(&wire::EditPreview::of(&preview))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}
