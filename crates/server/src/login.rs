//! Logging in and out. Opening a login link changes nothing, because chats and mail programs open
//! links by themselves: only the button on the page behind it uses the code up.

use axum::Form;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
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
pub(crate) const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <meta name=\"color-scheme\" content=\"light dark\">\
    <link rel=\"icon\" type=\"image/svg+xml\" href=\"/favicon.svg\">\
    <link rel=\"stylesheet\" href=\"/assets/app.css\">";

#[derive(Deserialize)]
pub(crate) struct Code {
    code: Option<String>,
    /// Where the login leads. Anything but a path of this site leads to the first page.
    next: Option<String>,
}

/// The longest path that a login leads to.
const NEXT_BYTES_MAX: usize = 256;

/// Whether a login may lead there: a path of this site, written in the plainest letters. No other
/// site's, however a browser may read slashes, backslashes, dots and blanks.
pub(crate) fn is_local_path(next: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-.".contains(&byte);
    next.starts_with('/')
        && next.len() <= NEXT_BYTES_MAX
        && next.bytes().all(plain)
        && !next.contains("//")
        && !next.split('/').any(|part| part == "." || part == "..")
}

pub(crate) fn link_to(origin: &str, code: &str, next: Option<&str>) -> String {
    match next.filter(|next| is_local_path(next)) {
        Some(next) => format!("{origin}/login?code={code}&next={next}"),
        None => format!("{origin}/login?code={code}"),
    }
}

impl Code {
    /// Codes are hexadecimal; anything else is not worth showing a button for.
    pub(crate) fn shown(self) -> Option<String> {
        let is_plain = |code: &str| code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.code.filter(|code| !code.is_empty() && is_plain(code))
    }

    fn leads_to(&self) -> &str {
        self.next.as_deref().filter(|next| is_local_path(next)).unwrap_or("/")
    }
}

pub(crate) async fn page(Params(asked): Params<Code>) -> Response {
    let next = asked.leads_to().to_owned();
    let Some(code) = asked.shown() else {
        return plain_reply(
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
             <input type=\"hidden\" name=\"next\" value=\"{next}\">\
             <button type=\"submit\" class=\"primary\">Log in</button></form></main></html>\n"
        ),
    )
}

pub(crate) async fn log_in(State(app): State<App>, request: Request) -> Reply {
    let (parts, body) = request.into_parts();
    auth::must_come_from_us(&app, &parts)?;
    let from = peer::address(&app, &parts.extensions, &parts.headers);
    let body = read_strangers(&app, from, body, STRANGER_BYTES_MAX).await?.into();
    let form = Form::<Code>::from_request(Request::from_parts(parts.clone(), body), &app).await;
    let Ok(Form(form @ Code { code: Some(_), .. })) = form else {
        return Err(Problem::bad_request("send the form field `code`").into());
    };
    match app.engine.log_in(form.code.as_deref().unwrap_or_default()).await? {
        Some(secret) => {
            let secure = peer::is_secure(&app, &parts.extensions, &parts.headers);
            let cookie = cookie::set(&secret, app.engine.session_ms(), secure);
            Ok(sent_to(form.leads_to(), cookie))
        }
        None => match auth::failed(&app, &parts, "").into_response() {
            reply if reply.status() != StatusCode::UNAUTHORIZED => Ok(reply),
            _ => Ok(plain_reply(
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
    Ok(sent_to("/", cookie::clear(secure)))
}

/// A login that is used lasts longer: the browser's cookie with it. `None`: it was prolonged not long ago,
/// or has lasted as long as a login may.
pub(crate) async fn renewed(app: &App, parts: &Parts, who: &Who) -> Option<HeaderValue> {
    let Credential::Cookie(secret) = &who.credential else { return None };
    // What a page asks when it is opened, and whatever a person does on it. Not what it asks by itself.
    if parts.method == Method::GET && parts.uri.path() != "/v1/me" {
        return None;
    }
    match app.engine.prolong_login(secret).await {
        Ok(Some(ms)) => {
            let secure = peer::is_secure(app, &parts.extensions, &parts.headers);
            cookie::set(secret, ms, secure)
        }
        Ok(None) => None,
        // It is good as it is.
        Err(error) => {
            tracing::warn!(%error, "a login could not be prolonged");
            None
        }
    }
}

fn sent_to(path: &str, cookie: Option<HeaderValue>) -> Response {
    let mut reply = StatusCode::SEE_OTHER.into_response();
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    reply.headers_mut().insert(LOCATION, path);
    if let Some(cookie) = cookie {
        reply.headers_mut().insert(SET_COOKIE, cookie);
    }
    guarded(reply)
}

pub(crate) fn plain_reply(status: StatusCode, what: &str) -> Response {
    html(
        status,
        format!(
            "{HEAD}<title>Holdpoint</title><main class=\"login\"><p>{what}</p>\
             <p><a href=\"/\">Go to the page</a></p></main></html>\n"
        ),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn i33_a_login_leads_only_to_this_site() {
        for path in ["/", "/holds/hold_01jd", "/sessions/ses_01.x-y"] {
            assert!(is_local_path(path), "{path}");
        }
        for path in [
            "",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "holds/x",
            "/holds//x",
            "/./x",
            "/../x",
            "/x/..",
            "/x?y=//evil",
            "/x#y",
            "/ x",
            "/x\ny",
            "/x\ty",
            "/%2f%2fevil.example",
            "/\"><script>",
            "javascript:alert(1)",
            "/x:80",
            "/@evil",
            "/é",
        ] {
            assert!(!is_local_path(path), "{path}");
        }
        assert!(!is_local_path(&format!("/{}", "x".repeat(NEXT_BYTES_MAX))));
        assert_eq!(
            link_to("https://h", "ab", Some("/holds/x")),
            "https://h/login?code=ab&next=/holds/x"
        );
        assert_eq!(link_to("https://h", "ab", Some("//evil")), "https://h/login?code=ab");
    }

    proptest! {
        /// What is let through has, for a browser, the origin of the page that it is read on, and is
        /// what it was: nothing of it means anything in a header or an attribute.
        #[test]
        fn i33_no_path_that_is_let_through_leaves_the_site(
            next in r#"[/\\.:@?#%a-z0-9 \t\r\n"'<>&_-]{0,12}|/[a-z/.\\_-]{0,16}|[^a]{0,8}"#
        ) {
            let base = reqwest::Url::parse("https://hold.example/login").unwrap();
            if is_local_path(&next) {
                let read = base.join(&next).unwrap();
                prop_assert_eq!(read.origin(), base.origin());
                prop_assert_eq!(read.path(), next.as_str());
                prop_assert_eq!((read.query(), read.fragment()), (None, None));
                prop_assert!(HeaderValue::from_str(&next).is_ok());
                prop_assert!(!next.contains(['"', '<', '>', '&', '\'', ' ']));
            }
        }
    }
}
