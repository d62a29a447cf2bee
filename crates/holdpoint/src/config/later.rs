//! `[doors.NAME]`: known and checked, so that a file can be written ahead, but refused when enabled,
//! since a door that nobody opens must not look open.

use std::collections::BTreeMap;

use domain::person::People;
use serde::Deserialize;
use toml::Spanned;

use super::agent::{AgentConfig, refer};
use super::error::unknown_key;
use super::server::ServerConfig;
use super::source::{Result, Source};

pub(super) const DOORS: [&str; 3] = ["frontend_tools", "worlds", "ai_sdk"];

pub(super) type Named<T> = BTreeMap<Spanned<String>, T>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DoorTable {
    enabled: Option<Spanned<bool>>,
    act_as: Option<Spanned<String>>,
    insecure: Option<Spanned<bool>>,
    #[serde(default)]
    origins: Vec<Spanned<String>>,
    #[serde(default)]
    agents: Vec<Spanned<String>>,
    bridge_approvals: Option<Spanned<bool>>,
}

pub(super) fn check_doors(
    doors: &Named<DoorTable>,
    server: &ServerConfig,
    people: &People,
    agents: &[AgentConfig],
    source: &Source<'_>,
) -> Result<()> {
    for (name, door) in doors {
        known(name, &DOORS, source)?;
        if let Some(person) = &door.act_as {
            let ids: Vec<&str> = people.iter().map(|person| person.id.as_str()).collect();
            refer(source, "person", person, &ids, "add them under `[[people]]`")?;
            if !server.listen.ip().is_loopback() {
                let message = format!(
                    "`act_as` lets anybody who can reach the door answer as `{}`, so it works only on a loopback \
                     listener; set `[server] listen` to `127.0.0.1:7420`, or take `act_as` out",
                    person.get_ref()
                );
                return Err(source.error(person.span(), message));
            }
        }
        if let (Some(insecure), None) = (&door.insecure, &door.act_as) {
            let message = "`insecure` goes with `act_as`; without that it means nothing";
            return Err(source.error(insecure.span(), message));
        }
        for origin in &door.origins {
            check_origin(origin, source)?;
        }
        let ids: Vec<&str> = agents.iter().map(|agent| &*agent.id).collect();
        for agent in &door.agents {
            refer(source, "agent", agent, &ids, "add it under `[[agents]]`")?;
        }
        not_yet("door", name, &door.enabled, source)?;
        if let Some(bridge) = &door.bridge_approvals
            && name.get_ref() != "frontend_tools"
        {
            let message = "only the door `frontend_tools` has `bridge_approvals`";
            return Err(source.error(bridge.span(), message));
        }
    }
    Ok(())
}

fn known(name: &Spanned<String>, names: &[&str], source: &Source<'_>) -> Result<()> {
    match names.contains(&name.get_ref().as_str()) {
        true => Ok(()),
        false => Err(source.error(name.span(), unknown_key(name.get_ref(), names))),
    }
}

fn not_yet(
    what: &str,
    name: &Spanned<String>,
    enabled: &Option<Spanned<bool>>,
    source: &Source<'_>,
) -> Result<()> {
    match enabled {
        Some(enabled) if *enabled.get_ref() => {
            let message = format!(
                "the {what} `{}` is not available in this version; set `enabled = false`, or take the section out",
                name.get_ref()
            );
            Err(source.error(enabled.span(), message))
        }
        _ => Ok(()),
    }
}

/// An origin is a scheme, a host and perhaps a port, and is compared to the letter.
fn check_origin(origin: &Spanned<String>, source: &Source<'_>) -> Result<()> {
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
