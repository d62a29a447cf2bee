//! A client's own page: it asks for `/api` where it came from.
//!
//! On an address of its own it is at `/`, and every address that is no file is the page too, which finds its
//! way by it (`/World/x`). On our own origin its files are found by any address that nothing else has; our
//! page is at `/` there, and what these files do in a browser they do as our own page, so people who
//! may write in that folder are trusted. Neither needs credentials.

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

/// For an address that has nothing else than the door.
pub(super) fn page_router(folder: &Path) -> Router {
    let shown = get(page).with_state(Arc::new(folder.to_owned()));
    Router::new().fallback_service(shown)
}

async fn page(state: State<Arc<PathBuf>>, uri: Uri) -> Response {
    let path = uri.path();
    // What a page loads is there or is not; any other address is the page itself.
    let is_asset = kind(Path::new(path)) != UNKNOWN && !path.ends_with(".html");
    let named = path.trim_matches('/');
    let folder = state.0.clone();
    let reply = match named.is_empty() || path.starts_with("/api/") {
        true => None,
        false => Some(show(state, uri.clone()).await),
    };
    match reply {
        Some(reply) if is_asset || reply.status() == StatusCode::OK => reply,
        None if path.starts_with("/api/") => StatusCode::NOT_FOUND.into_response(),
        _ => show(State(folder), Uri::from_static("/index.html")).await,
    }
}

async fn show(State(folder): State<Arc<PathBuf>>, uri: Uri) -> Response {
    let found = match wanted(&folder, uri.path()) {
        Some(file) => read_file(&folder, &file).await.map(|bytes| (kind(&file), bytes)),
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

async fn read_file(folder: &Path, file: &Path) -> Option<Vec<u8>> {
    // A link that leads out of the folder leads nowhere.
    let (folder, file) =
        tokio::try_join!(tokio::fs::canonicalize(folder), tokio::fs::canonicalize(file)).ok()?;
    let about = tokio::fs::metadata(&file).await.ok()?;
    if !file.starts_with(&folder) || !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    tokio::fs::read(&file).await.ok()
}

const UNKNOWN: &str = "application/octet-stream";

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
        _ => UNKNOWN,
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
        assert_eq!(read_file(&folder, &folder.join("index.html")).await, Some(b"<p>hi".to_vec()));
        assert_eq!(read_file(&folder, &folder.join("link")).await, None);
        assert_eq!(read_file(&folder, &folder).await, None, "a folder is no file");
        std::fs::remove_dir_all(outer).expect("gone");
    }

    #[tokio::test]
    async fn on_our_own_origin_a_file_is_found_and_nothing_else() {
        use tower::ServiceExt as _;
        let folder = std::env::temp_dir().join(format!("holdpoint-own-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("app.js"), "1").expect("a file");
        for (path, status) in [("/app.js", 200), ("/other.js", 404), ("/World/x", 404)] {
            let request = axum::http::Request::get(path).body(Body::empty()).expect("a request");
            let reply = router(&folder).oneshot(request).await.expect("a reply");
            assert_eq!(reply.status().as_u16(), status, "{path}");
        }
        std::fs::remove_dir_all(folder).expect("gone");
    }
}
