//! People and tools as they are configured, for admins.

use axum::extract::State;
use axum::http::StatusCode;
use domain::event::TokenOwner;

use crate::app::App;
use crate::asked::json;
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
