//! Comments: what people say to one another about a hold.

use axum::extract::State;
use axum::http::StatusCode;
use domain::hold::Hold;
use domain::id::HoldId;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::problem::Reply;
use crate::wire;

pub(crate) async fn comment(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<wire::CommentBody>,
) -> Reply {
    let render = |hold: &Hold| (201, bytes(&wire::Hold::in_full(hold)).into());
    let keep = asked.keep(&render);
    let text = asked.body.text.clone();
    let hold = app.engine.comment(&asked.who.caller, id, text, keep).await?;
    Ok(json(StatusCode::CREATED, &wire::Hold::in_full(&hold)))
}
