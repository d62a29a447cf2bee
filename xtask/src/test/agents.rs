//! Coding agents, pinned, from npm, behind the hook of the real binary and on the fake model server:
//! `crates/testkit/tests/agents`. A proof file says whether a call ran.

use anyhow::Result;

use super::{rust, sdk};
use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

const HERE: &str = "crates/testkit/tests/agents";
/// The longest first: two run at once.
const FILES: [&str; 9] = [
    "gemini.test.mjs",
    "claude.test.mjs",
    "claude_http.test.mjs",
    "claude_prompt.test.mjs",
    "codex.test.mjs",
    "hostile.test.mjs",
    "bad_input.test.mjs",
    "files.test.mjs",
    "hook_test.test.mjs",
];

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let binary = rust::binary(here)?;
    let model = sdk::server(here)?;
    setup::npm_packages(here, HERE)?;
    let finished = Job::new("node")
        .args(["--test", "--test-concurrency=2", "--test-timeout=230000", "--test-reporter=spec"])
        .args(FILES)
        .within(here.join(HERE))
        .env("HOLDPOINT_BIN", &binary)
        .env("FAKE_MODEL_BIN", &model)
        .keep(Runner::Node.keep())
        .limit_minutes(6)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}
