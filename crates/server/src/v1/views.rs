//! Views of the inbox that a person keeps under a name.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{ChangeRequest, Params, bytes, json};
use crate::auth::Who;
use crate::problem::Reply;
use crate::wire;

pub(crate) async fn list(State(app): State<App>, who: Who) -> Reply {
    let kept = app.engine.saved_views(&who.caller).await?;
    let items = kept.into_iter().map(wire::SavedView::of).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::SavedView>::whole(items)))
}

pub(crate) async fn save(
    State(app): State<App>,
    asked: ChangeRequest<wire::SavedViewBody>,
) -> Reply {
    let caller = &asked.who.caller;
    caller.must_be_person()?;
    let wire::SavedViewBody { name, query, was } = asked.body;
    let act = async {
        let view = engine::SavedView { name, query };
        let kept = app.engine.save_view(caller, view, was.as_deref()).await?;
        Ok((StatusCode::OK, bytes(&wire::SavedView::of(kept))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

#[derive(Deserialize)]
pub(crate) struct ViewQuery {
    name: Option<String>,
}

pub(crate) async fn forget(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<ViewQuery>,
) -> Reply {
    app.engine.forget_view(&who.caller, &asked.name.unwrap_or_default()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
