//! Which tools stand on the shelf, given what is pinned and what the server shows now.

use std::sync::{Arc, Weak};

use domain::tool::{Effects, Place, Tool};
use ports::tool_host::ToolHost;
use ports::toolbox::Shelf;

use super::catalog::{Catalog, Definition};
use super::host::McpTool;
use super::link::Identity;
use super::pins::{Pin, Pins};
use super::server::{Core, McpConfig};

/// How what the server shows stands to what was pinned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    /// The same, or the server has not been seen since we started.
    Pinned,
    /// Another than was pinned, or one that was not there then: a person looks at it first.
    Changed { pinned: Option<Box<Pin>> },
    /// The server does not offer it any more.
    Gone,
}

/// One definition of a tool, and how it came to be on the shelf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Face {
    /// As the server shows it; as it is pinned where the server shows nothing.
    pub(crate) definition: Definition,
    pub(crate) identity: Identity,
    pub(crate) standing: Standing,
}

impl Face {
    fn of(name: &str, pins: &Pins, catalog: Option<&Catalog>) -> Option<Face> {
        let pin = pins.get(name);
        let pinned = || {
            let pin = pin?;
            Some((pin.definition()?, pin.server.clone()))
        };
        let Some(catalog) = catalog else {
            let (definition, identity) = pinned()?;
            return Some(Face { definition, identity, standing: Standing::Pinned });
        };
        let Some(shown) = catalog.get(name) else {
            let (definition, identity) = pinned()?;
            return Some(Face { definition, identity, standing: Standing::Gone });
        };
        let (definition, identity) = (shown.clone(), catalog.identity.clone());
        let is_same = pin.and_then(Pin::digest) == Some(definition.digest(&identity));
        let standing = match is_same {
            true => Standing::Pinned,
            false => Standing::Changed { pinned: pin.cloned().map(Box::new) },
        };
        Some(Face { definition, identity, standing })
    }

    /// What the model is told: the pinned words for as long as nobody has agreed to others. What is
    /// approved covers the words of now, through the tool's origin.
    fn tool(&self, config: &McpConfig) -> Result<Tool, String> {
        let pinned = match &self.standing {
            Standing::Changed { pinned: Some(pin) } => pin.definition(),
            _ => None,
        };
        let told = pinned.as_ref().unwrap_or(&self.definition);
        let schema = told.schema();
        if schema["type"] != "object" {
            return Err("its arguments are no object".into());
        }
        let name = config.tool_name(&self.definition.name);
        let origin = format!(
            "mcp {} definition={} limit={:?}",
            config.reach.origin(),
            self.definition.digest(&self.identity),
            config.time_limit
        );
        let effects = config.effects_of(&self.definition.name);
        Tool::new(&name, told.description(), schema.clone(), effects, Place::Server, &origin)
    }
}

/// Everything that is pinned or shown, of what the configuration lets through. The notes say what
/// had to be left out.
pub(crate) fn shelf(
    core: &Weak<Core>,
    config: &McpConfig,
    pins: &Pins,
    catalog: Option<&Catalog>,
) -> (Shelf, Vec<String>) {
    let shown = catalog.map(|catalog| catalog.order.clone()).unwrap_or_default();
    let pinned = pins.names().filter(|name| !shown.contains(name)).cloned();
    let names: Vec<String> = shown.iter().cloned().chain(pinned).collect();
    let mut shelf = Shelf::default();
    let mut notes = Vec::new();
    for name in names.iter().filter(|name| config.lets_through(name)) {
        let Some(face) = Face::of(name, pins, catalog) else { continue };
        let tool = match face.tool(config) {
            Ok(tool) => tool,
            Err(why) => {
                notes.push(format!("`{name}`: {why}"));
                continue;
            }
        };
        let called = tool.name.clone();
        if face.standing != Standing::Gone {
            shelf.offered.push(called.clone());
        }
        let host: Arc<dyn ToolHost> = Arc::new(McpTool::new(tool, face, core.clone()));
        shelf.hosts.insert(called, host);
    }
    (shelf, notes)
}

impl McpConfig {
    pub(crate) fn tool_name(&self, name: &str) -> String {
        format!("{}__{name}", self.name)
    }

    pub(crate) fn lets_through(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|it| it == name))
    }

    /// The operator's word only: what the server says about itself is no authority.
    fn effects_of(&self, name: &str) -> Effects {
        self.effects_of.get(name).copied().unwrap_or(self.effects)
    }
}
