//! The public MCP servers, pinned, behind the real binary: `crates/testkit/tests/mcp`.

use anyhow::Result;

use super::rust;
use crate::checkout::Checkout;
use crate::setup;
use crate::tally::Tally;

const SERVERS: &str = "crates/testkit/tests/mcp/servers";

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let servers = here.join(SERVERS);
    let modules = setup::node(here, "mcp-servers", &servers)?;
    let python = setup::python(here, "mcp-python", &servers.join("requirements.txt"))?;
    let variables = [("MCP_NODE_MODULES", modules), ("MCP_PYTHON", python)];
    rust::one_module(here, &rust::MCP, &variables)
}
