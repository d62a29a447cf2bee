//! Looks for what is wrong with a set-up, and says how to mend it. It mends nothing itself.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use domain::id::NodeId;
use domain::time::Timestamp;
use domain::visible::visible;
use ports::store::Store as _;
use serde_json::{Value, json};
use stores::{OpenError, PgStore, SealingKeyId, SqliteOptions, SqliteStore};

mod connections;
mod files;

use super::args::{DoctorArgs, SERVER_DEFAULT};
use super::client::Client;
use super::exit::Exit;
use super::json;
use super::output::{Paint, Screen, Terminal, now};
use crate::config::{Config, ConfigError, StoreConfig};
use crate::wiring::rehearsal::{Finding, RehearsalVerdict, rehearse, try_listen};
use crate::wiring::{postgres_address, sealing_keys};

/// The day this was written: a clock before it was never set.
const NOT_BEFORE_MS: i64 = 1_763_164_800_000;
const IN_USE: &str = "it is in use by a running server";
/// A clock that is further off than this gives deadlines that people do not expect.
const SKEW_MS_MAX: u64 = 30_000;

/// `server`: the address that somebody named. Without one it is that of the configuration.
pub async fn run(
    server: Option<&str>,
    terminal: &Terminal,
    args: &DoctorArgs,
) -> anyhow::Result<Exit> {
    let mut checks = vec![clock(now())];
    let path = match &args.config {
        Some(path) => Some(path.clone()),
        None => Some(PathBuf::from("holdpoint.toml")).filter(|path| path.exists()),
    };
    let config = path.as_ref().map(|path| Config::load(path));
    let own = match &config {
        Some(Ok(config)) => Some(own_address(config)),
        _ => None,
    };
    let client = Client::new(server.or(own.as_deref()).unwrap_or(SERVER_DEFAULT))?;
    match (config, path) {
        (Some(Ok(config)), Some(path)) => {
            checks.extend(configured(&config, &path).await);
            let with_oauth = connections::with_oauth(&config);
            // Before the first start nobody answers, and nothing is wrong.
            let quiet = server.is_none() && client.probe("/healthz").await.is_err();
            checks.extend(match quiet {
                true => vec![not_started(&client, &path)],
                false => served(&client).await,
            });
            if !with_oauth.is_empty() && !quiet {
                checks.extend(connections::served(&client, &with_oauth).await);
            }
        }
        (Some(Err(errors)), _) => {
            let wrong =
                |one: &ConfigError| Check::failed("configuration", &visible(&one.to_string()));
            checks.extend(errors.0.iter().map(wrong));
            // No server starts with it, and where it would listen is not known either.
            if server.is_some() {
                checks.extend(served(&client).await);
            }
        }
        _ => checks.extend(served(&client).await),
    }
    let out = terminal.out();
    let well = checks.iter().all(|check| check.state != State::Wrong);
    if args.json {
        let list: Vec<Value> = checks.iter().map(Check::json).collect();
        out.print(&json::pretty(&json!({"well": well, "checks": list})))?;
    } else {
        checks.iter().try_for_each(|check| out.print(&check.worded(&out)))?;
    }
    Ok(if well { Exit::Done } else { Exit::Failed })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fine,
    /// It works, but not wisely.
    Doubtful,
    Wrong,
}

#[derive(Debug)]
struct Check {
    name: &'static str,
    state: State,
    /// One line of ours, made visible.
    detail: String,
    remedy: Option<String>,
}

impl Check {
    fn fine(name: &'static str, detail: impl Into<String>) -> Check {
        Check { name, state: State::Fine, detail: detail.into(), remedy: None }
    }

