//! The pairing rule, checked before every model call.
//!
//! Anthropic and OpenAI both refuse a history in which a call lacks its result, and from then on
//! refuse every later request of that conversation too. The rules of both are checked here, so
//! that such a request never leaves the house and the fault is found where it was made.

use std::collections::HashSet;

use ports::model::{AssistantPart, ModelMessage, ModelRequest};

/// Why a request must not be sent. Any of these is a fault of ours, never of a person or a model.
/// Messages are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpaired {
    #[error("the request has no messages")]
    NoMessages,
    #[error("the first message is not a user's")]
    NoOpening,
    #[error("message {at} is empty")]
    Empty { at: usize },
    #[error("message {at} has a call without an id")]
    NoId { at: usize },
    #[error("message {at} repeats the call id `{id}`")]
    RepeatedCall { at: usize, id: String },
    #[error("the call `{id}` in message {at} has no result in the next message")]
    NoResult { at: usize, id: String },
    #[error("message {at} has a result for `{id}`, which the message before it did not call")]
    NoCall { at: usize, id: String },
    #[error("message {at} has a second result for `{id}`")]
    RepeatedResult { at: usize, id: String },
    #[error("the results in message {at} are not in the order of their calls")]
    OutOfOrder { at: usize },
    #[error("the last message is the model's own: there is nothing for it to answer")]
    NothingNew,
}

/// Every call has exactly one result, in the very next message and in the order of the calls; no
/// result is without a call; no id is used twice; and there is something for the model to answer.
pub fn validate(request: &ModelRequest) -> Result<(), Unpaired> {
    let messages = &request.messages;
    match messages.first() {
        None => return Err(Unpaired::NoMessages),
        Some(ModelMessage::Assistant { .. }) => return Err(Unpaired::NoOpening),
        Some(ModelMessage::User { .. } | ModelMessage::Results { .. }) => {}
    }
    let mut known: HashSet<&str> = HashSet::new();
    // The calls of the message before this one.
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::Results { results } => {
                let given: Vec<&str> =
                    results.iter().map(|result| result.tool_use_id.as_str()).collect();
                paired(at, &open, &given)?;
                open.clear();
            }
            ModelMessage::User { text } => {
                unanswered(at, &open)?;
                if text.trim().is_empty() {
                    return Err(Unpaired::Empty { at });
                }
            }
            ModelMessage::Assistant { parts } => {
                unanswered(at, &open)?;
                if parts.is_empty() {
                    return Err(Unpaired::Empty { at });
                }
                open = calls(at, parts, &mut known)?;
            }
        }
    }
    unanswered(messages.len(), &open)?;
    match messages.last() {
        Some(ModelMessage::Assistant { .. }) => Err(Unpaired::NothingNew),
        _ => Ok(()),
    }
}

fn calls<'a>(
    at: usize,
    parts: &'a [AssistantPart],
    known: &mut HashSet<&'a str>,
) -> Result<Vec<&'a str>, Unpaired> {
    let mut calls = Vec::new();
    for part in parts {
        match part {
            AssistantPart::Call(call) if call.tool_use_id.is_empty() => {
                return Err(Unpaired::NoId { at });
            }
            AssistantPart::Call(call) => {
                if !known.insert(&call.tool_use_id) {
                    return Err(Unpaired::RepeatedCall { at, id: call.tool_use_id.clone() });
                }
                calls.push(call.tool_use_id.as_str());
            }
            AssistantPart::Text(text) if text.trim().is_empty() => {
                return Err(Unpaired::Empty { at });
            }
            AssistantPart::Text(_) | AssistantPart::Reasoning { .. } => {}
        }
    }
    Ok(calls)
}

fn unanswered(at: usize, open: &[&str]) -> Result<(), Unpaired> {
    match open.first() {
        Some(id) => Err(Unpaired::NoResult { at: at - 1, id: (*id).to_owned() }),
        None => Ok(()),
    }
}

fn paired(at: usize, open: &[&str], given: &[&str]) -> Result<(), Unpaired> {
    let mut seen = HashSet::new();
    for id in given {
        if !open.contains(id) {
            return Err(Unpaired::NoCall { at, id: (*id).to_owned() });
        }
        if !seen.insert(id) {
            return Err(Unpaired::RepeatedResult { at, id: (*id).to_owned() });
        }
    }
    if let Some(id) = open.iter().find(|id| !given.contains(id)) {
        return Err(Unpaired::NoResult { at: at - 1, id: (*id).to_owned() });
    }
    match given {
        [] => Err(Unpaired::Empty { at }),
        _ if given != open => Err(Unpaired::OutOfOrder { at }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
