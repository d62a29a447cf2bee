//! Where authorization servers send an admin's browser back to. The page that it comes to changes nothing: only its
//! button does, in the browser of the admin who began.

use axum::Form;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ports::mcp_connections::{CallbackReply, ConnectError};
use serde::Deserialize;

use crate::app::App;
use crate::asked::{Params, json, read_strangers};
use crate::limits::{CALLBACK_FIELD_BYTES_MAX, STRANGER_BYTES_MAX};
use crate::login::{HEAD, plain_reply};
use crate::page::html;
use crate::problem::{Problem, Reply};
use crate::v1::mcp::admin_person;
use crate::{auth, peer, wire};

#[derive(Deserialize)]
pub(crate) struct CallbackFields {
    #[serde(default)]
    state: String,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

impl CallbackFields {
    fn is_sound(&self) -> bool {
        let fields =
            [Some(&self.state), self.code.as_ref(), self.iss.as_ref(), self.error.as_ref()];
        let fits = |text: &String| text.len() <= CALLBACK_FIELD_BYTES_MAX;
        !self.state.is_empty() && fields.into_iter().flatten().all(fits)
    }
}

const NOBODY_WAITS: &str = "Nobody waits for this: it was used before, or it is older than 10 minutes. Begin anew with \
                            <code>holdpoint mcp connect NAME</code>.";

pub(crate) async fn page(
    State(app): State<App>,
    Params(fields): Params<CallbackFields>,
) -> Response {
    let desk = app.mcp_connections.get();
    let server = desk.filter(|_| fields.is_sound()).and_then(|it| it.find_begun(&fields.state));
    let Some(server) = server else {
        return plain_reply(StatusCode::BAD_REQUEST, NOBODY_WAITS);
    };
    let server = escaped(&server);
    let hidden = |name: &str, value: Option<&str>| match value {
        Some(value) => {
            let value = escaped(value);
            format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">")
        }
        None => String::new(),
    };
    let inputs = [
        hidden("state", Some(&fields.state)),
        hidden("code", fields.code.as_deref()),
        hidden("iss", fields.iss.as_deref()),
        hidden("error", fields.error.as_deref()),
    ]
    .concat();
    html(
        StatusCode::OK,
        format!(
            "{HEAD}<title>Connect {server}</title><main class=\"login\">\
             <h1>Connect {server}</h1>\
             <p>Agents of this Holdpoint will call the tools of the MCP server <code>{server}</code> with what you \
             have just consented to. Its calls are held as your policy says.</p>\
             <form method=\"post\" action=\"/oauth/callback\">{inputs}\
             <button type=\"submit\" class=\"primary\">Connect</button></form></main></html>\n"
        ),
    )
}

pub(crate) async fn finish(State(app): State<App>, request: Request) -> Reply {
    let (parts, body) = request.into_parts();
    // Also without a header of its own a form of another site gets nowhere: the login's cookie does not go with it, and
    // the state is known to the browser that was sent away.
    auth::must_come_from_us(&app, &parts)?;
    let caller = match auth::credential(&parts.headers) {
        Ok(credential) => credential.caller(&app).await?,
        Err(_) => None,
    };
    let Some(caller) = caller else {
        return match auth::failed(&app, &parts, "").into_response() {
            reply if reply.status() != StatusCode::UNAUTHORIZED => Ok(reply),
            _ => Ok(plain_reply(
                StatusCode::UNAUTHORIZED,
                "You are not logged in here. Log in with another tab of this browser (<code>holdpoint token login \
                 YOU</code> makes a link), then go back and press the button again.",
            )),
        };
    };
    let by = admin_person(&caller)?;
    let from = peer::address(&app, &parts.extensions, &parts.headers);
    let body = read_strangers(&app, from, body, STRANGER_BYTES_MAX).await?.into();
    let form = Form::<CallbackFields>::from_request(Request::from_parts(parts, body), &app).await;
    let Some(fields) = form.ok().map(|Form(fields)| fields).filter(CallbackFields::is_sound) else {
        return Err(
            Problem::bad_request("send the fields that the authorization server sent").into()
        );
    };
    let Some(desk) = app.mcp_connections.get() else {
        return Ok(plain_reply(StatusCode::BAD_REQUEST, NOBODY_WAITS));
    };
    let CallbackFields { state, code, iss, error } = fields;
    let finished = desk.finish(&by, CallbackReply { state, code, iss, error }).await;
    Ok(match finished {
        Ok(server) => {
            let server = escaped(&server);
            let told = format!(
                "The MCP server <code>{server}</code> is connected. You can close this page."
            );
            plain_reply(StatusCode::OK, &told)
        }
        Err(ConnectError::UnknownServer) => plain_reply(StatusCode::BAD_REQUEST, NOBODY_WAITS),
        Err(ConnectError::Refused(why)) => plain_reply(StatusCode::FORBIDDEN, &escaped(&why)),
        Err(ConnectError::Failed(why)) => {
            let told = format!("It was not connected: {}.", escaped(&why));
            plain_reply(StatusCode::BAD_GATEWAY, &told)
        }
    })
}

/// What an authorization server may read about its client.
pub(crate) async fn client_document(State(app): State<App>) -> Response {
    json(StatusCode::OK, &wire::OauthClientDocument::of(&app.origin))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in domain::visible::visible(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_sent_along_leaves_its_attribute() {
        assert_eq!(escaped("\"><script>'&"), "&quot;&gt;&lt;script&gt;&#39;&amp;");
        let fields = |state: &str, code: &str| CallbackFields {
            state: state.into(),
            code: Some(code.into()),
            iss: None,
            error: None,
        };
        assert!(fields("s", "c").is_sound());
        assert!(!fields("", "c").is_sound());
        assert!(!fields("s", &"c".repeat(CALLBACK_FIELD_BYTES_MAX + 1)).is_sound());
    }
}
