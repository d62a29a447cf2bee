//! `cargo xtask dist`: the program as it goes to production.
//!
//! It is built twice. The first one counts which ways its code goes while the benchmark sends it along the
//! usual ones; the second one is built with those counts, so that what is often needed together lies
//! together and the rest is out of its way. docs/decisions/0015 says why.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;

/// What the benchmark does meanwhile: all but what only looks at the machine, and what only waits.
const LESSON: [&str; 8] =
    ["cycle", "http", "deltas", "doors", "chats", "policy", "pending", "growth"];
/// Apart, so that no feature that only a test needs gets into the program.
const PROGRAM: [&str; 4] = ["--package", "holdpoint", "--bin", "holdpoint"];
const BENCHMARK: [&str; 4] = ["--package", "testkit", "--bin", "bench"];
/// Of both builds: counts are found again by names that depend on it, and on the features.
const PROFILE: &str = "dist";

pub(crate) fn run(here: &Checkout) -> Result<bool> {
    let yard = Yard::new(here)?;
    let flag = yard.with_counts()?;
    yard.build(PROGRAM, &flag)?;
    println!("{}", yard.built().join("holdpoint").display());
    Ok(true)
}

/// The folder with the program and the benchmark, both as they go to production.
pub(crate) fn program_and_benchmark(here: &Checkout) -> Result<PathBuf> {
    let yard = Yard::new(here)?;
    let flag = yard.with_counts()?;
    yard.build(PROGRAM, &flag)?;
    yard.build(BENCHMARK, &flag)?;
    Ok(yard.built())
}

struct Yard<'a> {
    here: &'a Checkout,
    target: &'a Path,
    compiler: String,
    /// What this machine is called by the compiler.
    host: String,
    /// The caller's own flags.
    flags: String,
}

impl<'a> Yard<'a> {
    fn new(here: &'a Checkout) -> Result<Yard<'a>> {
        let compiler = said(Job::new("rustc").args(["-vV"]))?;
        let host = compiler.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("`rustc -vV` names no host")?.to_owned();
        let target = here.built.parent().context("no target directory")?;
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        Ok(Yard { here, target, compiler, host, flags })
    }

    fn built(&self) -> PathBuf {
        self.target.join(&self.host).join(PROFILE)
    }

    /// Builds for this machine's own kind by name: flags are then for the program alone, and not for
    /// what runs while it is built.
    fn build(&self, what: [&str; 4], flag: &str) -> Result<()> {
        let flags: Vec<&str> = self.flags.split_whitespace().chain([flag]).collect();
        let built = Job::cargo()
            .args(["build", "--profile", PROFILE, "--target", &self.host])
            .args(what)
            .args(["--target-dir".as_ref(), self.target.as_os_str()])
            // In this form a path may have spaces in it.
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            .within(&self.here.root)
            .limit_minutes(45)
            .run()?;
        ensure!(built.success, "it cannot be built; see above");
        Ok(())
    }

    /// The flag for a build with counts: those of the last time, if nothing has changed since.
    fn with_counts(&self) -> Result<String> {
        let home = self.target.join("counts");
        let (counts, record) = (home.join("holdpoint.profdata"), home.join("taken-from.txt"));
        let flag = format!("-Cprofile-use={}", counts.display());
        let source = self.source();
        if counts.is_file() && source.is_some() && fs::read_to_string(&record).ok() == source {
            return Ok(flag);
        }
        let merge = setup::llvm_profdata()?;
        if home.exists() {
            fs::remove_dir_all(&home).with_context(|| home.display().to_string())?;
        }
        let raw = home.join("raw");
        fs::create_dir_all(&raw).with_context(|| raw.display().to_string())?;
        self.count(&home, &raw)?;
        let merged = Job::new(merge)
            .args(["merge".as_ref(), "--output".as_ref(), counts.as_os_str(), raw.as_os_str()])
            .run()?;
        ensure!(merged.success, "the counts cannot be put together; see above");
        if let Some(source) = source {
            fs::write(&record, source).with_context(|| record.display().to_string())?;
        }
        Ok(flag)
    }

    fn count(&self, home: &Path, raw: &Path) -> Result<()> {
        let flag = format!("-Cprofile-generate={}", raw.display());
        for (what, name) in [(PROGRAM, "holdpoint"), (BENCHMARK, "bench")] {
            self.build(what, &flag)?;
            // Nobody should take it for the real one.
            fs::rename(self.built().join(name), home.join(name)).context(name)?;
        }
        eprintln!("The benchmark's short version runs, so that there is something to count.");
        let taught = Job::new(home.join("bench"))
            .args(["--quick", "--only"])
            .args(LESSON)
            .env("HOLDPOINT_BIN", home.join("holdpoint"))
            // One file for each program, however often it is started.
            .env("LLVM_PROFILE_FILE", raw.join("%m.profraw"))
            .within(&self.here.root)
            .limit_minutes(20)
            // Figures of programs that count are for nobody.
            .keep(|_| true)
            .quiet()
            .run()?;
        ensure!(taught.success, "the benchmark failed:\n{}", taught.kept.join("\n"));
        let files = fs::read_dir(raw).with_context(|| raw.display().to_string())?.count();
        ensure!(files >= 2, "one of the two programs has counted nothing");
        Ok(())
    }

    /// All that decides what is compiled and counted; `None` where there is no git to tell.
    fn source(&self) -> Option<String> {
        // A list of its own: what is not committed yet counts as well, and nobody's own list changes.
        let list = self.target.join("counts-index");
        let git = || Job::new("git").env("GIT_INDEX_FILE", &list).within(&self.here.root);
        let _ = fs::remove_file(&list);
        said(git().args(["add", "--all", "--", "crates", "Cargo.toml", "Cargo.lock"])).ok()?;
        let tree = said(git().args(["write-tree"])).ok()?;
        Some([&self.compiler, &tree, &self.flags, "\n", &LESSON.join(" ")].concat())
    }
}

fn said(job: Job) -> Result<String> {
    let finished = job.keep(|_| true).quiet().run()?;
    ensure!(finished.success, "{}", finished.kept.join("\n"));
    Ok(finished.kept.join("\n") + "\n")
}
