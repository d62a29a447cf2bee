//! I-45 on the real program: a secret that a person gives is in no log, event, hold, session, audit
//! entry, metric, callback, terminal, page or error text, however it is spelled, and in no file of the data
//! directory or a copy of the database. Only the tool that it is for ever has it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::binary::Binary;
use testkit::served::{Caller, Served, run};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const CANARY: &str = "Kanarie\"7&ø/x+z-93";

const CONFIG: &str = r#"
@SERVER@

[callbacks]
secret_envs = ["CANARY_HOOK"]
allow_private_addresses = true

[models.scripted]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "worker"
model = "scripted"
tools = ["ask", "ship"]

[[tools]]
name = "ask"
kind = "human"
asks = "anything"

[[tools]]
name = "ship"
kind = "command"
description = "Ships, and talks too much."
argv = ["/bin/sh", "@SITE@/ship.sh", "@SITE@/shipped"]
input_schema = { type = "object", required = ["app", "key"], properties = { app = { type = "string" }, key = { type = "string", minLength = 10, maxLength = 25, writeOnly = true } } }

[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "ops"]

[[policy.rules]]
name = "operators decide"
match = { tool = "*" }
then = "ask"
ask = { roles = ["ops"] }
"#;

/// Prints what it got as it is, as base64 and as hexadecimal digits, on both outputs.
const SHIP: &str = r#"input=$(cat)
printf '%s\n' "$input" >> "$1"
printf 'got %s\n' "$input"
printf '%s' "$input" | base64 -w0
printf '\n'
printf '%s' "$input" | od -An -v -tx1 | tr -d ' \n'
printf '\nfailing with %s\n' "$input" >&2
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says = "ship" }
text = "I need the key."
calls = [{ tool = "ask", arguments = { prompt = "Which key?", schema = { type = "object", required = ["key"], properties = { user = { type = "string" }, key = { type = "string", minLength = 10, maxLength = 25, writeOnly = true } } } } }]

[[turn]]
when = { result_of = "ask", result_regex = '"key":"(secret:sec_[a-z0-9]+)"' }
text = "Thank you."
calls = [{ tool = "ship", arguments = { app = "shop", key = "{1}" } }]

[[turn]]
when = { result_of = "ship" }
text = "It said: {result}"
"#;

/// Every spelling by which the canary would be recognised, made here and not by what is tested.
fn spellings() -> Vec<String> {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = Value::from(CANARY).to_string();
    let json = json.trim_matches('"').to_owned();
    let percent: String = CANARY
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let mut all = vec![
        CANARY.to_owned(),
        // No part of it either.
        "Kanarie".to_owned(),
        "x+z-93".to_owned(),
        Value::from(json.as_str()).to_string(),
        json,
        hex.to_uppercase(),
        hex,
        percent.to_lowercase(),
        percent,
    ];
    for lead in 0..3 {
        let whole = base64(&[&b"\0\0\0"[..lead], CANARY.as_bytes()].concat());
        // Without the letters that also hold bits of the neighbours.
        all.push(whole[(lead * 8).div_ceil(6)..whole.len() - 2].to_owned());
    }
    all
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let all = group.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        let bits = group.len() * 8;
        let padded = all << (bits.div_ceil(6) * 6 - bits);
        for place in (0..bits.div_ceil(6)).rev() {
            text.push(char::from(letters[(padded >> (place * 6) & 63) as usize]));
        }
    }
    text
}

#[track_caller]
fn clean(what: &str, text: &str) {
    assert!(!text.is_empty(), "{what} says nothing, so it proves nothing");
    for spelling in spellings() {
        if let Some(at) = text.find(&spelling) {
            let from = text[..at].char_indices().rev().nth(120).map_or(0, |(at, _)| at);
            panic!("{what} tells `{spelling}`: …{}", &text[from..at + spelling.len()]);
        }
    }
}

