use ports::secret_string::SecretString;
use reqwest::Url;

use super::*;
use crate::settings::ApiKey;

fn settings() -> ModelSettings {
    let mut settings =
        ModelSettings::new("claude", "big-1", Url::parse("https://x.example").expect("a URL"));
    settings.key = Some(ApiKey {
        secret: SecretString::new("sk-very-secret"),
        origin: "`api_key_env` ANTHROPIC_API_KEY".into(),
    });
    settings.headers = vec![("x-team".into(), SecretString::new("hush-hush"))];
    settings
}

fn problem(kind: &str, message: &str) -> ProviderError {
    ProviderError { kind: Some(kind.into()), code: None, message: Some(message.into()) }
}

#[track_caller]
fn check(status: u16, problem: ProviderError, wanted: &str) {
    let told = match problem.fault(status, None, &settings()) {
        AttemptFault::Again { why, .. } => format!("again: {why}"),
        AttemptFault::Final(error) => error.to_string(),
    };
    assert_eq!(told, wanted);
}

#[test]
fn every_status_has_its_remedy() {
    check(
        401,
        problem("authentication_error", "invalid x-api-key: sk-ve…"),
        "the model refused the request: the key was not accepted (401, authentication_error); check \
         the key in `api_key_env` ANTHROPIC_API_KEY of [models.claude]; mend the configuration, then \
         retry the run",
    );
    check(
        404,
        problem("not_found_error", "model: big-1"),
        "the model refused the request: 404 not_found_error: model: big-1; no such model, or no such \
         address: check `model` (it is `big-1`) and `base_url` of [models.claude]; mend the \
         configuration, then retry the run",
    );
    check(
        403,
        problem("permission_error", "no"),
        "the model refused the request: 403 permission_error: no; check that the key of \
         [models.claude] may use `big-1`; mend the configuration, then retry the run",
    );
    check(
        413,
        problem("request_too_large", "32 MB"),
        "the conversation is too long for the model: 413 request_too_large: 32 MB; start a new session, \
         or take a model with a larger window",
    );
    check(
        400,
        problem("invalid_request_error", "max_tokens: 9 > 8"),
        "the model refused the request: 400 invalid_request_error: max_tokens: 9 > 8; mend the \
         configuration, then retry the run",
    );
    let too_long =
        ProviderError { code: Some("context_length_exceeded".into()), ..problem("x", "y") };
    check(
        400,
        too_long,
        "the conversation is too long for the model: 400 x context_length_exceeded: y; start a new \
         session, or take a model with a larger window",
    );
    check(
        400,
        problem("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
        "the conversation is too long for the model: 400 invalid_request_error: prompt is too long: \
         213462 tokens > 200000 maximum; start a new session, or take a model with a larger window",
    );
    let no_credit =
        ProviderError { code: Some("insufficient_quota".into()), ..problem("q", "pay") };
    check(
        429,
        no_credit,
        "the model refused the request: 429 q insufficient_quota: pay; the account has no credit \
         left, look there; mend the configuration, then retry the run",
    );
    for (status, kind) in [
        (408, "timeout"),
        (409, "conflict"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "x"),
        (529, "overloaded_error"),
    ] {
        check(status, problem(kind, "wait"), &format!("again: busy, {status} {kind}: wait"));
    }
    check(
        302,
        ProviderError::default(),
        "the model refused the request: the address answers with a redirect (302), which is not \
         followed, since the key would go along; write the final address into `base_url` of \
         [models.claude]; mend the configuration, then retry the run",
    );
}

#[test]
fn an_error_within_a_stream_counts_like_its_status() {
    for (kind, status) in [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("api_error", 500),
        ("authentication_error", 401),
        ("invalid_request_error", 400),
        ("what is this", 500),
        ("503", 503),
        ("99", 500),
    ] {
        assert_eq!(problem(kind, "").status(), status, "{kind}");
    }
}

#[test]
fn words_of_others_are_shown_short_and_without_our_secrets() {
    let long = format!("key sk-very-secret,\n\u{1b}[2J team hush-hush {}", "x".repeat(10_000));
    let told = problem("api_error", &long).problem_text(500, &settings());
    assert!(!told.contains("sk-very-secret") && !told.contains("hush-hush"), "{told}");
    assert!(!told.contains(['\n', '\u{1b}']), "{told}");
    assert!(told.chars().count() <= PROBLEM_CHARS_MAX + 1);
}
