//! The vendors' own clients, from npm and PyPI, against the fake model server that our tests of real
//! models rest on: `crates/testkit/tests/sdk`. What it does must be what a vendor does.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

const HERE: &str = "crates/testkit/tests/sdk";

/// Both, also when the first cannot even be installed, so that each failure shows.
pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let server = server(here)?;
    let mut tally = Tally::default();
    for language in [node, python] {
        tally += language(here, &server).unwrap_or_else(|error| {
            eprintln!("xtask: {error:#}");
            Tally::ONE_FAILED
        });
    }
    Ok(tally)
}

pub(super) fn server(here: &Checkout) -> Result<PathBuf> {
    let built = Job::cargo()
        .args(["build", "--workspace", "--bin", "fake-model"])
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    ensure!(built.success, "the fake model server does not build; see above");
    Ok(here.built.join("fake-model"))
}

fn node(here: &Checkout, server: &PathBuf) -> Result<Tally> {
    setup::npm_packages(here, HERE)?;
    let finished = Job::new("node")
        .args(["--test", "--test-concurrency=1", "--test-timeout=30000", "--test-reporter=spec"])
        .args(["anthropic.test.mjs", "chat.test.mjs", "responses.test.mjs"])
        .within(here.join(HERE))
        .env("FAKE_MODEL_BIN", server)
        .keep(Runner::Node.keep())
        .limit_minutes(10)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}

fn python(here: &Checkout, server: &PathBuf) -> Result<Tally> {
    let lock = here.join(HERE).join("requirements.txt");
    let finished = Job::new(setup::python(here, "python-sdk", &lock)?)
        // It would leave its compiled files beside the source.
        .args(["-B", "run.py"])
        .within(here.join(HERE))
        .env("FAKE_MODEL_BIN", server)
        // It reports in TAP, as node can.
        .keep(Runner::Node.keep())
        .limit_minutes(10)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}
