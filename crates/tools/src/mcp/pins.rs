//! The definitions that people have agreed to, or that were there when a server was first seen.
//!
//! One file for each server, written whole: a temporary file, synced, renamed, and the folder synced.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::digest::Digest;
use domain::visible::visible;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::catalog::McpDefinition;
use super::link::ServerIdentity;

/// The pins of one server, as they are on disk.
#[derive(Debug)]
pub struct PinStore {
    file: PathBuf,
    tools: BTreeMap<String, ToolPin>,
    /// There was no file: what the server shows first is taken as it is.
    is_first_use: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolPin {
    pub server: ServerIdentity,
    definition: Value,
}

impl ToolPin {
    pub fn new(server: ServerIdentity, definition: &McpDefinition) -> ToolPin {
        ToolPin { server, definition: definition.whole.clone() }
    }

    pub fn parse_definition(&self) -> Option<McpDefinition> {
        McpDefinition::parse(self.definition.clone()).ok()
    }

    pub fn parse_digest(&self) -> Option<Digest> {
        self.parse_definition().map(|definition| definition.pin_digest(&self.server))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PinFile {
    version: u32,
    pub(super) tools: BTreeMap<String, ToolPin>,
}

impl PinFile {
    /// The error says what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<PinFile, String> {
        let read: PinFile =
            serde_json::from_slice(text).map_err(|error| visible(&error.to_string()))?;
        if read.version != VERSION {
            return Err(format!("it is of version {}", read.version));
        }
        for (name, pin) in &read.tools {
            if pin.parse_definition().is_none_or(|definition| definition.name != *name) {
                return Err(format!("`{}` is no definition of that tool", visible(name)));
            }
        }
        Ok(read)
    }

    pub(super) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The remedy is the same each time: see to the file.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    #[error(
        "the pinned tool definitions in {file} cannot be used: {why}; put it back from a backup, or remove \
         it: then each tool is asked about until its definition was approved anew"
    )]
    Unreadable { file: String, why: String },
    #[error("the pinned tool definitions in {file} cannot be written: {why}")]
    Unwritable { file: String, why: String },
}

const VERSION: u32 = 1;

impl PinStore {
    /// A file that cannot be read is an error and not an empty one: an empty one would trust whatever
    /// comes. One that is gone although the server `was_seen` is not a first use either: then every tool is
    /// asked about.
    pub fn open(folder: &Path, server: &str, was_seen: bool) -> Result<PinStore, PinError> {
        let file = folder.join(format!("{server}.json"));
        let unreadable =
            |why: String| PinError::Unreadable { file: file.display().to_string(), why };
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if was_seen {
                    tracing::warn!(
                        %server, file = %file.display(),
                        "the pinned definitions of an MCP server are gone; each of its tools is asked about anew"
                    );
                }
                // mutant: lost-pins-are-a-first-use
                return Ok(PinStore { file, tools: BTreeMap::new(), is_first_use: !was_seen });
            }
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let read = PinFile::parse(&text).map_err(unreadable)?;
        Ok(PinStore { file, tools: read.tools, is_first_use: false })
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub fn is_first_use(&self) -> bool {
        self.is_first_use
    }

    /// From now on a tool that is not pinned is a new one.
    pub fn end_first_use(&mut self) {
        self.is_first_use = false;
    }

    pub fn find_pin(&self, name: &str) -> Option<&ToolPin> {
        self.tools.get(name)
    }

    pub fn tool_names(&self) -> impl Iterator<Item = &String> {
        self.tools.keys()
    }

    /// On disk before this returns.
    pub fn add_pins(&mut self, pins: Vec<(String, ToolPin)>) -> Result<(), PinError> {
        let mut tools = self.tools.clone();
        tools.extend(pins);
        let file = PinFile { version: VERSION, tools };
        write_file(&self.file, &file).map_err(|error| PinError::Unwritable {
            file: self.file.display().to_string(),
            why: error.to_string(),
        })?;
        self.tools = file.tools;
        Ok(())
    }
}

fn write_file(file: &Path, pins: &PinFile) -> io::Result<()> {
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let temporary = file.with_extension("json.new");
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut out = options.open(&temporary)?;
    out.write_all(&pins.to_bytes()?)?;
    out.sync_all()?;
    fs::rename(&temporary, file)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pins_survive_and_a_damaged_file_is_not_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut pins = PinStore::open(folder.path(), "files", false).unwrap();
        assert!(pins.is_first_use());
        let read = json!({"name": "read", "inputSchema": {"type": "object"}});
        let definition = McpDefinition::parse(read).unwrap();
        let who = ServerIdentity { name: "s".into(), version: "1".into() };
        pins.add_pins(vec![("read".into(), ToolPin::new(who.clone(), &definition))]).unwrap();

        let again = PinStore::open(folder.path(), "files", true).unwrap();
        assert!(!again.is_first_use());
        assert_eq!(
            again.find_pin("read").unwrap().parse_digest(),
            Some(definition.pin_digest(&who))
        );

        let file = folder.path().join("files.json");
        let text = fs::read_to_string(&file).unwrap();
        for damaged in [
            "".to_owned(),
            text[..text.len() / 2].to_owned(),
            text.replace("\"version\": 1,\n  \"tools\"", "\"version\": 2,\n  \"tools\""),
            text.replace("\"name\": \"read\"", "\"name\": \"other\""),
        ] {
            assert_ne!(damaged, text);
            fs::write(&file, &damaged).unwrap();
            assert!(PinStore::open(folder.path(), "files", false).is_err(), "{damaged}");
        }
    }

    #[test]
    fn i49_lost_pins_are_no_first_use() {
        let folder = tempfile::tempdir().unwrap();
        assert!(PinStore::open(folder.path(), "files", false).unwrap().is_first_use());
        assert!(!PinStore::open(folder.path(), "files", true).unwrap().is_first_use());
    }

    #[test]
    fn pins_are_for_their_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("mcp");
        PinStore::open(&folder, "files", false).unwrap().add_pins(vec![]).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("files.json"))), (0o700, 0o600));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_as_text() {
        let pin = r#"{"server":{"name":"s","version":"1"},"definition":{"name":"b"}}"#;
        for file in [
            r#"{"\u001b[2J":1}"#.to_owned(),
            format!(r#"{{"version":1,"tools":{{"\u001b[2J":{pin}}}}}"#),
        ] {
            let told = PinFile::parse(file.as_bytes()).err().unwrap();
            assert!(told.contains("`⟦U+001B⟧[2J`"), "{told}");
        }
    }
}
