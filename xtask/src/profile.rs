//! `cargo xtask bench --profile`: where the processor's time goes on the two hottest paths, as flame
//! graphs and as lists of functions.

mod top;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;

/// The measure, and what its picture is called.
const PATHS: [(&str, &str, &str); 2] = [
    ("cycle", "cycle-64", "In process, 64 cycles at once"),
    ("http", "http-64", "Over HTTP, 64 clients at once"),
];
/// Narrower frames are left out of the picture: nobody can read them, and it stays small.
const FRAME_PERCENT_MIN: &str = "0.3";

pub(crate) fn run(here: &Checkout) -> Result<bool> {
    if setup::on_path("perf").is_none() {
        bail!("`perf` is missing; install the system's package linux-perf");
    }
    setup::inferno(here)?;
    // Frame pointers, in our code and in SQLite's, let the kernel walk a stack in no time.
    let build = Job::cargo()
        .args(["build", "--profile", "profiling", "--package", "testkit", "--bin", "bench"])
        .env("RUSTFLAGS", "-C force-frame-pointers=yes")
        .env("CFLAGS", "-fno-omit-frame-pointer")
        .within(&here.root)
        .limit_minutes(30)
        .run()?;
    ensure!(build.success, "the benchmark cannot be built; see above");
    let target = here.built.parent().context("no target directory")?;
    let scratch = target.join("profiles");
    let docs = here.join("docs/profiles");
    for folder in [&scratch, &docs] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    for (measure, name, title) in PATHS {
        let bench = target.join("profiling/bench");
        let stacks = record(here, &bench, measure, &scratch.join(name))?;
        draw(here, &stacks, title, &docs.join(format!("{name}.svg")))?;
        let text = fs::read_to_string(&stacks).with_context(|| stacks.display().to_string())?;
        fs::write(docs.join(format!("{name}.txt")), top::list(&text)?)?;
    }
    Ok(true)
}

/// Samples one measure, and folds equal stacks into one line each.
fn record(here: &Checkout, bench: &Path, measure: &str, base: &Path) -> Result<PathBuf> {
    let data = base.with_extension("perf");
    // A clock and not a counter of the processor, which virtual machines often lack.
    let sampled = Job::new("perf")
        .args(["record", "--quiet", "--event", "cpu-clock", "--freq", "997", "--call-graph", "fp"])
        .args(["--output".as_ref(), data.as_os_str(), "--".as_ref(), bench.as_os_str()])
        .args(["--only", measure, "--at-once", "64"])
        .run()?;
    ensure!(sampled.success, "perf cannot record; see above");
    let stacks = base.with_extension("folded");
    let script = r#"perf script --no-inline --input "$1" | "$2"/inferno-collapse-perf > "$3""#;
    shell(script, &[&data, &here.tools().join("bin"), &stacks])?;
    Ok(stacks)
}

fn draw(here: &Checkout, stacks: &Path, title: &str, picture: &Path) -> Result<()> {
    let script = format!(
        r#""$1"/inferno-flamegraph --title "{title}" --minwidth {FRAME_PERCENT_MIN} "$2" > "$3""#
    );
    shell(&script, &[&here.tools().join("bin"), stacks, picture])
}

fn shell(script: &str, paths: &[&Path]) -> Result<()> {
    let done = Job::new("sh").args(["-ec", script, "sh"]).args(paths).run()?;
    ensure!(done.success, "see above");
    Ok(())
}
