//! Answering: the one thing that only people do.

use axum::extract::State;
use axum::http::StatusCode;
use domain::hold::Hold;
use domain::id::HoldId;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::problem::Reply;
use crate::wire::{self, AnswerBody};

pub(crate) async fn answer(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<AnswerBody>,
) -> Reply {
    let caller = &asked.who.caller;
    // Whoever may not see or answer it learns that, and not what is wrong with what they wrote.
    app.engine.hold(caller, id).await?;
    caller.must_be_person()?;
    let render = |hold: &Hold| (200, bytes(&wire::Hold::of(hold)).into());
    let keep = asked.keep(&render);
    let hold = Box::pin(app.engine.answer(caller, id, asked.body.parse()?, keep)).await?;
    ports::failpoint!("http.answer_reply");
    Ok(json(StatusCode::OK, &wire::Hold::of(&hold)))
}
