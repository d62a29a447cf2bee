//! What went wrong, as RFC 9457 says it: a status, a stable code, and a sentence that helps. No
//! internals: what only an operator can mend goes to the log.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::hold::Hold;
use domain::refusal::Refusal;
use engine::Error;
use ports::store::KeptReply;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::wire;

#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Problem(Box<Document>);

/// A problem as it is sent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct Document {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: String,
    /// Stable: programs go by this.
    code: &'static str,
    /// What to mend, with `answer_invalid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// What is wrong field by field, where the answer or the edited arguments do not fit a schema. Only codes and numbers,
    /// to be worded by the reader: no word of the schema.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<wire::FieldFault>,
    /// What stands, with `hold_already_decided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Value>,
    /// The hold as it now is.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::now")]
    #[schemars(with = "Option<wire::Hold>")]
    hold: Option<Box<Hold>>,
    /// The open ones, with `holds_open`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    holds: Vec<String>,
    /// Results for prompts that were never sent, with `answer_invalid`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    /// Results that came twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicate: Vec<String>,
    /// Prompts that got no result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    #[serde(skip)]
    retry_after_s: Option<u64>,
}

impl Problem {
    fn new(
        status: u16,
        code: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Problem {
        Problem(Box::new(Document {
            kind: format!("urn:holdpoint:problem:{code}"),
            title,
            status,
            detail: detail.into(),
            code,
            field: None,
            faults: Vec::new(),
            decision: None,
            hold: None,
            holds: Vec::new(),
            unknown: Vec::new(),
            duplicate: Vec::new(),
            missing: Vec::new(),
            retry_after_s: None,
        }))
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(400, "bad_request", "The request makes no sense", detail)
    }

    pub(crate) fn unauthenticated(detail: impl Into<String>) -> Problem {
        Problem::new(401, "unauthenticated", "Who are you?", detail)
    }

    pub(crate) fn not_entitled(detail: impl Into<String>) -> Problem {
        Problem::new(403, "not_entitled", "You may not do this", detail)
    }

    pub(crate) fn not_found(what: &str) -> Problem {
        Problem::new(404, "not_found", "Not found", format!("there is no such {what}"))
    }

    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    pub(crate) fn code(&self) -> &'static str {
        self.0.code
    }

    pub(crate) fn status(&self) -> u16 {
        self.0.status
    }

    /// What to mend, with `answer_invalid`.
    pub(crate) fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// What stands, with `hold_already_decided`.
    pub(crate) fn decision(&self) -> Option<&Value> {
        self.0.decision.as_ref()
    }

    pub(crate) fn is_not_found(&self) -> bool {
        self.0.status == 404
    }

    /// The same, in the words that clients of another system know.
    pub(crate) fn not_found_as(detail: &str) -> Problem {
        Problem::new(404, "not_found", "Not found", detail)
    }

    pub(crate) fn version_conflict(detail: impl Into<String>) -> Problem {
        Problem::new(409, "version_conflict", "It has changed", detail)
    }

    pub(crate) fn wrong_method() -> Problem {
        let detail = "this address does not take this method; /openapi.json says which it takes";
        Problem::new(405, "bad_request", "Wrong method", detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Problem {
        Problem::new(413, "too_large", "Too large", detail)
    }

    pub(crate) fn invalid(field: impl Into<String>, why: impl Into<String>) -> Problem {
        let mut problem = Problem::new(422, "answer_invalid", "This does not fit", why);
        problem.0.field = Some(field.into());
        problem
    }

    /// Results that do not go with the prompts that are open.
    pub(crate) fn other_ids(
        unknown: Vec<String>,
        duplicate: Vec<String>,
        missing: Vec<String>,
    ) -> Problem {
        let why = "send exactly one result for each prompt that is open";
        let mut problem = Problem::invalid("tool_results", why);
        problem.0.unknown = unknown;
        problem.0.duplicate = duplicate;
        problem.0.missing = missing;
        problem
    }

    pub(crate) fn not_awaiting() -> Problem {
        let detail =
            "nothing is asked in this conversation, and nothing of this was answered before";
        Problem::new(409, "not_awaiting", "Nothing is asked", detail)
    }

    pub(crate) fn key_reused(detail: impl Into<String>) -> Problem {
        Problem::new(422, "idempotency_key_reused", "The idempotency key was used before", detail)
    }

    pub(crate) fn too_many(detail: impl Into<String>, retry_after_s: u64) -> Problem {
        Problem::new(429, "too_many", "Too many", detail).again_in(retry_after_s)
    }

    pub(crate) fn unavailable(detail: impl Into<String>, retry_after_s: u64) -> Problem {
        Problem::new(503, "unavailable", "Not at present", detail).again_in(retry_after_s)
    }

    pub(crate) fn no_room(detail: impl Into<String>) -> Problem {
        Problem::new(507, "no_room", "No room", detail)
    }

    /// What is stored is not what was.
    pub(crate) fn damaged(detail: impl Into<String>) -> Problem {
        Problem::new(500, "damaged", "The stored data has changed", detail)
    }

    pub(crate) fn internal() -> Problem {
        let detail = "something went wrong here; the server's log says more";
        Problem::new(500, "internal", "A fault of ours", detail)
    }

    fn again_in(mut self, seconds: u64) -> Problem {
        self.0.retry_after_s = Some(seconds);
        self
    }

    fn with_hold(mut self, hold: Box<Hold>) -> Problem {
        self.0.decision = Some(wire::Hold::of(&hold).what_stands());
        self.0.hold = Some(hold);
        self
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let detail = refusal.to_string();
        match refusal {
            Refusal::NotFound { what } => Problem::not_found(what),
            Refusal::NotEntitled { .. } => Problem::not_entitled(detail),
            Refusal::AlreadyDecided { hold } => {
                Problem::new(409, "hold_already_decided", "Already decided", detail).with_hold(hold)
            }
            Refusal::AlreadyVoted { hold } => {
                Problem::new(409, "already_voted", "You have voted", detail).with_hold(hold)
            }
            Refusal::VersionConflict { hold } => {
                Problem::new(409, "version_conflict", "It has changed", detail).with_hold(hold)
            }
            Refusal::Expired { hold } => {
                Problem::new(410, "hold_expired", "Too late", detail).with_hold(hold)
            }
            Refusal::AnswerInvalid { field, why } => {
                let mut problem = Problem::invalid(field, detail);
                problem.0.faults = wire::FieldFault::list(&why);
                problem
            }
            Refusal::HoldsOpen { holds } => {
                let mut problem = Problem::new(409, "holds_open", "Holds are open", detail);
                problem.0.holds = holds.iter().map(ToString::to_string).collect();
                problem
            }
            Refusal::OneOfSeveral { why, .. } => {
                let mut problem = Problem::from(*why);
                problem.0.detail = detail;
                problem
            }
            Refusal::OutOfTurn { .. } | Refusal::Overtaken => {
                Problem::new(409, "version_conflict", "It has changed", detail)
            }
            Refusal::Frozen { .. } => Problem::new(423, "frozen", "Everything is frozen", detail),
            Refusal::TooMany { .. } => Problem::too_many(detail, 5),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self.0).unwrap_or_default();
        let mut reply = (status, body).into_response();
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.0.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"holdpoint\"");
            headers.insert(axum::http::header::WWW_AUTHENTICATE, challenge);
        }
        reply
    }
}

