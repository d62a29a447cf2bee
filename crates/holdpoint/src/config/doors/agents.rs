//! `agents` of a door: which of ours its clients can reach, and what they call them there.

use std::sync::Arc;

use server::{AgentType, Format, NamedAgent};
use toml::{Spanned, Value};

use super::super::agent::AgentConfig;
use super::super::error::listed;
use super::super::source::{ConfigSource, Result};
use crate::checks;

/// One name on the wire.
pub(super) struct WireAgent {
    name: String,
    agent: Arc<str>,
    format: Format,
    history: bool,
}

impl WireAgent {
    pub(super) fn plain(&self) -> NamedAgent {
        NamedAgent { name: self.name.clone(), agent: self.agent.clone() }
    }

    pub(super) fn typed(self) -> AgentType {
        let WireAgent { name, agent, format, history } = self;
        AgentType { name, agent, format, history }
    }
}

/// A list of agents under their own names, or a table from names on the wire to agents; all of them
/// under their own names if left out.
pub(super) fn check(
    given: Option<&Spanned<Value>>,
    door: &str,
    known: &[AgentConfig],
    source: &ConfigSource<'_>,
) -> Result<Vec<WireAgent>> {
    let named = |name: &str, agent: Arc<str>| WireAgent {
        name: name.to_owned(),
        agent,
        format: Format::default(),
        history: false,
    };
    let Some(given) = given else {
        return Ok(super::all(known).into_iter().map(|(name, id)| named(&name, id)).collect());
    };
    let wrong = |message: String| source.error(given.span(), message);
    let agent = |name: &str| -> Result<Arc<str>> {
        let ids: Vec<&str> = known.iter().map(|agent| &*agent.id).collect();
        checks::known("agent", name, &ids, "add it under `[[agents]]`").map_err(wrong)?;
        Ok(name.into())
    };
    let found = match given.get_ref() {
        Value::Array(list) => list
            .iter()
            .map(|entry| match entry.as_str() {
                Some(name) => Ok(named(name, agent(name)?)),
                None => Err(wrong("`agents` lists names, such as [\"ops\"]".into())),
            })
            .collect::<Result<Vec<_>>>()?,
        Value::Table(table) => table
            .iter()
            .map(|(name, entry)| match entry {
                Value::String(id) => Ok(named(name, agent(id)?)),
                Value::Table(options) => {
                    let mut found = named(name, "".into());
                    for (key, value) in options {
                        match (key.as_str(), value) {
                            ("agent", Value::String(id)) => found.agent = agent(id)?,
                            ("format", Value::String(format)) if door == "frontend_tools" => {
                                found.format = self::format(format).map_err(wrong)?;
                            }
                            ("history", Value::Boolean(on)) if door == "frontend_tools" => {
                                found.history = *on;
                            }
                            _ => return Err(wrong(unknown(name, key, door))),
                        }
                    }
                    match found.agent.is_empty() {
                        true => Err(wrong(format!("`agent` is missing for `{name}`"))),
                        false => Ok(found),
                    }
                }
                _ => {
                    Err(wrong(format!("`{name}` is the name of an agent, or a table with `agent`")))
                }
            })
            .collect::<Result<Vec<_>>>()?,
        _ => return Err(wrong("`agents` is a list of names, or a table".into())),
    };
    for name in &found {
        checks::agent_name(&name.name).map_err(wrong)?;
    }
    match found.is_empty() {
        true => Err(wrong("`agents` is empty; name one, or leave it out for all".into())),
        false => Ok(found),
    }
}

fn format(text: &str) -> std::result::Result<Format, String> {
    Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
        let names = Format::ALL.map(Format::name);
        format!(
            "`format` cannot be `{}`; it is one of {}",
            domain::visible::visible(text),
            listed(&names)
        )
    })
}

fn unknown(name: &str, key: &str, door: &str) -> String {
    let keys: &[&str] = match door {
        "frontend_tools" => &["agent", "format", "history"],
        _ => &["agent"],
    };
    let shown = domain::visible::visible(key);
    format!("`{shown}` of `{name}` makes no sense here; it may have {}", listed(keys))
}
