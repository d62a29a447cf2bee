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

/// The test binaries of testkit, each of which holds many modules: linking is what takes long.
const TESTKIT: [&str; 3] = ["connectors", "program", "proof"];

/// A module of testkit's tests that is a part of its own.
pub(super) struct TestModule {
    binary: &'static str,
    module: &'static str,
}

const CRASH: TestModule = TestModule { binary: "proof", module: "crash" };
/// Needs packages of others, which its part installs first.
pub(super) const MCP: TestModule = TestModule { binary: "program", module: "mcp" };
pub(super) const CHANNELS: TestModule = TestModule { binary: "connectors", module: "channels" };

const APART: [TestModule; 3] = [CRASH, MCP, CHANNELS];

impl TestModule {
    fn filter(&self) -> String {
        format!("(package(testkit) and binary({}) and test(/^{}::/))", self.binary, self.module)
    }

    fn prefix(&self) -> String {
        format!("{}::", self.module)
    }
}

/// The crash supervisor is a part of its own, so that its minutes show.
pub(crate) fn all_but_crash(here: &Checkout) -> Result<Tally> {
    let binary = binary(here)?;
    setup::test_programs();
    setup::postgres();
    if setup::has_nextest() {
        let apart = APART.map(|part| part.filter()).join(" or ");
        return nextest(here, &format!("not ({apart})"), binary, &[]);
    }
    // `cargo test` leaves tests out by their names alone, and other packages have modules of these names.
    // So testkit's targets are run apart from all the others, which are named.
    let mut others = ["--lib", "--bins", "--examples"].map(str::to_owned).to_vec();
    others.extend(test_targets(here)?.into_iter().flat_map(|target| ["--test".to_owned(), target]));
    let mut testkit: Vec<String> =
        TESTKIT.iter().flat_map(|target| ["--test", target]).map(str::to_owned).collect();
    testkit.push("--".to_owned());
    testkit.extend(APART.iter().flat_map(|part| ["--skip".to_owned(), part.prefix()]));
    let mut tally = libtest(here, &others, Some(binary.clone()), &[])?;
    tally += libtest(here, &testkit, Some(binary), &[])?;
    Ok(tally)
}

/// What needs no real program and no other machine's software. The same packages and features as in the whole, so
/// that nothing is built twice.
pub(crate) fn quick(here: &Checkout) -> Result<Tally> {
    const TARGETS: [&str; 8] =
        ["--lib", "--bins", "--test", "machine", "--test", "runtime", "--test", "proof"];
    const STORY: &str = "sim::sim_first_quarter_keeps_every_promise";
    if setup::has_nextest() {
        let filter = format!("not binary(proof) or test(={STORY})");
        let job = Job::cargo()
            .args(["nextest", "run", "--workspace", "--no-fail-fast"])
            .args(TARGETS)
            .args(["-E", &filter])
            .within(&here.root)
            .keep(Runner::Nextest.keep())
            .limit_minutes(30);
        return Ok(Runner::Nextest.tally(&job.run()?));
    }
    let mut tally = libtest(
        here,
        &TARGETS[..6].iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(),
        None,
        &[],
    )?;
    let story = ["--test", "proof", "--", "--exact", STORY].map(str::to_owned);
    tally += libtest(here, &story, None, &[])?;
    Ok(tally)
}

pub(crate) fn doc(here: &Checkout) -> Result<Tally> {
    libtest(here, &["--doc".to_owned()], None, &[])
}

pub(crate) fn crash(here: &Checkout) -> Result<Tally> {
    failing_binary(here, None)?;
    one_module(here, &CRASH, &[])
}

/// One module of testkit's tests, on the real binary, with these variables in its environment.
pub(super) fn one_module(
    here: &Checkout,
    part: &TestModule,
    variables: &[(&str, PathBuf)],
) -> Result<Tally> {
    let binary = binary(here)?;
    if setup::has_nextest() {
        return nextest(here, &part.filter(), binary, variables);
    }
    let words = ["--test", part.binary, "--", &part.prefix()].map(str::to_owned);
    libtest(here, &words, Some(binary), variables)
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

/// The integration tests that cargo finds by itself: `tests/*.rs` and `tests/*/main.rs`. Testkit names its own.
fn test_targets(here: &Checkout) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for package in std::fs::read_dir(here.join("crates")).context("crates/")? {
        let package = package?;
        let Ok(tests) = std::fs::read_dir(package.path().join("tests")) else { continue };
        if package.file_name() == "testkit" {
            continue;
        }
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
