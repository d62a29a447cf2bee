//! The secrets of a hold, for somebody who may answer it and asked to see them. Never by GET, and
//! never without a trace.

use axum::extract::State;
use axum::http::StatusCode;
use domain::id::HoldId;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes};
use crate::problem::Reply;
use crate::wire;

pub(crate) async fn reveal(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<wire::Nothing>,
) -> Reply {
    let act = async {
        let secrets = app.engine.reveal(&asked.who.caller, id).await?;
        Ok((StatusCode::OK, bytes(&wire::Secrets::of(&secrets))))
    };
    Box::pin(app.recent.once(asked.key.as_ref(), true, act)).await
}
