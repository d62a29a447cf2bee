//! One-time login links.

use axum::extract::State;
use axum::http::StatusCode;
use domain::person::PersonId;
use engine::LOGIN_MS;

use crate::app::App;
use crate::asked::{Asked, bytes};
use crate::problem::Reply;
use crate::wire;

pub(crate) async fn open(State(app): State<App>, asked: Asked<wire::NewLogin>) -> Reply {
    let act = async {
        let expires_at = app.engine.now().plus_ms(LOGIN_MS).to_string();
        let code =
            app.engine.login_for(&asked.who.caller, &PersonId::new(&asked.body.person)).await?;
        let url = format!("{}/login?code={code}", app.origin);
        Ok((StatusCode::CREATED, bytes(&wire::Login { url, expires_at })))
    };
    app.recent.once(asked.key.as_ref(), true, act).await
}
