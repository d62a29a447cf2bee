//! `GET …/chat/{id}/messages`: a chat as the messages of the asking version, so that a page can load it.
//! Everything that the model did between two messages of the person's is one assistant message, as it is
//! on the stream; the latest has the id that the stream gives it.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domain::hold::{Hold, HoldState, Question};
use domain::id::CallId;
use domain::message::{Message, Origin, Part, Role};
use domain::outcome::ToolResult;
use domain::session::{CallState, Session};

use super::super::{conversation, shown};
use super::chat::AiSdkRequest;
use super::values::{id_of, input_of, is_own};
use super::wire::{
    ApprovalDescriptor, HoldNotice, NamedPart, ToolPartState, ToolUiPart, UiApproval, UiMessage,
    UiPart,
};
use super::{AiSdkContext, NAME, Ui, outcome, refusal};
use crate::asked::json as reply;
use crate::auth::Who;
use crate::problem::{Problem, Reply};

pub(super) async fn list(
    State(here): State<AiSdkContext>,
    Path(chat): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    who: Who,
) -> Response {
    let listing = async {
        let asked = AiSdkRequest::new(&here, query.as_deref(), &headers)?;
        let found = conversation::find(&here.app, &who.caller, NAME, &chat).await?;
        let session = found.ok_or_else(|| Problem::not_found("chat"))?;
        // Before anybody can see them.
        for hold in session.open_holds() {
            shown::record(&here.app, &who.caller, NAME, hold).await?;
        }
        let messages = Loading { here: &here, session: &session, ui: asked.ui }.messages();
        Reply::Ok(reply(StatusCode::OK, &messages))
    };
    listing.await.unwrap_or_else(|refused| refusal::worded(refused, refusal::problem))
}

struct Loading<'a> {
    here: &'a AiSdkContext,
    session: &'a Session,
    ui: Ui,
}

