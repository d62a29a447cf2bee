//! I-49 with the real program: the pinned definitions of an MCP server are gone, and it is started again.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns when it listens: by then it has looked at an MCP server that it sees for the first time.
fn serve(folder: &Path, log: &str) -> Running {
    let log = std::fs::File::create(folder.join(log)).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["serve", "--json", "--config", "holdpoint.toml"])
        .current_dir(folder)
        .env_remove("HOLDPOINT_LOG")
        .env("RUST_LOG", "warn")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("127.0.0.1"), "it does not listen: {line}");
    Running(server)
}

fn config(folder: &Path) -> String {
    let stub = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/src/mcp/tests/stub.py");
    let argv = json!(["python3", "-B", stub, folder]);
    format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"sqlite:data\"\n\
         [models.scripted]\nprovider = \"scripted\"\nscript = \"script.toml\"\n\
         [[agents]]\nid = \"ops\"\nmodel = \"scripted\"\ntools = [\"files\"]\n\
         [[tools]]\nname = \"files\"\nkind = \"mcp\"\nargv = {argv}\n\
         [[people]]\nid = \"ana\"\nname = \"Ana\"\nroles = [\"admin\"]\n"
    )
}

#[test]
fn i49_a_server_that_was_seen_is_not_pinned_again_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("holdpoint.toml"), config(folder)).unwrap();
    let script = "[[turn]]\nwhen = { says_regex = 'hello' }\ntext = \"Hello.\"\n";
    std::fs::write(folder.join("script.toml"), script).unwrap();
    let pins = folder.join("data/mcp/files.json");
    let is_missed = |log: &str| {
        let log = std::fs::read_to_string(folder.join(log)).unwrap();
        log.contains("the pinned definitions of an MCP server are gone")
    };
    drop(serve(folder, "first.log"));
    assert!(pins.exists(), "what it shows first is taken as it is");
    drop(serve(folder, "second.log"));
    assert!(pins.exists() && !is_missed("second.log"));
    std::fs::remove_dir_all(folder.join("data/mcp")).unwrap();
    drop(serve(folder, "third.log"));
    assert!(!pins.exists(), "what it shows after a loss was pinned and not asked about");
    assert!(is_missed("third.log"), "the operator is told");
}
