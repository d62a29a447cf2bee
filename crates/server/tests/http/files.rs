//! Files: hostile uploads, who may see what, and that nothing that was changed is served.

use std::sync::Arc;
use std::time::Duration;

use domain::digest::Digest;
use domain::id::NodeId;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use stores::sqlite::SqliteStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Plan, World, list, planned, read, text, world};

/// 3 by 2 pixels, as far as a reader of heads can tell.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x06\0\0\0";

async fn upload(world: &World, who: &str, name: &str, bytes: impl Into<Vec<u8>>) -> (u16, Value) {
    let request = world.request(who, Method::POST, "/v1/files").query(&[("name", name)]);
    read(request.body(bytes.into()).send().await.expect("a reply")).await
}

async fn uploaded(world: &World, who: &str, name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let (status, file) = upload(world, who, name, bytes).await;
    assert_eq!(status, 201, "{file}");
    text(&file, "id")
}

async fn shown(world: &World, who: &str, id: &str) -> Response {
    let request = world.request(who, Method::GET, &format!("/v1/files/{id}"));
    request.send().await.expect("a reply")
}

async fn say(world: &World, who: &str, session: &str, body: Value) -> (u16, Value) {
    world.post(who, &format!("/v1/sessions/{session}/messages"), body).await
}

#[derive(PartialEq, Eq)]
enum Ends {
    Whole,
    InTheMiddle,
}

/// Bytes of the request as they are, and all of the reply.
async fn raw(world: &World, request: &[u8], ends: Ends) -> String {
    let mut stream = TcpStream::connect(world.address).await.expect("a connection");
    stream.write_all(request).await.expect("sent");
    if ends == Ends::InTheMiddle {
        stream.shutdown().await.expect("no more comes");
    }
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    String::from_utf8_lossy(&reply).into_owned()
}

#[tokio::test]
async fn bytes_say_what_a_file_is_and_no_file_is_served_as_a_page() {
    let world = world().await;
    let page = b"<!doctype html><script>alert(1)</script>".to_vec();
    let drawing = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".to_vec();
    let polyglot = [PNG, b"<script>alert(1)</script>".as_slice()].concat();
    for (bytes, claimed, kind, how) in [
        (page, "image/png", "text/plain; charset=utf-8", "attachment"),
        (drawing, "image/svg+xml", "text/plain; charset=utf-8", "attachment"),
        (polyglot, "text/html", "image/png", "inline"),
        (b"%PDF-1.7".to_vec(), "text/html", "application/pdf", "attachment"),
        (b"MZ\0\0".to_vec(), "image/png", "application/octet-stream", "attachment"),
    ] {
        let request = world.request("bob", Method::POST, "/v1/files?name=x.html");
        let request = request.header("content-type", claimed).body(bytes.clone());
        let (status, file) = read(request.send().await.expect("a reply")).await;
        assert_eq!(status, 201, "{file}");
        let reply = shown(&world, "bob", &text(&file, "id")).await;
        let header = |name: &str| {
            reply.headers().get(name).map(|value| value.to_str().expect("text").to_owned())
        };
        assert_eq!(header("content-type").as_deref(), Some(kind));
        assert!(
            header("content-disposition").is_some_and(|value| value.starts_with(how)),
            "{kind}"
        );
        assert_eq!(header("x-content-type-options").as_deref(), Some("nosniff"));
        let policy = header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{policy}");
        assert_eq!(header("cache-control").as_deref(), Some("private, no-cache"));
        assert_eq!(reply.bytes().await.expect("bytes"), bytes);
    }
}

#[tokio::test]
async fn a_name_is_no_path_and_an_id_is_no_path_either() {
    let world = world().await;
    let (_, file) = upload(&world, "bob", "../../etc/passwd", "x").await;
    assert_eq!(file["name"], "passwd");
    for id in ["..%2f..%2fetc%2fpasswd", "file_", "file_../x", "sha256:00"] {
        assert_eq!(shown(&world, "bob", id).await.status(), 404, "{id}");
    }
    // Whoever knows the bytes knows no id.
    let digest = Digest::of(b"x").to_string();
    assert_eq!(text(&file, "digest"), digest);
    assert_eq!(shown(&world, "eve", &digest).await.status(), 404);
}

