//! The pairing rule, checked before every model call.
//!
//! Anthropic and OpenAI both refuse a history in which a call lacks its result, and from then on
//! refuse every later request of that conversation too. The rules of both are checked here, so
//! that such a request is never sent and the fault is found where it was made.

use std::collections::HashSet;

use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest};

use crate::{are_distinct, is_blank};

/// Why a request must not be sent. Any of these is a fault of ours, never of a person or a model.
/// Messages are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairingError {
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
pub fn validate(request: &ModelRequest<'_>) -> Result<(), PairingError> {
    let messages = &request.messages;
    match messages.first() {
        None => return Err(PairingError::NoMessages),
        Some(ModelMessage::Assistant { .. }) => return Err(PairingError::NoOpening),
        Some(
            ModelMessage::User { .. } | ModelMessage::Image { .. } | ModelMessage::Results { .. },
        ) => {}
    }
    // The repeated id is looked for only where there is one.
    let mut known = (!are_distinct(all_calls(messages))).then(HashSet::new);
    // The parts of the message before this one, if that was the model's.
    let mut open: &[AssistantPart<'_>] = &[];
    for (at, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::Results { results } => {
                check_paired(at, open, results)?;
                open = &[];
            }
            ModelMessage::User { text } | ModelMessage::Image { label: text, .. } => {
                check_answered(at, open)?;
                if is_blank(text) {
                    return Err(PairingError::Empty { at });
                }
            }
            ModelMessage::Assistant { parts } => {
                check_answered(at, open)?;
                if parts.is_empty() {
                    return Err(PairingError::Empty { at });
                }
                check_call_ids(at, parts, known.as_mut())?;
                open = parts;
            }
        }
    }
    check_answered(messages.len(), open)?;
    match messages.last() {
        Some(ModelMessage::Assistant { .. }) => Err(PairingError::NothingNew),
        _ => Ok(()),
    }
}

fn all_calls<'a>(messages: &'a [ModelMessage<'_>]) -> Vec<&'a str> {
    let turns = messages.iter().filter_map(|message| match message {
        ModelMessage::Assistant { parts } => Some(parts),
        ModelMessage::User { .. } | ModelMessage::Image { .. } | ModelMessage::Results { .. } => {
            None
        }
    });
    turns.flat_map(|parts| call_ids(parts)).collect()
}

fn call_ids<'a>(parts: &'a [AssistantPart<'_>]) -> impl Iterator<Item = &'a str> + Clone {
    parts.iter().filter_map(|part| match part {
        AssistantPart::Call(call) => Some(&*call.tool_use_id),
        AssistantPart::Text(_) | AssistantPart::Reasoning { .. } => None,
    })
}

/// `known` are the calls of earlier messages, where it has to be looked whether one is repeated.
fn check_call_ids<'a>(
    at: usize,
    parts: &'a [AssistantPart<'_>],
    mut known: Option<&mut HashSet<&'a str>>,
) -> Result<(), PairingError> {
    for part in parts {
        match part {
            AssistantPart::Call(call) if call.tool_use_id.is_empty() => {
                return Err(PairingError::NoId { at });
            }
            AssistantPart::Call(call) => {
                if known.as_mut().is_some_and(|known| !known.insert(&call.tool_use_id)) {
                    let id = call.tool_use_id.clone().into_owned();
                    return Err(PairingError::RepeatedCall { at, id });
                }
            }
            AssistantPart::Text(text) if is_blank(text) => return Err(PairingError::Empty { at }),
            AssistantPart::Text(_) | AssistantPart::Reasoning { .. } => {}
        }
    }
    Ok(())
}

fn check_answered(at: usize, open: &[AssistantPart<'_>]) -> Result<(), PairingError> {
    match call_ids(open).next() {
        Some(id) => Err(PairingError::NoResult { at: at - 1, id: id.to_owned() }),
        None => Ok(()),
    }
}

fn check_paired(
    at: usize,
    open: &[AssistantPart<'_>],
    results: &[CallResult<'_>],
) -> Result<(), PairingError> {
    let (open, given) = (call_ids(open), results.iter().map(|result| &*result.tool_use_id));
    // No call of a message is there twice, so then no result is, either.
    if !results.is_empty() && open.clone().eq(given.clone()) {
        return Ok(());
    }
    Err(pairing_error(at, &open.collect::<Vec<_>>(), &given.collect::<Vec<_>>()))
}

/// The fault of results that are not exactly those of the calls before them.
fn pairing_error(at: usize, open: &[&str], given: &[&str]) -> PairingError {
    let mut seen = HashSet::new();
    for id in given {
        if !open.contains(id) {
            return PairingError::NoCall { at, id: (*id).to_owned() };
        }
        if !seen.insert(id) {
            return PairingError::RepeatedResult { at, id: (*id).to_owned() };
        }
    }
    if let Some(id) = open.iter().find(|id| !given.contains(id)) {
        return PairingError::NoResult { at: at - 1, id: (*id).to_owned() };
    }
    match given {
        [] => PairingError::Empty { at },
        _ => PairingError::OutOfOrder { at },
    }
}

#[cfg(test)]
mod tests;
