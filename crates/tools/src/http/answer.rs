//! What a response says to the model: text as it is, anything else by size and digest.

use domain::digest::Digest;
use domain::outcome::{Cut, Output};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

use crate::limits::{HTTP_RESPONSE_BYTES_MAX, OUTPUT_BYTES_KEPT};

/// One response, read as far as it is ever read.
pub(super) struct HttpAnswer {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<String>,
    pub(super) encoding: Option<String>,
    pub(super) body: Vec<u8>,
    /// There was more than is ever read.
    pub(super) endless: bool,
    /// Why a redirect was not followed.
    pub(super) note: Option<String>,
}

impl HttpAnswer {
    pub(super) fn new(status: StatusCode, headers: &HeaderMap) -> HttpAnswer {
        let text =
            |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        HttpAnswer {
            status,
            content_type: text(CONTENT_TYPE),
            encoding: text(CONTENT_ENCODING),
            body: Vec::new(),
            endless: false,
            note: None,
        }
    }

    /// Takes a piece of the body. `false` when that was enough.
    pub(super) fn take_bytes(&mut self, piece: &[u8]) -> bool {
        let room = HTTP_RESPONSE_BYTES_MAX - self.body.len();
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
        self.endless = piece.len() > room;
        !self.endless
    }

    pub(super) fn status_line(&self) -> String {
        match self.status.canonical_reason() {
            Some(reason) => format!("{} {reason}", self.status.as_u16()),
            None => self.status.as_u16().to_string(),
        }
    }

    /// For the model. Success is the body alone; anything else says first what it is.
    pub(super) fn to_output(&self) -> Output {
        let mut lines = Vec::new();
        if !self.status.is_success() {
            lines.push(format!("The service answered {}.", self.status_line()));
            if [502, 504].contains(&self.status.as_u16()) {
                lines.push(
                    "A gateway said so; the service behind it may have carried the request out."
                        .into(),
                );
            }
        }
        lines.extend(self.note.clone());
        let (text, cut) = self.decode_body();
        match text {
            Some(text) if text.is_empty() && lines.is_empty() => {
                lines.push(format!("(no content; the service answered {})", self.status_line()));
            }
            Some(text) if text.is_empty() => {}
            Some(text) => lines.push(text),
            None => lines.push(self.describe()),
        }
        if self.endless {
            lines.push(format!(
                "[response cut: it has more than the {} bytes that are read; {} of those]",
                self.body.len(),
                Digest::of(&self.body)
            ));
        }
        Output { text: lines.join("\n"), cut: cut.filter(|_| !self.endless) }
    }

    fn decode_body(&self) -> (Option<String>, Option<Cut>) {
        if self.encoding.as_deref().is_some_and(|encoding| encoding != "identity") {
            return (None, None);
        }
        if !self.content_type.as_deref().is_none_or(is_text) {
            return (None, None);
        }
        let whole = match std::str::from_utf8(&self.body) {
            Ok(text) => text.to_owned(),
            // Cut in the middle of a character, or in another alphabet; without a word on what it is
            // it is not text at all.
            Err(error) if error.error_len().is_none() && self.endless => {
                String::from_utf8_lossy(&self.body[..error.valid_up_to()]).into_owned()
            }
            Err(_) if self.content_type.is_none() => return (None, None),
            Err(_) => String::from_utf8_lossy(&self.body).into_owned(),
        };
        if whole.len() <= OUTPUT_BYTES_KEPT {
            return (Some(whole), None);
        }
        let kept = whole[..whole.floor_char_boundary(OUTPUT_BYTES_KEPT)].to_owned();
        let cut = Cut { total_bytes: self.body.len() as u64, digest: Digest::of(&self.body) };
        (Some(kept), Some(cut))
    }

    fn describe(&self) -> String {
        let kind = self.content_type.as_deref().unwrap_or("no content type");
        let mut kind = domain::visible::visible(kind);
        if let Some(encoding) = &self.encoding {
            kind.push_str(&format!(", encoded as {}", domain::visible::visible(encoding)));
        }
        format!("[not text: {kind}, {} bytes, {}]", self.body.len(), Digest::of(&self.body))
    }
}

fn is_text(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || [
            "application/json",
            "application/x-ndjson",
            "application/xml",
            "application/javascript",
            "application/yaml",
            "application/x-www-form-urlencoded",
        ]
        .contains(&kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(
        status: u16,
        content_type: Option<&str>,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Output {
        let mut headers = HeaderMap::new();
        for (name, value) in [(CONTENT_TYPE, content_type), (CONTENT_ENCODING, encoding)] {
            if let Some(value) = value {
                headers.insert(name, value.parse().unwrap());
            }
        }
        let mut answer = HttpAnswer::new(StatusCode::from_u16(status).unwrap(), &headers);
        for piece in body.chunks(1_000_000) {
            if !answer.take_bytes(piece) {
                break;
            }
        }
        answer.to_output()
    }

    #[test]
    fn text_is_told_as_it_is_and_the_rest_by_its_digest() {
        assert_eq!(told(200, Some("application/json; charset=utf-8"), None, b"{}").text, "{}");
        assert_eq!(told(200, Some("application/problem+json"), None, b"{}").text, "{}");
        assert_eq!(told(200, None, None, b"hello").text, "hello");
        assert_eq!(
            told(204, None, None, b"").text,
            "(no content; the service answered 204 No Content)"
        );
        assert_eq!(
            told(404, Some("text/plain"), None, b"who?").text,
            "The service answered 404 Not Found.\nwho?"
        );
        assert!(told(504, None, None, b"").text.contains("may have carried the request out"));
        let sum = Digest::of(b"\x89PNG").to_string();
        let image = told(200, Some("image/png"), None, b"\x89PNG").text;
        assert_eq!(image, format!("[not text: image/png, 4 bytes, {sum}]"));
        let packed = told(200, Some("text/plain"), Some("gzip"), b"\x1f\x8b").text;
        assert!(packed.starts_with("[not text: text/plain, encoded as gzip, 2 bytes"), "{packed}");
        assert!(told(200, None, None, b"\xff\xfe").text.starts_with("[not text: no content type"));
    }

    #[test]
    fn i20_what_is_cut_is_said_with_bytes_and_digest() {
        let body = "ä".repeat(OUTPUT_BYTES_KEPT);
        let output = told(200, Some("text/plain"), None, body.as_bytes());
        assert_eq!(output.text.len(), OUTPUT_BYTES_KEPT);
        let cut = output.cut.unwrap();
        assert_eq!(cut.total_bytes, 2 * OUTPUT_BYTES_KEPT as u64);
        assert_eq!(cut.digest, Digest::of(body.as_bytes()));

        let endless = "ä".repeat(HTTP_RESPONSE_BYTES_MAX);
        let output = told(200, Some("text/plain"), None, endless.as_bytes());
        assert_eq!(output.cut, None, "of the whole nobody knows the digest");
        let last = output.text.lines().last().unwrap();
        assert!(last.starts_with("[response cut: it has more than the 4194304 bytes"), "{last}");
        assert!(output.text.len() < OUTPUT_BYTES_KEPT + 300);
    }
}
