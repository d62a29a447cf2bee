//! `cargo xtask bench`: the benchmark lives in `testkit`, because it drives the whole circle.

use anyhow::Result;

use crate::checkout::Checkout;
use crate::job::Job;

pub(crate) fn run(here: &Checkout, words: &[String]) -> Result<bool> {
    let finished = Job::cargo()
        .args(["run", "--release", "--package", "testkit", "--bin", "bench", "--"])
        .args(words)
        .within(&here.root)
        .limit_minutes(60)
        .run()?;
    Ok(finished.success)
}
