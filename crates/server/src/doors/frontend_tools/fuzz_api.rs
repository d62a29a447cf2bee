//! For [`crate::fuzz_api`].

use axum::extract::Query;
use axum::http::Uri;
use domain::id::SessionId;

use super::body::{ResultsAsked, RunAsked};
use super::{conversations, multipart, repeats, sessions};
use crate::doors::fuzz_api::{DoorAnswer, DoorSaid, FormPart};
use crate::problem::Problem;

pub(in crate::doors) fn run(body: &[u8]) -> Result<DoorSaid, String> {
    let asked = RunAsked::parse(body).map_err(problem_json)?;
    Ok(DoorSaid { texts: asked.texts, answers: Vec::new() })
}

pub(in crate::doors) fn results(body: &[u8]) -> Result<DoorSaid, String> {
    let asked = ResultsAsked::parse(body).map_err(problem_json)?;
    let answers = asked.results.into_iter().map(|posted| DoorAnswer {
        about: posted.tool_use_id,
        approves: None,
        content: Some(posted.content),
    });
    Ok(DoorSaid { texts: Vec::new(), answers: answers.collect() })
}

pub(in crate::doors) fn form(content_type: &str, body: &[u8]) -> Result<Vec<FormPart>, String> {
    let parts = multipart::parts(content_type, body).map_err(str::to_owned)?;
    Ok(parts.into_iter().map(|part| (part.name, part.filename, part.content)).collect())
}

pub(in crate::doors) fn sessions(uri: &Uri) -> Result<(usize, usize, Option<String>), String> {
    sessions::Wanted::read(Query::try_from_uri(uri)).map_err(problem_json)
}

pub(in crate::doors) fn conversations(
    uri: &Uri,
) -> Result<(usize, Option<usize>, Option<String>), String> {
    conversations::Wanted::read(Query::try_from_uri(uri)).map_err(problem_json)
}

pub(in crate::doors) fn runs(note: &[u8]) -> Vec<SessionId> {
    repeats::sessions(note)
}

pub(in crate::doors) fn repeats_note(known: &[SessionId]) -> Vec<u8> {
    repeats::repeats_note(known)
}

fn problem_json(problem: Problem) -> String {
    serde_json::to_string(&problem).unwrap_or_default()
}