/// What a stream of events says within a moment.
async fn streamed(caller: &Caller, path: &str) -> String {
    let mut reply = caller.request(Method::GET, path).send().await.expect("a stream");
    let mut text = String::new();
    while let Ok(Ok(Some(chunk))) =
        tokio::time::timeout(Duration::from_secs(1), reply.chunk()).await
    {
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    text
}

/// Takes callbacks, and keeps what they say.
async fn receiver() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = heard.clone();
    #[expect(clippy::disallowed_methods, reason = "the test's runtime ends it")]
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut bytes = vec![0; 64 << 10];
            let mut text = String::new();
            while let Ok(Ok(count @ 1..)) =
                tokio::time::timeout(Duration::from_millis(300), connection.read(&mut bytes)).await
            {
                text.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
            kept.lock().expect("sound").push_str(&text);
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    (url, heard)
}

/// Everything in the database.
fn tables(database: &Path) -> String {
    let database = rusqlite::Connection::open(database).expect("the database");
    let names: Vec<String> = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .expect("a query")
        .query_map([], |row| row.get(0))
        .expect("names")
        .collect::<Result<_, _>>()
        .expect("names");
    let mut text = String::new();
    for name in names {
        let mut rows = database.prepare(&format!("SELECT * FROM \"{name}\"")).expect("a query");
        let columns = rows.column_count();
        let mut rows = rows.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            for column in 0..columns {
                match row.get_ref(column).expect("a cell") {
                    rusqlite::types::ValueRef::Text(bytes)
                    | rusqlite::types::ValueRef::Blob(bytes) => {
                        text.push_str(&String::from_utf8_lossy(bytes));
                        text.push('\n');
                    }
                    _ => {}
                }
            }
        }
    }
    text
}

fn files(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => files(&entry.path(), text),
            false => {
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }
}

/// The folder is gone when it is dropped.
async fn start() -> (Served, TempDir) {
    let real = Binary::find();
    let folder = tempfile::tempdir().expect("a folder");
    // The log tells everything that it can tell.
    let script = format!(
        "#!/bin/sh\nexport HOLDPOINT_LOG=trace\n\
         export CANARY_HOOK=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\nexec '{}' \"$@\"\n",
        real.path().display()
    );
    let wrapper = folder.path().join("holdpoint");
    std::fs::write(&wrapper, script).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&wrapper, executable).expect("an executable");
    let mut served = Served::prepare_with(Binary::at(wrapper), CONFIG, SCRIPT);
    served.write("ship.sh", SHIP);
    served.up().await;
    (served, folder)
}

