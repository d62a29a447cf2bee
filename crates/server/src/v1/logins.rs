//! One-time login links.

use axum::extract::State;
use axum::http::StatusCode;
use domain::person::PersonId;
use engine::LOGIN_MS;

use crate::app::App;
use crate::asked::{ChangeRequest, bytes};
use crate::login::{is_local_path, link_to};
use crate::problem::{Problem, Reply};
use crate::wire;

pub(crate) async fn open(State(app): State<App>, asked: ChangeRequest<wire::NewLogin>) -> Reply {
    asked.who.caller.must_be_admin()?;
    if asked.body.next.as_deref().is_some_and(|next| !is_local_path(next)) {
        return Err(
            Problem::invalid("next", "it is a path of this site, such as `/holds/…`").into()
        );
    }
    let act = async {
        let expires_at = app.engine.now().plus_ms(LOGIN_MS).to_string();
        let code =
            app.engine.login_for(&asked.who.caller, &PersonId::new(&asked.body.person)).await?;
        let url = link_to(&app.origin, &code, asked.body.next.as_deref());
        Ok((StatusCode::CREATED, bytes(&wire::Login { url, expires_at })))
    };
    app.recent.once(asked.key.as_ref(), true, act).await
}
