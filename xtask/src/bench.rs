//! `cargo xtask bench`: the benchmark lives in `testkit`, because it drives the whole circle.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::{dist, profile};

pub(crate) fn run(here: &Checkout, words: &[String]) -> Result<bool> {
    if words.first().is_some_and(|word| word == "--profile") {
        return profile::run(here);
    }
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    if has(&["--help", "-h", "--dry-run"]) {
        return talk(here, words);
    }
    // Nobody waits half an hour for figures that count for nothing, or to hear of a slip of the pen.
    let folder = match has(&["--quick"]) {
        true => released(here)?,
        false if !talk(here, &[words, &["--dry-run".to_owned()]].concat())? => return Ok(false),
        false => dist::program_and_benchmark(here)?,
    };
    let finished = Job::new(folder.join("bench"))
        .args(words)
        .env("HOLDPOINT_BIN", folder.join("holdpoint"))
        .within(&here.root)
        .limit_minutes(60)
        .run()?;
    Ok(finished.success)
}

/// Lets the benchmark speak, which measures nothing: the build of the tests will do.
fn talk(here: &Checkout, words: &[String]) -> Result<bool> {
    let built = Job::cargo()
        .args(["build", "--quiet", "--workspace", "--bin", "bench"])
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    ensure!(built.success, "the benchmark cannot be built; see above");
    Ok(Job::new(here.built.join("bench")).args(words).within(&here.root).run()?.success)
}

/// The benchmark, and the real program, which some measures start.
fn released(here: &Checkout) -> Result<PathBuf> {
    let target = here.built.parent().context("no target directory")?;
    for (package, program) in [("holdpoint", "holdpoint"), ("testkit", "bench")] {
        let built = Job::cargo()
            .args(["build", "--release", "--package", package, "--bin", program])
            .args(["--target-dir".as_ref(), target.as_os_str()])
            .within(&here.root)
            .limit_minutes(30)
            .run()?;
        ensure!(built.success, "{program} cannot be built; see above");
    }
    Ok(target.join("release"))
}
