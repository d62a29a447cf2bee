//! The packages for Python and TypeScript on the real binary, and their adapters with the real frameworks:
//! `clients/python/tests`, `clients/typescript/tests`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::rust;
use crate::checkout::Checkout;
use crate::clients::{PYTHON, TYPESCRIPT, packages, python, types};
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

/// Each language, also when the other cannot even be installed, so that each failure shows.
pub(crate) fn run(here: &Checkout) -> Result<Tally> {
    let binary = rust::binary(here)?;
    let mut tally = Tally::default();
    for step in [in_python, in_typescript, published] {
        tally += step(here, &binary).unwrap_or_else(|error| {
            eprintln!("xtask: {error:#}");
            Tally::ONE_FAILED
        });
    }
    Ok(tally)
}

fn in_python(here: &Checkout, binary: &Path) -> Result<Tally> {
    let python = python(here)?;
    let home = here.join(PYTHON);
    let strict = Job::new(&python)
        // Its cache stays out of the source.
        .args(["-B", "-m", "mypy", "--cache-dir"])
        .args([here.built.parent().context("target/")?.join("mypy")])
        .within(&home)
        .limit_minutes(3)
        .run()?;
    let mut tally = Tally::of_step(strict.success);
    let finished = Job::new(&python)
        .args(["-B", "tests/run.py"])
        .within(&home)
        .env("HOLDPOINT_BIN", binary)
        // It reports in TAP, as node can.
        .keep(Runner::Node.keep())
        .limit_minutes(4)
        .run()?;
    tally += Runner::Node.tally(&finished);
    Ok(tally)
}

fn in_typescript(here: &Checkout, binary: &Path) -> Result<Tally> {
    setup::npm_packages(here, TYPESCRIPT)?;
    let home = here.join(TYPESCRIPT);
    let mut tally = Tally::default();
    for step in ["build", "check"] {
        let done = Job::new("npm").args(["run", "--silent", step]).within(&home).run()?;
        tally += Tally::of_step(done.success);
    }
    let finished = Job::new("node")
        .args(["--test", "--test-concurrency=1", "--test-timeout=60000", "--test-reporter=spec"])
        .args(tests(&home)?)
        .within(&home)
        .env("HOLDPOINT_BIN", binary)
        .keep(Runner::Node.keep())
        .limit_minutes(4)
        .run()?;
    tally += Runner::Node.tally(&finished);
    Ok(tally)
}

/// The types are those of the server, and the packages are whole: the wheel can be imported as it is, and the archives
/// are installed into empty folders, where their examples run.
fn published(here: &Checkout, binary: &Path) -> Result<Tally> {
    let python = python(here)?;
    let mut tally = types(here, &python, binary, false)?;
    let files = packages(here, &python)?;
    tally += Tally::of_step(true);
    let wheel = files.iter().find(|file| file.extension().is_some_and(|end| end == "whl"));
    let imported = Job::new(&python)
        .args(["-B", "-c", "import holdpoint; holdpoint.gate, holdpoint.Client"])
        .env("PYTHONPATH", wheel.context("no wheel was built")?)
        .run()?;
    tally += Tally::of_step(imported.success);
    let folder = files.first().and_then(|file| file.parent()).context("no package was built")?;
    let installed = Job::new("node")
        .args(["--test", "--test-timeout=120000", "--test-reporter=spec", "installed.test.mjs"])
        .within(here.join("clients"))
        .env("HOLDPOINT_BIN", binary)
        .env("HOLDPOINT_PACKAGES", folder)
        .env("HOLDPOINT_PYTHON", &python)
        .keep(Runner::Node.keep())
        .limit_minutes(4)
        .run()?;
    tally += Runner::Node.tally(&installed);
    Ok(tally)
}

fn tests(home: &Path) -> Result<Vec<PathBuf>> {
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(home.join("tests")).context("the client's tests")? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            tests.push(path);
        }
    }
    tests.sort();
    Ok(tests)
}
