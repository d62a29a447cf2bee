//! Uploaded files as replies and transcripts tell of them. Names are foreign text.

use domain::digest::Digest;
use domain::file::FileRef;
use domain::id::FileId;
use domain::time::Timestamp;
use ports::file_store::StoredFile;
use schemars::JsonSchema;
use serde::Serialize;

use super::text::Text;

/// One upload.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct File<'a> {
    id: Text<FileId>,
    /// As its sender called it, without folders.
    name: &'a str,
    /// What the bytes are, by the bytes alone.
    media_type: &'static str,
    bytes: u64,
    digest: Text<Digest>,
    /// Of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    at: Text<Timestamp>,
}

impl<'a> File<'a> {
    pub(crate) fn of(stored: &'a StoredFile) -> File<'a> {
        let file = &stored.file;
        let (width, height) = file.kind.size().unzip();
        File {
            id: Text(file.id),
            name: file.name.as_str(),
            media_type: file.kind.media_type(),
            bytes: file.bytes,
            digest: Text(file.digest),
            width,
            height,
            at: Text(stored.at),
        }
    }
}

/// A file as a part of a message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageFile<'a> {
    /// Its bytes are at `/v1/files/{id}`.
    file: Text<FileId>,
    name: &'a str,
    media_type: &'static str,
    bytes: u64,
    digest: Text<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
}

impl<'a> MessageFile<'a> {
    pub(crate) fn of(file: &'a FileRef) -> MessageFile<'a> {
        let (width, height) = file.kind.size().unzip();
        MessageFile {
            file: Text(file.id),
            name: file.name.as_str(),
            media_type: file.kind.media_type(),
            bytes: file.bytes,
            digest: Text(file.digest),
            width,
            height,
        }
    }
}
