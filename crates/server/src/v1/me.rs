//! Who the caller is.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use domain::person::Actor;

use crate::app::App;
use crate::asked::json;
use crate::auth::{Credential, Who};
use crate::{cookie, wire};

pub(crate) async fn show(State(app): State<App>, who: Who) -> Response {
    let (kind, id, name) = match who.caller.actor() {
        Actor::Person(id) => ("person", id.to_string(), app.engine.people().name_of(id).to_owned()),
        Actor::Program { token, name, .. } => ("program", token.to_string(), name.clone()),
        Actor::Runtime => ("program", "runtime".to_owned(), "runtime".to_owned()),
    };
    let me = wire::Me {
        kind,
        id,
        name,
        roles: who.caller.roles().to_vec(),
        scopes: who.caller.scopes().iter().map(|scope| scope.name()).collect(),
        csrf: match &who.credential {
            Credential::Cookie(secret) => Some(cookie::csrf(secret)),
            Credential::Token { .. } | Credential::Vouched(_) | Credential::Door { .. } => None,
        },
        demo: app.demo.clone(),
        agents: app.engine.agent_ids().iter().map(ToString::to_string).collect(),
        warnings: app.warnings.clone(),
        frozen: app.engine.frozen().is_some(),
    };
    json(StatusCode::OK, &me)
}
