//! Which of the APIs somebody speaks, and how each of them says no.

use axum::http::HeaderMap;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Chat,
    Responses,
}

impl Api {
    pub const ALL: [Api; 3] = [Api::Anthropic, Api::Chat, Api::Responses];

    /// By the path only: clients add queries such as `?beta=true`.
    pub(super) fn of_path(path: &str) -> Option<Api> {
        match path {
            "/v1/messages" => Some(Api::Anthropic),
            "/v1/chat/completions" => Some(Api::Chat),
            "/v1/responses" => Some(Api::Responses),
            _ => None,
        }
    }

    /// Where a path serves both vendors, the header that only one of them demands tells.
    pub(super) fn of_headers(headers: &HeaderMap) -> Api {
        if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
            Api::Anthropic
        } else {
            Api::Chat
        }
    }

    /// The key that a request brought, if any.
    pub(super) fn key(self, headers: &HeaderMap) -> Option<&str> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
        match self {
            Api::Anthropic => text("x-api-key").or(bearer),
            Api::Chat | Api::Responses => bearer,
        }
    }
}

/// Why a request is not answered, in words that each vendor then puts in its own envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
    /// In OpenAI's envelope only.
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
}

impl Refusal {
    pub(super) fn bad(message: impl Into<String>) -> Refusal {
        Refusal { status: 400, message: message.into(), param: None, code: None }
    }

    pub(super) fn at(self, param: impl Into<String>) -> Refusal {
        Refusal { param: Some(param.into()), ..self }
    }

    pub(super) fn code(self, code: &'static str) -> Refusal {
        Refusal { code: Some(code), ..self }
    }

    pub(super) fn wrong_key(api: Api) -> Refusal {
        let message = match api {
            Api::Anthropic => "invalid x-api-key",
            Api::Chat | Api::Responses => "Incorrect API key provided.",
        };
        let code = (api != Api::Anthropic).then_some("invalid_api_key");
        Refusal { status: 401, message: message.into(), param: None, code }
    }

    pub(super) fn no_model(api: Api, model: &str) -> Refusal {
        let message = match api {
            Api::Anthropic => format!("model: {model}"),
            Api::Chat | Api::Responses => {
                format!("The model `{model}` does not exist or you do not have access to it.")
            }
        };
        let code = (api != Api::Anthropic).then_some("model_not_found");
        Refusal { status: 404, message, param: None, code }
    }

    pub(super) fn too_large() -> Refusal {
        Refusal { status: 413, message: "Request exceeds the maximum size".into(), ..nothing() }
    }

    pub(super) fn no_such_path(path: &str) -> Refusal {
        Refusal { status: 404, message: format!("Not found: {path}"), ..nothing() }
    }

    pub(super) fn envelope(&self, api: Api, request: u64) -> Value {
        let kind = kind(api, self.status);
        match api {
            Api::Anthropic => json!({
                "type": "error",
                "error": {"type": kind, "message": self.message},
                "request_id": format!("req_{request}"),
            }),
            Api::Chat | Api::Responses => json!({
                "error": {"message": self.message, "type": kind, "param": self.param, "code": self.code},
            }),
        }
    }
}

fn nothing() -> Refusal {
    Refusal { status: 0, message: String::new(), param: None, code: None }
}

/// What each vendor calls an error of this status.
pub(super) fn kind(api: Api, status: u16) -> &'static str {
    match (api, status) {
        (Api::Anthropic, 401) => "authentication_error",
        (Api::Anthropic, 403) => "permission_error",
        (Api::Anthropic, 404) => "not_found_error",
        (Api::Anthropic, 413) => "request_too_large",
        (Api::Anthropic, 429) => "rate_limit_error",
        (Api::Anthropic, 529) => "overloaded_error",
        (Api::Anthropic, 500..) => "api_error",
        (Api::Chat | Api::Responses, 429) => "rate_limit_exceeded",
        (Api::Chat | Api::Responses, 500..) => "server_error",
        _ => "invalid_request_error",
    }
}
