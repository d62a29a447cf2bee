//! Files: uploaded as a body that is nothing but their bytes, and given out as what those bytes are.

use std::fmt::Write as _;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, IF_NONE_MATCH, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use domain::file::FileRef;
use domain::id::FileId;
use engine::{FileBytes, FileError, Upload};
use futures_util::StreamExt as _;
use futures_util::stream;
use serde::Deserialize;
use tokio::time::timeout;

use crate::app::App;
use crate::asked::{Id, Params, drain, json};
use crate::auth::Who;
use crate::idempotency::key_of;
use crate::limits::{UPLOAD_DRAINED_WITHIN, UPLOAD_SILENCE, UPLOAD_WITHIN};
use crate::problem::{Problem, Refused, Reply};
use crate::wire;

/// Nothing of a file may do anything, wherever a browser shows it.
const NOTHING: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";
const SAME_ORIGIN: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UploadQuery {
    name: Option<String>,
}

/// What the request says about its kind is not looked at: the bytes say it.
pub(crate) async fn upload(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    Params(query): Params<UploadQuery>,
    body: Body,
) -> Reply {
    let key = key_of(&headers)?;
    let max = app.engine.limits().file_bytes;
    let stated = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if stated.is_some_and(|stated: u64| stated > max) {
        let _ = timeout(UPLOAD_DRAINED_WITHIN, drain(body.into_data_stream(), 0)).await;
        return Err(refused(FileError::TooLarge { max }));
    }
    let name = query.name.as_deref().unwrap_or_default();
    let upload = app.engine.begin_upload(&who.caller, name, key).await.map_err(refused)?;
    let upload = match timeout(UPLOAD_WITHIN, receive(upload, body)).await {
        Ok(received) => received?,
        Err(_) => return Err(late()),
    };
    // A caller who hangs up now has sent everything, and finds the file under the same idempotency key.
    let stored = upload.finish().await.map_err(refused)?;
    Ok(json(StatusCode::CREATED, &wire::File::of(&stored)))
}

async fn receive(mut upload: Upload, body: Body) -> Reply<Upload> {
    let mut pieces = body.into_data_stream();
    let mut read = 0;
    loop {
        let piece = match timeout(UPLOAD_SILENCE, pieces.next()).await {
            Err(_) => return Err(late()),
            Ok(None) => return Ok(upload),
            Ok(Some(Err(_))) => {
                return Err(Problem::bad_request("the file ended in the middle").into());
            }
            Ok(Some(Ok(piece))) => piece,
        };
        read += piece.len();
        if let Err(error) = upload.write(&piece).await {
            drop(upload);
            let _ = timeout(UPLOAD_DRAINED_WITHIN, drain(pieces, read)).await;
            return Err(refused(error));
        }
    }
}

fn late() -> Refused {
    Problem::bad_request("the file did not arrive in time; send it again").into()
}

pub(crate) async fn about(State(app): State<App>, Id(id): Id<FileId>, who: Who) -> Reply {
    let stored = app.engine.file(&who.caller, id).await.map_err(refused)?;
    Ok(json(StatusCode::OK, &wire::File::of(&stored)))
}

pub(crate) async fn remove(State(app): State<App>, Id(id): Id<FileId>, who: Who) -> Reply {
    app.engine.remove_file(&who.caller, id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The bytes. Only pictures are shown by a browser; everything else is saved.
pub(crate) async fn show(
    State(app): State<App>,
    Id(id): Id<FileId>,
    who: Who,
    headers: HeaderMap,
) -> Reply {
    let file = app.engine.file(&who.caller, id).await.map_err(refused)?.file;
    reply(&app, &file, &headers).await
}

/// The same for a caller who was seen to be allowed it.
pub(crate) async fn reply(app: &App, file: &FileRef, headers: &HeaderMap) -> Reply {
    let tag = format!("\"{}\"", file.digest);
    let known = headers.get(IF_NONE_MATCH).is_some_and(|sent| sent.as_bytes() == tag.as_bytes());
    let mut reply = match known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => {
            let bytes = app.engine.file_bytes(file).await.map_err(refused)?;
            let mut reply = Response::new(Body::from_stream(pieces(bytes)));
            reply.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(file.bytes));
            reply
        }
    };
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(file)));
    headers.insert(CONTENT_DISPOSITION, disposition(file));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(NOTHING));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(SAME_ORIGIN, HeaderValue::from_static("same-origin"));
    // Asked for anew each time: who may see it can change.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    Ok(reply)
}

/// Ends in the middle, as no error can be told any more, where the bytes changed since they were looked at.
fn pieces(
    bytes: FileBytes,
) -> impl futures_util::Stream<Item = Result<Vec<u8>, FileError>> + Send + 'static {
    stream::try_unfold(bytes, |mut bytes| async move {
        let piece = bytes.next().await?;
        Ok(piece.map(|piece| (piece, bytes)))
    })
}

fn content_type(file: &FileRef) -> &'static str {
    match file.kind.media_type() {
        "text/plain" => "text/plain; charset=utf-8",
        "text/csv" => "text/csv; charset=utf-8",
        other => other,
    }
}

fn disposition(file: &FileRef) -> HeaderValue {
    let name = file.name.as_str();
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._- ".contains(c) { c } else { '_' })
        .collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => {
                encoded.push(char::from(byte));
            }
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    let how = if file.is_image() { "inline" } else { "attachment" };
    let text = format!("{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

/// The remedy as a status.
pub(crate) fn refused(error: FileError) -> Refused {
    let detail = error.to_string();
    match error {
        FileError::Engine(error) => error.into(),
        FileError::TooLarge { .. } => Problem::too_large(detail).into(),
        FileError::Empty => Problem::invalid("file", detail).into(),
        FileError::TooManyFiles { .. } | FileError::TooManyBytes { .. } => {
            Problem::too_many(detail, 3_600).into()
        }
        FileError::TooManyUploads => Problem::too_many(detail, 5).into(),
        FileError::NoRoom => Problem::no_room(detail).into(),
        FileError::InUse => Problem::version_conflict(detail).into(),
        FileError::Damaged => Problem::damaged(detail).into(),
        FileError::NotKeptHere => Problem::unavailable(detail, 3_600).into(),
    }
}

#[cfg(test)]
mod tests {
    use domain::digest::Digest;
    use domain::file::{FileKind, FileName};

    use super::*;

    #[test]
    fn a_name_cannot_leave_its_header() {
        let named = |name: &str| FileRef {
            id: FileId::new(1, 1),
            digest: Digest::of(b""),
            bytes: 1,
            kind: FileKind::Text,
            name: FileName::given(name),
        };
        for (name, header) in [
            ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
            ("a\";x=\"b", "attachment; filename=\"a__x__b\"; filename*=UTF-8''a%22%3Bx%3D%22b"),
            ("照.png", "attachment; filename=\"_.png\"; filename*=UTF-8''%E7%85%A7.png"),
            ("a\r\nX: y", "attachment; filename=\"aX_ y\"; filename*=UTF-8''aX%3A%20y"),
        ] {
            assert_eq!(disposition(&named(name)), header, "{name:?}");
        }
    }
}
