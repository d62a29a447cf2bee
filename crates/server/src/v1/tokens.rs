//! Tokens. Their secrets are shown once and kept nowhere.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::id::TokenId;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, Params, bytes, json, page};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire;

#[derive(Deserialize)]
pub(crate) struct TokensQuery {
    limit: Option<usize>,
    cursor: Option<String>,
}

impl TokensQuery {
    /// How many, and after which.
    pub(crate) fn parse(self) -> Result<(usize, Option<TokenId>), Problem> {
        page(self.limit, self.cursor.as_deref())
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<TokensQuery>,
) -> Reply {
    let (limit, after) = asked.parse()?;
    let tokens = app.engine.tokens(&who.caller)?;
    let older = tokens.into_iter().filter(|token| after.is_none_or(|after| token.id < after));
    let page = wire::List::cut(older.collect(), limit, |token| token.id.to_string());
    let items = page.items.iter().map(wire::Token::of).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::Token> { items, next: page.next }))
}

pub(crate) async fn mint(State(app): State<App>, asked: ChangeRequest<wire::NewToken>) -> Reply {
    asked.who.caller.must_be_admin()?;
    let new = asked.body.parse(app.engine.now())?;
    let act = async {
        let minted = app.engine.mint_token(&asked.who.caller, new).await?;
        let mut token = wire::Token::of(&minted.token);
        token.token = Some(minted.secret);
        Ok((StatusCode::CREATED, bytes(&token)))
    };
    app.recent.once(asked.key.as_ref(), true, act).await
}

pub(crate) async fn revoke(State(app): State<App>, who: Who, Id(id): Id<TokenId>) -> Reply {
    app.engine.revoke_token(&who.caller, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
