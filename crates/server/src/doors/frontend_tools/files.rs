//! Files. This server has no place to keep any: text files can be sent along with a prompt, and the
//! rest is refused in so many words.

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

use super::body::RunAsked;
use super::limits::BODY_BYTES_MAX;
use super::multipart::{self, FormPart};
use super::{Frontend, find, run};
use crate::asked::read_at_most;
use crate::auth::{Credential, Who};
use crate::doors::DoorContext;
use crate::problem::{Problem, Refused, Reply};

/// `POST /agent/run/multipart`: a prompt with text files, which the model reads as text.
pub(super) async fn run(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let (bytes, parts) = form(&room, &who, &headers, body).await?;
    let mut texts = Vec::new();
    let (mut prompt, mut agent_uuid, mut agent_type) = (None, None, None);
    for part in parts {
        let name = part.name.trim_end_matches("[]");
        let slot = match name {
            "files" => {
                texts.push(file(part)?);
                continue;
            }
            "user_prompt" => &mut prompt,
            "agent_uuid" => &mut agent_uuid,
            "agent_type" => &mut agent_type,
            _ => continue,
        };
        let field = name.to_owned();
        let Ok(text) = String::from_utf8(part.content) else {
            return Err(Problem::invalid(field, "is not UTF-8").into());
        };
        if slot.replace(text).is_some() {
            return Err(Problem::invalid(field, "is there twice").into());
        }
    }
    let given = |value: Option<String>| value.filter(|text| !text.is_empty());
    let Some(prompt) = given(prompt) else {
        return Err(Problem::invalid("user_prompt", "say something in `user_prompt`").into());
    };
    texts.push(prompt);
    let asked = RunAsked::new(texts, given(agent_type), given(agent_uuid))?;
    let key = run::key(&room, &who, &headers, "/agent/run/multipart", &bytes)?;
    run::start(room, who, key, asked).await
}

/// A text file as the model gets it.
fn file(part: FormPart) -> Result<String, Problem> {
    let name = domain::visible::visible(part.filename.as_deref().unwrap_or("file"));
    match String::from_utf8(part.content) {
        Ok(text) if !text.contains('\0') => Ok(format!("The file {name}:\n{text}")),
        _ => Err(Problem::invalid(
            "files",
            "this server takes text files only: it has no place for images and other files",
        )),
    }
}

/// `POST /agent/upload`: there is no place to keep files.
pub(super) async fn upload(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let (_, parts) = form(&room, &who, &headers, body).await?;
    let is_given = |part: &FormPart| matches!(part.name.trim_end_matches("[]"), "files" | "urls");
    if !parts.iter().any(is_given) {
        return Err(Problem::bad_request("send at least one of `files` and `urls`").into());
    }
    let why = "this server keeps no files, and fetches none: send text files with the prompt, to \
               /agent/run/multipart";
    Err(Problem::invalid("files", why).into())
}

/// `GET /agent/{uuid}/images/{image}`: no run makes any.
pub(super) async fn image(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    Path((uuid, _)): Path<(String, String)>,
) -> Reply {
    find(&room, &who.caller, &uuid).await?;
    Err(Problem::not_found("image").into())
}

async fn form(
    room: &DoorContext<Frontend>,
    who: &Who,
    headers: &HeaderMap,
    body: Body,
) -> Reply<(Bytes, Vec<FormPart>)> {
    // Any page can make a browser send a form, without the browser asking us first.
    if let Credential::Door { .. } = who.credential {
        let why = "forms need credentials: send the header `Authorization: Bearer <token>`";
        return Err(Problem::unauthenticated(why).into());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let bytes = read_at_most(&room.app, body, BODY_BYTES_MAX).await?;
    match multipart::parts(kind, &bytes) {
        Ok(parts) => Ok((bytes, parts)),
        Err(why) => Err(Refused::from(Problem::invalid("body", why))),
    }
}
