//! Which kind of file it is, by its bytes. They come piece by piece, and only the first of them are kept.

use super::FileKind;
use super::image;
use crate::limits::{IMAGE_PIXELS_MAX, IMAGE_SIDE_MAX};

/// What cameras write before the size of a picture fits.
const HEAD_BYTES: usize = 256 << 10;
/// Lines that are looked at to tell a table from other text.
const TABLE_LINES: usize = 20;

/// Looks at a file as it comes.
///
/// ```
/// use holdpoint_domain::file::{FileKind, Sniffer};
/// let mut sniffer = Sniffer::default();
/// sniffer.see(b"<svg onload=");
/// sniffer.see(b"alert(1)>");
/// assert_eq!(sniffer.kind(), FileKind::Text);
/// ```
#[derive(Debug, Default)]
pub struct Sniffer {
    head: Vec<u8>,
    is_whole: Whole,
    /// The first bytes of a character whose rest is in the next piece.
    unfinished: Vec<u8>,
    is_no_text: bool,
}

/// Whether all bytes are in the head.
#[derive(Debug, Default, PartialEq, Eq)]
enum Whole {
    #[default]
    Yes,
    No,
}

impl Sniffer {
    /// The next piece.
    pub fn see(&mut self, piece: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            self.is_whole = Whole::No;
        }
        if !self.is_no_text {
            self.look_for_text(piece);
        }
    }

    fn look_for_text(&mut self, piece: &[u8]) {
        let mut joined = std::mem::take(&mut self.unfinished);
        joined.extend_from_slice(piece);
        let sound = match std::str::from_utf8(&joined) {
            Ok(text) => text,
            // Only the end of the piece is missing something.
            Err(error) if error.error_len().is_none() => {
                let (sound, rest) = joined.split_at(error.valid_up_to());
                self.unfinished = rest.to_vec();
                std::str::from_utf8(sound).unwrap_or_default()
            }
            Err(_) => {
                self.is_no_text = true;
                return;
            }
        };
        self.is_no_text = sound.bytes().any(|byte| {
            byte == 0x7f || (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c))
        });
    }

    /// What the bytes so far are. A picture that no program could draw is bytes.
    pub fn kind(&self) -> FileKind {
        if let Some((format, width, height)) = image::read_size(&self.head) {
            let sides = 1..=IMAGE_SIDE_MAX;
            let pixels = u64::from(width) * u64::from(height);
            let is_drawable =
                sides.contains(&width) && sides.contains(&height) && pixels <= IMAGE_PIXELS_MAX;
            return match is_drawable {
                true => FileKind::Image { format, width, height },
                false => FileKind::Bytes,
            };
        }
        if self.head.starts_with(b"%PDF-") {
            return FileKind::Pdf;
        }
        if self.is_no_text || !self.unfinished.is_empty() || self.head.is_empty() {
            return FileKind::Bytes;
        }
        // Cut within a character, perhaps.
        let text = match std::str::from_utf8(&self.head) {
            Ok(text) => text,
            Err(error) => {
                std::str::from_utf8(&self.head[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        if self.is_whole == Whole::Yes && is_json(text) {
            return FileKind::Json;
        }
        if is_table(text) { FileKind::Csv } else { FileKind::Text }
    }
}

/// An object or a list: a lone number or word is text.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// At least two lines, each with as many commas.
fn is_table(text: &str) -> bool {
    let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let rest = text.rsplit('\n').next().unwrap_or_default();
    let lines = whole.lines().chain(Some(rest)).filter(|line| !line.is_empty()).take(TABLE_LINES);
    let commas: Vec<usize> = lines.map(|line| line.matches(',').count()).collect();
    commas.len() > 1 && commas[0] > 0 && commas.iter().all(|count| *count == commas[0])
}

#[cfg(test)]
mod tests {
    use super::super::ImageFormat;
    use super::*;

    fn sniff(bytes: &[u8]) -> FileKind {
        let mut whole = Sniffer::default();
        whole.see(bytes);
        let mut single = Sniffer::default();
        bytes.chunks(1).for_each(|byte| single.see(byte));
        assert_eq!(whole.kind(), single.kind(), "however it comes: {bytes:?}");
        whole.kind()
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &size, b"\x08\x06\0\0\0"].concat()
    }

    #[test]
    fn kinds_are_told_by_bytes() {
        for (bytes, kind) in [
            (b"%PDF-1.7\n\xe2\xe3".as_slice(), FileKind::Pdf),
            (b"{\"a\": [1, 2]}", FileKind::Json),
            (b"[1, 2", FileKind::Text),
            (b"1", FileKind::Text),
            (b"id,name\n1,ana\n2,bob\n", FileKind::Csv),
            (b"id,name\n1,ana\n2,bo", FileKind::Csv),
            (b"Dear Ana,\nhow are you?", FileKind::Text),
            ("grüße\n照片".as_bytes(), FileKind::Text),
            (b"<html><script>alert(1)</script>", FileKind::Text),
            (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", FileKind::Text),
            (b"MZ\x90\0\x03", FileKind::Bytes),
            (b"text with \0", FileKind::Bytes),
            (b"\x1b[31mred", FileKind::Bytes),
            (b"\xc3", FileKind::Bytes),
            (b"\xff\xfeh\0i\0", FileKind::Bytes),
            (b"", FileKind::Bytes),
        ] {
            assert_eq!(sniff(bytes), kind, "{bytes:?}");
        }
    }

    #[test]
    fn a_picture_needs_a_size_that_can_be_drawn() {
        let image = |width, height| FileKind::Image { format: ImageFormat::Png, width, height };
        assert_eq!(sniff(&png(1200, 800)), image(1200, 800));
        // A picture with a script behind it is a picture, and served as one.
        let polyglot = [png(2, 2), b"<script>alert(1)</script>".to_vec()].concat();
        assert_eq!(sniff(&polyglot), image(2, 2));
        for (width, height) in [(0, 8), (8, 0), (u32::MAX, 1), (16_000, 16_000)] {
            assert_eq!(sniff(&png(width, height)), FileKind::Bytes, "{width}x{height}");
        }
        assert_eq!(sniff(&png(8, 8)[..20]), FileKind::Bytes, "its size is cut off");
    }

    #[test]
    fn what_comes_after_the_head_still_counts() {
        let mut sniffer = Sniffer::default();
        let piece = "é".repeat(1 << 10);
        for _ in 0..200 {
            sniffer.see(piece.as_bytes());
        }
        assert_eq!(sniffer.kind(), FileKind::Text);
        assert_eq!(sniffer.head.len(), HEAD_BYTES, "and is not kept");
        sniffer.see(b"\0");
        assert_eq!(sniffer.kind(), FileKind::Bytes);
    }
}
