//! What must be true when everything is over. The checks that compare are pure, so that each can be
//! shown a world in which it must object.

mod begun;
mod effects;
mod holds;
mod on_disk;
mod transcripts;

use std::collections::BTreeMap;

use serde_json::Value;

use super::world::{Callers, World};
use crate::witness::Line;

pub use begun::{Begun, begun};
pub use effects::effects;
pub use holds::holds;
pub(super) use on_disk::{audit, database, leftovers};
pub use transcripts::transcripts;

/// Everything that can be seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub holds: Vec<Value>,
    /// Whole, with their messages.
    pub sessions: Vec<Value>,
    pub witness: Vec<Line>,
    pub ledger: Vec<Line>,
    /// The statements of `notes` that changed something, each with how often it did.
    pub notes: BTreeMap<String, u64>,
}

/// A call as the transcript shows it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub id: &'a str,
    pub tool: &'a str,
    pub state: &'a str,
    pub input: &'a Value,
    pub output: &'a str,
    pub is_error: bool,
}

impl Found {
    pub(super) async fn collect(world: &World, callers: &Callers) -> Result<Found, String> {
        let person = &callers.auditor;
        let list =
            |path: &'static str| async move { person.list(path).await.map_err(|lost| lost.0) };
        let mut sessions = Vec::new();
        for session in list("/v1/sessions").await? {
            let path = format!("/v1/sessions/{}", text(&session, "id"));
            let reply = person.get(&path).await.map_err(|lost| lost.0)?;
            if reply.status != 200 {
                return Err(format!("{path} said {}: {}", reply.status, reply.body));
            }
            sessions.push(reply.body);
        }
        Ok(Found {
            holds: list("/v1/holds").await?,
            sessions,
            witness: world.witness().lines()?,
            ledger: world.ledger().lines()?,
            notes: world.notes()?,
        })
    }

    /// Every call of every session, with its result.
    pub fn calls(&self) -> Vec<Seen<'_>> {
        let parts = || {
            let messages = self.sessions.iter().flat_map(|session| items(&session["messages"]));
            messages.flat_map(|message| items(&message["parts"]))
        };
        let is = |part: &&Value, kind: &str| part["type"] == kind;
        let results: BTreeMap<&str, &Value> = parts()
            .filter(|part| is(part, "tool-result"))
            .map(|part| (text(part, "toolCallId"), part))
            .collect();
        let mut calls = Vec::new();
        for part in parts().filter(|part| is(part, "tool-call")) {
            let id = text(part, "toolCallId");
            let result = results.get(id).copied().unwrap_or(&Value::Null);
            calls.push(Seen {
                id,
                tool: text(part, "toolName"),
                state: text(part, "state"),
                input: &part["input"],
                output: text(result, "output"),
                is_error: result["isError"] != false,
            });
        }
        calls
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
