//! What services answer to the tool `http`. Nobody vouches for them: their answer has its bounds, text is
//! told as it is, anything else by size and digest, and no redirect leads a request elsewhere.

use domain::digest::Digest;
use reqwest::{Method, Url};
use tools::http::fuzz_api::{answer, redirect};
use tools::limits::{HTTP_RESPONSE_BYTES_MAX, OUTPUT_BYTES_KEPT};

use super::{Pieces, text, told_plainly};

/// Beside what the service itself has said.
const WORDS_BYTES_MAX: usize = 1_000;

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let status = 100 + 2 * u16::from(pieces.byte());
    let size = usize::from(pieces.byte()).max(1);
    let times = pieces.byte();
    let kind = Some(pieces.line()).filter(|kind| !kind.is_empty());
    let encoding = Some(pieces.line()).filter(|encoding| !encoding.is_empty());
    let rest = pieces.rest();
    redirected(status, rest);
    let body = rest.repeat(match times {
        ..200 => 1,
        200..250 => usize::from(times - 199) * OUTPUT_BYTES_KEPT / 25 / rest.len().max(1),
        250.. => HTTP_RESPONSE_BYTES_MAX / rest.len().max(1) + 1,
    });
    let Some(whole) = answer(status, kind, encoding, [&body[..]]) else { return };
    if body.len() <= 4 * OUTPUT_BYTES_KEPT {
        let cut = answer(status, kind, encoding, body.chunks(size));
        assert_eq!(cut.as_ref(), Some(&whole), "cut into pieces of {size}");
    }
    let headers = kind.map_or(0, <[u8]>::len) + encoding.map_or(0, <[u8]>::len);
    let told = whole.text.len();
    assert!(told <= OUTPUT_BYTES_KEPT + WORDS_BYTES_MAX + 16 * headers, "{told} bytes are told");
    if let Some(cut) = &whole.cut {
        assert_eq!(cut.digest, Digest::of(&body), "of the whole");
        assert_eq!(cut.total_bytes, body.len() as u64);
        is_counted(&whole.whole(), body.len());
    }
    let is_endless = body.len() > HTTP_RESPONSE_BYTES_MAX;
    let says_so = whole.text.lines().last().is_some_and(|line| line.starts_with("[response cut: "));
    assert!(says_so || !is_endless, "what is cut is said to be");
    let said = String::from_utf8_lossy(&body);
    assert!(is_endless || !says_so || said.contains("[response cut: "), "nobody cut it");
    let succeeded = (200..300).contains(&status);
    let claims = whole.text.starts_with(&format!("The service answered {status}"));
    assert!(succeeded || claims, "{status} passes for a success");
    if succeeded && encoding.is_none() && kind.is_none_or(is_plain) && !is_endless {
        match text(&body) {
            Some("") => assert!(whole.text.starts_with("(no content")),
            Some(said) if said.len() <= OUTPUT_BYTES_KEPT => assert_eq!(whole.text, said),
            Some(said) => assert!(said.starts_with(&whole.text) && whole.cut.is_some()),
            None if kind.is_none() => is_named(&whole.text, &body),
            None => {}
        }
    }
    if kind == Some(b"image/png") && succeeded && !is_endless {
        is_named(&whole.text, &body);
    }
}

/// Whoever says how much is shown shows less than all.
fn is_counted(whole: &str, total: usize) {
    let (_, said) = whole.rsplit_once("\n[output cut: ").expect("it is said to be cut");
    let shown = said.split_once(&format!(" of {total} bytes shown;")).expect("of how many").0;
    let shown = shown.parse::<usize>();
    assert!(
        shown.as_ref().is_ok_and(|shown| *shown < total) || said.starts_with("not all"),
        "{said}"
    );
}

fn is_plain(kind: &[u8]) -> bool {
    kind == b"text/plain" || kind == b"application/json"
}

/// What is no text is told by its size and its digest, on one line.
fn is_named(told: &str, body: &[u8]) {
    assert!(told.starts_with("[not text: ") && !told.contains('\n'), "{told:?}");
    assert!(told.contains(&format!("{} bytes, {}", body.len(), Digest::of(body))), "{told:?}");
}

fn redirected(status: u16, location: &[u8]) {
    let from = Url::parse("https://api.example/v1/things?key=1").expect("an address");
    for method in [Method::GET, Method::POST] {
        match redirect(status, location, &from, &method) {
            None | Some(None) => {}
            Some(Some(Err(why))) => told_plainly(&why, location.len()),
            Some(Some(Ok(there))) => {
                assert_eq!(method, Method::GET, "what changes something is not sent again");
                assert!((300..400).contains(&status));
                let whole = there.as_str();
                assert!(whole.starts_with("https://api.example/"), "led away to {whole:?}");
            }
        }
    }
}
