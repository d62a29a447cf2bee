//! `cargo xtask bench`: the benchmark lives in `testkit`, because it drives the whole circle.

use anyhow::Result;

use crate::checkout::Checkout;
use crate::job::Job;
use crate::profile;

pub(crate) fn run(here: &Checkout, words: &[String]) -> Result<bool> {
    if words.first().is_some_and(|word| word == "--profile") {
        return profile::run(here);
    }
    // The real program, as it ships, which some measures start.
    let built = Job::cargo()
        .args(["build", "--profile", "dist", "--package", "holdpoint"])
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    if !built.success {
        return Ok(false);
    }
    let finished = Job::cargo()
        .args(["run", "--profile", "dist", "--package", "testkit", "--bin", "bench", "--"])
        .args(words)
        .within(&here.root)
        .limit_minutes(60)
        .run()?;
    Ok(finished.success)
}
