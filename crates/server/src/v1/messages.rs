//! Saying something in a session.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use domain::id::SessionId;
use engine::MessageReceipt;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::problem::Reply;
use crate::sse::{self, Scene};
use crate::wire::{self, SayBody};

/// With `Accept: text/event-stream` the reply is the run's events. A repeat under the same
/// idempotency key is answered with run and message: the events can be had from the session.
pub(crate) async fn say(
    State(app): State<App>,
    Id(id): Id<SessionId>,
    EventsWanted(events): EventsWanted,
    asked: ChangeRequest<SayBody>,
) -> Reply {
    let render = |said: &MessageReceipt| (202, bytes(&wire::MessageReceipt::of(said)).into());
    let keep = asked.keep(&render);
    let ChangeRequest { who, body, .. } = asked;
    let (caller, saying) = (&who.caller, body.parse()?);
    if !events {
        let said = app.engine.say(caller, id, saying, keep).await?;
        ports::failpoint!("http.message_reply");
        return Ok(json(StatusCode::ACCEPTED, &wire::MessageReceipt::of(&said)));
    }
    // Listen first, then speak: nothing of the run is missed.
    app.engine.session(caller, id).await?;
    let place = app.streams.take(caller.stable_name())?;
    let (session, follow) = app.engine.follow_from_now(id).await?;
    let MessageReceipt { run, message } = app.engine.say(caller, id, saying, keep).await?;
    let current = session.run.as_ref().map(|run| run.id);
    Ok(sse::run(&app, who, place, follow, Scene::Run { run, message, current }).await)
}

/// Whether the caller wants the run's events, and not only word that it was said.
pub(crate) struct EventsWanted(bool);

impl<S: Sync> FromRequestParts<S> for EventsWanted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<EventsWanted, Infallible> {
        Ok(EventsWanted(wants_events(&parts.headers)))
    }
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "text/event-stream"))
}