#[tokio::test]
async fn a_file_is_seen_by_its_sender_and_by_those_who_see_where_it_was_said() {
    let world = world().await;
    let id = uploaded(&world, "bob", "photo.png", PNG).await;
    let unseen = async |who: &str| {
        for (method, path) in [
            (Method::GET, format!("/v1/files/{id}")),
            (Method::GET, format!("/v1/files/{id}/about")),
            (Method::DELETE, format!("/v1/files/{id}")),
        ] {
            let reply = world.request(who, method, &path).send().await.expect("a reply");
            assert_eq!(reply.status(), 404, "{who} {path}");
        }
    };
    assert_eq!(shown(&world, "", &id).await.status(), 401);
    // Also for an admin: nothing that they may look at has it yet.
    for who in ["eve", "ana", "bot", "gate"] {
        unseen(who).await;
    }
    // Nobody gets at a file by saying that it is theirs.
    let own = world.session("eve").await;
    let (status, refused) = say(&world, "eve", &own, json!({"text": "hi", "files": [id]})).await;
    assert_eq!((status, refused["field"].as_str()), (422, Some("files")), "{refused}");
    unseen("eve").await;

    let session = world.session("bob").await;
    let (status, said) = say(&world, "bob", &session, json!({"files": [id]})).await;
    assert_eq!(status, 202, "{said}");
    assert_eq!(shown(&world, "bob", &id).await.status(), 200);
    assert_eq!(shown(&world, "ana", &id).await.status(), 200, "she sees every session");
    unseen("eve").await;
    unseen("bot").await;
}

#[tokio::test]
async fn a_message_has_files_by_reference_and_the_log_has_their_digest() {
    let world = world().await;
    let id = uploaded(&world, "bob", "photo.png", PNG).await;
    let notes = uploaded(&world, "bob", "notes.txt", "buy milk").await;
    let session = world.session("bob").await;
    let parts = json!([{"type": "file", "file": id}, {"type": "text", "text": "what is it?"}]);
    for (body, status) in [
        (json!({"parts": parts, "files": [notes]}), 400),
        (json!({"text": "x", "files": [id, id]}), 422),
        (json!({"text": "x", "files": ["file_0000000000000000000000000x"]}), 422),
        (json!({"text": "x", "files": [session]}), 422),
        (json!({"files": []}), 400),
        (json!({"text": " ", "files": []}), 422),
        (json!({"parts": [{"type": "file", "text": "x"}]}), 422),
    ] {
        let (got, refused) = say(&world, "bob", &session, body.clone()).await;
        assert_eq!(got, status, "{body} {refused}");
    }
    let (status, _) = say(&world, "bob", &session, json!({"parts": parts})).await;
    assert_eq!(status, 202);
    let shown = world.until_over("bob", &session).await;
    let said = &list(&shown, "messages")[0]["parts"];
    let file = said.as_array().expect("parts").iter().find(|part| part["type"] == "file");
    let digest = Digest::of(PNG).to_string();
    assert_eq!(
        *file.expect("the file"),
        json!({"type": "file", "file": id, "name": "photo.png", "mediaType": "image/png",
               "bytes": PNG.len(), "digest": digest, "width": 3, "height": 2})
    );
    let log = world.store.audit(0, 1_000).await.expect("the log");
    let digits = digest.trim_start_matches("sha256:").to_owned();
    assert!(log.iter().any(|entry| String::from_utf8_lossy(&entry.bytes).contains(&digits)));
    let answer = list(&shown, "messages").last().expect("an answer").to_string();
    let seen = format!("saw [image photo.png, 3x2]: image/png, {} bytes", PNG.len());
    assert!(answer.contains(&seen), "the model got its bytes: {answer}");

    // What a message has stays; what no message has goes when its sender wants.
    let removal = world.delete("bob", &format!("/v1/files/{id}")).await;
    assert_eq!(removal.0, 409, "{removal:?}");
    assert_eq!(world.delete("bob", &format!("/v1/files/{notes}")).await.0, 204);
    assert_eq!(shown_status(&world, &notes).await, 404);
}

async fn shown_status(world: &World, id: &str) -> u16 {
    shown(world, "bob", id).await.status().as_u16()
}

