//! `GET export`: the current chat as Markdown. Every line that somebody said is quoted, so that none of it
//! can be taken for a heading of ours.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use domain::visible::visible;

use super::chat::title;
use super::fault::WorldsResult;
use super::memory::memory;
use super::rest::current;
use super::wire::ChatMessage;
use super::world_request::WorldRequest;

pub(super) async fn export(here: WorldRequest) -> WorldsResult<Response> {
    let mut text = format!("# {}\n", visible(&here.world.name));
    if let Some(chat) = current(&here).await? {
        let mut said: Vec<ChatMessage> = Vec::new();
        for session in &chat.sessions {
            said.extend(memory(session, &here.source(&chat.id, session), here.app()));
        }
        // Each agent's conversation is in order; together they are by time.
        said.sort_by(|a, b| a.created_at.cmp(&b.created_at));
        let name = chat.sessions.first().map(|session| title(session)).unwrap_or_default();
        text.push_str(&format!("\n## {}\n", visible(&name)));
        for message in &said {
            write_message(&mut text, message);
        }
    }
    let mut reply = (StatusCode::OK, text).into_response();
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/markdown; charset=utf-8"));
    let safe: String = here.id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let file = format!("attachment; filename=\"{safe}-export.md\"");
    if let Ok(file) = HeaderValue::from_str(&file) {
        headers.insert(CONTENT_DISPOSITION, file);
    }
    Ok(reply)
}

fn write_message(text: &mut String, message: &ChatMessage) {
    if message.content.is_empty() && message.tool_calls.is_empty() {
        return;
    }
    text.push_str(&format!("\n### {} ({})\n\n", visible(&message.sender), message.created_at));
    // Markdown ends a line at either sign.
    for line in message.content.replace("\r\n", "\n").split(['\n', '\r']) {
        text.push_str(&format!("> {line}\n"));
    }
    for call in &message.tool_calls {
        let (name, input) = (visible(&call.function.name), visible(&call.function.arguments));
        text.push_str(&format!("> calls {name}: {input}\n"));
    }
}
