//! What the configuration says about a door, in its own words and already checked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use domain::person::PersonId;

/// One open door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorSetup {
    /// In whose name callers act who send no credentials. Only for a loopback listener.
    pub act_as: Option<PersonId>,
    /// Web pages that may call it, each as scheme, host and port.
    pub origins: Vec<String>,
    pub wire: Wire,
}

/// The wire that a door speaks, with what only that one has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wire {
    FrontendTools(FrontendTools),
    Worlds(Worlds),
    AiSdk(AiSdk),
}

impl Wire {
    pub fn name(&self) -> &'static str {
        match self {
            Wire::FrontendTools(_) => "frontend_tools",
            Wire::Worlds(_) => "worlds",
            Wire::AiSdk(_) => "ai_sdk",
        }
    }

    /// An address of its own that it serves a client's page on.
    pub fn page_address(&self) -> Option<SocketAddr> {
        match self {
            Wire::Worlds(door) => door.files.as_ref()?.listen,
            Wire::FrontendTools(_) | Wire::AiSdk(_) => None,
        }
    }

    /// The names that its clients may use: agent types, worlds, agents.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Wire::FrontendTools(door) => door.agents.iter().map(|it| it.name.as_str()).collect(),
            Wire::Worlds(door) => door.worlds.iter().map(|it| it.name.as_str()).collect(),
            Wire::AiSdk(door) => door.agents.iter().map(|it| it.name.as_str()).collect(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontendTools {
    /// The first one is meant where a client names none and has no default of its wire.
    pub agents: Vec<AgentType>,
    /// Whether approvals of server tools are shown as one more client tool.
    pub bridge_approvals: bool,
}

/// What `agent_type` may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentType {
    pub name: String,
    pub agent: Arc<str>,
    pub format: Format,
    /// Whether streams carry the conversation so far.
    pub history: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    Xml,
    Raw,
    #[default]
    Json,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Xml, Format::Raw, Format::Json];

    pub fn name(self) -> &'static str {
        match self {
            Format::Xml => "xml",
            Format::Raw => "raw",
            Format::Json => "json",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worlds {
    pub worlds: Vec<World>,
    /// A client's own page.
    pub files: Option<PageFiles>,
}

/// Where the build of a client's page is, and where it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFiles {
    pub folder: PathBuf,
    /// An address of its own, with the page at `/` and this door's `/api` beside it; `None`: on our own
    /// origin, under addresses that nothing else has.
    pub listen: Option<SocketAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    pub name: String,
    pub agents: Vec<NamedAgent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    pub name: String,
    pub agent: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiSdk {
    /// Before `/chat`, such as `/api`; begins with a slash and does not end with one.
    pub prefix: String,
    /// The first one is meant where a client names none.
    pub agents: Vec<NamedAgent>,
    /// What a client is taken for that does not say.
    pub ui: Ui,
}

/// Which generation of the client is at the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Ui {
    Five,
    #[default]
    Six,
    Seven,
}

impl Ui {
    pub const ALL: [Ui; 3] = [Ui::Five, Ui::Six, Ui::Seven];

    pub fn name(self) -> &'static str {
        match self {
            Ui::Five => "5",
            Ui::Six => "6",
            Ui::Seven => "7",
        }
    }

    /// A major version, or a whole one such as `6.0.326`.
    pub fn parse(text: &str) -> Option<Ui> {
        let major = text.trim().trim_start_matches('v').split('.').next()?;
        Ui::ALL.into_iter().find(|ui| ui.name() == major)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_by_their_major() {
        assert_eq!(Ui::parse("6.0.326"), Some(Ui::Six));
        assert_eq!(Ui::parse("7"), Some(Ui::Seven));
        assert_eq!(Ui::parse(" v5.0.1"), Some(Ui::Five));
        for other in ["", "4", "60", "six", "6x"] {
            assert_eq!(Ui::parse(other), None, "{other}");
        }
    }
}
