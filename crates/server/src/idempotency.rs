//! `Idempotency-Key`: the same key and the same request get the same reply; the same key with
//! another request is refused.
//!
//! Replies that change a session or a hold are kept in the store, in the transaction of the change.
//! Requests that leave no reply there (steering a run, claiming, freezing, tokens, logins) change
//! nothing when they are repeated, or make a secret that must not be written down; their replies are
//! kept in memory, those with a secret for a few minutes only. After that, or in another process,
//! the key of such a request is simply new.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use domain::digest::{Digest, Framed};
use domain::time::Timestamp;
use engine::REPLIES_KEPT_MS;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::OnceCell;

use crate::limits::{KEY_BYTES_MAX, RECENT_REPLIES, SECRETS_KEPT_MS};
use crate::problem::{Problem, Refused, Reply};

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A key as a caller sent it, with what it stands for.
#[derive(Clone, Debug)]
pub(crate) struct IdempotencyKey {
    pub(crate) caller: String,
    pub(crate) key: String,
    pub(crate) request: Digest,
    pub(crate) at: Timestamp,
}

pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    match value.to_str() {
        Ok(key) if !key.is_empty() && key.len() <= KEY_BYTES_MAX => Ok(Some(key.to_owned())),
        _ => {
            let detail =
                format!("the Idempotency-Key must have 1 to {KEY_BYTES_MAX} plain characters");
            Err(Problem::bad_request(detail))
        }
    }
}

pub(crate) fn request_digest(method: &str, path: &str, body: &[u8]) -> Digest {
    Framed::new("holdpoint.request.v1")
        .field("method", method.as_bytes())
        .field("path", path.as_bytes())
        .field("body", body)
        .finish()
}

/// A reply that was given before.
pub(crate) fn replayed(status: u16, body: Vec<u8>) -> Response {
    let mut reply = json(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), body.into());
    reply.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    reply
}

