//! What is asked, read from a request: an id, a body, a query. Everything foreign is turned into our
//! own words here or refused here.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use engine::Keep;
use futures_util::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::auth::Who;
use crate::idempotency::{self, IdempotencyKey, key_of, request_digest};
use crate::limits::{DRAINED_BYTES_MAX, PAGE_DEFAULT, PAGE_MAX};
use crate::problem::{Problem, Refused, Reply};
use crate::replay;

/// A hold without a long diff fits, and most replies are one hold.
const USUAL_BYTES: usize = 2 << 10;

/// The id in a path. What is not an id names nothing, so there is nothing to be found.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr + Send> FromRequestParts<App> for Id<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Reply<Id<T>> {
        let text = Path::<String>::from_request_parts(parts, app).await;
        let id = text.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Id).ok_or_else(|| Problem::not_found("thing").into())
    }
}

/// The query of an address.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Params<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Reply<Params<T>> {
        Ok(Params(query(&parts.uri)?))
    }
}

pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let read = Query::<T>::try_from_uri(uri);
    read.map(|Query(params)| params)
        .map_err(|rejection| Problem::bad_request(rejection.body_text()))
}

/// A request that wants to change something: who, what, and under which idempotency key.
pub(crate) struct ChangeRequest<T> {
    pub(crate) who: Who,
    pub(crate) body: T,
    pub(crate) key: Option<IdempotencyKey>,
}

impl<T: DeserializeOwned> FromRequest<App> for ChangeRequest<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Reply<ChangeRequest<T>> {
        let (mut parts, body) = request.into_parts();
        let who = Who::from_request_parts(&mut parts, app).await?;
        let key = key_of(&parts.headers)?;
        if key.is_some() {
            // Before anything that was kept is looked at: the key is the caller's, but the reply was
            // given to whoever they were then, and by another of their tokens perhaps.
            // mutant: kept-replies-for-any-token
            replay::must_be_let(app, &who.caller, &parts).await?;
        }
        let bytes = read_body(app, body).await?;
        let key = match key {
            None => None,
            Some(key) => {
                let request = request_digest(parts.method.as_str(), parts.uri.path(), &bytes);
                let key = IdempotencyKey {
                    caller: who.caller.stable_name(),
                    key,
                    request,
                    at: app.engine.now(),
                };
                app.recent.check(&key)?;
                if let Some(reply) = app.engine.kept(&key.caller, &key.key, request).await? {
                    return Err(Refused::Replayed(Box::new(reply)));
                }
                Some(key)
            }
        };
        Ok(ChangeRequest { who, body: parse(&bytes)?, key })
    }
}

impl<T> ChangeRequest<T> {
    /// How the engine keeps the reply, if the caller wants to have it again.
    pub(crate) fn keep<'a, V: ?Sized>(
        &self,
        render: &'a (dyn Fn(&V) -> (u16, Vec<u8>) + Send + Sync),
    ) -> Option<Keep<'a, V>> {
        let IdempotencyKey { caller, key, request, .. } = self.key.clone()?;
        Some(Keep { caller, key, request, render })
    }
}

/// A whole body, within its bounds.
pub(crate) async fn read_body(app: &App, body: Body) -> Reply<Bytes> {
    read_at_most(app, body, app.limits.body_bytes).await
}

/// The same, where less is enough.
pub(crate) async fn read_at_most(app: &App, body: Body, limit: usize) -> Reply<Bytes> {
    read_long(app, body, limit.min(app.limits.body_bytes)).await
}

/// The body of somebody who has not shown who they are. They have a small share of places and a short
/// time, so that no number of them can keep known callers waiting.
pub(crate) async fn read_strangers(
    app: &App,
    from: IpAddr,
    body: Body,
    limit: usize,
) -> Reply<Bytes> {
    let ticket = app.stranger_bodies.enter(from);
    let evicted = ticket.evicted();
    let reading = read_within(body, limit, app.limits.stranger_body_timeout);
    evicted
        .run_until_cancelled(reading)
        .await
        .unwrap_or_else(|| Err(Problem::unavailable("too much at once; try again", 1).into()))
}

/// The same as `read_body`, where more is needed than elsewhere.
pub(crate) async fn read_long(app: &App, body: Body, limit: usize) -> Reply<Bytes> {
    read_within(body, limit, app.limits.body_timeout).await
}

