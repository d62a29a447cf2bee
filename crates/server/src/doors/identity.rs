//! Who comes through a door: a token, a login, or (where the configuration says so, and only from this
//! machine) the person that the door acts for.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, FORWARDED, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use domain::person::PersonId;
use tokio::sync::SemaphorePermit;

use super::{Door, DoorContext};
use crate::app::App;
use crate::auth::{self, Credential, Who};
use crate::peer::Peer;
use crate::problem::{Problem, Refused, Reply};
use crate::threshold::caller_place;

pub(crate) async fn guard<S: Send + Sync + 'static>(
    State(room): State<DoorContext<S>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    match admit(&room.app, &room.door, &parts).await {
        Ok((who, _place)) => {
            parts.extensions.insert(who);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(Refused::Problem(problem)) => (room.door.refuse)(problem),
        Err(replayed) => replayed.into_response(),
    }
}

/// With a place of a known caller, taken after the caller was authenticated.
async fn admit<'a>(app: &'a App, door: &Door, parts: &Parts) -> Reply<(Who, SemaphorePermit<'a>)> {
    let credential = match (shown_credential(door, &parts.headers), &door.act_as) {
        (Ok(credential), Some(person)) if is_idle_cookie(&credential, parts) => {
            acting(app, door, person, parts)?
        }
        (Ok(credential), _) => credential,
        // Something was shown, and it is wrong: that is not made up for.
        (Err(problem), _) if parts.headers.contains_key(AUTHORIZATION) => {
            return Err(problem.into());
        }
        (Err(_), Some(person)) => acting(app, door, person, parts)?,
        (Err(problem), None) => return Err(problem.into()),
    };
    let Who { caller, credential } = auth::vouch(app, parts, credential, &door.origins).await?;
    Ok((Who { caller: caller.via(door.via), credential }, caller_place(app)?))
}

fn shown_credential(door: &Door, headers: &HeaderMap) -> Result<Credential, Problem> {
    let token = door.token_header.as_ref().and_then(|name| headers.get(name));
    match token.filter(|_| !headers.contains_key(AUTHORIZATION)) {
        None => auth::credential(headers),
        Some(token) => {
            let token = token.to_str().unwrap_or_default().trim();
            let secret = token.strip_prefix("Bearer ").unwrap_or(token).to_owned();
            Ok(Credential::Token { secret, via: door.via })
        }
    }
}

/// A browser sends the cookie of our own page along from any page. Without the header that
/// only our page knows it stands for nobody, so a client that can send no credentials is none the
/// worse for it.
fn is_idle_cookie(credential: &Credential, parts: &Parts) -> bool {
    matches!(credential, Credential::Cookie(_)) && !parts.headers.contains_key("x-holdpoint-csrf")
}

/// In the person's name, if nothing but a program on this machine or a page that the door knows can
/// have sent this.
fn acting(app: &App, door: &Door, person: &PersonId, parts: &Parts) -> Result<Credential, Problem> {
    let headers = &parts.headers;
    let refused = |why: &str| {
        Err(Problem::not_entitled(format!(
            "{why}; send the header `Authorization: Bearer <token>`"
        )))
    };
    if !app.loopback || !parts.extensions.get::<Peer>().is_some_and(|peer| peer.0.is_loopback()) {
        return refused("without credentials this door is for this machine only");
    }
    // Behind a proxy, the caller may be on another machine.
    if headers.contains_key("x-forwarded-for") || headers.contains_key(FORWARDED) {
        return refused("without credentials this door takes nothing from a proxy");
    }
    // HTTP/2 names the host in the address and not in a header.
    let hosts: Vec<&str> = match headers.contains_key(HOST) {
        true => header_values(headers, HOST),
        false => parts.uri.authority().map(|authority| authority.as_str()).into_iter().collect(),
    };
    // A name that somebody else's DNS lets point at this machine is not this machine.
    // mutant: door-acts-for-any-host
    if hosts.is_empty() || !hosts.iter().all(|host| is_loopback(host)) {
        return refused("without credentials this door is reached by a loopback address only");
    }
    let known = |origin: &&str| {
        let own = origin.split_once("://").is_some_and(|(_, authority)| hosts == [authority]);
        // mutant: door-acts-for-any-page
        own || door.origins.iter().any(|known| known == origin)
    };
    if !header_values(headers, ORIGIN).iter().all(known) {
        return refused("this page is not on the door's list of origins");
    }
    // Pages can send other types without the browser asking us first.
    let types = header_values(headers, CONTENT_TYPE);
    if !types.iter().all(|kind| is_json(kind)) || (parts.method == Method::POST && types.is_empty())
    {
        return refused("without credentials this door takes `application/json` only");
    }
    Ok(Credential::Door { person: person.clone(), door: door.name, via: door.via })
}

/// Every value of a header; one that is no text is nobody's.
fn header_values(headers: &HeaderMap, name: HeaderName) -> Vec<&str> {
    // mutant: door-takes-first-header
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).collect()
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

pub(super) fn is_loopback(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or_default(),
        None => authority.split_at(authority.rfind(':').unwrap_or(authority.len())),
    };
    // Whatever else stands there may make another host of it.
    let digits = port.strip_prefix(':').unwrap_or(port);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for ours in ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.9.9.9:1", "[::1]:80", "[::1]"]
        {
            assert!(is_loopback(ours), "{ours}");
        }
        for foreign in [
            "",
            "localhost.evil.com",
            "evil.com:80",
            "127.0.0.1.nip.io",
            "10.0.0.1",
            "0.0.0.0",
            "[::]:80",
            "::1",
            "[::1]:@evil.com",
            "[::1",
            "localhost:1@evil.com",
        ] {
            assert!(!is_loopback(foreign), "{foreign}");
        }
    }

    #[test]
    fn types_that_a_page_can_send_unasked_are_not_json() {
        assert!(is_json("application/json") && is_json("Application/JSON; charset=utf-8"));
        for other in ["text/plain", "application/json+x", "text/plain; application/json", ""] {
            assert!(!is_json(other), "{other}");
        }
    }
}