#[tokio::test]
async fn what_is_too_large_empty_or_cut_leaves_nothing() {
    let world = world().await;
    let max = world.engine.limits().file_bytes;
    let token = world.token("bob");
    let head = |rest: &str| {
        format!(
            "POST /v1/files?name=x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\n{rest}\r\n\r\n"
        )
    };
    // It says itself that it is too large: refused before a byte of it is kept.
    let stated =
        raw(&world, head(&format!("content-length: {}", max + 1)).as_bytes(), Ends::Whole).await;
    assert!(stated.contains("413") && stated.contains("too_large"), "{stated}");
    // It does not say so.
    let chunk = vec![b'a'; 1 << 20];
    let mut request = head("transfer-encoding: chunked").into_bytes();
    for _ in 0..=max >> 20 {
        request.extend(b"100000\r\n");
        request.extend(&chunk);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    let hidden = raw(&world, &request, Ends::Whole).await;
    assert!(hidden.contains("413") && hidden.contains("too_large"), "{hidden}");
    let cut =
        raw(&world, &[head("content-length: 10").as_bytes(), b"half"].concat(), Ends::InTheMiddle)
            .await;
    assert!(!cut.contains("201"), "{cut}");
    let empty = upload(&world, "bob", "x", "").await;
    assert_eq!((empty.0, empty.1["field"].as_str()), (422, Some("file")));
    let files = world.store.files().expect("files");
    assert_eq!(files.files_after(None, 9).await.expect("rows"), []);
    let (status, file) = upload(&world, "bob", "x", vec![b'a'; max as usize]).await;
    assert_eq!(status, 201, "as large as may be: {file}");
}

#[tokio::test]
async fn one_caller_who_sends_slowly_keeps_no_others_waiting() {
    let world = world().await;
    let token = world.token("bob");
    let head = format!(
        "POST /v1/files?name=x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-length: 100\r\n\r\nslow"
    );
    let mut slow = Vec::new();
    for _ in 0..6 {
        let mut stream = TcpStream::connect(world.address).await.expect("a connection");
        stream.write_all(head.as_bytes()).await.expect("sent");
        slow.push(stream);
    }
    let mut refused = (0, Value::Null);
    for _ in 0..500 {
        refused = upload(&world, "bob", "one more", "x").await;
        if refused.0 == 429 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(refused.0, 429, "{}", refused.1);
    assert_eq!(upload(&world, "eve", "hers", "x").await.0, 201);
    drop(slow);
    for _ in 0..500 {
        if upload(&world, "bob", "again", "x").await.0 == 201 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the places of broken connections are never free again");
}

#[tokio::test]
async fn a_repeat_under_the_same_key_is_the_same_file() {
    let world = world().await;
    let send = async |who: &str, name: &str, bytes: &'static [u8]| {
        let request = world.request(who, Method::POST, "/v1/files").query(&[("name", name)]);
        let request = request.header("idempotency-key", "one").body(bytes);
        read(request.send().await.expect("a reply")).await
    };
    let (status, first) = send("bob", "a", b"x").await;
    assert_eq!(status, 201);
    assert_eq!(send("bob", "a", b"x").await, (201, first.clone()));
    for (name, bytes) in [("a", b"y".as_slice()), ("b", b"x")] {
        let (status, refused) = send("bob", name, bytes).await;
        assert_eq!((status, refused["code"].as_str()), (422, Some("idempotency_key_reused")));
    }
    let (status, other) = send("eve", "a", b"x").await;
    assert_eq!(status, 201);
    assert_ne!(other["id"], first["id"], "keys of different callers never meet");
}

#[tokio::test]
async fn a_login_sends_a_file_only_with_its_proof() {
    let world = world().await;
    let (cookie, csrf) = world.log_in("bob").await;
    let post = || world.client.post(world.url("/v1/files")).header("cookie", &cookie).body("x");
    let origin = format!("http://{}", world.address);
    let reply = post().header("origin", &origin).send().await.expect("a reply");
    assert_eq!(reply.status(), 403);
    let proven = post().header("origin", &origin).header("x-holdpoint-csrf", &csrf);
    assert_eq!(proven.send().await.expect("a reply").status(), 201);
}

#[tokio::test]
async fn bytes_that_changed_on_disk_are_never_served() {
    let place = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(place.path(), NodeId::new(1, 1)).expect("a store");
    let world = planned(Plan { store: Some(store), ..Plan::default() }).await;
    let id = uploaded(&world, "bob", "pay.txt", "pay 10 to bob").await;
    assert_eq!(shown_status(&world, &id).await, 200);
    let digits = Digest::of(b"pay 10 to bob").to_string().replace("sha256:", "");
    let path = place.path().join("files").join(&digits[..2]).join(&digits[2..]);
    for changed in ["pay 99 to eve", "pay 10 to bobby", "pay", ""] {
        std::fs::write(&path, changed).expect("written");
        let reply = shown(&world, "bob", &id).await;
        assert_eq!(reply.status(), 500, "{changed}");
        let body = reply.text().await.expect("a body");
        assert!(body.contains("damaged") && !body.contains("pay "), "{body}");
    }
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(shown_status(&world, &id).await, 500);
    // Sent anew, the same bytes are there again, for both uploads.
    uploaded(&world, "eve", "pay.txt", "pay 10 to bob").await;
    assert_eq!(shown_status(&world, &id).await, 200);
}

/// Keeps what it is told beyond one world.
#[tokio::test]
async fn a_file_and_its_message_outlive_the_server() {
    let place = tempfile::tempdir().expect("a folder");
    let open = |number| SqliteStore::open(place.path(), NodeId::new(1, number)).expect("a store");
    let first = open(1);
    let world = planned(Plan { store: Some(first.clone()), ..Plan::default() }).await;
    let id = uploaded(&world, "bob", "photo.png", PNG).await;
    let session = world.session("bob").await;
    assert_eq!(say(&world, "bob", &session, json!({"files": [id]})).await.0, 202);
    world.until_over("bob", &session).await;
    world.stop();
    world.stopped().await;
    world.engine.close(Duration::from_secs(5)).await;
    first.close().await;
    drop((world, first));
    let world = planned(Plan { store: Some(open(2) as Arc<_>), ..Plan::default() }).await;
    assert_eq!(shown(&world, "ana", &id).await.bytes().await.expect("bytes"), PNG);
}

#[tokio::test]
async fn a_form_takes_a_file_of_the_person_who_answers_and_those_who_asked_see_it() {
    let world = world().await;
    let schema = json!({"type": "object", "required": ["scan"], "properties": {
        "scan": {"type": "string", "format": "file"}, "note": {"type": "string"}}});
    let body = json!({"kind": "fill", "title": "The contract?", "schema": schema,
                      "audience": {"people": ["bob"]}});
    let hold = world.open_hold("gate", body).await;
    let hers = uploaded(&world, "eve", "hers.pdf", "%PDF-1.7 hers").await;
    let his = uploaded(&world, "bob", "his.pdf", "%PDF-1.7 his").await;
    for scan in [json!(hers), json!("his.pdf"), json!("file_00000000000000000000000000")] {
        let (status, refused) = world.answer("bob", &hold, json!({"fill": {"scan": scan}})).await;
        assert_eq!((status, refused["field"].as_str()), (422, Some("scan")), "{refused}");
    }
    assert_eq!(shown(&world, "gate", &his).await.status(), 404);
    // Another field takes any word.
    let fill = json!({"fill": {"scan": his, "note": hers}});
    let (status, answered) = world.answer("bob", &hold, fill).await;
    assert_eq!(status, 200, "{answered}");
    assert_eq!(shown(&world, "gate", &his).await.status(), 200);
    assert_eq!(shown(&world, "gate", &hers).await.status(), 404);
    assert_eq!(world.delete("bob", &format!("/v1/files/{his}")).await.0, 409);
}

#[tokio::test]
async fn those_who_are_asked_about_a_file_see_it_and_a_word_that_looks_like_one_shows_nothing() {
    let world = world().await;
    let id = uploaded(&world, "gate", "contract.pdf", "%PDF-1.7 the contract").await;
    let other = uploaded(&world, "eve", "diary.txt", "dear diary").await;
    let hold = |files: Value| {
        json!({"kind": "approve", "title": "Sign it", "audience": {"people": ["bob"]},
               "call": {"tool": "sign", "arguments": {"files": files, "note": "see the file"}}})
    };
    assert_eq!(shown_status(&world, &id).await, 404, "nobody asked Bob yet");
    // The id of somebody else's file opens nothing, neither to the opener nor to those who are asked.
    world.open_hold("gate", hold(json!([id, other]))).await;
    assert_eq!(shown_status(&world, &id).await, 200);
    assert_eq!(shown_status(&world, &other).await, 404);
    assert_eq!(shown(&world, "gate", &other).await.status(), 404);
    assert_eq!(shown(&world, "dan", &id).await.status(), 404, "Dan is not asked");
    assert_eq!(world.delete("gate", &format!("/v1/files/{id}")).await.0, 409);
}