    fn wrong(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Check {
        let remedy = Some(remedy.into());
        Check { name, state: State::Wrong, detail: detail.into(), remedy }
    }

    /// Our errors carry their remedy behind an arrow, or in the sentence itself.
    fn failed(name: &'static str, error: &str) -> Check {
        let (detail, remedy) = match error.split_once("\n  → ") {
            Some((detail, remedy)) => (detail.to_owned(), Some(remedy.to_owned())),
            None => (error.to_owned(), None),
        };
        Check { name, state: State::Wrong, detail, remedy }
    }

    fn of(finding: &Finding) -> Check {
        let name = visible(&finding.name);
        let worded = |why: &str| match why.contains(&*finding.name) {
            true => visible(why),
            false => format!("`{name}`: {}", visible(why)),
        };
        match &finding.verdict {
            RehearsalVerdict::Ready => Check::fine(finding.what, format!("`{name}` is ready")),
            RehearsalVerdict::Doubtful(why) => Check::failed(finding.what, &worded(why)).doubtful(),
            RehearsalVerdict::Wrong(why) => Check::failed(finding.what, &worded(why)),
        }
    }

    fn doubtful(self) -> Check {
        Check { state: State::Doubtful, ..self }
    }

    fn worded(&self, screen: &Screen) -> String {
        let mark = match self.state {
            State::Fine => screen.paint(Paint::Green, "✓"),
            State::Doubtful => screen.paint(Paint::Yellow, "!"),
            State::Wrong => screen.paint(Paint::Red, "✗"),
        };
        let remedy = match &self.remedy {
            Some(remedy) => format!("    → {remedy}\n"),
            None => String::new(),
        };
        format!("{mark} {:<14} {}\n{remedy}", self.name, self.detail)
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "ok": self.state != State::Wrong,
            "warning": self.state == State::Doubtful,
            "detail": self.detail,
            "remedy": self.remedy,
        })
    }
}

fn clock(now: Timestamp) -> Check {
    if now.as_ms() < NOT_BEFORE_MS {
        let remedy = "set the clock of this machine: deadlines are told by it";
        return Check::wrong("clock", format!("it says {now}, which is long past"), remedy);
    }
    Check::fine("clock", format!("it says {now}"))
}

/// Where a server with this configuration listens, as seen from this machine.
fn own_address(config: &Config) -> String {
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    let listen = config.server.listen;
    match &config.server.public_url {
        // A certificate is for that name.
        Some(url) if config.server.tls.is_some() => url.clone(),
        _ if listen.ip().is_unspecified() => format!("{scheme}://127.0.0.1:{}", listen.port()),
        _ => format!("{scheme}://{listen}"),
    }
}

fn not_started(client: &Client, path: &Path) -> Check {
    let server = visible(client.server().as_str());
    let remedy =
        format!("start it: holdpoint serve --config {}", visible(&path.display().to_string()));
    Check::wrong("server", format!("nobody answers at {server} yet"), remedy).doubtful()
}

/// What `serve` looks at before it opens its doors.
async fn configured(config: &Config, path: &Path) -> Vec<Check> {
    let shown = visible(&path.display().to_string());
    let mut checks = vec![Check::fine("configuration", format!("{shown} is sound"))];
    for warning in &config.warnings {
        checks.push(Check::fine("configuration", visible(warning)).doubtful());
    }
    checks.extend(rehearse(config).await.iter().map(Check::of));
    let path = config.store.folder();
    let stored = match &config.store {
        StoreConfig::Sqlite { path, .. } => match sealing_keys(&config.store) {
            Ok(sealing_keys) => {
                let checkpoints = config.audit.checkpoints.clone();
                stored(path, &SqliteOptions { checkpoints, sealing_keys }).await
            }
            Err(error) => vec![Check::failed("sealing", &visible(&error.to_string()))],
        },
        shared @ StoreConfig::Postgres { .. } => shared_store(shared, path).await,
    };
    // A running server has its ports, and who else would have its data?
    if !stored.iter().any(|check| check.detail == IN_USE) {
        checks.extend(try_listen(config).iter().map(Check::of));
    }
    checks.extend(stored);
    checks.extend(readable_by_others(path));
    checks
}

/// The data folder is its owner's alone.
fn readable_by_others(path: &Path) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        let shown = visible(&path.display().to_string());
        let detail = format!("{shown} can be read by other users of this machine");
        Check::wrong("data", detail, format!("chmod go-rwx {shown}")).doubtful()
    })
}

