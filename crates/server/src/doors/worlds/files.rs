//! A client's own files, on our origin: the pages of this wire ask for `/api` where they came from.
//!
//! They are found by any address that nothing else has, and need no credentials. What they do in a
//! browser they do as our own page: whoever may write in that folder is trusted.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_FRAME_OPTIONS};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::limits::FILE_BYTES_MAX;

pub(super) fn router(folder: &Path) -> Router {
    Router::new().route("/{*path}", get(show)).with_state(Arc::new(folder.to_owned()))
}

async fn show(State(folder): State<Arc<PathBuf>>, uri: Uri) -> Response {
    let found = match wanted(&folder, uri.path()) {
        Some(file) => read(&folder, &file).await.map(|bytes| (kind(&file), bytes)),
        None => None,
    };
    let Some((kind, bytes)) = found else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let mut reply = Response::new(Body::from(bytes));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // No foreign page draws its own over a button of this one.
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    reply
}

/// The file that an address names: plain steps down from the folder, and none that is hidden.
fn wanted(folder: &Path, path: &str) -> Option<PathBuf> {
    // Names with escapes in them are no names of a web build.
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-@".contains(c);
    let steps = path.trim_start_matches('/');
    if !steps.chars().all(plain) || steps.split('/').any(|step| step.starts_with('.')) {
        return None;
    }
    let steps = Path::new(steps);
    let down = |step: Component<'_>| matches!(step, Component::Normal(_));
    steps.components().all(down).then(|| folder.join(steps))
}

async fn read(folder: &Path, file: &Path) -> Option<Vec<u8>> {
    // A link that leads out of the folder leads nowhere.
    let (folder, file) =
        tokio::try_join!(tokio::fs::canonicalize(folder), tokio::fs::canonicalize(file)).ok()?;
    let about = tokio::fs::metadata(&file).await.ok()?;
    if !file.starts_with(&folder) || !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    tokio::fs::read(&file).await.ok()
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_down_only() {
        let folder = Path::new("/srv/web");
        assert_eq!(wanted(folder, "/index.html"), Some("/srv/web/index.html".into()));
        assert_eq!(wanted(folder, "/assets/a-1_b.js"), Some("/srv/web/assets/a-1_b.js".into()));
        for bad in [
            "/../secret",
            "/a/../../secret",
            "/%2e%2e/secret",
            "/.env",
            "/a/.git/config",
            "/..",
            "/a\\..\\b",
            "/a\u{0}b",
            "/\u{202e}",
        ] {
            assert_eq!(wanted(folder, bad), None, "{bad:?}");
        }
        assert!(wanted(folder, "//etc/passwd").is_some_and(|file| file.starts_with(folder)));
    }

    #[tokio::test]
    async fn a_link_out_of_the_folder_leads_nowhere() {
        let outer = std::env::temp_dir().join(format!("holdpoint-files-{}", std::process::id()));
        let folder = outer.join("web");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(outer.join("secret"), "x").expect("a file");
        std::fs::write(folder.join("index.html"), "<p>hi").expect("a file");
        std::os::unix::fs::symlink(outer.join("secret"), folder.join("link")).expect("a link");
        assert_eq!(read(&folder, &folder.join("index.html")).await, Some(b"<p>hi".to_vec()));
        assert_eq!(read(&folder, &folder.join("link")).await, None);
        assert_eq!(read(&folder, &folder).await, None, "a folder is no file");
        std::fs::remove_dir_all(outer).expect("gone");
    }
}
