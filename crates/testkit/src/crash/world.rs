//! One server's whole world in a temporary folder: its settings, its data, its tools, and what the
//! tools witnessed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use serde_json::Value;
use tempfile::TempDir;

use super::checks::Begun;
use crate::binary::{Binary, Server};
use crate::http::Api;
use crate::rng::Rng;
use crate::witness::Witness;

/// A debug build on a busy machine starts in a fraction of this.
pub(super) const START_WITHIN: Duration = Duration::from_secs(30);

/// What callers wait for an answer. A server that is stopped keeps them waiting longer, and then
/// they ask again.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// The variable that holds the key for callbacks.
pub(super) const SECRET_ENV: &str = "CRASH_CALLBACK_SECRET";

pub(super) struct World {
    folder: TempDir,
    binary: Binary,
    /// Without a token.
    pub(super) api: Api,
}

/// Who calls: a program that talks to the agent, and a person who answers.
#[derive(Clone, Debug)]
pub(super) struct Callers {
    pub(super) program: Api,
    pub(super) person: Api,
    pub(super) person_id: String,
    /// The same person, with the patience for long lists.
    pub(super) auditor: Api,
}

impl World {
    pub(super) fn new(binary: Binary, rng: &mut Rng) -> World {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port(rng);
        let world =
            World { folder, binary, api: Api::new(&format!("http://127.0.0.1:{port}"), None) };
        std::fs::create_dir(world.data()).expect("a folder for data");
        std::fs::create_dir(world.outside()).expect("a folder for effects");
        let write = |path: PathBuf, text: &str| std::fs::write(path, text).expect("a file");
        write(world.outside().join("append.sh"), Witness::SCRIPT);
        write(world.outside().join("look.sh"), LOOK);
        write(world.data().join("script.toml"), MODEL);
        write(world.data().join("holdpoint.toml"), &config(port, &world.outside()));
        let notes = Connection::open(world.outside().join("notes.db")).expect("a database");
        notes.execute_batch("CREATE TABLE notes (note TEXT)").expect("a table");
        world
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves everything where it is, for whoever wants to know what happened.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    pub(super) fn binary(&self) -> &Binary {
        &self.binary
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// Where tools write, and the server knows of nothing but a tool's argument.
    fn outside(&self) -> PathBuf {
        self.folder().join("outside")
    }

    pub(super) fn database(&self) -> PathBuf {
        self.data().join("store").join("holdpoint.db")
    }

    /// Effects that must not happen twice.
    pub(super) fn witness(&self) -> Witness {
        Witness::new(&self.outside().join("witness"))
    }

    /// Effects that are recognised by their key.
    pub(super) fn ledger(&self) -> Witness {
        Witness::new(&self.outside().join("ledger"))
    }

    /// What calls have begun to do. What cannot be read is found by the checks at the end.
    pub(super) fn begun(&self) -> Begun {
        let spool = std::fs::read_dir(self.data().join("store").join("spool"));
        let folders = spool.into_iter().flatten().flatten();
        let lines = [self.witness().lines(), self.ledger().lines()];
        Begun {
            attempts: folders
                // One that is only announced has not begun.
                .filter(|entry| entry.path().join("started").exists())
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect(),
            lines: lines.into_iter().flat_map(Result::unwrap_or_default).collect(),
            changes: self.notes().unwrap_or_default(),
        }
    }

    /// The statements that changed the table of notes, each with how often it did.
    pub(super) fn notes(&self) -> Result<BTreeMap<String, u64>, String> {
        let read = || {
            let notes = Connection::open(self.outside().join("notes.db"))?;
            let mut statement = notes.prepare("SELECT note, count(*) FROM notes GROUP BY note")?;
            let rows = statement.query_map([], |row| {
                let (note, count): (String, i64) = (row.get(0)?, row.get(1)?);
                Ok((format!("INSERT INTO notes VALUES ('{note}')"), count as u64))
            })?;
            rows.collect::<Result<_, rusqlite::Error>>()
        };
        read().map_err(|error| format!("the notes cannot be read: {error}"))
    }

    fn tokens(&self) -> PathBuf {
        self.folder().join("tokens.json")
    }

    pub(super) fn start(&self) -> Server {
        self.start_as(&self.binary, &[])
    }

    /// Another program, or one that is told more.
    pub(super) fn start_as(&self, binary: &Binary, told: &[(&str, &str)]) -> Server {
        self.start_with_log(binary, told, &self.folder().join("server.log"))
    }

    /// A second server on the same data; its words go into a file of its own. It is the program as it
    /// ships: a server that is stopped in the middle of a write has the lock of the disk that forgets,
    /// and whoever shares that disk waits for it for ever.
    pub(super) fn start_beside(&self) -> Server {
        let log = self.folder().join("second.log");
        // What an earlier one said is not this one's word.
        let _ = std::fs::remove_file(&log);
        self.start_with_log(&Binary::find(), &[], &log)
    }

    fn start_with_log(&self, binary: &Binary, told: &[(&str, &str)], log: &Path) -> Server {
        let told = [told, &[(SECRET_ENV, "a key that only the test and the server know")]].concat();
        let config = self.data().join("holdpoint.toml");
        Server::start_told(binary, &config, &self.tokens(), log, &told)
    }

    /// Known after the first start.
    pub(super) fn callers(&self) -> Result<Callers, String> {
        let text = std::fs::read(self.tokens()).map_err(|error| format!("no tokens: {error}"))?;
        let tokens: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let get =
            |key: &str| tokens[key].as_str().ok_or_else(|| format!("no `{key}` among the tokens"));
        Ok(Callers {
            program: self.api.as_caller(get("program_token")?).who_waits(PATIENCE),
            person: self.api.as_caller(get("person_token")?).who_waits(PATIENCE),
            auditor: self.api.as_caller(get("person_token")?),
            person_id: get("person")?.to_owned(),
        })
    }
}

/// Below the ports that outgoing connections get, so that no client takes it while the server is
/// down.
fn free_port(rng: &mut Rng) -> u16 {
    // Worlds that are made at the same time must not get the same.
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ports = (0..200).map(|_| 20_000 + rng.below(10_000) as u16);
    let free =
        ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok() && given.insert(*port));
    free.expect("one of two hundred ports is free")
}

const LOOK: &str = "printf 'saw '\ncat\n";

/// Every word after a result repeats the results, so that the transcript tells what the model saw.
const MODEL: &str = r#"
default = "That is not in my script."
deltas = { words = 2, delay_ms = 4 }

[[turn]]
when = { says_regex = '^say (\S+)$' }
text = "There is nothing to do about {1}, and it takes a few words to say so."

[[turn]]
when = { says_regex = '^witness (\S+)$' }
text = "I will do {1}."
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { says_regex = '^auto (\S+)$' }
calls = [{ tool = "auto", arguments = { note = "{1}" } }]

[[turn]]
when = { says_regex = '^ledger (\S+)$' }
text = "I will enter {1}."
calls = [{ tool = "ledger", arguments = { note = "{1}" } }]

[[turn]]
when = { says_regex = '^look (\S+)$' }
calls = [{ tool = "look", arguments = { note = "{1}" } }]

[[turn]]
when = { says_regex = '^notes (\S+)$' }
calls = [{ tool = "notes", arguments = { sql = "INSERT INTO notes VALUES ('{1}')" } }]

[[turn]]
when = { says_regex = '^brief (\S+)$' }
calls = [{ tool = "brief", arguments = { note = "{1}" } }]

[[turn]]
when = { says_regex = '^pair (\S+)$' }
text = "Both halves of {1}."
calls = [
    { tool = "witness", arguments = { note = "{1}-left" } },
    { tool = "witness", arguments = { note = "{1}-right" } },
]

[[turn]]
when = { says_regex = '^mixed (\S+)$' }
calls = [
    { tool = "look", arguments = { note = "{1}-look" } },
    { tool = "witness", arguments = { note = "{1}-witness" } },
    { tool = "ledger", arguments = { note = "{1}-ledger" } },
]

[[turn]]
when = { says_regex = '^chain (\S+)$' }
calls = [{ tool = "witness", arguments = { note = "{1}-first" } }]

[[turn]]
when = { says_regex = '^chain (\S+)$', after_tools = ["witness"] }
text = "told: {result}"
calls = [{ tool = "ledger", arguments = { note = "{1}-second" } }]

[[turn]]
when = { result_contains = "" }
text = "told: {result}"
"#;

/// What can be said, with a word after it that makes it unlike any other.
pub(super) const SCENES: [&str; 9] =
    ["say", "witness", "witness", "pair", "mixed", "chain", "auto", "ledger", "notes"];
pub(super) const RARE_SCENES: [&str; 2] = ["look", BRIEF];
/// The tool whose holds nobody answers before they expire.
pub(super) const BRIEF: &str = "brief";

fn config(port: u16, outside: &Path) -> String {
    let outside = outside.display();
    let tool = |name: &str, effects: &str, script: &str, file: &str| {
        format!(
            r#"
[[tools]]
name = "{name}"
kind = "command"
description = "Leaves a note."
argv = ["/bin/sh", "{outside}/{script}", "{outside}/{file}"]
effects = "{effects}"
input_schema = {{ type = "object", required = ["note"], properties = {{ note = {{ type = "string" }} }} }}
"#
        )
    };
    let tools: String = [
        tool("witness", "at_most_once", "append.sh", "witness"),
        tool("auto", "at_most_once", "append.sh", "witness"),
        tool("ledger", "idempotent", "append.sh", "ledger"),
        tool("look", "read_only", "look.sh", "nothing"),
        tool(BRIEF, "at_most_once", "append.sh", "witness"),
    ]
    .concat();
    format!(
        r#"
[server]
listen = "127.0.0.1:{port}"

[store]
url = "sqlite:store"

[models.scripted]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "worker"
model = "scripted"
instructions = "Follow the script."
tools = ["witness", "auto", "ledger", "look", "brief", "notes"]
{tools}
[[tools]]
name = "notes"
kind = "sql"
database = "{outside}/notes.db"
access = "modify"

[callbacks]
secret_envs = ["{SECRET_ENV}"]
allow_private_addresses = true

[[policy.rules]]
name = "these do not wait long"
match = {{ tool = "{BRIEF}" }}
then = "ask"
ask = {{ roles = ["admin"], expires = "1s" }}

[[policy.rules]]
name = "these go by themselves"
match = {{ tool = "auto" }}
then = "allow"

[[policy.rules]]
name = "looking is free"
match = {{ effects = ["read_only"] }}
then = "allow"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
"#
    )
}
