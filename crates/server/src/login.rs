//! Logging in and out. Opening a login link changes nothing, because chats and mail programs open
//! links by themselves: only the button on the page behind it uses the code up.

use axum::Form;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use crate::app::App;
use crate::asked::{Params, read_strangers};
use crate::auth::{self, Credential, Who};
use crate::limits::STRANGER_BYTES_MAX;
use crate::page::{guarded, html};
use crate::problem::{Problem, Reply};
use crate::{cookie, peer};

/// The looks of the page's own files, which may be missing: then it is plain, and works.
const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <meta name=\"color-scheme\" content=\"light dark\">\
    <link rel=\"icon\" type=\"image/svg+xml\" href=\"/favicon.svg\">\
    <link rel=\"stylesheet\" href=\"/assets/app.css\">";

#[derive(Deserialize)]
pub(crate) struct Code {
    code: Option<String>,
}

impl Code {
    /// Codes are hexadecimal; anything else is not worth showing a button for.
    pub(crate) fn shown(self) -> Option<String> {
        let is_plain = |code: &str| code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.code.filter(|code| !code.is_empty() && is_plain(code))
    }
}

pub(crate) async fn page(Params(asked): Params<Code>) -> Response {
    let Some(code) = asked.shown() else {
        return told(
            StatusCode::BAD_REQUEST,
            "This is not a login link. `holdpoint token login PERSON` makes one.",
        );
    };
    html(
        StatusCode::OK,
        format!(
            "{HEAD}<title>Log in to Holdpoint</title><main class=\"login\">\
             <h1>Log in to Holdpoint</h1>\
             <p>This link is good for one login in this browser.</p>\
             <form method=\"post\" action=\"/login\">\
             <input type=\"hidden\" name=\"code\" value=\"{code}\">\
             <button type=\"submit\" class=\"primary\">Log in</button></form></main></html>\n"
        ),
    )
}

pub(crate) async fn log_in(State(app): State<App>, request: Request) -> Reply {
    let (parts, body) = request.into_parts();
    auth::must_come_from_us(&app, &parts)?;
    let body = read_strangers(&app, body, STRANGER_BYTES_MAX).await?.into();
    let form = Form::<Code>::from_request(Request::from_parts(parts.clone(), body), &app).await;
    let Ok(Form(Code { code: Some(code) })) = form else {
        return Err(Problem::bad_request("send the form field `code`").into());
    };
    match app.engine.log_in(&code).await? {
        Some(secret) => {
            let secure = peer::is_secure(&app, &parts.extensions, &parts.headers);
            Ok(sent_home(cookie::set(&secret, secure)))
        }
        None => match auth::failed(&app, &parts, "").into_response() {
            reply if reply.status() != StatusCode::UNAUTHORIZED => Ok(reply),
            _ => Ok(told(
                StatusCode::UNAUTHORIZED,
                "This link was used before, or is too old. Ask for a new one.",
            )),
        },
    }
}

pub(crate) async fn log_out(State(app): State<App>, who: Who, request: Request) -> Reply {
    let secure = peer::is_secure(&app, request.extensions(), request.headers());
    drop(request);
    if let Credential::Cookie(secret) = &who.credential {
        app.engine.log_out(secret).await?;
    }
    Ok(sent_home(cookie::clear(secure)))
}

fn sent_home(cookie: Option<HeaderValue>) -> Response {
    let mut reply = StatusCode::SEE_OTHER.into_response();
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
    if let Some(cookie) = cookie {
        reply.headers_mut().insert(SET_COOKIE, cookie);
    }
    guarded(reply)
}

fn told(status: StatusCode, what: &str) -> Response {
    html(
        status,
        format!(
            "{HEAD}<title>Holdpoint</title><main class=\"login\"><p>{what}</p>\
             <p><a href=\"/\">Go to the page</a></p></main></html>\n"
        ),
    )
}
