//! Files that people and programs hand over: which bytes, what kind, how large, and what their sender called them.
//!
//! The kind is told by the bytes alone ([`Sniffer`]). Names are foreign text: they are shown, and never are a path.

mod form;
mod image;
mod sniff;

use std::fmt;

use crate::digest::Digest;
use crate::id::FileId;
use crate::limits::FILE_NAME_BYTES_MAX;

pub use form::file_answers;
pub use sniff::Sniffer;

/// One upload as transcripts and cards refer to it. The digest says which bytes are meant, so a record that keeps
/// this covers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRef {
    /// Names the upload.
    pub id: FileId,
    /// Of all its bytes.
    pub digest: Digest,
    /// How many bytes it has.
    pub bytes: u64,
    /// What the bytes are, as they were found to be on arrival.
    pub kind: FileKind,
    /// What the sender called it.
    pub name: FileName,
}

impl FileRef {
    /// Whether it can be shown as a picture.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, FileKind::Image { .. })
    }
}

/// What the bytes are, as far as that matters to us. Everything else is bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A raster image, with its size in pixels.
    Image {
        /// The format, from the file's first bytes.
        format: ImageFormat,
        /// In pixels, from the file's header.
        width: u32,
        /// In pixels, from the file's header.
        height: u32,
    },
    /// It begins as a PDF does. Nothing else of it was read.
    Pdf,
    /// UTF-8 without control characters. A web page and an SVG are text, too: they are never served as anything else.
    Text,
    /// Text that is one JSON object or list.
    Json,
    /// Text of which the first lines have equally many commas.
    Csv,
    /// None of the others.
    Bytes,
}

/// The formats that are shown as pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF, also one that moves.
    Gif,
    /// WebP.
    WebP,
}

impl ImageFormat {
    /// The registered media type, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg => "image/jpeg",
            ImageFormat::Gif => "image/gif",
            ImageFormat::WebP => "image/webp",
        }
    }
}

impl FileKind {
    /// The media type that downloads are served as.
    pub fn media_type(self) -> &'static str {
        match self {
            FileKind::Image { format, .. } => format.media_type(),
            FileKind::Pdf => "application/pdf",
            FileKind::Text => "text/plain",
            FileKind::Json => "application/json",
            FileKind::Csv => "text/csv",
            FileKind::Bytes => "application/octet-stream",
        }
    }

    /// A kind as it was stored: its media type, and of an image the size.
    pub fn stored(media_type: &str, size: Option<(u32, u32)>) -> Option<FileKind> {
        let image = |format| size.map(|(width, height)| FileKind::Image { format, width, height });
        let plain = |kind| size.is_none().then_some(kind);
        match media_type {
            "image/png" => image(ImageFormat::Png),
            "image/jpeg" => image(ImageFormat::Jpeg),
            "image/gif" => image(ImageFormat::Gif),
            "image/webp" => image(ImageFormat::WebP),
            "application/pdf" => plain(FileKind::Pdf),
            "text/plain" => plain(FileKind::Text),
            "application/json" => plain(FileKind::Json),
            "text/csv" => plain(FileKind::Csv),
            "application/octet-stream" => plain(FileKind::Bytes),
            _ => None,
        }
    }

    /// Of an image, in pixels.
    pub fn size(self) -> Option<(u32, u32)> {
        match self {
            FileKind::Image { width, height, .. } => Some((width, height)),
            _ => None,
        }
    }

    /// Whether a model may be given the content as text.
    pub fn is_text(self) -> bool {
        matches!(self, FileKind::Text | FileKind::Json | FileKind::Csv)
    }
}

/// What the sender called it, without folders and control characters. For people; nothing on our disk has it.
///
/// ```
/// use holdpoint_domain::file::FileName;
/// assert_eq!(FileName::given("../../etc/passwd").as_str(), "passwd");
/// assert_eq!(FileName::given("C:\\Users\\ana\\photo.png").as_str(), "photo.png");
/// assert_eq!(FileName::given("..").as_str(), "file");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    /// From the name as it was sent. What is longer than [`FILE_NAME_BYTES_MAX`] is cut.
    pub fn given(text: &str) -> FileName {
        let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut name: String = last.chars().filter(|c| !c.is_control()).collect();
        let mut end = name.len().min(FILE_NAME_BYTES_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
        let name = name.trim();
        if name.chars().all(|c| c == '.') {
            return FileName("file".into());
        }
        FileName(name.to_owned())
    }

    /// The name, which may be empty.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path_and_has_no_controls() {
        for (given, kept) in [
            ("photo.png", "photo.png"),
            ("/etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("a/..", "file"),
            ("a/", "file"),
            ("", "file"),
            ("...", "file"),
            (" .env ", ".env"),
            ("a\r\nSet-Cookie: b", "aSet-Cookie: b"),
            ("a\0b\u{85}", "ab"),
            ("照片.png", "照片.png"),
        ] {
            assert_eq!(FileName::given(given).as_str(), kept, "{given:?}");
        }
        let long = FileName::given(&"é".repeat(200));
        assert_eq!(long.as_str().len(), 254, "cut between characters");
    }

    #[test]
    fn a_kind_is_read_as_it_was_written() {
        let image = |format| FileKind::Image { format, width: 3, height: 4 };
        for kind in [
            image(ImageFormat::Png),
            image(ImageFormat::Jpeg),
            image(ImageFormat::Gif),
            image(ImageFormat::WebP),
            FileKind::Pdf,
            FileKind::Text,
            FileKind::Json,
            FileKind::Csv,
            FileKind::Bytes,
        ] {
            assert_eq!(FileKind::stored(kind.media_type(), kind.size()), Some(kind));
        }
        for (media_type, size) in
            [("image/png", None), ("text/plain", Some((1, 1))), ("text/html", None)]
        {
            assert_eq!(FileKind::stored(media_type, size), None, "{media_type}");
        }
    }
}
