//! A person's own browsers that are told: subscribed, listed and let go.

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
    let mine = app.engine.subscriptions(&who.caller).await?;
    let items = mine.into_iter().map(wire::PushSubscription::of).collect();
    let key = app.engine.push_key().map(str::to_owned);
    Ok(json(StatusCode::OK, &wire::PushSubscriptions { key, items }))
}

pub(crate) async fn subscribe(
    State(app): State<App>,
    asked: ChangeRequest<wire::PushBody>,
) -> Reply {
    let caller = &asked.who.caller;
    caller.must_be_person()?;
    let new = asked.body.parse()?;
    let act = async {
        let made = app.engine.subscribe_browser(caller, new).await?;
        Ok((StatusCode::CREATED, bytes(&wire::PushSubscription::of(made))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

#[derive(Deserialize)]
pub(crate) struct Which {
    id: Option<String>,
}

pub(crate) async fn unsubscribe(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<Which>,
) -> Reply {
    app.engine.unsubscribe_browser(&who.caller, &asked.id.unwrap_or_default()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
