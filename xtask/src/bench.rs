//! `cargo xtask bench`: the benchmark lives in `testkit`, because it drives the whole circle.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::{dist, profile};

pub(crate) fn run(here: &Checkout, args: &[String]) -> Result<bool> {
    let has = |options: &[&str]| args.iter().any(|word| options.contains(&word.as_str()));
    if has(&["--profile"]) {
        ensure!(args.len() == 1, "`--profile` stands alone: it samples the two hottest paths");
        return profile::run(here);
    }
    if has(&["--help", "-h", "--dry-run"]) {
        return Ok(talk(here)?.args(args).run()?.success);
    }
    // Nobody waits half an hour for figures that count for nothing, or to hear of a slip of the pen.
    let folder = match has(&["--quick"]) {
        true => packaged(here)?,
        false => {
            let heard = talk(here)?.args(args).args(["--dry-run"]).keep(|_| true).quiet().run()?;
            ensure!(heard.success, "{}", heard.kept.join("\n"));
            dist::program_and_benchmark(here)?
        }
    };
    let finished = Job::new(folder.join("bench"))
        .args(args)
        .env("HOLDPOINT_BIN", folder.join("holdpoint"))
        .within(&here.root)
        .limit_minutes(60)
        .run()?;
    Ok(finished.success)
}

/// The benchmark for a word that measures nothing: the build of the tests will do.
fn talk(here: &Checkout) -> Result<Job> {
    let built = Job::cargo()
        .args(["build", "--quiet", "--workspace", "--bin", "bench"])
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    ensure!(built.success, "the benchmark cannot be built; see above");
    Ok(Job::new(here.built.join("bench")).within(&here.root))
}

/// The benchmark, and the real program, which some measures start.
fn packaged(here: &Checkout) -> Result<PathBuf> {
    let target = here.built.parent().context("no target directory")?;
    for (package, program) in [("holdpoint", "holdpoint"), ("testkit", "bench")] {
        let built = Job::cargo()
            .args(["build", "--profile", "packaged", "--package", package, "--bin", program])
            .args(["--target-dir".as_ref(), target.as_os_str()])
            .within(&here.root)
            .limit_minutes(30)
            .run()?;
        ensure!(built.success, "{program} cannot be built; see above");
    }
    Ok(target.join("packaged"))
}
