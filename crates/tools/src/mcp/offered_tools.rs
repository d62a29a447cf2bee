//! Which tools are in the box, given what is pinned and what the server shows now.

use std::sync::{Arc, Weak};

use domain::tool::{Effects, Place, Tool};
use ports::tool_host::ToolHost;
use ports::toolbox::BoxedTools;

use super::catalog::{McpCatalog, McpDefinition};
use super::host::McpTool;
use super::link::ServerIdentity;
use super::pins::{PinStore, ToolPin};
use super::server::{McpConfig, ServerCore};

/// How what the server shows stands to what was pinned.
#[derive(Clone, Debug, PartialEq)]
pub enum PinStatus {
    /// The same, or the server has not been seen since we started.
    Pinned,
    /// Another than was pinned, or one that was not there then: a person looks at it first.
    Changed { pinned: Option<Box<ToolPin>> },
    /// The server does not offer it any more.
    Gone,
}

/// One definition of a tool, and how it came to be in the box.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// As the server shows it; as it is pinned where the server shows nothing.
    pub definition: McpDefinition,
    pub identity: ServerIdentity,
    pub standing: PinStatus,
}

impl OfferedTool {
    pub fn find_offered(
        name: &str,
        pins: &PinStore,
        catalog: Option<&McpCatalog>,
    ) -> Option<OfferedTool> {
        let pin = pins.find_pin(name);
        let pinned = || {
            let pin = pin?;
            Some((pin.parse_definition()?, pin.server.clone()))
        };
        let Some(catalog) = catalog else {
            let (definition, identity) = pinned()?;
            return Some(OfferedTool { definition, identity, standing: PinStatus::Pinned });
        };
        let Some(shown) = catalog.find_definition(name) else {
            let (definition, identity) = pinned()?;
            return Some(OfferedTool { definition, identity, standing: PinStatus::Gone });
        };
        let (definition, identity) = (shown.clone(), catalog.identity.clone());
        let is_same = pin.and_then(ToolPin::parse_digest) == Some(definition.pin_digest(&identity));
        let standing = match is_same {
            true => PinStatus::Pinned,
            false => PinStatus::Changed { pinned: pin.cloned().map(Box::new) },
        };
        Some(OfferedTool { definition, identity, standing })
    }

    /// What the model is told: the pinned words for as long as nobody has agreed to others. What is
    /// approved covers the words of now, through the tool's origin.
    fn to_tool(&self, config: &McpConfig) -> Result<Tool, String> {
        let pinned = match &self.standing {
            PinStatus::Changed { pinned: Some(pin) } => pin.parse_definition(),
            _ => None,
        };
        let told = pinned.as_ref().unwrap_or(&self.definition);
        let schema = told.input_schema();
        if schema["type"] != "object" {
            return Err("its arguments are no object".into());
        }
        let name = config.tool_name(&self.definition.name);
        let origin = format!(
            "mcp {} definition={} limit={:?}",
            config.reach.tool_origin(),
            self.definition.pin_digest(&self.identity),
            config.time_limit
        );
        let effects = config.effects_of(&self.definition.name);
        Tool::new(&name, told.description(), schema.clone(), effects, Place::Server, &origin)
    }
}

/// Everything that is pinned or shown, of what the configuration lets through. The notes say what
/// had to be left out.
pub(crate) fn box_tools(
    core: &Weak<ServerCore>,
    config: &McpConfig,
    pins: &PinStore,
    catalog: Option<&McpCatalog>,
) -> (BoxedTools, Vec<String>) {
    let shown = catalog.map(|catalog| catalog.order.clone()).unwrap_or_default();
    let pinned = pins.tool_names().filter(|name| !shown.contains(name)).cloned();
    let names: Vec<String> = shown.iter().cloned().chain(pinned).collect();
    let mut in_box = BoxedTools::default();
    let mut notes = Vec::new();
    for name in names.iter().filter(|name| config.lets_through(name)) {
        let Some(face) = OfferedTool::find_offered(name, pins, catalog) else { continue };
        let tool = match face.to_tool(config) {
            Ok(tool) => tool,
            Err(why) => {
                notes.push(format!("`{name}`: {why}"));
                continue;
            }
        };
        let called = tool.name.clone();
        if face.standing != PinStatus::Gone {
            in_box.offered.push(called.clone());
        }
        let host: Arc<dyn ToolHost> = Arc::new(McpTool::new(tool, face, core.clone()));
        in_box.hosts.insert(called, host);
    }
    (in_box, notes)
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
