//! For [`crate::fuzz_api`].

use serde_json::Value;

use super::chat::read_value;
use super::history::LastMessage;
use super::read::{self, AiSdkPost, PartAnswer, PostedMessage};
use super::resume;
use crate::asked::parse;
use crate::doors::fuzz_api::{DoorAnswer, DoorSaid};
use crate::problem::{Problem, Refused};

pub(in crate::doors) fn chat(body: &[u8]) -> Result<DoorSaid, String> {
    let LastMessage(body) = parse(body).map_err(worded)?;
    read::chat(&body).map(|(_, posted)| door_said(posted)).map_err(problem_json)
}

pub(in crate::doors) fn project(body: &[u8]) -> Result<DoorSaid, String> {
    let body: Value = read_value(body).map_err(worded)?;
    read::project(&body).map(|(_, posted)| door_said(posted)).map_err(problem_json)
}

pub(in crate::doors) fn chat_behind(query: &str) -> Option<(String, String)> {
    resume::named_chat(query).map(|(query, chat)| (query.to_owned(), chat))
}

fn door_said(posted: AiSdkPost) -> DoorSaid {
    match posted.message {
        PostedMessage::User { texts, .. } => DoorSaid { texts, answers: Vec::new() },
        PostedMessage::Assistant { parts, .. } => {
            let answers = parts.into_iter().filter_map(|part| {
                let (about, approves, content) = match part.said {
                    PartAnswer::Nothing { .. } => return None,
                    PartAnswer::Approval { id, approved, .. } => (id, Some(approved), None),
                    PartAnswer::Output(output) => (part.id, None, Some(output.to_string())),
                    PartAnswer::Error(text) => (part.id, None, Some(text)),
                };
                Some(DoorAnswer { about, approves, content })
            });
            DoorSaid { texts: Vec::new(), answers: answers.collect() }
        }
    }
}

fn problem_json(problem: Problem) -> String {
    serde_json::to_string(&problem).unwrap_or_default()
}

fn worded(refused: Refused) -> String {
    match refused {
        Refused::Problem(problem) => problem_json(problem),
        Refused::Replayed(_) => String::new(),
    }
}
