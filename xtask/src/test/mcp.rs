//! MCP on the real binary: public servers, pinned, as tools of an agent (`crates/testkit/tests/mcp`), and official clients before
//! `holdpoint mcp` (`crates/testkit/tests/mcp_gate`), and a server behind an OAuth provider (`crates/testkit/tests/mcp_oauth`).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::rust;
use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

const SERVERS: &str = "crates/testkit/tests/mcp/servers";
const GATE: &str = "crates/testkit/tests/mcp_gate";
/// The longest first: two run at once.
const GATE_FILES: [&str; 21] = [
    "proxy_legacy.test.mjs",
    "proxy_modern.test.mjs",
    "bad_input.test.mjs",
    "clocks.test.mjs",
    "inspector.test.mjs",
    "taken_back.test.mjs",
    "inspector_again.test.mjs",
    "tasks.test.mjs",
    "list_changes.test.mjs",
    "eras.test.mjs",
    "conformance.test.mjs",
    "upstreams.test.mjs",
    "http_door.test.mjs",
    "http_hostile.test.mjs",
    "http_upstreams.test.mjs",
    "conformance_http.test.mjs",
    "hostile.test.mjs",
    "git.test.mjs",
    "python.test.mjs",
    "rmcp.test.mjs",
    "serve.test.mjs",
];
/// Large programs, so apart from the clients: what changes there does not install these again.
const PARTNERS: &str = "crates/testkit/tests/mcp_gate/partners";
const OAUTH: &str = "crates/testkit/tests/mcp_oauth";

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let servers = here.join(SERVERS);
    let modules = setup::node(here, "mcp-servers", &servers)?;
    let python = setup::python(here, "mcp-python", &servers.join("requirements.txt"))?;
    let mut tally = gate(here, &python)?;
    tally += oauth(here)?;
    let variables = [("MCP_NODE_MODULES", modules), ("MCP_PYTHON", python)];
    tally += rust::one_module(here, &rust::MCP, &variables)?;
    Ok(tally)
}

/// Builds the client and server made with the official Rust package, beside our own build, and says where they are.
fn rmcp_peers(here: &Checkout) -> Result<PathBuf> {
    let home = here.built.parent().context("target/")?.join("rmcp-peer");
    let built = Job::cargo()
        .args(["build", "--locked"])
        .within(here.join(GATE).join("rmcp_peer"))
        .env("CARGO_TARGET_DIR", &home)
        .limit_minutes(15)
        .run()?;
    ensure!(built.success, "the peers made with rmcp do not build; see above");
    Ok(home.join("debug"))
}

fn gate(here: &Checkout, python: &Path) -> Result<Tally> {
    let binary = rust::binary(here)?;
    setup::npm_packages(here, GATE)?;
    setup::npm_packages(here, PARTNERS)?;
    let finished = Job::new("node")
        .args(["--test", "--test-concurrency=2", "--test-timeout=120000", "--test-reporter=spec"])
        .args(GATE_FILES)
        .within(here.join(GATE))
        .env("HOLDPOINT_BIN", &binary)
        .env("MCP_PYTHON", python)
        .env("RMCP_PEERS", rmcp_peers(here)?)
        .keep(Runner::Node.keep())
        .limit_minutes(14)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}

fn oauth(here: &Checkout) -> Result<Tally> {
    let binary = rust::binary(here)?;
    setup::npm_packages(here, OAUTH)?;
    let finished = Job::new("node")
        .args(["--test", "--test-concurrency=2", "--test-timeout=120000", "--test-reporter=spec"])
        .args(["circle", "fronted", "hostile"].map(|name| format!("{name}.test.mjs")))
        .within(here.join(OAUTH))
        .env("HOLDPOINT_BIN", &binary)
        .keep(Runner::Node.keep())
        .limit_minutes(4)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}