/// Why a handler has no reply of its own: a problem, or the reply that it gave before.
#[derive(Debug)]
pub(crate) enum Refused {
    Problem(Problem),
    Replayed(Box<KeptReply>),
}

pub(crate) type Reply<T = Response> = Result<T, Refused>;

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused::Problem(problem)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Problem::from(refusal).into()
    }
}

/// A server has to be started anew before it has another key.
const NO_KEY_RETRY_S: u64 = 60;

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Replayed(reply) => Refused::Replayed(reply),
            Error::KeyReused => Problem::key_reused(
                "this Idempotency-Key came with another request before; use a fresh one",
            )
            .into(),
            // No secret can be kept until an operator has done what it says: it names keys by their ids, and no files.
            Error::SealingKey(why) => {
                tracing::error!(%why, "a secret could be neither sealed nor opened");
                Problem::unavailable(why, NO_KEY_RETRY_S).into()
            }
            Error::Unavailable(why) => {
                tracing::warn!(%why, "a request could not be served");
                // The rest may name files; that the disk is full is what somebody has to know.
                let detail = match why.contains("disk is full") {
                    true => {
                        "the server's disk is full: nothing was changed; free some space there, then try again"
                    }
                    false => "this cannot be done at present; read again to see how things stand",
                };
                Problem::unavailable(detail, 1).into()
            }
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Refused::Problem(problem) => problem.into_response(),
            Refused::Replayed(reply) => crate::idempotency::replayed(reply.status, reply.body),
        }
    }
}

#[cfg(test)]
mod tests {
    use ports::store::StoreError;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_says_what_the_contract_says() {
        let problem =
            Problem::from(Refusal::AnswerInvalid { field: "choose".into(), why: "no".into() });
        let value = serde_json::to_value(&problem).expect("json");
        assert_eq!(
            value,
            serde_json::json!({
                "type": "urn:holdpoint:problem:answer_invalid", "title": "This does not fit",
                "status": 422, "detail": "no", "code": "answer_invalid", "field": "choose",
            })
        );
    }

    #[test]
    fn a_form_is_refused_field_by_field_in_codes_and_numbers() {
        let schema = json!({"required": ["b"], "properties": {"a": {"maxLength": 2}}});
        let form = domain::hold::Question::Fill { schema: Some(schema) };
        let refused = form.fits(&domain::answer::Answer::Fill(json!({"a": "abc"}))).unwrap_err();
        let refusal = Refusal::AnswerInvalid { field: refused.field, why: refused.why };
        let value = serde_json::to_value(Problem::from(refusal)).expect("json");
        assert_eq!(value["field"], value["faults"][0]["field"]);
        let mut faults = value["faults"].as_array().expect("a list").clone();
        faults.sort_by_key(|fault| fault["field"].to_string());
        assert_eq!(
            faults,
            [
                json!({"field": "fill", "code": "missing", "name": "b"}),
                json!({"field": "fill/a", "code": "too_long", "bound": 2}),
            ]
        );
    }

    #[test]
    fn i39_an_unavailable_store_says_when_to_come_back_and_nothing_else() {
        let refused = Refused::from(Error::Unavailable("/var/secret/place: disk full".into()));
        let reply = refused.into_response();
        assert_eq!(reply.status(), 503);
        assert_eq!(reply.headers()[RETRY_AFTER], "1");
        let Refused::Problem(problem) = Refused::from(Error::Unavailable("/var/x".into())) else {
            panic!("a problem")
        };
        assert!(!problem.0.detail.contains("/var"), "{}", problem.0.detail);
    }

    #[test]
    fn a_secret_that_cannot_be_sealed_is_refused_with_what_to_set() {
        let why = StoreError::SealingKey("set `sealing_key_file` under `[store]`".into());
        let Refused::Problem(problem) = Refused::from(Error::from(why)) else {
            panic!("a problem")
        };
        assert_eq!(problem.0.status, 503);
        assert!(problem.0.detail.contains("set `sealing_key_file`"), "{}", problem.0.detail);
    }
}
