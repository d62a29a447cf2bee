//! Figures, for admins.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{Params, json};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire;

#[derive(Deserialize)]
pub(crate) struct DaysQuery {
    days: Option<u32>,
}

/// The longest time that is looked back.
pub(crate) const DAYS_MAX: u32 = 30;

impl DaysQuery {
    pub(crate) fn parse(self) -> Result<u32, Problem> {
        match self.days.unwrap_or(7) {
            days @ 1..=DAYS_MAX => Ok(days),
            _ => Err(Problem::bad_request(format!("`days` is 1 to {DAYS_MAX}"))),
        }
    }
}

pub(crate) async fn show(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<DaysQuery>,
) -> Reply {
    who.caller.must_be_admin()?;
    let days = asked.parse()?;
    let figures = app.engine.figures(&who.caller, days).await?;
    Ok(json(StatusCode::OK, &wire::Figures::of(&figures, days)))
}
