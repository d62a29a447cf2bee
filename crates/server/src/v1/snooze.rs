//! Snoozes: a person's own, and nobody else's business.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::id::HoldId;
use domain::time::Timestamp;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, bytes, json};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire;

pub(crate) async fn snooze(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<wire::SnoozeBody>,
) -> Reply {
    let caller = &asked.who.caller;
    app.engine.hold(caller, id).await?;
    caller.must_be_person()?;
    let until = Timestamp::parse(&asked.body.until)
        .ok_or_else(|| Problem::invalid("until", "write a moment: 2026-11-18T16:00:00Z"))?;
    let act = async {
        let snooze = app.engine.snooze(caller, id, until).await?;
        Ok((StatusCode::OK, bytes(&wire::Snooze::of(snooze))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

pub(crate) async fn unsnooze(State(app): State<App>, who: Who, Id(id): Id<HoldId>) -> Reply {
    app.engine.unsnooze(&who.caller, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn list(State(app): State<App>, who: Who) -> Reply {
    let snoozes = app.engine.snoozes(&who.caller).await?;
    let items = snoozes.into_iter().map(wire::Snooze::of).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::Snooze>::whole(items)))
}
