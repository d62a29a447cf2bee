//! Who may have a reply that was kept under an `Idempotency-Key`: only somebody who could ask for it now.
//! Keys belong to a person, and a person's tokens differ in their scopes.

use std::str::FromStr;

use axum::http::request::Parts;
use domain::event::TokenScope;
use domain::id::{HoldId, RunId, SessionId};
use engine::Caller;

use crate::app::App;
use crate::problem::{Problem, Reply};

/// What a caller must be for a route, apart from what the route says about its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    Scope(TokenScope),
    Person,
    /// A person with this scope.
    PersonWith(TokenScope),
    Admin,
}

impl Need {
    fn check(self, caller: &Caller) -> Result<(), domain::refusal::Refusal> {
        match self {
            Need::Nothing => Ok(()),
            Need::Scope(scope) => caller.must_have(scope),
            Need::Person => caller.must_be_person().map(|_| ()),
            Need::PersonWith(scope) => {
                caller.must_be_person()?;
                caller.must_have(scope)
            }
            Need::Admin => caller.must_be_admin(),
        }
    }
}

/// The object of the path must be visible, and the route's need met: in this order, as the routes
/// themselves do it, so that what a caller may not see is not there for them.
pub(crate) async fn must_be_let(app: &App, caller: &Caller, parts: &Parts) -> Reply<()> {
    // A route that says nothing is for nobody.
    let need = parts.extensions.get::<Need>().copied().unwrap_or(Need::Admin);
    let mut path = parts.uri.path().trim_start_matches('/').split('/').skip(1);
    if let (Some(noun), Some(id)) = (path.next(), path.next()) {
        match noun {
            // Each of its holds is looked at anew, or was when the reply was given.
            "holds" if id == "answers" => {}
            "holds" => drop(app.engine.hold(caller, id_of::<HoldId>(id)?).await?),
            "sessions" => drop(app.engine.session(caller, id_of::<SessionId>(id)?).await?),
            "runs" => drop(app.engine.session_of_run(caller, id_of::<RunId>(id)?).await?),
            _ => {}
        }
    }
    Ok(need.check(caller)?)
}

fn id_of<T: FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::not_found("thing"))
}
