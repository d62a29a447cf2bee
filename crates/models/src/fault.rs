//! What can go wrong with one attempt, and what to do about it: the one table of remedies for all
//! providers. It goes by status and type; whether to try again never depends on what a text says.

use std::time::Duration;

use domain::visible::visible;
use ports::model::ModelError;

use crate::limits::PROBLEM_CHARS_MAX;
use crate::settings::ModelSettings;

/// Why an attempt gave no turn.
#[derive(Debug)]
pub(crate) enum AttemptFault {
    /// Another attempt may go better.
    Again { why: String, after: Option<Duration> },
    /// It would end the same way.
    Final(ModelError),
}

/// What a reader of events stumbled over.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The provider says that something is wrong, in the middle of its answer.
    Problem(ProviderError),
    /// This is not what the API is like.
    Garbled(String),
    /// The stream ended before the turn did.
    Ended,
    TooMuch(String),
}

/// An error as a provider words it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProviderError {
    pub(crate) kind: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
}

impl Trouble {
    pub(crate) fn garbled(why: impl Into<String>) -> Trouble {
        Trouble::Garbled(why.into())
    }

    pub(crate) fn not_json(error: &serde_json::Error) -> Trouble {
        // Its own text would repeat what it found, which may be anything.
        let what = match error.classify() {
            serde_json::error::Category::Data => "is not what was expected",
            _ => "is not JSON",
        };
        Trouble::Garbled(format!("an event of the stream {what}"))
    }

    pub(crate) fn fault(self, settings: &ModelSettings) -> AttemptFault {
        match self {
            Trouble::Problem(problem) => {
                let status = problem.status();
                problem.fault(status, None, settings)
            }
            Trouble::Garbled(why) => AttemptFault::Final(ModelError::Malformed(why)),
            Trouble::Ended => {
                let why = "the connection ended in the middle of the answer".into();
                AttemptFault::Again { why, after: None }
            }
            Trouble::TooMuch(why) => AttemptFault::Final(ModelError::Malformed(why)),
        }
    }
}

impl ProviderError {
    /// The status that goes with its type, for one that came without. What nobody knows may pass.
    fn status(&self) -> u16 {
        let words = [self.code.as_deref(), self.kind.as_deref()];
        let known = words.into_iter().flatten().find_map(|word| {
            Some(match word {
                "invalid_request_error" | "invalid_prompt" | "context_length_exceeded" => 400,
                "authentication_error" | "invalid_api_key" => 401,
                "billing_error" => 402,
                "permission_error" => 403,
                "not_found_error" | "model_not_found" => 404,
                "request_too_large" => 413,
                "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
                "overloaded_error" => 529,
                _ => return word.parse().ok().filter(|status| (400..600).contains(status)),
            })
        });
        known.unwrap_or(500)
    }

    fn has_word(&self, word: &str) -> bool {
        [&self.code, &self.kind].into_iter().flatten().any(|own| own == word)
    }

    /// Anthropic has no type of its own for this; its words tell it apart from other bad requests. They
    /// choose only between two remedies: neither is retried.
    fn says_prompt_too_long(&self, status: u16) -> bool {
        let message = self.message.as_deref().unwrap_or_default().to_ascii_lowercase();
        status == 400
            && self.has_word("invalid_request_error")
            && message.contains("prompt is too long")
    }

    /// The table.
    pub(crate) fn fault(
        &self,
        status: u16,
        after: Option<Duration>,
        settings: &ModelSettings,
    ) -> AttemptFault {
        let section = format!("[models.{}]", settings.name);
        let told = self.problem_text(status, settings);
        if self.has_word("context_length_exceeded") || self.says_prompt_too_long(status) {
            return AttemptFault::Final(ModelError::TooLong(told));
        }
        if self.has_word("insufficient_quota") || status == 402 {
            let why = format!("{told}; the account has no credit left, look there");
            return AttemptFault::Final(ModelError::Refused(why));
        }
        match status {
            408 | 409 | 429 | 500..=599 => {
                AttemptFault::Again { why: format!("busy, {told}"), after }
            }
            401 => {
                let remedy = match &settings.key {
                    Some(key) => format!("check the key in {}", key.origin),
                    None => "it wants a key, give it `api_key_env`".to_owned(),
                };
                // Some providers repeat parts of the key, so their words are left out.
                let kind = safe_text(self.kind.as_deref().unwrap_or("no type"), settings);
                let why = format!("the key was not accepted (401, {kind}); {remedy} of {section}");
                AttemptFault::Final(ModelError::Refused(why))
            }
            403 => {
                let why =
                    format!("{told}; check that the key of {section} may use `{}`", settings.model);
                AttemptFault::Final(ModelError::Refused(why))
            }
            404 => {
                let why = format!(
                    "{told}; no such model, or no such address: check `model` (it is `{}`) and \
                     `base_url` of {section}",
                    settings.model
                );
                AttemptFault::Final(ModelError::Refused(why))
            }
            413 => AttemptFault::Final(ModelError::TooLong(told)),
            300..=399 => {
                let why = format!(
                    "the address answers with a redirect ({status}), which is not followed, since \
                     the key would go along; write the final address into `base_url` of {section}"
                );
                AttemptFault::Final(ModelError::Refused(why))
            }
            _ => AttemptFault::Final(ModelError::Refused(told)),
        }
    }

    /// `529 overloaded_error: Overloaded`, with what must not be shown taken out.
    fn problem_text(&self, status: u16, settings: &ModelSettings) -> String {
        let mut told = status.to_string();
        for word in [&self.kind, &self.code].into_iter().flatten() {
            if !word.is_empty() && !told.ends_with(word.as_str()) {
                told.push(' ');
                told.push_str(word);
            }
        }
        if let Some(message) = self.message.as_deref().filter(|text| !text.trim().is_empty()) {
            told.push_str(": ");
            told.push_str(message.trim());
        }
        safe_text(&told, settings)
    }
}

/// A provider's words, fit to be stored and shown: short, on one line, and without our secrets.
pub(crate) fn safe_text(text: &str, settings: &ModelSettings) -> String {
    let keys = settings.key.iter().map(|key| &key.secret);
    let secrets = keys.chain(settings.headers.iter().map(|(_, secret)| secret));
    let scrubbed = secrets.fold(text.to_owned(), |text, secret| secret.scrub(&text));
    let line = scrubbed.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = visible(&line).chars().take(PROBLEM_CHARS_MAX).collect();
    if shown.chars().count() == PROBLEM_CHARS_MAX {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