impl Loading<'_> {
    fn messages(&self) -> Vec<UiMessage> {
        let mut messages = Vec::new();
        let mut open: Option<(String, Vec<UiPart>)> = None;
        for message in &self.session.transcript {
            match (message.role, message.origin) {
                (Role::User, Origin::Own) => {
                    messages.extend(open.take().map(assistant));
                    messages.push(user(message));
                }
                (Role::Assistant, _) => {
                    let (_, parts) =
                        open.get_or_insert_with(|| (message.id.to_string(), Vec::new()));
                    self.turn(message, parts);
                }
                // Results stand in the parts of their calls; the word of the runtime is for the model.
                (Role::Tool, _) | (Role::User, Origin::Runtime) => {}
            }
        }
        let run = self.session.run.as_ref().map(|run| run.id.to_string());
        if let (Some((id, _)), Some(run)) = (&mut open, run) {
            *id = run;
        }
        let mut own = self.questions();
        match &mut open {
            Some((_, parts)) => parts.append(&mut own),
            None if own.is_empty() => {}
            None => open = self.session.run.as_ref().map(|run| (run.id.to_string(), own)),
        }
        messages.extend(open.take().map(assistant));
        // What waits behind open calls shows them again, as its reply did: a page answers from its last
        // message only.
        messages.extend(self.session.queue.iter().map(|queued| user(&queued.message)));
        if let Some(last) = self.session.queue.back() {
            let mut parts = vec![UiPart::Named(NamedPart::StepStart)];
            let open = self.session.open_holds().filter(|hold| !hold.two_phase);
            for hold in open.filter(|hold| hold.question != Question::Settle) {
                parts.extend(hold.call().map(|call| self.call(call.id, &call.tool, None)));
            }
            messages.push(assistant((last.run.to_string(), parts)));
        }
        messages
    }

    fn turn(&self, message: &Message, parts: &mut Vec<UiPart>) {
        parts.push(UiPart::Named(NamedPart::StepStart));
        for part in &message.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => {
                    let text = NamedPart::Text { text: text.clone(), state: Some("done") };
                    parts.push(UiPart::Named(text));
                }
                Part::Reasoning { text, .. } if text.is_empty() => {}
                Part::Reasoning { text, .. } => {
                    let reasoning = NamedPart::Reasoning { text: text.clone(), state: "done" };
                    parts.push(UiPart::Named(reasoning));
                }
                Part::ToolCall { call, tool, tool_use_id, .. } => {
                    parts.push(self.call(*call, tool, Some(tool_use_id)));
                }
                // Only people attach files.
                Part::File(_) | Part::ToolResult { .. } => {}
            }
        }
    }

    fn call(&self, call: CallId, tool: &str, named: Option<&str>) -> UiPart {
        let (app, session) = (&self.here.app, self.session);
        // A branch has the words of earlier calls, and not their records.
        let id = match (session.calls.contains_key(&call), named) {
            (false, Some(named)) => named.to_owned(),
            _ => id_of(session, call),
        };
        let (kind, tool_name) = match is_own(app, session, tool) {
            true => (format!("tool-{tool}"), None),
            false => ("dynamic-tool".to_owned(), Some(tool.to_owned())),
        };
        let hold = session.hold_of(call).filter(|hold| hold.question == Question::Approve);
        let asks = hold.filter(|hold| self.ui >= Ui::Six && !hold.two_phase);
        let result = self.result(call);
        let settled = result
            .as_ref()
            .map(|result| outcome::settled(self.ui, session, call, &id, result))
            .and_then(ToolPartState::after);
        let state = settled.unwrap_or(match asks.map(|hold| &hold.state) {
            Some(HoldState::Pending) => ToolPartState::ApprovalRequested,
            Some(_) => ToolPartState::ApprovalResponded,
            None => ToolPartState::InputAvailable,
        });
        let approval = asks.map(|hold| self.approval(hold));
        let input = input_of(app, session, call);
        let part = ToolUiPart { kind, tool_name, tool_call_id: id, input, state, approval };
        UiPart::Tool(Box::new(part))
    }

    fn approval(&self, hold: &Hold) -> UiApproval {
        let descriptor = || ApprovalDescriptor::of(hold, &self.here.app.origin);
        let (descriptor, approved) = match &hold.state {
            HoldState::Pending => (Some(descriptor()), None),
            HoldState::Approved(_) => (None, Some(true)),
            _ => (None, Some(false)),
        };
        UiApproval { id: hold.id.to_string(), descriptor, approved }
    }

    /// The result of a call: of its record, or of the message that brought it to the model.
    fn result(&self, wanted: CallId) -> Option<ToolResult> {
        if let Some(record) = self.session.calls.get(&wanted) {
            return match &record.state {
                CallState::Settled { result } => Some(result.clone()),
                _ => None,
            };
        }
        let mut parts = self.session.transcript.iter().flat_map(|message| &message.parts);
        parts.find_map(|part| match part {
            Part::ToolResult { call, result, .. } if *call == wanted => Some(result.clone()),
            _ => None,
        })
    }

    /// Open questions that belong to no call.
    fn questions(&self) -> Vec<UiPart> {
        let open = self.session.open_holds();
        let own = open.filter(|hold| hold.call().is_none() || hold.question == Question::Settle);
        let notice = |hold: &Arc<Hold>| HoldNotice::of(hold, &self.here.app.origin);
        own.map(|hold| UiPart::Named(NamedPart::DataHold(notice(hold)))).collect()
    }
}

fn user(message: &Message) -> UiMessage {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(NamedPart::Text { text: text.clone(), state: None }),
        _ => None,
    });
    let parts = texts.map(UiPart::Named).collect();
    UiMessage { id: message.id.to_string(), role: "user", parts }
}

fn assistant((id, parts): (String, Vec<UiPart>)) -> UiMessage {
    UiMessage { id, role: "assistant", parts }
}
