//! Clients that were written for other systems, on the real binary with its doors open:
//! `crates/testkit/tests/doors`. Each folder there with a `client.test.mjs` is one client: pinned, from
//! npm, where it has a lock file, and otherwise written by us from the description of its wire.

use std::fs;

use anyhow::{Context, Result};

use super::rust;
use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

const HERE: &str = "crates/testkit/tests/doors";

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let binary = rust::binary(here)?;
    let mut tests = Vec::new();
    for folder in clients(here)? {
        if here.join(HERE).join(&folder).join("package-lock.json").is_file() {
            setup::npm_packages(here, &format!("{HERE}/{folder}"))?;
        }
        tests.push(format!("{folder}/client.test.mjs"));
    }
    let finished = Job::new("node")
        .args(["--test", "--test-concurrency=1", "--test-timeout=120000", "--test-reporter=spec"])
        .args(tests)
        .within(here.join(HERE))
        .env("HOLDPOINT_BIN", &binary)
        .keep(Runner::Node.keep())
        .limit_minutes(10)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}

fn clients(here: &Checkout) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(here.join(HERE)).context(HERE)? {
        let entry = entry?;
        if entry.path().join("client.test.mjs").is_file() {
            folders.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    folders.sort();
    Ok(folders)
}
