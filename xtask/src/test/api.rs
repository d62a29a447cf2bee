//! Schemathesis against the OpenAPI document of the real binary: `crates/server/tests/api/run.py`.
//!
//! It runs in an environment of its own, with every package at the version that is committed.

use anyhow::Result;

use super::rust;
use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

const HERE: &str = "crates/server/tests/api";

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let python = setup::python(here, "python", &here.join(HERE).join("requirements.txt"))?;
    let binary = rust::binary(here)?;
    let finished = Job::new(python)
        // It would leave its compiled files beside the source.
        .args(["-B", "run.py"])
        .within(here.join(HERE))
        .env("HOLDPOINT_BIN", binary)
        // It reports in TAP, as node can.
        .keep(Runner::Node.keep())
        .limit_minutes(15)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}
