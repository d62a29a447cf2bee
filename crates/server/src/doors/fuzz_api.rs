//! What the doors make of bodies, without a server around them: for [`crate::fuzz_api`].

use axum::http::Uri;
use domain::id::SessionId;

use super::{ai_sdk, conversation, frontend_tools, identity, worlds};

/// One of the bodies that doors take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorBody {
    Chat,
    Project,
    Run,
    Results,
    ToolResult,
    Respond,
    Said,
}

/// What a body says, as far as it could decide anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoorSaid {
    pub texts: Vec<String>,
    pub answers: Vec<DoorAnswer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorAnswer {
    /// The prompt, the call or the hold that it names.
    pub about: String,
    /// Whether it says yes or no in so many words.
    pub approves: Option<bool>,
    pub content: Option<String>,
}

/// The error is what the client is told.
pub fn door(kind: DoorBody, body: &[u8]) -> Result<DoorSaid, String> {
    match kind {
        DoorBody::Chat => ai_sdk::fuzz_api::chat(body),
        DoorBody::Project => ai_sdk::fuzz_api::project(body),
        DoorBody::Run => frontend_tools::fuzz_api::run(body),
        DoorBody::Results => frontend_tools::fuzz_api::results(body),
        DoorBody::ToolResult => worlds::fuzz_api::tool_result(body),
        DoorBody::Respond => worlds::fuzz_api::respond(body),
        DoorBody::Said => worlds::fuzz_api::posted_text(body),
    }
}

/// A part of a form: name, name of the file, content.
pub type FormPart = (String, Option<String>, Vec<u8>);

pub fn form(content_type: &str, body: &[u8]) -> Result<Vec<FormPart>, String> {
    frontend_tools::fuzz_api::form(content_type, body)
}

/// Whether a `Host` names this machine and no other.
pub fn is_this_machine(host: &str) -> bool {
    identity::is_loopback(host)
}

/// How many sessions, after how many, of which type.
pub(crate) fn sessions(uri: &Uri) -> Result<(usize, usize, Option<String>), String> {
    frontend_tools::fuzz_api::sessions(uri)
}

/// How many runs of a session, before which, of which type.
pub(crate) fn conversations(uri: &Uri) -> Result<(usize, Option<usize>, Option<String>), String> {
    frontend_tools::fuzz_api::conversations(uri)
}

/// The chat that stands behind a query, and the query.
pub(crate) fn chat_behind(query: &str) -> Option<(String, String)> {
    ai_sdk::fuzz_api::chat_behind(query)
}

/// The session that a conversation's note names, if it is this caller's.
pub fn noted_place(note: &[u8], caller: &str) -> Option<SessionId> {
    conversation::owned(note, caller).ok()
}

/// The note of a conversation.
pub fn note_of_place(session: SessionId, owner: &str) -> Vec<u8> {
    conversation::written_note(session, owner)
}

/// The sessions that the same words have begun, as they are noted.
pub fn noted_runs(note: &[u8]) -> Vec<SessionId> {
    frontend_tools::fuzz_api::runs(note)
}

pub fn note_of_runs(known: &[SessionId]) -> Vec<u8> {
    frontend_tools::fuzz_api::repeats_note(known)
}