#[tokio::test]
async fn i45_the_canary_is_heard_nowhere() {
    let (mut served, _folder) = start().await;
    let ana = served.admin();
    let session = ana.session("worker").await;
    ana.say(&session, "ship").await;
    let form = ana.held(&session, 1).await.remove(0);

    // Answers that are refused, in every way that comes to mind.
    let long = json!({"fill": {"key": CANARY.repeat(3)}});
    let refused = ana.answer(&form, long).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    clean("a refusal", &refused.text);
    for body in [
        json!({"answer": {"fill": {"key": CANARY, "key2": 1, "user": 7}}}),
        json!({"answer": {"choose": [CANARY]}}),
        json!({"digest": CANARY, "answer": {"fill": {"key": CANARY}}}),
    ] {
        let path = format!("/v1/holds/{}/answer", form["id"].as_str().expect("an id"));
        let refused = ana.post(&path, &body).await;
        assert!((400..500).contains(&refused.status), "{}", refused.text);
        if body["answer"]["choose"].is_null() {
            clean("a refusal", &refused.text);
        }
    }

    let given = json!({"fill": {"user": "shop", "key": CANARY}});
    let answered = ana.answer(&form, given.clone()).await;
    clean("the reply to the answer", &answered.text);
    assert_eq!(answered.status, 200, "{}", answered.text);
    assert_eq!(ana.answer(&form, given).await.status, 200, "the same answer again");

    let hold = ana.held(&session, 1).await.remove(0);
    assert_eq!(hold["call"]["tool"], "ship");
    let warning = hold["preview"]["warnings"][0].as_str().expect("a warning").to_owned();
    assert!(warning.contains("Ana gave it as /key"), "{warning}");
    ana.approve(&hold).await;
    let over = ana.run_is(&session, "completed").await;
    // The tool got it, to the byte, and talked.
    let shipped = std::fs::read_to_string(served.path("shipped")).expect("it ran");
    let got: Value = serde_json::from_str(shipped.trim()).expect("JSON");
    assert_eq!(got, json!({"app": "shop", "key": CANARY}));
    assert!(over.to_string().contains("‹secret›"), "{over}");

    // A program asks for a secret, and is told by a callback.
    let (url, heard) = receiver().await;
    let ask = json!({
        "kind": "fill", "title": "A key, please",
        "schema": {"type": "object", "properties": {"key": {"type": "string", "writeOnly": true}}},
        "callback": {"url": url, "secret_env": "CANARY_HOOK"},
    });
    let outside = served.program().post("/v1/holds", &ask).await.must(201);
    ana.answer(&outside, json!({"fill": {"key": CANARY}})).await.must(200);
    for _ in 0..200 {
        if heard.lock().expect("sound").contains("hold.decided") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    clean("the callback", &heard.lock().expect("sound").clone());

    let run_id = over["run"]["id"].as_str().expect("a run").to_owned();
    let (form, hold) = (form["id"].as_str().expect("an id"), hold["id"].as_str().expect("an id"));
    let outside = outside["id"].as_str().expect("an id");
    for path in [
        "/".to_owned(),
        "/metrics".to_owned(),
        "/v1/me".to_owned(),
        "/v1/sessions".to_owned(),
        format!("/v1/sessions/{session}"),
        format!("/v1/runs/{run_id}"),
        "/v1/holds".to_owned(),
        format!("/v1/holds/{form}"),
        format!("/v1/holds/{hold}"),
        format!("/v1/holds/{outside}"),
        format!("/holds/{hold}"),
        format!("/v1/holds/{hold}/wait?until=settled&timeout_s=1"),
        "/v1/audit?limit=200".to_owned(),
        "/v1/audit/export".to_owned(),
    ] {
        let heard = ana.get(&path).await;
        assert_eq!(heard.status, 200, "{path}: {}", heard.text);
        clean(&path, &heard.text);
    }
    for path in [format!("/v1/sessions/{session}/events?after=0"), "/v1/events?after=0".to_owned()]
    {
        let text = streamed(&ana, &path).await;
        assert!(text.contains("hold.decided"), "{text}");
        clean(&path, &text);
    }

    // A terminal.
    let tokens = std::fs::read(served.tokens_file()).expect("tokens");
    let tokens: Value = serde_json::from_slice(&tokens).expect("JSON");
    let token = tokens["person_token"].as_str().expect("a token");
    let show = |more: &str| {
        format!(
            "export HOLDPOINT_SERVER={} HOLDPOINT_TOKEN={token}; exec '{}' show {hold} {}",
            served.url(),
            served.binary().path().display(),
            more
        )
    };
    let shell = Binary::at("/bin/sh");
    let (code, card, log) = run(&shell, &["-c", &show("")], &served.path("")).await;
    assert_eq!(code, 0, "{log}");
    clean("the card in a terminal", &card);

    // Whoever asks to see it sees it, and only then.
    let (_, revealed, _) = run(&shell, &["-c", &show("--reveal")], &served.path("")).await;
    assert!(revealed.contains("secret: arguments /key = \"Kanarie\\\"7&ø/x+z-93\""), "{revealed}");
    let export = ana.get("/v1/audit/export").await;
    assert!(export.text.contains("revealed"), "the log says who looked");
    clean("the log after that", &export.text);

    // The database, its log and a copy of it, while the server has it open.
    let mut stored = "the data\n".to_owned();
    let log = served.path("data/holdpoint.db-wal");
    assert!(std::fs::metadata(&log).is_ok_and(|log| log.len() > 0), "there is a log");
    files(&served.path("data"), &mut stored);
    let copies = tempfile::tempdir().expect("a folder");
    let copy = copies.path().join("copy.db");
    rusqlite::Connection::open(served.database())
        .and_then(|database| database.execute("VACUUM INTO ?1", [copy.to_string_lossy()]))
        .expect("a copy");
    files(copies.path(), &mut stored);
    clean("the data directory", &stored);

    served.stop().await;
    let log = std::fs::read_to_string(served.log()).expect("a log");
    assert!(log.contains("TRACE"), "the log does not tell everything");
    clean("the log file", &log);
    clean("the tables", &tables(&served.database()));
    let mut spooled = "the spool\n".to_owned();
    files(&served.path("data/spool"), &mut spooled);
    clean("the spool", &spooled);
    let mut stored = "the data\n".to_owned();
    files(&served.path("data"), &mut stored);
    clean("the data directory of a stopped server", &stored);
}
