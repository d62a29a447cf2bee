//! Files: uploaded for later prompts, or sent along with one. Addresses are refused and not fetched.

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use domain::digest::Framed;
use domain::id::FileId;
use ports::file_store::StoredFile;
use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::body::RunAsked;
use super::limits::{FILES_FORM_BYTES_MAX, FILES_FORMS_AT_ONCE};
use super::multipart::{self, FormPart};
use super::{Frontend, find, run};
use crate::asked::{json, read_long};
use crate::auth::{Credential, Who};
use crate::doors::DoorContext;
use crate::problem::{Problem, Refused, Reply};

/// `POST /agent/run/multipart`: a prompt with files. The model reads texts as text.
pub(super) async fn run(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let turn = form_turn()?;
    let (bytes, parts) = form(&room, &who, &headers, body).await?;
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    let (mut prompt, mut agent_uuid, mut agent_type) = (None, None, None);
    for part in parts {
        let name = part.name.trim_end_matches("[]");
        let slot = match name {
            "files" => {
                match file(&room, &who, part).await? {
                    PromptFile::Text(text) => texts.push(text),
                    PromptFile::Kept(id) => files.push(id),
                }
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
    let asked = RunAsked::new(texts, files, given(agent_type), given(agent_uuid))?;
    let key = run::key(&room, &who, &headers, "/agent/run/multipart", &bytes)?;
    drop((bytes, turn));
    run::start(room, who, key, asked).await
}

/// A text file as the model gets it; anything else is kept, and comes with the prompt.
async fn file(room: &DoorContext<Frontend>, who: &Who, part: FormPart) -> Reply<PromptFile> {
    match std::str::from_utf8(&part.content) {
        Ok(text) if !text.contains('\0') => {
            let name = domain::visible::visible(part.filename.as_deref().unwrap_or("file"));
            Ok(PromptFile::Text(format!("The file {name}:\n{text}")))
        }
        _ => Ok(PromptFile::Kept(keep(room, who, part).await?.file.id)),
    }
}

enum PromptFile {
    Text(String),
    Kept(FileId),
}

/// The client sends the same form again when its page was hidden, and means the same files.
async fn keep(room: &DoorContext<Frontend>, who: &Who, part: FormPart) -> Reply<StoredFile> {
    let name = part.filename.as_deref().unwrap_or("file");
    let same = Framed::new("holdpoint.frontend_tools.file.v1")
        .field("name", name.as_bytes())
        .field("content", &part.content)
        .finish();
    let key = Some(same.to_string());
    let refused = crate::v1::files::refused;
    let mut upload = room.app.engine.begin_upload(&who.caller, name, key).await.map_err(refused)?;
    upload.write(&part.content).await.map_err(refused)?;
    upload.finish().await.map_err(refused)
}

/// `POST /agent/upload`: keeps files, for prompts that name them.
pub(super) async fn upload(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let _turn = form_turn()?;
    let (_, parts) = form(&room, &who, &headers, body).await?;
    let named = |part: &FormPart, name| part.name.trim_end_matches("[]") == name;
    if parts.iter().any(|part| named(part, "urls")) {
        let why = "this server fetches no addresses: send the files themselves in `files`";
        return Err(Problem::invalid("urls", why).into());
    }
    let files: Vec<FormPart> = parts.into_iter().filter(|part| named(part, "files")).collect();
    if files.is_empty() {
        return Err(Problem::bad_request("send at least one file in `files`").into());
    }
    let mut kept = Vec::new();
    for part in files {
        kept.push(UploadedFile::of(&keep(&room, &who, part).await?));
    }
    Ok(json(StatusCode::OK, &Uploaded { files: kept }))
}

#[derive(Serialize)]
struct Uploaded {
    files: Vec<UploadedFile>,
}

#[derive(Serialize)]
struct UploadedFile {
    id: String,
    filename: String,
    mime_type: &'static str,
    size_bytes: u64,
    created_at: String,
    downloadable: bool,
}

impl UploadedFile {
    fn of(stored: &StoredFile) -> UploadedFile {
        UploadedFile {
            id: stored.file.id.to_string(),
            filename: stored.file.name.as_str().to_owned(),
            mime_type: stored.file.kind.media_type(),
            size_bytes: stored.file.bytes,
            created_at: stored.at.to_string(),
            downloadable: true,
        }
    }
}

/// `GET /agent/{uuid}/images/{image}`: a picture that was said in this conversation.
pub(super) async fn image(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    Path((uuid, image)): Path<(String, String)>,
) -> Reply {
    let session = find(&room, &who.caller, &uuid).await?;
    let mut files = session.transcript.iter().flat_map(|message| message.files());
    let file = files.find(|file| file.is_image() && file.id.to_string() == image);
    let file = file.ok_or_else(|| Problem::not_found("image"))?;
    crate::v1::files::reply(&room.app, file, &HeaderMap::new()).await
}

/// Forms with files that are in memory.
fn form_turn() -> Reply<SemaphorePermit<'static>> {
    static TURNS: Semaphore = Semaphore::const_new(FILES_FORMS_AT_ONCE);
    let turn = TURNS.try_acquire();
    turn.map_err(|_| Problem::unavailable("too many files at once; send these again", 2).into())
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
    let bytes = read_long(&room.app, body, FILES_FORM_BYTES_MAX).await?;
    match multipart::parts(kind, &bytes) {
        Ok(parts) => Ok((bytes, parts)),
        Err(why) => Err(Refused::from(Problem::invalid("body", why))),
    }
}
