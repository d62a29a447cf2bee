//! Which pages of other origins a browser lets read our answers: those on the door's list, by name.
//! There is no way to say "all".

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Door;

/// Answers preflights, and adds to every reply what the browser wants to see.
pub(crate) async fn shared(
    State(door): State<Arc<Door>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = allowed(&door, request.headers());
    let asks_first = request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut reply = if request.method() == Method::OPTIONS {
        let wanted = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        let mut reply = StatusCode::NO_CONTENT.into_response();
        if origin.is_some() && asks_first {
            preflight(reply.headers_mut(), wanted);
        }
        reply
    } else {
        next.run(request).await
    };
    let headers = reply.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    }
    reply
}

fn preflight(headers: &mut HeaderMap, wanted: Option<HeaderValue>) {
    const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    if let Some(wanted) = wanted {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted);
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

/// The page's origin, if it is on the list.
fn allowed(door: &Door, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    door.origins.iter().any(|known| origin == known.as_str()).then(|| origin.clone())
}
