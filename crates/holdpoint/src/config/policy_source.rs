//! Where the rules come from that a command looks at, and the cases that belong to them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::policy::read_rules;
use super::{Config, ConfigError, ConfigErrors, PolicyCase};

/// Rules that come with the program, with cases that say what they do.
#[derive(Debug, PartialEq, Eq)]
pub struct RulePack {
    /// As it stands behind `builtin:`.
    name: &'static str,
    pub(super) rules: &'static str,
    cases: &'static str,
}

const PACKS: [RulePack; 1] = [RulePack {
    name: "coding-agent",
    rules: include_str!("../../policies/coding-agent.toml"),
    cases: include_str!("../../policies/coding-agent.test.toml"),
}];

impl RulePack {
    pub(super) fn find(name: &str) -> Result<&'static RulePack, String> {
        let names = || PACKS.iter().map(|pack| pack.name).collect::<Vec<_>>().join(", ");
        let found = PACKS.iter().find(|pack| pack.name == name);
        found.ok_or_else(|| format!("there is no such pack; there is {}", names()))
    }

    /// A pack asks whom the configuration has, so it stands in one that has an admin and nothing else.
    fn config(&self) -> Result<Config, ConfigErrors> {
        let text = format!(
            "[[people]]\nid = \"admin\"\nname = \"An admin\"\nroles = [\"admin\"]\n\
             [policy]\ninclude = [\"builtin:{}\"]\n",
            self.name
        );
        Config::parse(&text, &format!("builtin:{}", self.name))
    }
}

/// A configuration with rules, or a pack of rules that comes with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySource {
    File(PathBuf),
    Pack(&'static RulePack),
}

impl FromStr for PolicySource {
    type Err = String;

    fn from_str(name: &str) -> Result<PolicySource, String> {
        match name.strip_prefix("builtin:") {
            Some(pack) => RulePack::find(pack).map(PolicySource::Pack),
            None => Ok(PolicySource::File(name.into())),
        }
    }
}

impl fmt::Display for PolicySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicySource::File(path) => write!(f, "{}", path.display()),
            PolicySource::Pack(pack) => write!(f, "builtin:{}", pack.name),
        }
    }
}

impl PolicySource {
    pub fn config(&self) -> Result<Config, ConfigErrors> {
        match self {
            PolicySource::File(path) => Config::load(path),
            PolicySource::Pack(pack) => pack.config(),
        }
    }

    /// Where the cases of these rules are looked for: `holdpoint.test.toml` beside `holdpoint.toml`.
    pub fn own_cases(&self) -> PolicySource {
        match self {
            PolicySource::File(path) => PolicySource::File(path.with_extension("test.toml")),
            pack @ PolicySource::Pack(_) => pack.clone(),
        }
    }

    /// The cases that stand here, for the rules of `config`.
    pub fn cases(&self, config: &Config) -> Result<Vec<PolicyCase>, ConfigErrors> {
        let name = self.to_string();
        let read = match self {
            PolicySource::Pack(pack) => return PolicyCase::read_all(pack.cases, &name, config),
            PolicySource::File(path) => read_rules(path),
        };
        let text = read.map_err(|why| {
            let message = match why.kind() {
                std::io::ErrorKind::NotFound => {
                    "there is no such file with cases; write one, or name another with `--cases`"
                        .to_owned()
                }
                _ => format!("the cases cannot be read: {why}"),
            };
            ConfigError { file: name.clone(), line: None, message }
        })?;
        PolicyCase::read_all(&text, &name, config)
    }
}
