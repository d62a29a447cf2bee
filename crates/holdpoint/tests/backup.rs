//! The commands of *Backup and restore* in `docs/guide/operations.md`, run as they stand there: against a real
//! server with an MCP server beside it, and then in the place of its data. They need the program `sqlite3`, as
//! people do.

#[expect(dead_code, reason = "a backup needs less of it than the tests of the command line")]
mod demo;
mod mcp_stub;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use demo::{BINARY, Ran};
use holdpoint::cli::client::Client;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// The blocks of the section, in their order.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/operations.md");
    let text = fs::read_to_string(page).unwrap();
    let from = text.find("\n## 6. Backup and restore\n").expect("the section");
    let rest = &text[from + 4..];
    let section = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    section.split("```\n").skip(1).step_by(2).map(str::to_owned).collect()
}

const CONFIG: &str = r#"[server]
listen = "127.0.0.1:0"
[store]
url = "sqlite:data"
[[tools]]
name = "notes"
kind = "mcp"
argv = ["/bin/sh", "notes.sh"]
[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
[policy]
default = "ask"
"#;

/// A server in a folder; ended when it is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(folder: &Path, log: &str) -> Server {
        let mut command = demo::command(&["serve", "--json", "--bootstrap-tokens", "tokens.json"]);
        command.current_dir(folder).env_remove("HOLDPOINT_LOG").env("RUST_LOG", "info");
        command.stderr(fs::File::create(folder.join(log)).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("{error}: {line}{}", fs::read_to_string(folder.join(log)).unwrap())
        });
        let url = ready["url"].as_str().unwrap().to_owned();
        Server { child, url }
    }

    fn stop(mut self) {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    fn token(folder: &Path) -> String {
        let tokens = fs::read(folder.join("tokens.json")).unwrap();
        let tokens: Value = serde_json::from_slice(&tokens).unwrap();
        tokens["person_token"].as_str().unwrap().to_owned()
    }

    fn client(&self, folder: &Path) -> Client {
        Client::with_token(&self.url, Some(Server::token(folder))).unwrap()
    }

    /// A block of the guide, pasted into a shell. It stops at the first line that fails.
    fn paste(&self, block: &str, folder: &Path) -> Ran {
        let mut command = Command::new("sh");
        let program = Path::new(BINARY).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        // What most people have. The block itself must see to it that others cannot read.
        command.args(["-c", &format!("umask 022\nset -e\n{block}")]).current_dir(folder);
        command.env("PATH", path).env("HOLDPOINT_SERVER", &self.url);
        command.env("HOLDPOINT_TOKEN", Server::token(folder)).stdin(Stdio::null());
        command.output().unwrap().into()
    }
}

/// Everything below a folder, and the folder itself.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(all_below(&path)),
            false => found.push(path),
        }
    }
    found
}

#[track_caller]
fn only_the_owner_reads(folder: &Path) {
    for path in all_below(folder) {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}

fn open_to_all(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The pins are written once the MCP server has said what it offers.
async fn pinned(file: &Path) -> Vec<u8> {
    for _ in 0..1_500 {
        match fs::read(file) {
            Ok(pins) => return pins,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    panic!("{} was never written", file.display());
}

#[tokio::test]
async fn the_documented_backup_is_whole_private_and_can_be_restored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("holdpoint.toml"), CONFIG).unwrap();
    fs::write(folder.join("notes.sh"), mcp_stub::NOTES).unwrap();
    let [back_up, restore] = &blocks()[..] else { panic!("the section has two blocks") };

    let server = Server::start(folder, "before.log");
    let pins = pinned(&folder.join("data/mcp/notes.json")).await;
    assert!(String::from_utf8_lossy(&pins).contains("Takes a note."));
    let question = json!({"kind": "choose", "title": "Now?", "options": ["yes", "no"]});
    let client = server.client(folder);
    let open = client.post("/v1/holds", &question).await.unwrap();
    // As earlier versions left them: a folder for backups, and pins, that everybody can read.
    fs::create_dir(folder.join("backup")).unwrap();
    open_to_all(&folder.join("backup"), 0o755);
    open_to_all(&folder.join("data/mcp"), 0o755);
    open_to_all(&folder.join("data/mcp/notes.json"), 0o644);

    server.paste(back_up, folder).ends_with(0);
    only_the_owner_reads(&folder.join("backup"));
    assert_eq!(fs::read(folder.join("backup/mcp/notes.json")).unwrap(), pins);
    assert!(!folder.join("backup/sealing.key").exists(), "apart from what it opens");
    only_the_owner_reads(&folder.join("backup-key"));
    let key = fs::read(folder.join("backup-key/sealing.key")).unwrap();
    assert_eq!(key, fs::read(folder.join("data/sealing.key")).unwrap());
    assert_eq!(client.get("/v1/freeze").await.unwrap()["frozen"], false, "it goes on");
    // A second one goes over the first.
    server.paste(back_up, folder).ends_with(0);
    only_the_owner_reads(&folder.join("backup"));
    let later = client.post("/v1/holds", &question).await.unwrap();

    // The server is to be stopped, and the commands need none.
    let gone = Server { child: Command::new("true").spawn().unwrap(), url: server.url.clone() };
    server.stop();
    gone.paste(restore, folder).ends_with(0);
    only_the_owner_reads(&folder.join("data"));
    let restored = Server::start(folder, "after.log");
    assert_eq!(fs::read(folder.join("data/mcp/notes.json")).unwrap(), pins);
    let client = restored.client(folder);
    let freeze = client.get("/v1/freeze").await.unwrap();
    assert_eq!((&freeze["frozen"], &freeze["reason"]), (&true.into(), &"backup".into()));
    let hold = |id: &Value| format!("/v1/holds/{}", id.as_str().unwrap());
    assert_eq!(client.get(&hold(&open["id"])).await.unwrap()["state"], "pending");
    assert!(client.get(&hold(&later["id"])).await.is_err(), "it was opened after the backup");
    let log = "holdpoint audit export --out log.jsonl\nholdpoint audit verify log.jsonl\n";
    restored.paste(log, folder).ends_with(0);
    only_the_owner_reads(&folder.join("data"));
    let log = fs::read_to_string(folder.join("after.log")).unwrap();
    assert!(!log.contains("pinned"), "the pins were not found: {log}");
}
