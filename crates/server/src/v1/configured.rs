//! People and tools as they are configured, for admins.

use axum::extract::State;
use axum::http::StatusCode;
use domain::event::TokenOwner;
use domain::id::HoldId;

use crate::app::App;
use crate::asked::{Id, json};
use crate::auth::Who;
use crate::problem::Reply;
use crate::wire;

pub(crate) async fn people(State(app): State<App>, who: Who) -> Reply {
    let tokens = app.engine.tokens(&who.caller)?;
    let items = app.engine.people().iter().map(|person| {
        let owner = TokenOwner::Person(person.id.clone());
        let tokens = tokens.iter().filter(|token| token.owner == owner).count();
        wire::ListedPerson::of(person, tokens)
    });
    Ok(json(StatusCode::OK, &wire::List::<wire::ListedPerson>::whole(items.collect())))
}

pub(crate) async fn tools(State(app): State<App>, who: Who) -> Reply {
    who.caller.must_be_admin()?;
    let items = wire::ConfiguredTool::all(&app.engine);
    Ok(json(StatusCode::OK, &wire::List::<wire::ConfiguredTool>::whole(items)))
}

/// The tool of a held call, for whoever may see the hold: its schema makes the form of an edit. Tools of
/// programs that gate their own calls are not known here.
pub(crate) async fn tool_of_hold(State(app): State<App>, who: Who, Id(id): Id<HoldId>) -> Reply {
    let hold = app.engine.hold(&who.caller, id).await?;
    Ok(json(StatusCode::OK, &wire::HeldTool::of(&app.engine, &hold)))
}
