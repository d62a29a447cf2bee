//! How this wire words a refusal. The client shows the whole body to its user, so the sentence that
//! helps comes first.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use super::wire::SuccessFalse;
use crate::problem::{Problem, Refused};

/// For `/chat`.
pub(crate) fn problem(problem: Problem) -> Response {
    let document = serde_json::to_value(&problem).unwrap_or_default();
    let mut rest = document.as_object().cloned().unwrap_or_default();
    let detail = rest.remove("detail").unwrap_or_default();
    let body = format!("{{\"detail\":{detail},{}", &Value::Object(rest).to_string()[1..]);
    with_body(problem.into_response(), body)
}

/// For `/v1/chat`, whose clients know these statuses only.
pub(crate) fn success_false(problem: Problem) -> Response {
    let body = SuccessFalse {
        success: false,
        error: problem.detail(),
        code: problem.code(),
        decision: problem.decision(),
    };
    let body = serde_json::to_string(&body).unwrap_or_default();
    let mut reply = problem.into_response();
    let status = match reply.status().as_u16() {
        413 | 422 => StatusCode::BAD_REQUEST,
        410 | 423 => StatusCode::CONFLICT,
        _ => reply.status(),
    };
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    with_body(reply, body)
}

fn with_body(reply: Response, body: String) -> Response {
    let (mut parts, _) = reply.into_parts();
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    Response::from_parts(parts, body.into())
}

/// What went wrong in a handler of ours, in the words of its route.
pub(crate) fn worded(refused: Refused, words: fn(Problem) -> Response) -> Response {
    match refused {
        Refused::Problem(problem) => words(problem),
        replayed @ Refused::Replayed(_) => replayed.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn body(reply: Response) -> (u16, String) {
        let status = reply.status().as_u16();
        let bytes = axum::body::to_bytes(reply.into_body(), 1 << 16).await.expect("a body");
        (status, String::from_utf8_lossy(&bytes).into_owned())
    }

    #[tokio::test]
    async fn what_helps_comes_first() {
        let (status, text) = body(problem(Problem::invalid("messages", "say something"))).await;
        assert_eq!(status, 422);
        assert!(text.starts_with("{\"detail\":\"say something\","), "{text}");
        let read: Value = serde_json::from_str(&text).expect("a JSON text");
        assert_eq!(read["code"], "answer_invalid");
    }

    #[tokio::test]
    async fn the_older_routes_have_statuses_of_their_own() {
        let (status, text) = body(success_false(Problem::invalid("parts", "no"))).await;
        let read: Value = serde_json::from_str(&text).expect("a JSON text");
        let told = json!({"code": "answer_invalid", "error": "no", "success": false});
        assert_eq!((status, read), (400, told));
    }
}
