//! Who is calling. Runs before every guarded route, so that nobody learns anything without a name.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use domain::person::PersonId;
use engine::Caller;
use tokio::sync::SemaphorePermit;

use crate::app::App;
use crate::mount::Vouched;
use crate::problem::{Problem, Refused, Reply};
use crate::standing::Standing;
use crate::{cookie, origin, peer};

/// A caller whose credentials were checked, with the credentials: a stream that stays open looks
/// again from time to time whether they still hold.
#[derive(Clone)]
pub(crate) struct Who {
    pub(crate) caller: Caller,
    pub(crate) credential: Credential,
}

#[derive(Clone)]
pub(crate) enum Credential {
    Token {
        secret: String,
        via: &'static str,
    },
    Cookie(String),
    /// The word of the program that mounts us.
    Vouched(Vouched),
    /// None at all: a door acts in the person's name.
    Door {
        person: PersonId,
        door: &'static str,
        via: &'static str,
    },
}

impl Credential {
    pub(crate) async fn caller(&self, app: &App) -> Result<Option<Caller>, engine::Error> {
        match self {
            Credential::Token { secret, via } => Ok(app.engine.caller_by_token(secret, via)),
            Credential::Cookie(secret) => {
                // Never closed.
                let _turn = app.cookie_lookups.acquire().await;
                app.engine.caller_by_cookie(secret).await
            }
            Credential::Vouched(vouched) => {
                Ok(app.engine.caller_vouched(&vouched.person, &vouched.how))
            }
            Credential::Door { person, door, via } => {
                Ok(app.engine.caller_at_door(person, door, via))
            }
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Reply<Who> {
        // Taken and not copied: a handler asks once. Only a route that was not guarded comes here
        // without one.
        parts.extensions.remove::<Who>().ok_or_else(|| Problem::internal().into())
    }
}

/// Who sent this, by what it carries.
pub(crate) async fn authenticate(app: &App, parts: &Parts) -> Reply<Who> {
    let credential = match parts.extensions.get::<Vouched>() {
        Some(vouched) => Credential::Vouched(vouched.clone()),
        None => credential(&parts.headers)?,
    };
    vouch(app, parts, credential, &[]).await
}

/// Whether these credentials are good for this request. `friends` are origins whose pages may send a
/// login's cookie, with the value that proves it, as our own pages do.
pub(crate) async fn vouch(
    app: &App,
    parts: &Parts,
    credential: Credential,
    friends: &[String],
) -> Reply<Who> {
    let headers = &parts.headers;
    let found = match &credential {
        Credential::Cookie(secret) => {
            let _turn = lookup_turn(app, parts).await?;
            app.engine.caller_by_cookie(secret).await?
        }
        _ => credential.caller(app).await?,
    };
    let Some(caller) = found else {
        return Err(failed(app, parts, "this token or login is unknown, expired or revoked").into());
    };
    if let Credential::Cookie(secret) = &credential
        && !is_safe(&parts.method)
    {
        let is_friend = |origin| friends.iter().any(|friend| origin == friend.as_str());
        if !headers.get(ORIGIN).is_some_and(is_friend) {
            must_come_from_us(app, parts)?;
        }
        let sent =
            headers.get("x-holdpoint-csrf").map(|value| value.as_bytes()).unwrap_or_default();
        // mutant: cookie-without-csrf
        if !cookie::is_csrf(secret, sent) {
            let detail = "send the header X-Holdpoint-CSRF with the value that GET /v1/me gives";
            return Err(Problem::not_entitled(detail).into());
        }
    }
    // How that program knows its users we cannot tell; it may well be a cookie.
    if let (Credential::Vouched(_), false) = (&credential, is_safe(&parts.method)) {
        must_come_from_us(app, parts)?;
    }
    if let Some(standing) = parts.extensions.get::<Arc<Standing>>() {
        standing.has_caller();
    }
    if let Err(seconds) = app.buckets.take(&caller.stable_name(), app.engine.now()) {
        return Err(Problem::too_many("you send too many requests; slow down", seconds).into());
    }
    Ok(Who { caller, credential })
}

/// Anybody can send a cookie: so many requests wait to have theirs looked up, and no more.
async fn lookup_turn<'a>(app: &'a App, parts: &Parts) -> Result<SemaphorePermit<'a>, Problem> {
    let waiting = app.cookie_waits.enter(peer::address(app, &parts.extensions, &parts.headers));
    let turn = waiting.evicted().run_until_cancelled_owned(app.cookie_lookups.acquire()).await;
    let busy = || Problem::unavailable("too many logins are being looked up; try again", 1);
    turn.and_then(Result::ok).ok_or_else(busy)
}

pub(crate) fn credential(headers: &HeaderMap) -> Result<Credential, Problem> {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let bearer = value.to_str().ok().and_then(|value| value.split_once(' '));
        // A header that is there and wrong is not made up for by a cookie.
        return match bearer {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                Ok(Credential::Token { secret: token.trim().to_owned(), via: via(headers) })
            }
            _ => Err(Problem::unauthenticated("send the header `Authorization: Bearer <token>`")),
        };
    }
    cookie::read_cookie(headers).map(Credential::Cookie).ok_or_else(|| {
        Problem::unauthenticated("send the header `Authorization: Bearer <token>`, or log in")
    })
}

/// The surface that a person used, for the record only. Others than ours are the plain API.
fn via(headers: &HeaderMap) -> &'static str {
    match headers.get("x-holdpoint-via").map(|value| value.as_bytes()) {
        Some(b"cli") => "cli",
        Some(b"web") => "web",
        _ => "api",
    }
}

pub(crate) fn failed(app: &App, parts: &Parts, detail: &str) -> Problem {
    let from = peer::address(app, &parts.extensions, &parts.headers);
    match app.attempts.failed(from, app.engine.now()) {
        None => Problem::unauthenticated(detail),
        Some(seconds) => Problem::too_many("too many failed attempts; try again later", seconds),
    }
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Browsers say where a request comes from; a state change must come from our own pages.
pub(crate) fn must_come_from_us(app: &App, parts: &Parts) -> Result<(), Problem> {
    let headers = &parts.headers;
    let foreign = || Err(from_another_site());
    if let Some(site) = headers.get("sec-fetch-site")
        && site != "same-origin"
        && site != "none"
    {
        return foreign();
    }
    match headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or("null")) {
        None => Ok(()),
        Some(origin) if origin::is_same(origin, &app.origin) => Ok(()),
        Some(origin) => {
            // HTTP/2 names the host in the address and not in a header.
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            let host = host.or_else(|| parts.uri.authority().map(|authority| authority.as_str()));
            let secure = peer::is_secure(app, &parts.extensions, headers);
            let ours = host.and_then(|host| origin::of_host(host, secure, &app.origin));
            if ours.is_some_and(|ours| origin::is_same(origin, &ours)) { Ok(()) } else { foreign() }
        }
    }
}

/// As [`must_come_from_us`], and the page's host must be one that nobody else can lead to us.
pub(crate) fn must_name_our_host(app: &App, parts: &Parts) -> Result<(), Problem> {
    must_come_from_us(app, parts)?;
    let origin = parts.headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or("null"));
    match origin {
        Some(origin) if !origin::is_host_of_ours(origin, &app.origin) => Err(from_another_site()),
        _ => Ok(()),
    }
}

fn from_another_site() -> Problem {
    Problem::not_entitled(
        "this request comes from another site; if it is this one, set `public_url` (and \
         `trusted_proxies` behind a proxy) under `[server]`",
    )
}
