//! `[doors.NAME]`: doors for clients that were written for other systems. Each is shut unless the file
//! opens it, and is checked whether it is open or not.

mod agents;
mod reach;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use domain::person::{People, PersonId};
use serde::Deserialize;
use server::{AiSdk, DoorSetup, FrontendTools, NamedAgent, PageFiles, Ui, Wire, World, Worlds};
use toml::Spanned;

use super::agent::{AgentConfig, refer};
use super::error::unknown_key;
use super::mistakes::Mistakes;
use super::server::ServerConfig;
use super::source::{ConfigSource, Result};
use super::tool::ToolConfig;
use agents::WireAgent;

pub(super) use crate::checks::DOORS;

/// A door that is open, and what is to be said about it at the start and to admins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorConfig {
    pub setup: DoorSetup,
    pub warning: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DoorTable {
    enabled: Option<Spanned<bool>>,
    act_as: Option<Spanned<String>>,
    insecure: Option<Spanned<bool>>,
    #[serde(default)]
    origins: Vec<Spanned<String>>,
    agents: Option<Spanned<toml::Value>>,
    bridge_approvals: Option<Spanned<bool>>,
    worlds: Option<Spanned<BTreeMap<String, Vec<String>>>>,
    files: Option<Spanned<String>>,
    files_listen: Option<Spanned<String>>,
    prefix: Option<Spanned<String>>,
    ui: Option<Spanned<i64>>,
}

/// What a door may refer to.
pub(super) struct DoorReferences<'a> {
    pub(super) server: &'a ServerConfig,
    pub(super) people: &'a People,
    pub(super) agents: &'a [AgentConfig],
    pub(super) tools: &'a [ToolConfig],
}

pub(super) fn check(
    doors: BTreeMap<Spanned<String>, DoorTable>,
    references: &DoorReferences<'_>,
    source: &ConfigSource<'_>,
    mistakes: &mut Mistakes,
) -> Vec<DoorConfig> {
    let mut open = Vec::new();
    for (name, table) in doors {
        if !DOORS.contains(&name.get_ref().as_str()) {
            mistakes.push(source.error(name.span(), unknown_key(name.get_ref(), &DOORS)));
            continue;
        }
        let enabled = table.enabled.as_ref().is_some_and(|enabled| *enabled.get_ref());
        let door = mistakes.note(table.check(name.get_ref(), references, source));
        open.extend(door.filter(|_| enabled));
    }
    open
}

impl DoorTable {
    fn check(
        self,
        name: &str,
        references: &DoorReferences<'_>,
        source: &ConfigSource<'_>,
    ) -> Result<DoorConfig> {
        self.only_of(name, source)?;
        for origin in &self.origins {
            check_origin(origin, source)?;
        }
        let warning = self.acting(name, references, source)?;
        let wire = self.wire(name, references, source)?;
        let origins = self.origins.into_iter().map(Spanned::into_inner).collect();
        let act_as = self.act_as.map(|person| PersonId::new(person.get_ref()));
        Ok(DoorConfig { setup: DoorSetup { act_as, origins, wire }, warning })
    }

    /// A key of another door is a mistake rather than something to ignore.
    fn only_of(&self, name: &str, source: &ConfigSource<'_>) -> Result<()> {
        let keys = [
            (
                "bridge_approvals",
                "frontend_tools",
                self.bridge_approvals.as_ref().map(Spanned::span),
            ),
            ("worlds", "worlds", self.worlds.as_ref().map(Spanned::span)),
            ("files", "worlds", self.files.as_ref().map(Spanned::span)),
            ("files_listen", "worlds", self.files_listen.as_ref().map(Spanned::span)),
            ("prefix", "ai_sdk", self.prefix.as_ref().map(Spanned::span)),
            ("ui", "ai_sdk", self.ui.as_ref().map(Spanned::span)),
        ];
        for (key, door, span) in keys {
            if let (Some(span), false) = (span, name == door) {
                return Err(source.error(span, format!("only the door `{door}` has `{key}`")));
            }
        }
        Ok(())
    }

    /// Acting without credentials: for whom, from where, and beside which tools.
    fn acting(
        &self,
        name: &str,
        references: &DoorReferences<'_>,
        source: &ConfigSource<'_>,
    ) -> Result<Option<String>> {
        let insecure = self.insecure.as_ref().filter(|insecure| *insecure.get_ref());
        let Some(person) = &self.act_as else {
            return match &self.insecure {
                None => Ok(None),
                Some(insecure) => {
                    let message = "`insecure` goes with `act_as`; without that it means nothing";
                    Err(source.error(insecure.span(), message))
                }
            };
        };
        let ids: Vec<&str> = references.people.iter().map(|person| person.id.as_str()).collect();
        refer(source, "person", person, &ids, "add them under `[[people]]`")?;
        let who = person.get_ref();
        if !references.server.listen.ip().is_loopback() {
            let message = format!(
                "`act_as` lets anybody who can reach the door answer as `{who}`, so it works only on a loopback \
                 listener; set `[server] listen` to `127.0.0.1:7420`, or take `act_as` out"
            );
            return Err(source.error(person.span(), message));
        }
        let reaching = reach::tools(references.tools);
        match (reaching, insecure) {
            (Some(tools), None) => {
                let message = format!(
                    "{tools} could call this door and approve their own calls as `{who}`; take `act_as` out and \
                     let clients send a token, or say with `insecure = true` that this is a development set-up"
                );
                Err(source.error(person.span(), message))
            }
            (tools, Some(_)) => {
                let also = tools.map(|tools| format!(", also {tools},")).unwrap_or_default();
                Ok(Some(format!(
                    "the door `{name}` is insecure: everything on this machine{also} can answer its holds as \
                     `{who}`; this is for development only"
                )))
            }
            (None, None) => Ok(None),
        }
    }

