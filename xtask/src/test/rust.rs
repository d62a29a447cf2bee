//! The parts that cargo runs. With nextest where it is installed; otherwise with `cargo test`, which
//! every toolchain has, so that a fresh machine need not build a test runner first.
//!
//! Everything is built for the whole workspace, also when one target is wanted: another choice of
//! packages is another choice of features, and cargo would build the dependencies twice.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::{Runner, Tally};

const CRASH: &str = "package(testkit) and binary(crash)";
/// Needs packages of others, which its part installs first.
pub(super) const MCP: &str = "package(testkit) and binary(mcp)";
pub(super) const CHANNELS: &str = "package(testkit) and binary(channels)";

/// The crash supervisor is a part of its own, so that its minutes show.
pub(crate) fn all_but_crash(here: &Checkout) -> Result<Tally> {
    let binary = binary(here)?;
    setup::test_programs();
    setup::postgres();
    if setup::has_nextest() {
        // Nextest refuses a filter that names a binary which does not exist.
        let filter = if has_crash(here) {
            format!("not ({CRASH}) and not ({MCP}) and not ({CHANNELS})")
        } else {
            "all()".to_owned()
        };
        return nextest(here, &filter, binary, &[]);
    }
    // `cargo test` cannot leave one target out, so all the others are named.
    let mut words = ["--lib", "--bins", "--examples"].map(str::to_owned).to_vec();
    let elsewhere = ["crash", "mcp", "channels"];
    for target in test_targets(here)?.into_iter().filter(|it| !elsewhere.contains(&it.as_str())) {
        words.extend(["--test".to_owned(), target]);
    }
    libtest(here, &words, Some(binary), &[])
}

pub(crate) fn doc(here: &Checkout) -> Result<Tally> {
    libtest(here, &["--doc".to_owned()], None, &[])
}

pub(crate) fn crash(here: &Checkout) -> Result<Tally> {
    ensure!(has_crash(here), "testkit has no test target `crash`");
    failing_binary(here, None)?;
    one_target(here, CRASH, "crash", &[])
}

/// One test target of testkit, on the real binary, with these variables in its environment.
pub(super) fn one_target(
    here: &Checkout,
    filter: &str,
    target: &str,
    variables: &[(&str, PathBuf)],
) -> Result<Tally> {
    let binary = binary(here)?;
    if setup::has_nextest() {
        nextest(here, filter, binary, variables)
    } else {
        libtest(here, &["--test".to_owned(), target.to_owned()], Some(binary), variables)
    }
}

fn has_crash(here: &Checkout) -> bool {
    let tests = here.join("crates/testkit/tests");
    tests.join("crash.rs").is_file() || tests.join("crash/main.rs").is_file()
}

/// Builds the real program once, for every part that starts it.
pub(crate) fn binary(here: &Checkout) -> Result<PathBuf> {
    let built = Job::cargo()
        .args(["build", "--workspace", "--bin", "holdpoint"])
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    ensure!(built.success, "holdpoint does not build; see above");
    Ok(here.built.join("holdpoint"))
}

/// The program with fail points, which the crash tests find beside themselves. The whole workspace,
/// so that only our own crates are built again for it.
pub(crate) fn failing_binary(here: &Checkout, release: Option<&str>) -> Result<()> {
    let built = Job::cargo()
        .args(["build", "--workspace", "--features", "testkit/failpoints"])
        .args(["--bin", "holdpoint-failing"])
        .args(release)
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    ensure!(built.success, "holdpoint-failing does not build; see above");
    Ok(())
}

fn nextest(
    here: &Checkout,
    filter: &str,
    binary: PathBuf,
    variables: &[(&str, PathBuf)],
) -> Result<Tally> {
    let mut job = Job::cargo()
        .args(["nextest", "run", "--workspace", "--no-fail-fast", "-E", filter])
        .within(&here.root)
        .env("HOLDPOINT_BIN", binary)
        .keep(Runner::Nextest.keep())
        .limit_minutes(45);
    for (name, value) in variables {
        job = job.env(name, value);
    }
    Ok(Runner::Nextest.tally(&job.run()?))
}

fn libtest(
    here: &Checkout,
    words: &[String],
    binary: Option<PathBuf>,
    variables: &[(&str, PathBuf)],
) -> Result<Tally> {
    let mut job = Job::cargo()
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(words)
        .within(&here.root)
        .keep(Runner::Libtest.keep())
        .limit_minutes(45);
    if let Some(binary) = binary {
        job = job.env("HOLDPOINT_BIN", binary);
    }
    for (name, value) in variables {
        job = job.env(name, value);
    }
    Ok(Runner::Libtest.tally(&job.run()?))
}

/// The integration tests that cargo finds by itself: `tests/*.rs` and `tests/*/main.rs`.
fn test_targets(here: &Checkout) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for package in std::fs::read_dir(here.join("crates")).context("crates/")? {
        let Ok(tests) = std::fs::read_dir(package?.path().join("tests")) else { continue };
        for entry in tests {
            let path = entry?.path();
            let is_target =
                path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").is_file();
            if let Some(name) = path.file_stem().filter(|_| is_target) {
                targets.push(name.to_string_lossy().into_owned());
            }
        }
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}
