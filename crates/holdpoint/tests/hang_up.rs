//! The real server, hung up on; and what it logs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

struct Running {
    server: Child,
    address: String,
    folder: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn start(log: &str) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let stderr = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path().join("data"))
        .env_remove("HOLDPOINT_LOG")
        .env("RUST_LOG", log)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let address = ready["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    Running { server, address, folder }
}

impl Running {
    fn asks(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Lines of the log with this message, once there is one.
    fn logged(&self, message: &str) -> Vec<Value> {
        self.logged_after(message, || {})
    }

    /// The same for what follows from something that is done until it has followed.
    fn logged_after(&self, message: &str, again: impl Fn()) -> Vec<Value> {
        for _ in 0..2_000 {
            again();
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
            let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let said = |line: &Value| {
                line["fields"]["message"].as_str().is_some_and(|text| text.starts_with(message))
            };
            let found: Vec<Value> = lines.filter(said).collect();
            if !found.is_empty() {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("never logged: {message}");
    }
}

#[test]
fn a_server_that_is_hung_up_on_goes_on() {
    let mut running = start("info");
    let pid = Pid::from_raw(running.server.id() as i32);
    // One that comes before the server listens for signals is ignored, too, and not logged.
    running.logged_after("SIGHUP ignored", || kill(pid, Signal::SIGHUP).unwrap());
    assert!(running.asks("/healthz").starts_with("HTTP/1.1 200"));
    kill(pid, Signal::SIGHUP).unwrap();
    assert!(running.asks("/healthz").starts_with("HTTP/1.1 200"));
    assert!(running.server.try_wait().unwrap().is_none(), "it has ended");
}

#[test]
fn rust_log_means_what_people_expect() {
    for log in ["holdpoint=debug", "server=debug", "server::access=debug", "holdpoint_server=debug"]
    {
        let running = start(log);
        running.asks("/v1/holds?secret=canary");
        let lines = running.logged("request");
        let line =
            lines.iter().find(|line| line["fields"]["path"] == "/v1/holds").expect("it is logged");
        assert_eq!(
            (&line["level"], &line["target"]),
            (&"DEBUG".into(), &"holdpoint_server::access".into())
        );
        assert_eq!(line["fields"]["status"], 401);
        assert!(!lines.iter().any(|line| line.to_string().contains("canary")), "{lines:?}");
    }
}
