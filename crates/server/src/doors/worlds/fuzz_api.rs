//! For [`crate::fuzz_api`].

use super::body::{Detail, loose, object};
use super::message::Posting;
use super::respond::Respond;
use super::tool_result::{ResultVerdict, ToolResult};
use crate::doors::fuzz_api::{DoorAnswer, DoorSaid};

fn details_json(details: Vec<Detail>) -> String {
    serde_json::to_string(&details).unwrap_or_default()
}

pub(in crate::doors) fn tool_result(body: &[u8]) -> Result<DoorSaid, String> {
    let read = ToolResult::read(&object(body).map_err(details_json)?).map_err(details_json)?;
    let approves = read.decision.map(|decision| decision == ResultVerdict::Approve);
    let content = read.choices().map(|chosen| chosen.join("\n"));
    let answers = vec![DoorAnswer { about: read.call, approves, content }];
    Ok(DoorSaid { texts: Vec::new(), answers })
}

pub(in crate::doors) fn respond(body: &[u8]) -> Result<DoorSaid, String> {
    let read = Respond::read(&object(body).map_err(details_json)?).map_err(details_json)?;
    let answers = vec![DoorAnswer { about: read.request, approves: None, content: None }];
    Ok(DoorSaid { texts: Vec::new(), answers })
}

pub(in crate::doors) fn posted_text(body: &[u8]) -> Result<DoorSaid, String> {
    let read = Posting::read(&loose(body).map_err(details_json)?).map_err(details_json)?;
    Ok(DoorSaid { texts: vec![read.text], answers: Vec::new() })
}
