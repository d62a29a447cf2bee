//! The packages for Python and TypeScript: their types, and the files that one would publish.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};
use crate::test;

pub(crate) const PYTHON: &str = "clients/python";
pub(crate) const TYPESCRIPT: &str = "clients/typescript";
/// The time that stands in the packages, so that the same sources give the same bytes.
const EPOCH: &str = "1767225600";

/// `cargo xtask clients`: writes the types anew, and builds the packages. Prints where they are.
pub(crate) fn run(here: &Checkout) -> Result<bool> {
    let python = python(here)?;
    setup::npm_packages(here, TYPESCRIPT)?;
    let binary = test::binary(here)?;
    if types(here, &python, &binary, true)?.failed > 0 {
        return Ok(false);
    }
    for file in packages(here, &python)? {
        println!("{}", file.display());
    }
    Ok(true)
}

/// A Python with the client's dependency, the frameworks that it is tried with, and what makes the package.
pub(crate) fn python(here: &Checkout) -> Result<PathBuf> {
    setup::python(here, "clients-python", &here.join(PYTHON).join("requirements.txt"))
}

/// Two checks, or two files written: the types of each client against what the server serves.
pub(crate) fn types(here: &Checkout, python: &Path, binary: &Path, write: bool) -> Result<Tally> {
    let finished = Job::new(python)
        .args(["-B", "clients/wire_types.py"])
        .args(write.then_some("--write"))
        .within(&here.root)
        .env("HOLDPOINT_BIN", binary)
        .keep(Runner::Node.keep())
        .limit_minutes(3)
        .aside()
        .run()?;
    Ok(Runner::Node.tally(&finished))
}

/// Wheel, source archive and npm archive, made afresh.
pub(crate) fn packages(here: &Checkout, python: &Path) -> Result<Vec<PathBuf>> {
    let out = here.built.parent().context("target/")?.join("clients");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    }
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let built = Job::new(python)
        .args(["-B", "-m", "hatchling", "build", "--directory"])
        .args([&out])
        .within(here.join(PYTHON))
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .limit_minutes(3)
        .aside()
        .run()?;
    ensure!(built.success, "the Python package does not build; see above");
    let packed = Job::new("npm")
        .args(["pack", "--pack-destination"])
        .args([&out])
        .within(here.join(TYPESCRIPT))
        .limit_minutes(3)
        .aside()
        .run()?;
    ensure!(packed.success, "the TypeScript package does not build; see above");
    let mut files = Vec::new();
    for entry in fs::read_dir(&out)? {
        files.push(entry?.path());
    }
    files.sort();
    ensure!(files.len() == 3, "a wheel and two archives were expected in {}", out.display());
    Ok(files)
}
