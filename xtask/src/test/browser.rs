//! The page in a real browser, on the real binary: `web/tests/*.test.mjs`.
//!
//! The tests find the program in `HOLDPOINT_BIN` and the browser in `CHROMIUM`.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::rust;
use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let tests = tests(here)?;
    ensure!(!tests.is_empty(), "there is no test in web/tests");
    setup::web_packages(here)?;
    let chromium = setup::chromium()?;
    let binary = rust::binary(here)?;
    let finished = Job::new("node")
        // One at a time: each starts a server and a browser, and the machine may have two cores.
        .args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
        .args(tests)
        .within(here.join("web"))
        .env("HOLDPOINT_BIN", binary)
        .env("CHROMIUM", chromium)
        .keep(Runner::Node.keep())
        // About 16 minutes on two processors that other programs use as well; twice that, so that only what hangs is ended.
        .limit_minutes(35)
        .run()?;
    Ok(Runner::Node.tally(&finished))
}

/// Takes the pictures of the guide anew.
pub(crate) fn pictures(here: &Checkout) -> Result<bool> {
    setup::web_packages(here)?;
    let chromium = setup::chromium()?;
    let binary = rust::binary(here)?;
    let taken = Job::new("node")
        .args(["tests/pictures.mjs"])
        .within(here.join("web"))
        .env("HOLDPOINT_BIN", binary)
        .env("CHROMIUM", chromium)
        .run()?;
    Ok(taken.success)
}

fn tests(here: &Checkout) -> Result<Vec<PathBuf>> {
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(here.join("web/tests")).context("web/tests")? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            tests.push(PathBuf::from("tests").join(path.file_name().context("a file has a name")?));
        }
    }
    tests.sort();
    Ok(tests)
}
