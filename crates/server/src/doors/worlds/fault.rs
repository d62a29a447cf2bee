//! What went wrong, in the shape of this wire: `{"error","code","details"?}`.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::refusal::Refusal;
use serde::Serialize;
use serde_json::Value;

use super::body::Detail;
use crate::problem::{Problem, Refused};

#[derive(Debug)]
pub(super) struct WorldsFault(Box<FaultParts>);

#[derive(Debug)]
struct FaultParts {
    status: u16,
    code: &'static str,
    error: String,
    details: Vec<Detail>,
    decision: Option<Value>,
    retry_after_s: Option<u64>,
}

/// A fault as it is sent.
#[derive(Serialize)]
struct FaultBody {
    error: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Value>,
}

/// A fault of our own.
const INTERNAL: &str = "INTERNAL_ERROR";

pub(super) type WorldsResult<T = Response> = Result<T, WorldsFault>;

impl WorldsFault {
    pub(super) fn new(status: u16, code: &'static str, error: impl Into<String>) -> WorldsFault {
        WorldsFault(Box::new(FaultParts {
            status,
            code,
            error: error.into(),
            details: Vec::new(),
            decision: None,
            retry_after_s: None,
        }))
    }

    pub(super) fn invalid(details: Vec<Detail>) -> WorldsFault {
        let error = match details.as_slice() {
            [one] if one.path.is_empty() => one.message.clone(),
            [one] => format!("{} {}", one.path.join("."), one.message),
            _ => "Invalid request body".to_owned(),
        };
        let mut fault = WorldsFault::new(400, "VALIDATION_ERROR", error);
        fault.0.details = details;
        fault
    }

    pub(super) fn args_mismatch() -> WorldsFault {
        let error =
            "toolArgs or workingDirectory is not what was asked about; nothing was recorded";
        WorldsFault::new(409, "TOOL_ARGS_MISMATCH", error)
    }

    pub(super) fn read_only(what: &str) -> WorldsFault {
        let error = format!(
            "{what} cannot be changed here: edit [doors.worlds] and [[agents]] in holdpoint.toml, and restart the server"
        );
        WorldsFault::new(403, "READ_ONLY", error)
    }

    pub(super) fn no_world() -> WorldsFault {
        WorldsFault::new(404, "WORLD_NOT_FOUND", "World not found")
    }

    pub(super) fn no_agent() -> WorldsFault {
        WorldsFault::new(404, "AGENT_NOT_FOUND", "Agent not found")
    }

    pub(super) fn no_chat() -> WorldsFault {
        WorldsFault::new(404, "CHAT_NOT_FOUND", "Chat not found")
    }

    pub(super) fn no_message() -> WorldsFault {
        WorldsFault::new(404, "MESSAGE_NOT_FOUND", "Message not found")
    }

    pub(super) fn no_call() -> WorldsFault {
        let error = "No prompt with this tool_call_id waits for this agent";
        WorldsFault::new(404, "TOOL_CALL_NOT_FOUND", error)
    }

    pub(super) fn locked(error: impl Into<String>) -> WorldsFault {
        WorldsFault::new(423, "WORLD_LOCKED", error)
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.0.status == 404
    }

    /// A fault of our own by the name that clients know for this route.
    pub(super) fn named(mut self, code: &'static str) -> WorldsFault {
        if self.0.code == INTERNAL {
            self.0.code = code;
        }
        self
    }

    /// What a wire without words for it says instead of nothing.
    fn of(problem: &Problem) -> WorldsFault {
        let code = match problem.code() {
            "unauthenticated" => "UNAUTHENTICATED",
            "not_entitled" => "NOT_ENTITLED",
            "not_found" => "TOOL_CALL_NOT_FOUND",
            "hold_already_decided" | "already_voted" => "HOLD_ALREADY_DECIDED",
            "version_conflict" => "VERSION_CONFLICT",
            "hold_expired" => "HOLD_EXPIRED",
            "holds_open" | "frozen" => "WORLD_LOCKED",
            "too_large" => "TOO_LARGE",
            "too_many" => "TOO_MANY",
            "unavailable" => "UNAVAILABLE",
            "bad_request" | "answer_invalid" => "VALIDATION_ERROR",
            _ => INTERNAL,
        };
        // A body that does not fit is 400 on this wire, a locked world 423.
        let status = match (problem.status(), code) {
            (422, _) => 400,
            (409, "WORLD_LOCKED") => 423,
            (status, _) => status,
        };
        let mut fault = WorldsFault::new(status, code, problem.detail());
        let detail = |field: &str| Detail::new(field, problem.detail());
        fault.0.details = problem.field().map(detail).into_iter().collect();
        fault.0.decision = problem.decision().cloned();
        fault.0.retry_after_s = matches!(status, 429 | 503).then_some(1);
        fault
    }
}

/// How the door words what its guard refuses.
pub(super) fn refuse(problem: Problem) -> Response {
    WorldsFault::of(&problem).into_response()
}

impl From<Refused> for WorldsFault {
    fn from(refused: Refused) -> WorldsFault {
        match refused {
            Refused::Problem(problem) => WorldsFault::of(&problem),
            Refused::Replayed(_) => WorldsFault::of(&Problem::internal()),
        }
    }
}

impl From<Problem> for WorldsFault {
    fn from(problem: Problem) -> WorldsFault {
        WorldsFault::of(&problem)
    }
}

impl From<engine::Error> for WorldsFault {
    fn from(error: engine::Error) -> WorldsFault {
        WorldsFault::from(Refused::from(error))
    }
}

impl From<Refusal> for WorldsFault {
    fn from(refusal: Refusal) -> WorldsFault {
        WorldsFault::from(Refused::from(refusal))
    }
}

impl From<Vec<Detail>> for WorldsFault {
    fn from(details: Vec<Detail>) -> WorldsFault {
        WorldsFault::invalid(details)
    }
}

impl IntoResponse for WorldsFault {
    fn into_response(self) -> Response {
        let FaultParts { status, code, error, details, decision, retry_after_s } = *self.0;
        let body = FaultBody { error, code, details, decision };
        // Strings and JSON values only: writing them cannot fail.
        let body = serde_json::to_string(&body).unwrap_or_default();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut reply = (status, body).into_response();
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"holdpoint\"");
            headers.insert(axum::http::header::WWW_AUTHENTICATE, challenge);
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faults_of_our_own_are_called_by_the_name_of_the_route() {
        let named = |fault: WorldsFault| fault.named("CHAT_ERROR").0.code;
        assert_eq!(named(WorldsFault::from(Problem::internal())), "CHAT_ERROR");
        assert_eq!(named(WorldsFault::no_chat()), "CHAT_NOT_FOUND");
        assert_eq!(named(WorldsFault::from(Problem::unavailable("later", 1))), "UNAVAILABLE");
    }
}