/// The data directory: there, writable, and either free and sound or in use by a server.
async fn stored(path: &Path, options: &SqliteOptions) -> Vec<Check> {
    let shown = visible(&path.display().to_string());
    let exists = path.join("holdpoint.db").exists();
    let place = nearest_directory(path);
    if let Err(error) = try_writing(&place) {
        let place = visible(&place.display().to_string());
        return vec![Check::wrong(
            "data",
            format!("{place} cannot be written to: {error}"),
            "make it writable for the user that runs Holdpoint, or name another in `[store] url`",
        )];
    }
    if !exists {
        return vec![Check::fine(
            "data",
            format!("nothing in {shown} yet; the first start makes it"),
        )];
    }
    let writable = Check::fine("data", format!("{shown} can be written to"));
    // Looked at first, because opening the store would wait for nothing and say less.
    if is_locked(path) {
        return vec![writable, Check::fine("store", IN_USE)];
    }
    // Opening them would change them, and make files of whoever runs this in place of the server's user.
    if let Ok(true) = SqliteStore::is_outdated(path) {
        let detail = "the data are of an older version; the next start brings them up to date";
        return vec![writable, Check::fine("store", detail)];
    }
    let store = match SqliteStore::open_with(path, NodeId::new(now().as_ms(), 0), options) {
        Ok(store) => store,
        Err(OpenError::InUse { .. }) => {
            return vec![writable, Check::fine("store", IN_USE)];
        }
        Err(error) => return vec![writable, Check::failed("store", &visible(&error.to_string()))],
    };
    let unvouched = store.unvouched_entries();
    let sealing = store.sealing_key().map(sealing_with);
    let kept = match store.files() {
        Some(kept) => Some(files::check(kept).await),
        None => None,
    };
    store.close().await;
    let mut checks = vec![writable, Check::fine("store", "it opens, and no server is using it")];
    checks.extend(sealing);
    checks.extend(kept);
    if let (Some(entries), Some(file)) = (unvouched, &options.checkpoints) {
        let file = visible(&file.display().to_string());
        let detail = format!(
            "{file} has no checkpoint, and {entries} entries of the log were signed before"
        );
        let remedy = "nothing, if `[audit] checkpoints` is new; otherwise the file was removed: \
                      put it back from a copy, and verify an export of the log";
        checks.push(Check::wrong("checkpoints", detail, remedy).doubtful());
    }
    checks
}

