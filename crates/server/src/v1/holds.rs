//! Holds: the inbox, one of them, opening, withdrawing, claiming, waiting.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use domain::hold::Hold;
use domain::id::HoldId;
use engine::{HoldFilter, Until};
use serde::Deserialize;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, Params, bytes, json};
use crate::auth::Who;
use crate::limits::{WAIT_S_DEFAULT, WAIT_S_MAX};
use crate::problem::{Problem, Reply};
use crate::v1::inbox::HoldsQuery;
use crate::wire::{self, NewHoldBody};

pub(crate) async fn list(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<HoldsQuery>,
) -> Reply {
    let filter = asked.parse()?;
    let limit = filter.limit;
    let found = app.engine.holds(&who.caller, HoldFilter { limit: limit + 1, ..filter }).await?;
    let page = wire::List::cut(found, limit, |hold| hold.id.to_string());
    let undelivered = app.engine.undelivered_of(&page.items).await?;
    let told = page.items.iter().zip(undelivered);
    let items = told.map(|(hold, told)| wire::Hold::of(hold).undelivered(told)).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::Hold> { items, next: page.next }))
}

pub(crate) async fn open(State(app): State<App>, asked: ChangeRequest<NewHoldBody>) -> Reply {
    let render = |hold: &Hold| (201, bytes(&wire::Hold::of(hold)).into());
    let keep = asked.keep(&render);
    let hold = Box::pin(app.engine.open_hold(&asked.who.caller, asked.body.parse()?, keep)).await?;
    ports::failpoint!("http.hold_reply");
    Ok(json(StatusCode::CREATED, &wire::Hold::of(&hold)))
}

pub(crate) async fn show(State(app): State<App>, who: Who, Id(id): Id<HoldId>) -> Reply {
    // mutant: get-changes-state
    let hold = app.engine.hold(&who.caller, id).await?;
    let undelivered = app.engine.undelivered(&hold).await?;
    Ok(json(StatusCode::OK, &wire::Hold::in_full(&hold).undelivered(undelivered)))
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<wire::Cancel>,
) -> Reply {
    let render = |hold: &Hold| (200, bytes(&wire::Hold::of(hold)).into());
    let keep = asked.keep(&render);
    let reason = asked.body.reason.clone();
    let hold = app.engine.cancel_hold(&asked.who.caller, id, reason, keep).await?;
    Ok(json(StatusCode::OK, &wire::Hold::of(&hold)))
}

pub(crate) async fn claim(
    State(app): State<App>,
    Id(id): Id<HoldId>,
    asked: ChangeRequest<wire::Nothing>,
) -> Reply {
    let act = async {
        let before = app.engine.hold(&asked.who.caller, id).await?.claimed_by.clone();
        let hold = app.engine.claim(&asked.who.caller, id, true).await?;
        Ok((StatusCode::OK, bytes(&wire::Hold::of(&hold).claimed_after(before.as_ref()))))
    };
    Box::pin(app.recent.once(asked.key.as_ref(), false, act)).await
}

pub(crate) async fn unclaim(State(app): State<App>, who: Who, Id(id): Id<HoldId>) -> Reply {
    let hold = app.engine.claim(&who.caller, id, false).await?;
    Ok(json(StatusCode::OK, &wire::Hold::of(&hold)))
}

#[derive(Deserialize)]
pub(crate) struct WaitQuery {
    until: Option<String>,
    timeout_s: Option<u64>,
}

impl WaitQuery {
    pub(crate) fn parse(self) -> Result<(Until, Duration), Problem> {
        let until = match self.until.as_deref() {
            None | Some("decided") => Until::Decided,
            Some("settled") => Until::Settled,
            Some(_) => return Err(Problem::bad_request("`until` is `decided` or `settled`")),
        };
        let seconds = self.timeout_s.unwrap_or(WAIT_S_DEFAULT).min(WAIT_S_MAX);
        Ok((until, Duration::from_secs(seconds)))
    }
}

pub(crate) async fn wait(
    State(app): State<App>,
    who: Who,
    Id(id): Id<HoldId>,
    Params(asked): Params<WaitQuery>,
) -> Reply<Response> {
    let (until, timeout) = asked.parse()?;
    let waited = tokio::select! {
        waited = app.engine.wait(&who.caller, id, until, timeout) => waited?,
        () = app.closing.cancelled() => {
            return Err(Problem::unavailable("the server is stopping; ask again", 1).into());
        }
    };
    match waited {
        Some(hold) => Ok(json(StatusCode::OK, &wire::Hold::of(&hold))),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}
