//! I-22, I-25: every call has exactly one result, in the next message, in order; and the model never
//! hears of calls without all of their results.

use std::collections::BTreeSet;

use domain::event::{Event, SessionEvent};
use domain::id::CallId;
use domain::message::{Part, Role};
use ports::model::{AssistantPart, ModelMessage, ModelRequest};

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    for session in evidence.sessions() {
        let mut open: Vec<CallId> = Vec::new();
        for (_, entry) in evidence.session(session) {
            for event in entry.events.iter() {
                let Event::Session(SessionEvent::MessageAdded { message }) = event else {
                    continue;
                };
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
            ModelMessage::User { .. } | ModelMessage::Image { .. } => continue,
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

#[cfg(test)]
mod tests {
    use domain::message::{Part, Role};
    use domain::outcome::ToolResult;
    use ports::model::{CallResult, WrittenCall};

    use super::*;
    use crate::sim::checkers::fabricated::*;
    use crate::sim::records::Heard;

    fn turn(n: u128, calls: &[u128]) -> Event {
        let part = |n: &u128| Part::ToolCall {
            call: call("look", *n).id,
            tool_use_id: format!("toolu_{n}"),
            tool: "look".into(),
            input: "{}".into(),
        };
        let parts = calls.iter().map(part).collect();
        Event::Session(SessionEvent::MessageAdded { message: message(n, Role::Assistant, parts) })
    }

    fn results(n: u128, calls: &[u128]) -> Event {
        let part = |n: &u128| Part::ToolResult {
            call: call("look", *n).id,
            tool_use_id: format!("toolu_{n}"),
            tool: "look".into(),
            result: ToolResult::output("seen"),
        };
        let parts = calls.iter().map(part).collect();
        Event::Session(SessionEvent::MessageAdded { message: message(n, Role::Tool, parts) })
    }

    #[test]
    fn calls_without_their_results_are_found_in_the_journal() {
        let called = || story().then([turn(1, &[1, 2])]);
        called().then([results(2, &[1, 2]), turn(3, &[])]).over().passes(check);
        called().passes(check);
        called().over().breaks(check, "never got results");
        called().then([turn(3, &[])]).breaks(check, "came before the results");
        called().then([results(2, &[1])]).breaks(check, "results of");
        called().then([results(2, &[2, 1])]).breaks(check, "results of");
    }

    #[test]
    fn calls_without_their_results_are_found_in_what_the_model_hears() {
        let calls = |names: &[&str]| ModelMessage::Assistant {
            parts: names
                .iter()
                .map(|name| {
                    AssistantPart::Call(WrittenCall {
                        tool_use_id: (*name).to_owned().into(),
                        tool: "look".into(),
                        input: "{}".into(),
                    })
                })
                .collect(),
        };
        let results = |names: &[&str]| ModelMessage::Results {
            results: names
                .iter()
                .map(|name| CallResult {
                    tool_use_id: (*name).to_owned().into(),
                    tool: "look".into(),
                    content: "seen".into(),
                    is_error: false,
                })
                .collect(),
        };
        let heard = |messages: &[ModelMessage<'static>]| {
            let mut story = story();
            let messages = messages.to_vec();
            let request = ModelRequest { system: None, messages, tools: Default::default() };
            story.records.heard.push(Heard { request, journal: 0, said: None });
            story
        };
        heard(&[calls(&["a", "b"]), results(&["a", "b"]), calls(&[])]).passes(check);
        heard(&[results(&["a"])]).breaks(check, "results without calls");
        heard(&[calls(&["a", "a"])]).breaks(check, "two calls of one name");
        heard(&[calls(&["a", "b"]), results(&["b", "a"])]).breaks(check, "was asked with results");
        heard(&[calls(&["a"])]).breaks(check, "was asked with results");
    }
}