async fn read_within(body: Body, limit: usize, timeout: Duration) -> Reply<Bytes> {
    let mut stream = body.into_data_stream();
    let reading = async {
        let mut bytes = Vec::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| Problem::bad_request("the body ended in the middle"))?;
            if bytes.len() + chunk.len() > limit {
                drain(stream, bytes.len() + chunk.len()).await;
                return Err(Problem::too_large(format!("a request has at most {limit} bytes")));
            }
            // Most bodies come in one piece.
            if bytes.is_empty() && stream.is_end_stream() {
                return Ok(chunk);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(bytes))
    };
    match tokio::time::timeout(timeout, reading).await {
        Ok(read) => Ok(read?),
        Err(_) => Err(Problem::bad_request("the body did not arrive in time").into()),
    }
}

/// Reads on for a while what nobody will look at: a caller who is still sending when the connection
/// closes would see a broken connection, and never the reply that says why.
pub(crate) async fn drain(mut stream: axum::body::BodyDataStream, mut read: usize) {
    while read < DRAINED_BYTES_MAX {
        match stream.next().await {
            Some(Ok(chunk)) => read += chunk.len(),
            _ => return,
        }
    }
}

/// An empty body is an empty object: most of what can be said is optional.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Reply<T> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'[') {
        // It would be read as the members of an object, in the order of our own source.
        return Err(Problem::bad_request("the body is a list, and must be an object").into());
    }
    let bytes = if first.is_none() { b"{}" } else { bytes };
    serde_json::from_slice(bytes).map_err(|error| {
        let detail = match error.classify() {
            // The text of the error names fields and kinds of values, never the values.
            serde_json::error::Category::Data => {
                format!("the body has the wrong shape: {}", shape(&error))
            }
            _ => format!("the body is not JSON (line {}, column {})", error.line(), error.column()),
        };
        Problem::bad_request(detail).into()
    })
}

/// A message about a wrong type repeats the value (`invalid type: string "…"`), which may be a
/// secret: the value is left out.
pub(crate) fn shape(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match (text.find('"'), text.rfind('"')) {
        (Some(from), Some(to)) if from < to => format!("{}…{}", &text[..from], &text[to + 1..]),
        _ => text,
    }
}

pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    idempotency::json(status, bytes(value))
}

pub(crate) fn bytes<T: Serialize>(value: &T) -> Bytes {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    write(value, &mut bytes);
    bytes.into()
}

/// At the end of what is there.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    // Writing to memory cannot fail, and every wire type can be JSON.
    let _ = serde_json::to_writer(out, value);
}

/// `?limit=&cursor=`
pub(crate) fn page<C: FromStr>(
    limit: Option<usize>,
    cursor: Option<&str>,
) -> Result<(usize, Option<C>), Problem> {
    let limit = limit.unwrap_or(PAGE_DEFAULT);
    if limit == 0 || limit > PAGE_MAX {
        return Err(Problem::bad_request(format!("`limit` is between 1 and {PAGE_MAX}")));
    }
    let cursor = cursor
        .map(|cursor| {
            cursor
                .parse()
                .map_err(|_| Problem::bad_request("`cursor` is the `next` of an earlier page"))
        })
        .transpose()?;
    Ok((limit, cursor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Small {
        #[serde(default)]
        count: Option<u32>,
    }

    fn refused(body: &str) -> String {
        match parse::<Small>(body.as_bytes()) {
            Err(Refused::Problem(problem)) => {
                serde_json::to_value(&problem).expect("json")["detail"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            }
            other => panic!("{body}: {:?}", other.map(|small| small.count)),
        }
    }

    #[test]
    fn what_the_quick_writer_refuses_is_written_all_the_same() {
        let numbered = std::collections::BTreeMap::from([(1, "a"), (2, "b")]);
        assert_eq!(bytes(&("x", numbered)), r#"["x",{"1":"a","2":"b"}]"#);
    }

    #[test]
    fn nothing_is_an_empty_object() {
        assert!(parse::<Small>(b" \n").is_ok_and(|small| small.count.is_none()));
    }

    #[test]
    fn i45_what_is_wrong_is_said_without_repeating_it() {
        let told = refused(r#"{"count":"hunter2 \" hunter3"}"#);
        assert!(told.contains("invalid type: string …"), "{told}");
        assert!(!told.contains("hunter"), "{told}");
        assert!(refused("{").starts_with("the body is not JSON (line 1"), "{}", refused("{"));
        assert!(refused(r#"{"cuont":1}"#).contains("unknown field `cuont`"));
    }
}