/// A database that other nodes may be working on: it is looked at and left as it is.
async fn shared_store(store: &StoreConfig, folder: &Path) -> Vec<Check> {
    let place = nearest_directory(folder);
    let mut checks = match try_writing(&place) {
        Ok(()) => vec![Check::fine(
            "data",
            format!("{} can be written to", visible(&place.display().to_string())),
        )],
        Err(error) => {
            let place = visible(&place.display().to_string());
            let remedy = "make it writable for the user that runs Holdpoint, or name another as `folder` in `[store]`";
            vec![Check::wrong("data", format!("{place} cannot be written to: {error}"), remedy)]
        }
    };
    if is_locked(folder) {
        checks.push(Check::fine("store", IN_USE));
        return checks;
    }
    let keys = sealing_keys(store);
    // That there is none is among the warnings of the configuration.
    checks.extend(match &keys {
        Ok(keys) => keys.as_ref().map(|keys| sealing_with(keys.sealing())),
        Err(error) => Some(Check::failed("sealing", &visible(&error.to_string()))),
    });
    let looked = match postgres_address(store) {
        Ok(address) => {
            let keys = keys.ok().flatten();
            PgStore::look(&address, keys.as_ref()).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    checks.push(match looked {
        Ok(found) => Check::fine("store", visible(&found)),
        Err(error) => Check::failed("store", &visible(&error)),
    });
    checks
}

fn sealing_with(key: SealingKeyId) -> Check {
    Check::fine("sealing", format!("secrets are sealed with the key {key}; keep a copy of it"))
}

/// What does not exist yet will be made inside the nearest directory that does.
fn nearest_directory(path: &Path) -> PathBuf {
    let found = path.ancestors().find(|candidate| candidate.is_dir()).map(Path::to_owned);
    found.unwrap_or_else(|| PathBuf::from("."))
}

fn try_writing(directory: &Path) -> std::io::Result<()> {
    let probe = directory.join(format!(".holdpoint-doctor-{}", std::process::id()));
    let created = File::create_new(&probe).map(drop);
    let removed = fs::remove_file(&probe);
    created.and(removed)
}

fn is_locked(directory: &Path) -> bool {
    let lock = OpenOptions::new().write(true).open(directory.join("lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

async fn served(client: &Client) -> Vec<Check> {
    let server = visible(client.server().as_str());
    let mut checks = match client.probe("/healthz").await {
        Err(error) => return vec![Check::failed("server", &format!("{error:#}"))],
        Ok((200, date)) => {
            vec![Check::fine("server", format!("{server} answers")), skew(date.as_deref(), now())]
        }
        Ok((status, _)) => {
            return vec![Check::wrong(
                "server",
                format!("{server} answers with status {status} to /healthz"),
                "is this address really Holdpoint's? name the server with --server",
            )];
        }
    };
    checks.push(match client.probe("/readyz").await {
        Ok((200, _)) => Check::fine("ready", "it can read and write its data"),
        Ok((status, _)) => Check::wrong(
            "ready",
            format!("it answers with status {status} to /readyz"),
            "look into its log: the disk may be full, or the store unavailable",
        ),
        Err(error) => Check::failed("ready", &format!("{error:#}")),
    });
    checks.extend(token(client).await);
    checks
}

async fn token(client: &Client) -> Vec<Check> {
    if !client.has_token() {
        return vec![Check::wrong(
            "token",
            "there is none for this server",
            "log in with `holdpoint login`, or put a token into HOLDPOINT_TOKEN",
        )];
    }
    let mut checks = Vec::new();
    if client.exposes_token() {
        let check = Check::wrong(
            "token",
            "it crosses the network without TLS, and can be read on the way",
            "use an https:// address, or a tunnel",
        );
        checks.push(check.doubtful());
    }
    match client.get("/v1/me").await {
        Ok(me) => {
            checks.push(Check::fine("token", whose(&me)));
            for warning in me["warnings"].as_array().into_iter().flatten() {
                let text = warning.as_str().map_or_else(|| warning.to_string(), str::to_owned);
                checks.push(Check::fine("server", visible(&text)).doubtful());
            }
        }
        Err(error) => checks.push(Check::failed("token", &format!("{error:#}"))),
    }
    checks
}

/// Whose token it is, and what it may do.
pub fn whose(me: &Value) -> String {
    let text = |key: &str| visible(me[key].as_str().unwrap_or("?"));
    let scopes: Vec<String> = me["scopes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|scope| scope.as_str().map(visible))
        .collect();
    format!("it is that of the {} {} and may {}", text("kind"), text("id"), scopes.join(", "))
}

/// Compares our clock with the server's, which is the one that counts.
fn skew(date: Option<&str>, now: Timestamp) -> Check {
    let theirs = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let Some(theirs) = theirs else {
        return Check::fine("server clock", "it does not say what time it has").doubtful();
    };
    let theirs = Timestamp::from_ms(theirs.timestamp().as_millisecond());
    let off_ms = theirs.ms_since(now).max(now.ms_since(theirs));
    if off_ms > SKEW_MS_MAX {
        return Check::wrong(
            "server clock",
            format!("it is {} s away from the one here", off_ms / 1000),
            "set both by a time server: deadlines are told by the server's",
        );
    }
    Check::fine("server clock", "it agrees with the one here")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_763_172_180_000);

    #[test]
    fn clocks_are_compared() {
        assert_eq!(clock(NOW).state, State::Fine);
        assert_eq!(clock(Timestamp::from_ms(0)).state, State::Wrong);
        assert_eq!(skew(Some("Sat, 15 Nov 2025 02:03:07 GMT"), NOW).state, State::Fine);
        let off = skew(Some("Sat, 15 Nov 2025 03:03:00 GMT"), NOW);
        assert_eq!(
            (off.state, off.detail.as_str()),
            (State::Wrong, "it is 3600 s away from the one here")
        );
        assert_eq!(skew(Some("Sat, 15 Nov 2025 01:03:00 GMT"), NOW).state, State::Wrong);
        assert_eq!(skew(None, NOW).state, State::Doubtful);
    }

    #[test]
    fn a_check_is_worded_with_its_remedy() {
        let check = Check::failed("server", "cannot reach it\n  → start it");
        assert_eq!(
            check.worded(&Screen::plain()),
            "✗ server         cannot reach it\n    → start it\n"
        );
        assert_eq!(check.json()["ok"], false);
        let fine = Check::fine("clock", "ok");
        assert_eq!(fine.worded(&Screen::plain()), "✓ clock          ok\n");
    }

    #[tokio::test]
    async fn the_data_directory_is_looked_at_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("deep").join("data");
        let checks = stored(&data, &SqliteOptions::default()).await;
        assert!(checks.iter().all(|check| check.state == State::Fine), "{checks:?}");
        assert!(checks[0].detail.contains("the first start makes it"), "{checks:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it left something behind");

        let store = SqliteStore::open(&data, NodeId::new(1, 1)).unwrap();
        let checks = stored(&data, &SqliteOptions::default()).await;
        assert!(checks[1].detail.contains("in use by a running server"), "{checks:?}");
        store.close().await;
        drop(store);
        let checks = stored(&data, &SqliteOptions::default()).await;
        assert!(checks[1].detail.contains("it opens"), "{checks:?}");

        fs::write(data.join("holdpoint.db"), "this is no database, but long enough to be one?")
            .unwrap();
        let checks = stored(&data, &SqliteOptions::default()).await;
        assert_eq!(checks[1].state, State::Wrong, "{checks:?}");
    }

    #[test]
    fn a_directory_that_takes_nothing_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert!(try_writing(folder.path()).is_ok());
        // A file in the place of a directory refuses even the superuser.
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(try_writing(&file).is_err());
    }
}
