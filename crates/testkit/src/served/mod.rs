//! The real program, serving from a folder of its own, and those who call it.

mod caller;
mod configs;
mod transcript;

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Binary, Server};
use crate::http::Api;
use crate::rng::Rng;
use crate::witness::Witness;

pub use caller::{Caller, Heard, PATIENCE};
pub use configs::{NOTING, appending};
pub use transcript::{results, unsound, words};

/// A debug build on a busy machine starts in a fraction of this.
const START_WITHIN: Duration = Duration::from_secs(30);
const STOP_WITHIN: Duration = Duration::from_secs(15);

/// A server with its settings, its data and its tools. Dropping it kills it.
pub struct Served {
    site: TempDir,
    /// What only the operator knows: tokens, and the log with the login link in it.
    private: TempDir,
    binary: Binary,
    port: u16,
    server: Option<Server>,
}

impl Served {
    /// Writes `holdpoint.toml` and `script.toml` and starts. In both texts `@PORT@` stands for the
    /// port and `@SITE@` for the folder that they lie in. `@SERVER@`, `@SCRIPTED@` and `@WITNESS@`
    /// stand for settings that most tests have: a server with its database, a model that thinks with
    /// `script.toml`, and a tool that leaves a note.
    pub async fn start(config: &str, script: &str) -> Served {
        let mut served = Served::prepare(config, script);
        served.up().await;
        served
    }

    /// The same without a server.
    pub fn prepare(config: &str, script: &str) -> Served {
        Served::prepare_with(Binary::find(), config, script)
    }

    /// The same for a program in other surroundings.
    pub fn prepare_with(binary: Binary, config: &str, script: &str) -> Served {
        let folder = || tempfile::tempdir().expect("a temporary folder");
        let served =
            Served { site: folder(), private: folder(), binary, port: free_port(), server: None };
        served.write("append.sh", Witness::SCRIPT);
        served.write("holdpoint.toml", config);
        served.write("script.toml", script);
        served
    }

    /// Starts the server and waits until it takes requests.
    pub async fn up(&mut self) {
        let api = Api::new(&self.url(), None);
        let ready = self.launch().ready(&api, START_WITHIN).await;
        ready.unwrap_or_else(|why| panic!("{why}"));
    }

    /// Starts the server, and does not wait for it.
    pub fn launch(&mut self) -> &mut Server {
        let (config, tokens) = (self.path("holdpoint.toml"), self.tokens_file());
        self.server.insert(Server::start(&self.binary, &config, &tokens, &self.log()))
    }

    /// The server, for a test that ends it in another way.
    pub fn take(&mut self) -> Server {
        self.server.take().expect("a server that runs")
    }

    /// SIGKILL.
    pub async fn kill(&mut self) {
        self.take().kill().await;
    }

    /// SIGTERM, after which it must end well.
    pub async fn stop(&mut self) {
        let stopped = self.take().stop(STOP_WITHIN).await;
        let status = stopped.unwrap_or_else(|why| panic!("{why}"));
        assert!(status.success(), "it was told to stop, and ended with {status}");
    }

    pub fn id(&self) -> u32 {
        self.server.as_ref().expect("a server that runs").id()
    }

    pub fn write(&self, name: &str, text: &str) {
        let text = text.replace("@SERVER@", configs::SERVER);
        let text =
            text.replace("@SCRIPTED@", configs::SCRIPTED).replace("@WITNESS@", configs::WITNESS);
        let text = text.replace("@PORT@", &self.port.to_string());
        let text = text.replace("@SITE@", &self.site.path().display().to_string());
        std::fs::write(self.path(name), text).expect("a file");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.site.path().join(name)
    }

    pub fn database(&self) -> PathBuf {
        self.path("data/holdpoint.db")
    }

    /// What `append.sh` left in the world.
    pub fn witness(&self) -> Witness {
        Witness::new(&self.path("witness"))
    }

    pub fn binary(&self) -> &Binary {
        &self.binary
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn log(&self) -> PathBuf {
        self.private.path().join("server.log")
    }

    pub fn tokens_file(&self) -> PathBuf {
        self.private.path().join("tokens.json")
    }

    /// Lets every user of this machine look into both folders, so that only the modes of the files
    /// themselves stand in the way.
    pub fn open_folders(&self) {
        for folder in [&self.site, &self.private] {
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.path(), open).expect("our own folder");
        }
    }

    pub fn stranger(&self) -> Caller {
        Caller::new(&self.url(), None)
    }

    /// The first person with the role `admin`.
    pub fn admin(&self) -> Caller {
        self.first("person_token")
    }

    pub fn program(&self) -> Caller {
        self.first("program_token")
    }

    fn first(&self, key: &str) -> Caller {
        let text = std::fs::read(self.tokens_file()).expect("tokens");
        let tokens: Value = serde_json::from_slice(&text).expect("tokens are JSON");
        Caller::new(&self.url(), Some(tokens[key].as_str().expect("a token")))
    }

    /// Somebody else of `[[people]]`, with a token of their own.
    pub async fn person(&self, id: &str) -> Caller {
        let wanted = json!({"person": id, "scopes": ["ask", "answer", "run"]});
        let minted = self.admin().post("/v1/tokens", &wanted).await.must(201);
        Caller::new(&self.url(), Some(minted["token"].as_str().expect("a token")))
    }

    /// Every event that was ever written, from the server's own log. It must verify.
    pub async fn audited(&self) -> Vec<Value> {
        let export = self.admin().get("/v1/audit/export").await;
        assert_eq!(export.status, 200, "{}", export.text);
        let sound = audit::verify(export.text.as_bytes(), None, None);
        let sound = sound.unwrap_or_else(|failed| panic!("the log does not verify: {failed}"));
        let mut events = Vec::new();
        let mut after = 0;
        while after < sound.entries {
            let page = self.admin().get(&format!("/v1/audit?after={after}&limit=200")).await;
            let page = page.must(200);
            for entry in page["items"].as_array().expect("items") {
                after = entry["seq"].as_u64().expect("a number");
                events.extend(entry["entry"]["events"].as_array().cloned().unwrap_or_default());
            }
        }
        events
    }
}

/// Runs the program to its end: exit code, standard output, standard error.
pub async fn run(binary: &Binary, arguments: &[&str], within: &Path) -> (i32, String, String) {
    let mut command = binary.command();
    let running = command.args(arguments).current_dir(within).output();
    let ended = tokio::time::timeout(START_WITHIN, running).await;
    let ended = ended.unwrap_or_else(|_| panic!("`holdpoint {arguments:?}` does not end"));
    let ended = ended.expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (ended.status.code().unwrap_or(-1), text(ended.stdout), text(ended.stderr))
}

/// Below the ports that outgoing connections get, so that no client takes it while the server is
/// down, and not among those of the crash test.
fn free_port() -> u16 {
    let mut rng = Rng::new(Rng::fresh_seed());
    let ports = (0..200).map(|_| 10_000 + rng.below(10_000) as u16);
    let free = ports.into_iter().find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("one of two hundred ports is free")
}
