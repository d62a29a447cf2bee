//! What a model gets of files that people attached: pictures if it takes them, short texts as text, and of everything
//! else a line that says what it was and why it is not there. A request has room for the newest of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use domain::file::{FileKind, FileRef};
use domain::id::FileId;
use domain::message::Message;
use domain::session::Session;
use domain::visible::visible;
use ports::model::ModelMessage;

use crate::is_blank;

/// One picture: in base64 it stays under the 5 MB that Anthropic takes.
pub const IMAGE_BYTES_SENT_MAX: u64 = 3_900_000;
/// Its longer side, for the same reason.
const IMAGE_SIDE_SENT_MAX: u32 = 8_000;
/// Pictures of one request: beyond this providers want them smaller.
const IMAGES_SENT_MAX: usize = 20;
/// Their bytes, in all. Requests have 32 MB at Anthropic.
const IMAGES_BYTES_SENT_MAX: u64 = 15_000_000;
/// One text: as much as a person would paste.
pub const TEXT_BYTES_SENT_MAX: u64 = 64 << 10;
/// All of them: a hundred thousand tokens.
const TEXTS_BYTES_SENT_MAX: u64 = 400_000;

/// Bytes of attached files, by upload.
#[derive(Debug, Default)]
pub struct LoadedFiles {
    takes_images: bool,
    /// `None`: they cannot be read, or are not those that were attached.
    bytes: HashMap<FileId, Option<Arc<[u8]>>>,
}

impl LoadedFiles {
    pub fn new(takes_images: bool) -> LoadedFiles {
        LoadedFiles { takes_images, bytes: HashMap::new() }
    }

    pub fn insert(&mut self, file: FileId, bytes: Option<Arc<[u8]>>) {
        self.bytes.insert(file, bytes);
    }
}

/// The files whose bytes the next request needs, the newest first.
pub fn files_to_load(session: &Session, takes_images: bool) -> Vec<&FileRef> {
    let (mut images, mut image_bytes, mut text_bytes) = (0, 0, 0);
    let mut wanted: Vec<&FileRef> = Vec::new();
    let messages: Vec<_> = session.transcript.iter().collect();
    let files = messages.into_iter().rev().flat_map(|message| message.files());
    for file in files.filter(|file| withheld(file, takes_images).is_none()) {
        let fits = match file.is_image() {
            true => {
                images += 1;
                image_bytes += file.bytes;
                images <= IMAGES_SENT_MAX && image_bytes <= IMAGES_BYTES_SENT_MAX
            }
            false => {
                text_bytes += file.bytes;
                text_bytes <= TEXTS_BYTES_SENT_MAX
            }
        };
        if fits {
            wanted.push(file);
        }
    }
    wanted
}

/// Why a model never gets the bytes of this file.
fn withheld(file: &FileRef, takes_images: bool) -> Option<&'static str> {
    match file.kind {
        FileKind::Image { .. } if !takes_images => Some("this model takes no images"),
        FileKind::Image { width, height, .. }
            if file.bytes > IMAGE_BYTES_SENT_MAX || width.max(height) > IMAGE_SIDE_SENT_MAX =>
        {
            Some("the image is too large for a model")
        }
        FileKind::Image { .. } => None,
        kind if kind.is_text() && file.bytes > TEXT_BYTES_SENT_MAX => {
            Some("the text is too long for a model")
        }
        kind if kind.is_text() => None,
        _ => Some("files of this kind are not sent to a model"),
    }
}

/// Puts the pictures of a message before it, and gives its text with the other files in it.
pub(crate) fn push_files<'a>(
    message: &'a Message,
    files: &LoadedFiles,
    messages: &mut Vec<ModelMessage<'a>>,
) -> Cow<'a, str> {
    let mut before = String::new();
    for file in message.files() {
        let label = label(file);
        let loaded = files.bytes.get(&file.id);
        let why = match (withheld(file, files.takes_images), loaded) {
            (Some(why), _) => why,
            (None, None) => "left out: newer files fill the request",
            (None, Some(None)) => "its bytes cannot be read, or have changed since",
            (None, Some(Some(bytes))) if file.is_image() => {
                messages.push(ModelMessage::Image {
                    label: format!("[{label}]").into(),
                    media_type: file.kind.media_type(),
                    bytes: bytes.clone(),
                });
                continue;
            }
            (None, Some(Some(bytes))) => {
                let text = String::from_utf8_lossy(bytes);
                let _ = writeln!(before, "[{label}]\n{}\n[end of the file]", text.trim_end());
                continue;
            }
        };
        let _ = writeln!(before, "[{label}: {why}]");
    }
    let text = message.text();
    match before.is_empty() {
        true => text,
        false if is_blank(&text) => before.trim_end().to_owned().into(),
        false => (before + &text).into(),
    }
}

/// `image photo.png, 1200x800`: the name is its sender's, and stays on one line.
fn label(file: &FileRef) -> String {
    let name = visible(file.name.as_str());
    match file.kind {
        FileKind::Image { width, height, .. } => format!("image {name}, {width}x{height}"),
        kind => format!("file {name}, {}, {} bytes", kind.media_type(), file.bytes),
    }
}
