//! A PostgreSQL server of our own, from the binaries that the system has: in a temporary folder, on a
//! loopback port, as a user who is not root, and ended by its id.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, chown, geteuid};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::rng::Rng;

/// A cluster takes a second or two on a quiet machine.
const START_WITHIN: Duration = Duration::from_secs(60);

/// What every address of ours has in it, and no text of ours may. The server trusts whoever comes.
pub const PASSWORD: &str = "canary-of-the-database";

pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    user: Option<User>,
    port: u16,
    server: Option<Child>,
    is_durable: bool,
}

impl Cluster {
    /// Makes a cluster and starts it. There is one database, `shop`, and two users: `postgres`, who may
    /// do everything, and `app`, who owns the database.
    pub async fn start() -> Cluster {
        Cluster::start_as(false).await
    }

    /// The same, on a server that waits for the disk as one in production does.
    pub async fn start_durable() -> Cluster {
        Cluster::start_as(true).await
    }

    async fn start_as(is_durable: bool) -> Cluster {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        // PostgreSQL refuses to run as root.
        let user = geteuid().is_root().then(|| {
            let named = |name| User::from_name(name).ok().flatten();
            named("postgres").or_else(|| named("nobody")).expect("a user who is not root")
        });
        let mut cluster = Cluster {
            folder,
            programs: programs(),
            user,
            port: free_port(),
            server: None,
            is_durable,
        };
        let data = cluster.data();
        fs::create_dir(&data).expect("a folder");
        if let Some(user) = &cluster.user {
            chown(&data, Some(user.uid), Some(user.gid)).expect("our own folder");
        }
        let made = cluster
            .command("initdb")
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .arg("--pgdata")
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .expect("initdb runs");
        assert!(made.success(), "initdb failed: {made}");
        cluster.up().await;
        let admin = cluster.connect("postgres", "postgres").await;
        admin.run("CREATE ROLE app LOGIN").await;
        admin.run("CREATE DATABASE shop OWNER app").await;
        cluster
    }

    /// Starts the server and waits until it takes connections.
    pub async fn up(&mut self) {
        let log = fs::File::create(self.folder.path().join("log")).expect("a log");
        let child = self
            .command("postgres")
            .arg("-D")
            .arg(self.data())
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            // No socket: the port is enough, and nobody else need find it.
            .args(["-c", "unix_socket_directories="])
            .args(["-c", if self.is_durable { "fsync=on" } else { "fsync=off" }])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("another handle"))
            .stderr(log)
            .spawn()
            .expect("postgres starts");
        self.server = Some(child);
        let ready = async {
            while Session::open(&self.url_as("postgres", "postgres", self.port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(START_WITHIN, ready).await.is_err() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            panic!("postgres does not take connections:\n{log}");
        }
    }

    /// Ends the server without letting it tidy up, as a power cut of the database's machine would.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            let id = Pid::from_raw(server.id() as i32);
            kill(id, Signal::SIGQUIT).expect("our own child");
            server.wait().expect("a child can be waited for");
        }
    }

    /// Keeps a copy of the data as it is on disk. The server must not run.
    pub fn keep(&self) {
        assert!(self.server.is_none(), "a server that runs changes its files");
        copy_folder(&self.data(), &self.kept());
    }

    /// The data as it was kept: what came after that is lost.
    pub fn put_back(&self) {
        assert!(self.server.is_none(), "a server that runs changes its files");
        fs::remove_dir_all(self.data()).expect("our own folder");
        copy_folder(&self.kept(), &self.data());
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of `shop` as the user `app`.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same at another port, behind which somebody passes it on.
    pub fn url_at(&self, port: u16) -> String {
        self.url_as("app", "shop", port)
    }

    pub fn url_as(&self, user: &str, database: &str, port: u16) -> String {
        format!("postgres://{user}:{PASSWORD}@127.0.0.1:{port}/{database}")
    }

    pub async fn connect(&self, user: &str, database: &str) -> Session {
        Session::open(&self.url_as(user, database, self.port)).await.expect("the server is up")
    }

    /// As the owner of `shop`.
    pub async fn shop(&self) -> Session {
        self.connect("app", "shop").await
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn kept(&self) -> PathBuf {
        self.folder.path().join("kept")
    }

    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let Some(user) = &self.user else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command
            .arg(format!("--reuid={}", user.uid))
            .arg(format!("--regid={}", user.gid))
            // Whatever ends the tests ends the server.
            .args(["--clear-groups", "--pdeathsig=QUIT", "--"])
            .arg(program)
            .current_dir("/");
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A connection of the test's own, which the tools know nothing of.
pub struct Session {
    client: Client,
    _wire: JoinSet<()>,
}

impl Session {
    async fn open(url: &str) -> Result<Session, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let mut wire = JoinSet::new();
        wire.spawn(async move {
            let _ = connection.await;
        });
        Ok(Session { client, _wire: wire })
    }

    pub async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap_or_else(|why| panic!("{sql}: {why:?}"));
    }

    /// The code of the error with which the database refuses it.
    pub async fn refused(&self, sql: &str) -> String {
        let error = self.client.batch_execute(sql).await.expect_err(sql);
        error.code().map(|code| code.code().to_owned()).unwrap_or_else(|| panic!("{error:?}"))
    }

    /// The first column of each row.
    pub async fn numbers(&self, sql: &str) -> Vec<i64> {
        let rows = self.client.query(sql, &[]).await;
        let rows = rows.unwrap_or_else(|why| panic!("{sql}: {why:?}"));
        rows.iter().map(|row| row.get(0)).collect()
    }

    pub async fn number(&self, sql: &str) -> i64 {
        let row = self.client.query_one(sql, &[]).await;
        row.unwrap_or_else(|why| panic!("{sql}: {why:?}")).get(0)
    }
}

/// With owners and modes.
fn copy_folder(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "{} cannot be copied", from.display());
}

/// Where the newest version lies: on the path, or where Debian keeps them.
fn programs() -> PathBuf {
    let on_path =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    debian.sort_by_key(|folder| version(folder));
    let all = on_path.into_iter().flatten().chain(debian.into_iter().rev());
    let mut found =
        all.filter(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file());
    found
        .next()
        .expect("no PostgreSQL here; install the package `postgresql` (`cargo xtask test` does)")
}

fn version(folder: &Path) -> u32 {
    let name = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or(0)
}

/// Below the ports that outgoing connections get, so that it is still free after a restart.
fn free_port() -> u16 {
    let mut rng = Rng::new(Rng::fresh_seed());
    let ports = (0..200).map(|_| 20_000 + rng.below(10_000) as u16);
    let free = ports.into_iter().find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("one of two hundred ports is free")
}