pub(crate) fn json(status: StatusCode, body: Bytes) -> Response {
    let location = (status == StatusCode::CREATED).then(|| location(&body)).flatten();
    let mut reply = Response::new(Body::from(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(location) = location {
        reply.headers_mut().insert(LOCATION, location);
    }
    reply
}

/// Where the new thing is: its id says what it is. Read from the body, so that a replayed reply
/// says it too.
fn location(body: &[u8]) -> Option<HeaderValue> {
    #[derive(serde::Deserialize)]
    struct CreatedId {
        id: String,
    }
    let id = serde_json::from_slice::<CreatedId>(body).ok()?.id;
    let noun = match id.split('_').next()? {
        "hold" => "holds",
        "ses" => "sessions",
        "tok" => "tokens",
        "file" => "files",
        _ => return None,
    };
    HeaderValue::from_str(&format!("/v1/{noun}/{id}")).ok()
}

#[derive(Default)]
pub(crate) struct Recent(Mutex<ReplyCache>);

#[derive(Default)]
struct ReplyCache {
    replies: HashMap<(String, String), IdempotencyEntry>,
    /// In the order of arrival, to forget the oldest.
    order: VecDeque<(String, String)>,
}

struct IdempotencyEntry {
    request: Digest,
    at: Timestamp,
    secret: bool,
    /// Gone when it held a secret and was kept long enough.
    reply: Option<Arc<OnceCell<(StatusCode, Bytes)>>>,
}

impl Recent {
    /// Refuses a key that came with another request.
    pub(crate) fn check(&self, key: &IdempotencyKey) -> Result<(), Problem> {
        let kept = self.0.lock().unpoisoned();
        match kept.replies.get(&(key.caller.clone(), key.key.clone())) {
            Some(entry)
                if entry.request != key.request && key.at.ms_since(entry.at) < REPLIES_KEPT_MS =>
            {
                Err(reused())
            }
            _ => Ok(()),
        }
    }

    /// Runs `act` once per key; a repeat, also at the same time, gets its reply. A
    /// refusal is not kept: what was refused may be tried again.
    pub(crate) async fn once(
        &self,
        key: Option<&IdempotencyKey>,
        secret: bool,
        act: impl Future<Output = Reply<(StatusCode, Bytes)>>,
    ) -> Reply {
        let Some(key) = key else {
            let (status, body) = act.await?;
            return Ok(json(status, body));
        };
        let cell = self.cell(key, secret)?;
        let mut first = false;
        let (status, body) = cell
            .get_or_try_init(|| {
                first = true;
                act
            })
            .await?
            .clone();
        match first {
            true => Ok(json(status, body)),
            false => Ok(replayed(status.as_u16(), body.into())),
        }
    }

    fn cell(
        &self,
        key: &IdempotencyKey,
        secret: bool,
    ) -> Result<Arc<OnceCell<(StatusCode, Bytes)>>, Refused> {
        let mut kept = self.0.lock().unpoisoned();
        let name = (key.caller.clone(), key.key.clone());
        for entry in kept.replies.values_mut().filter(|entry| entry.secret) {
            if key.at.ms_since(entry.at) >= SECRETS_KEPT_MS {
                entry.reply = None;
            }
        }
        match kept.replies.get(&name) {
            Some(entry) if key.at.ms_since(entry.at) < REPLIES_KEPT_MS => {
                if entry.request != key.request {
                    return Err(reused().into());
                }
                return entry.reply.clone().ok_or_else(|| {
                    let detail = "the reply to this request held a secret and is no longer kept; \
                                  if it was lost, revoke what it made and use a fresh key";
                    Problem::key_reused(detail).into()
                });
            }
            _ => {}
        }
        let reply = Arc::new(OnceCell::new());
        let entry = IdempotencyEntry {
            request: key.request,
            at: key.at,
            secret,
            reply: Some(reply.clone()),
        };
        if kept.replies.insert(name.clone(), entry).is_none() {
            kept.order.push_back(name);
        }
        while kept.order.len() > RECENT_REPLIES {
            if let Some(oldest) = kept.order.pop_front() {
                kept.replies.remove(&oldest);
            }
        }
        Ok(reply)
    }
}

fn reused() -> Problem {
    Problem::key_reused("this Idempotency-Key came with another request before; use a fresh one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str, body: &str, at_ms: u64) -> IdempotencyKey {
        let request = request_digest("POST", "/v1/tokens", body.as_bytes());
        let at = Timestamp::from_ms(0).plus_ms(at_ms);
        IdempotencyKey { caller: "person:ana".into(), key: key.into(), request, at }
    }

    async fn act(
        recent: &Recent,
        key: &IdempotencyKey,
        secret: bool,
        says: &'static str,
    ) -> Result<String, u16> {
        let reply = recent
            .once(Some(key), secret, async {
                Ok((StatusCode::OK, Bytes::from_static(says.as_bytes())))
            })
            .await
            .unwrap_or_else(axum::response::IntoResponse::into_response);
        let status = reply.status().as_u16();
        let body = axum::body::to_bytes(reply.into_body(), 1 << 16).await.expect("a body");
        if status == 200 { Ok(String::from_utf8_lossy(&body).into_owned()) } else { Err(status) }
    }

    #[tokio::test]
    async fn i09_the_same_request_acts_once_and_another_is_refused() {
        let recent = Recent::default();
        assert_eq!(act(&recent, &key("k", "a", 0), false, "1").await, Ok("1".into()));
        assert_eq!(act(&recent, &key("k", "a", 1), false, "2").await, Ok("1".into()));
        assert_eq!(act(&recent, &key("k", "b", 1), false, "3").await, Err(422));
        assert!(recent.check(&key("k", "b", 1)).is_err());
        assert_eq!(act(&recent, &key("l", "b", 1), false, "4").await, Ok("4".into()));
        assert_eq!(act(&recent, &key("k", "b", REPLIES_KEPT_MS), false, "5").await, Ok("5".into()));
    }

    #[tokio::test]
    async fn i45_a_secret_is_forgotten_soon_and_never_made_twice() {
        let recent = Recent::default();
        assert_eq!(act(&recent, &key("k", "a", 0), true, "s").await, Ok("s".into()));
        assert_eq!(act(&recent, &key("k", "a", 1), true, "t").await, Ok("s".into()));
        assert_eq!(act(&recent, &key("k", "a", SECRETS_KEPT_MS), true, "u").await, Err(422));
    }

    #[tokio::test]
    async fn a_refusal_is_not_kept() {
        let (recent, key) = (Recent::default(), key("k", "a", 0));
        let refused =
            recent.once(Some(&key), false, async { Err(Problem::not_found("run").into()) }).await;
        assert!(refused.is_err());
        assert_eq!(act(&recent, &key, false, "now").await, Ok("now".into()));
    }

    #[tokio::test]
    async fn replies_are_bounded() {
        let recent = Recent::default();
        for number in 0..RECENT_REPLIES + 10 {
            let _ = act(&recent, &key(&number.to_string(), "a", 0), false, "x").await;
        }
        assert_eq!(recent.0.lock().expect("sound").replies.len(), RECENT_REPLIES);
    }
}
