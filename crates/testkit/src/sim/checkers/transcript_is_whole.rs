//! I-22, I-25: every call has exactly one result, in the next message, in order; and the model never
//! hears of calls without all of their results.

use std::collections::BTreeSet;

use domain::event::Event;
use domain::id::CallId;
use domain::message::{Part, Role};
use ports::model::{AssistantPart, ModelMessage, ModelRequest};

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    for session in evidence.sessions() {
        let mut open: Vec<CallId> = Vec::new();
        for (_, entry) in evidence.session(session) {
            for event in entry.events.iter() {
                let Event::MessageAdded { message } = event else { continue };
                let calls = message.parts.iter().filter_map(|part| match part {
                    Part::ToolCall { call, .. } | Part::ToolResult { call, .. } => Some(*call),
                    _ => None,
                });
                let calls: Vec<CallId> = calls.collect();
                match message.role {
                    Role::User => {}
                    Role::Assistant if !open.is_empty() => {
                        return Err(format!("{session}: {} came before the results", message.id));
                    }
                    Role::Assistant => open = calls,
                    Role::Tool if calls != open => {
                        return Err(format!("{session}: results of {calls:?} for {open:?}"));
                    }
                    Role::Tool => open.clear(),
                }
            }
        }
        if evidence.is_over && !open.is_empty() {
            return Err(format!("{session}: {open:?} never got results"));
        }
    }
    evidence.records.heard.iter().try_for_each(|heard| sound(&heard.request))
}

/// Each turn with calls is followed at once by exactly their results.
fn sound(request: &ModelRequest<'_>) -> Verdict {
    let mut names = BTreeSet::new();
    let mut messages = request.messages.iter().peekable();
    while let Some(message) = messages.next() {
        let called: Vec<&str> = match message {
            ModelMessage::Assistant { parts } => parts
                .iter()
                .filter_map(|part| match part {
                    AssistantPart::Call(call) => Some(&*call.tool_use_id),
                    _ => None,
                })
                .collect(),
            ModelMessage::Results { .. } => return Err("results without calls".into()),
            ModelMessage::User { .. } => continue,
        };
        if called.iter().any(|name| !names.insert(*name)) {
            return Err(format!("two calls of one name in {called:?}"));
        }
        if called.is_empty() {
            continue;
        }
        let answered: Vec<&str> = match messages.next() {
            Some(ModelMessage::Results { results }) => {
                results.iter().map(|result| &*result.tool_use_id).collect()
            }
            _ => Vec::new(),
        };
        if answered != called {
            return Err(format!("the model was asked with results {answered:?} for {called:?}"));
        }
    }
    Ok(())
}