    fn wire(
        &self,
        name: &str,
        references: &DoorReferences<'_>,
        source: &ConfigSource<'_>,
    ) -> Result<Wire> {
        let types = agents::check(self.agents.as_ref(), name, references.agents, source)?;
        let named = || types.iter().map(WireAgent::plain).collect::<Vec<_>>();
        Ok(match name {
            "frontend_tools" => Wire::FrontendTools(FrontendTools {
                agents: types.into_iter().map(WireAgent::typed).collect(),
                bridge_approvals: self.bridge_approvals.as_ref().is_none_or(|it| *it.get_ref()),
            }),
            "worlds" => Wire::Worlds(Worlds {
                worlds: self.worlds(&named(), source)?,
                files: self.files(source)?,
            }),
            _ => Wire::AiSdk(AiSdk {
                prefix: self.prefix(source)?,
                agents: named(),
                ui: self.ui(source)?,
            }),
        })
    }

    fn worlds(&self, known: &[NamedAgent], source: &ConfigSource<'_>) -> Result<Vec<World>> {
        let Some(given) = &self.worlds else {
            return Ok(vec![World { name: "default".into(), agents: known.to_vec() }]);
        };
        let wrong = |message: String| source.error(given.span(), message);
        if given.get_ref().is_empty() {
            return Err(wrong("`worlds` is empty; name one, or leave it out".into()));
        }
        let world = |(name, agents): (&String, &Vec<String>)| {
            let agents = agents.iter().map(|agent| {
                let ids: Vec<&str> = known.iter().map(|it| it.name.as_str()).collect();
                crate::checks::known("agent", agent, &ids, "add it to `agents` of this door")
                    .map_err(wrong)?;
                let found = known.iter().find(|it| it.name == *agent).cloned();
                found.ok_or_else(|| wrong(format!("there is no agent `{agent}`")))
            });
            let agents = agents.collect::<Result<Vec<_>>>()?;
            if name.trim().is_empty() || agents.is_empty() {
                return Err(wrong("a world has a name and at least one agent".into()));
            }
            Ok(World { name: name.clone(), agents })
        };
        given.get_ref().iter().map(world).collect()
    }

    /// The folder of a client's page, and the address that it has for itself.
    fn files(&self, source: &ConfigSource<'_>) -> Result<Option<PageFiles>> {
        let listen = match &self.files_listen {
            None => None,
            Some(given) if self.files.is_none() => {
                let message = "`files_listen` is where the page in `files` is served; add `files`";
                return Err(source.error(given.span(), message));
            }
            Some(given) => {
                let wrong = |_| {
                    let message =
                        "`files_listen` is an address with a port, such as `127.0.0.1:3000`";
                    source.error(given.span(), message)
                };
                let address: SocketAddr = given.get_ref().parse().map_err(wrong)?;
                if self.act_as.is_some() && !address.ip().is_loopback() {
                    let message = "a door with `act_as` serves its page on a loopback address only, such \
                                   as `127.0.0.1:3000`";
                    return Err(source.error(given.span(), message));
                }
                Some(address)
            }
        };
        let folder = self.files.as_ref().map(|files| source.path(files.get_ref()));
        Ok(folder.map(|folder| PageFiles { folder, listen }))
    }

    fn prefix(&self, source: &ConfigSource<'_>) -> Result<String> {
        let Some(given) = &self.prefix else { return Ok("/api".into()) };
        let text = given.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/_-".contains(c);
        let sound = text.starts_with('/')
            && !text.ends_with('/')
            && !text.contains("//")
            && text != "/v1"
            && text.chars().all(plain);
        match sound {
            true => Ok(text.clone()),
            false => {
                let shown = domain::visible::visible(text);
                let message = format!(
                    "`{shown}` cannot stand before `/chat`; write it like `/api`, and not `/v1`, which is our own"
                );
                Err(source.error(given.span(), message))
            }
        }
    }

    fn ui(&self, source: &ConfigSource<'_>) -> Result<Ui> {
        let Some(given) = &self.ui else { return Ok(Ui::default()) };
        Ui::parse(&given.get_ref().to_string())
            .ok_or_else(|| source.error(given.span(), "`ui` is 5, 6 or 7"))
    }
}

/// An origin is a scheme, a host and perhaps a port, and is compared to the letter.
fn check_origin(origin: &Spanned<String>, source: &ConfigSource<'_>) -> Result<()> {
    let text = origin.get_ref();
    let sound = reqwest::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == *text
    });
    if sound {
        return Ok(());
    }
    let shown = domain::visible::visible(text);
    let message = format!(
        "`{shown}` is not an origin; write it like `http://localhost:5173`, without a path or `*`"
    );
    Err(source.error(origin.span(), message))
}

/// All agents, under their own names.
pub(super) fn all(agents: &[AgentConfig]) -> Vec<(String, Arc<str>)> {
    agents.iter().map(|agent| (agent.id.to_string(), agent.id.clone())).collect()
}
