//! `cargo xtask torture`: the torturer lives in `testkit`; this builds it and the real program.

use anyhow::{Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::test;

const RELEASE: &str = "--release";
/// This needs the program with fail points in it.
const POINTS: &str = "--points";
/// Ten thousand kills take about an hour and a half.
const MINUTES: u64 = 24 * 60;

pub(crate) fn run(here: &Checkout, args: &[String]) -> Result<bool> {
    let release = args.iter().any(|word| word == RELEASE);
    if args.iter().any(|word| word == POINTS) {
        test::failing_binary(here, release.then_some(RELEASE))?;
    }
    let built = Job::cargo()
        .args(["build", "--workspace", "--bin", "holdpoint", "--bin", "torture"])
        .args(release.then_some(RELEASE))
        .within(&here.root)
        .limit_minutes(60)
        .run()?;
    ensure!(built.success, "the torturer does not build; see above");
    // Beside our own binary, which is a debug build.
    let folder = match (release, here.built.parent()) {
        (true, Some(target)) => target.join("release"),
        _ => here.built.clone(),
    };
    let finished = Job::new(folder.join("torture"))
        .args(args.iter().filter(|word| *word != RELEASE))
        .within(&here.root)
        .env("HOLDPOINT_BIN", folder.join("holdpoint"))
        .limit_minutes(MINUTES)
        .run()?;
    Ok(finished.success)
}
