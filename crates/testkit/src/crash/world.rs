//! One server's whole world in a temporary folder: its settings, its data, its tools, and what the
//! tools witnessed.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Binary, Server};
use crate::chance::Chance;
use crate::http::Api;
use crate::witness::Witness;

/// A debug build on a busy machine starts in a fraction of this.
pub(super) const START_WITHIN: Duration = Duration::from_secs(30);

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
}

impl World {
    pub(super) fn new(binary: Binary, chance: &mut Chance) -> World {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port(chance);
        let world =
            World { folder, binary, api: Api::new(&format!("http://127.0.0.1:{port}"), None) };
        std::fs::create_dir(world.data()).expect("a folder for data");
        std::fs::create_dir(world.outside()).expect("a folder for effects");
        let write = |path: PathBuf, text: &str| std::fs::write(path, text).expect("a file");
        write(world.outside().join("append.sh"), Witness::SCRIPT);
        write(world.outside().join("look.sh"), LOOK);
        write(world.data().join("script.toml"), MODEL);
        write(world.data().join("holdpoint.toml"), &config(port, &world.outside()));
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

    fn tokens(&self) -> PathBuf {
        self.folder().join("tokens.json")
    }

    pub(super) fn start(&self) -> Server {
        let log = self.folder().join("server.log");
        Server::start(&self.binary, &self.data().join("holdpoint.toml"), &self.tokens(), &log)
    }

    /// Known after the first start.
    pub(super) fn callers(&self) -> Result<Callers, String> {
        let text = std::fs::read(self.tokens()).map_err(|error| format!("no tokens: {error}"))?;
        let tokens: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let get =
            |key: &str| tokens[key].as_str().ok_or_else(|| format!("no `{key}` among the tokens"));
        Ok(Callers {
            program: self.api.as_caller(get("program_token")?),
            person: self.api.as_caller(get("person_token")?),
            person_id: get("person")?.to_owned(),
        })
    }
}

/// Below the ports that outgoing connections get, so that no client takes it while the server is
/// down.
fn free_port(chance: &mut Chance) -> u16 {
    let ports = (0..200).map(|_| 20_000 + chance.below(10_000) as u16);
    let free = ports.into_iter().find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
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
pub(super) const SCENES: [&str; 8] =
    ["say", "witness", "witness", "pair", "mixed", "chain", "auto", "ledger"];
pub(super) const LOOKING: &str = "look";

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
tools = ["witness", "auto", "ledger", "look"]
{tools}
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
