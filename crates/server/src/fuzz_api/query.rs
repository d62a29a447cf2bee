//! Queries of addresses, and the cursors in them. `None` where no HTTP library would hand one on.

use std::time::Duration;

use axum::http::Uri;
use domain::id::{SessionId, TokenId};
use engine::{HoldFilter, Until};
use serde::de::DeserializeOwned;

use super::{ProblemJson, document};
use crate::doors::fuzz_api::{chat_behind, conversations, sessions};
use crate::problem::Problem;
use crate::{asked, login, v1, wire};

/// What a query says, or the refusal that would be sent.
pub type QueryRead<T> = Option<Result<T, ProblemJson>>;

pub fn list_of_holds(query: &str) -> QueryRead<HoldFilter> {
    read_query(query, v1::inbox::HoldsQuery::parse)
}

/// The agent, how many, after which.
pub fn list_of_sessions(query: &str) -> QueryRead<(Option<String>, usize, Option<SessionId>)> {
    read_query(query, v1::sessions::SessionsQuery::parse)
}

/// How many, after which.
pub fn list_of_entries(query: &str) -> QueryRead<(usize, u64)> {
    read_query(query, v1::audit_browse::AuditQuery::parse_place)
}

/// How many, after which.
pub fn list_of_tokens(query: &str) -> QueryRead<(usize, Option<TokenId>)> {
    read_query(query, v1::tokens::TokensQuery::parse)
}

pub fn wait(query: &str) -> QueryRead<(Until, Duration)> {
    read_query(query, v1::holds::WaitQuery::parse)
}

/// Where to go on in a stream of events.
pub fn events(query: &str) -> QueryRead<Option<u64>> {
    read_query(query, |asked: v1::events::After| Ok(asked.after))
}

/// The code that the page of a login link shows a button for.
pub fn login_link(query: &str) -> QueryRead<Option<String>> {
    read_query(query, |asked: login::Code| Ok(asked.shown()))
}

/// How many, after how many, of which type.
pub fn door_sessions(query: &str) -> QueryRead<(usize, usize, Option<String>)> {
    Some(sessions(&uri(query)?))
}

/// How many, before which, of which type.
pub fn door_conversations(query: &str) -> QueryRead<(usize, Option<usize>, Option<String>)> {
    Some(conversations(&uri(query)?))
}

/// The rest of the query, and the chat that stands behind it.
pub fn door_chat(query: &str) -> Option<(String, String)> {
    chat_behind(uri(query)?.query()?)
}

/// One page of these, and the cursor of the next.
pub fn page<T: ToString>(found: Vec<T>, limit: usize) -> (Vec<T>, Option<String>) {
    let page = wire::List::cut(found, limit, ToString::to_string);
    (page.items, page.next)
}

fn read_query<A: DeserializeOwned, T>(
    query: &str,
    parse: impl FnOnce(A) -> Result<T, Problem>,
) -> QueryRead<T> {
    let asked = asked::query(&uri(query)?);
    Some(asked.and_then(parse).map_err(|problem| document(&problem)))
}

fn uri(query: &str) -> Option<Uri> {
    format!("/?{query}").parse().ok()
}
