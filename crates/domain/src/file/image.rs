//! How large an image is, from its first bytes. An image whose size cannot be read is none.

use super::ImageFormat;

/// The format and the size in pixels that the bytes state. Nothing is decoded.
pub(super) fn read_size(head: &[u8]) -> Option<(ImageFormat, u32, u32)> {
    let (format, size) = match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => (ImageFormat::Png, png(head)),
        [0xff, 0xd8, 0xff, ..] => (ImageFormat::Jpeg, jpeg(head)),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => (ImageFormat::Gif, gif(head)),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            (ImageFormat::WebP, webp(head))
        }
        _ => return None,
    };
    size.map(|(width, height)| (format, width, height))
}

fn png(head: &[u8]) -> Option<(u32, u32)> {
    (head.get(12..16)? == b"IHDR").then_some(())?;
    Some((big_endian(head.get(16..20)?), big_endian(head.get(20..24)?)))
}

fn gif(head: &[u8]) -> Option<(u32, u32)> {
    Some((little_endian(head.get(6..8)?), little_endian(head.get(8..10)?)))
}

/// Segments, each a marker and its length, until the one that starts the frame.
fn jpeg(head: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker] = *head.get(at..at + 2)? else { return None };
        match marker {
            // Any number of these may stand before a marker.
            0xff => at += 1,
            // Frames of all kinds; three numbers among them are something else.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let (height, width) = (head.get(at + 5..at + 7)?, head.get(at + 7..at + 9)?);
                return Some((big_endian(width), big_endian(height)));
            }
            // The image begins, or ends, without a frame.
            0xd8..=0xda => return None,
            _ => at += 2 + usize::try_from(big_endian(head.get(at + 2..at + 4)?)).ok()?.max(2),
        }
    }
}

fn webp(head: &[u8]) -> Option<(u32, u32)> {
    let body = head.get(20..30)?;
    match head.get(12..16)? {
        b"VP8 " if body[3..6] == [0x9d, 0x01, 0x2a] => {
            let side = |bytes| little_endian(bytes) & 0x3fff;
            Some((side(&body[6..8]), side(&body[8..10])))
        }
        b"VP8L" if body[0] == 0x2f => {
            let bits = little_endian(&body[1..5]);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little_endian(&body[4..7]) + 1, little_endian(&body[7..10]) + 1)),
        _ => None,
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\xb0\0\0\x03\x20\x08\x06\0\0\0";

    #[test]
    fn sizes_are_read_where_each_format_has_them() {
        assert_eq!(read_size(PNG), Some((ImageFormat::Png, 1200, 800)));
        assert_eq!(read_size(b"GIF89a\x02\x01\x03\0rest"), Some((ImageFormat::Gif, 258, 3)));
        // Two segments before the frame, and filling before a marker.
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xfe\0\x03x\xff\xc2\0\x0b\x08\0\x10\0\x20\x03";
        assert_eq!(read_size(jpeg), Some((ImageFormat::Jpeg, 32, 16)));
        let simple = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x10\x40\x08\x80";
        assert_eq!(read_size(simple), Some((ImageFormat::WebP, 16, 8)));
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x0f\xc0\x01\0\0\0\0\0\0";
        assert_eq!(read_size(lossless), Some((ImageFormat::WebP, 16, 8)));
        let extended = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0f\0\0\x07\0\0";
        assert_eq!(read_size(extended), Some((ImageFormat::WebP, 16, 8)));
    }

    #[test]
    fn half_an_image_is_none_and_nothing_panics() {
        let jpeg = b"\xff\xd8\xff\xe0\xff\xffab\xff\xc0\0\x0b\x08\0\x10\0\x20\x03";
        for whole in [PNG, jpeg, b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0f\0\0\x07\0\0"] {
            for end in 0..whole.len() {
                let _ = read_size(&whole[..end]);
            }
        }
        assert_eq!(read_size(&PNG[..20]), None);
        assert_eq!(read_size(b"\xff\xd8\xff\xd9"), None, "it ends before it begins");
        assert_eq!(read_size(jpeg), None, "the segment is longer than what there is");
    }
}
