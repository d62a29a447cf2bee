//! The two programs: one that needs glibc 2.28 or newer, and one that needs nothing.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::Bench;
use crate::job::Job;
use crate::setup;

/// The oldest glibc that the program runs with: that of Debian 10 and RHEL 8. `memfd_create`, in which a command
/// gets its input, came with 2.27.
const GLIBC: &str = "2.28";
const GNU: &str = "x86_64-unknown-linux-gnu";
const MUSL: &str = "x86_64-unknown-linux-musl";

/// For the tarball and the Debian package.
pub(super) fn portable(bench: &Bench<'_>) -> Result<PathBuf> {
    let target = format!("{GNU}.{GLIBC}");
    let job = zigbuild(bench, "build")?.args(["--target", &target]);
    bench.done(job, "building for an old glibc")?;
    built(bench, GNU)
}

/// For the image.
pub(super) fn fixed(bench: &Bench<'_>) -> Result<PathBuf> {
    let job = zigbuild(bench, "rustc")?.args(["--target", MUSL]);
    let job = match standard_library(MUSL)? {
        Library::There => job,
        // The compiler's own: it is built along, with a compiler whose sources are at hand. Unstable, which
        // that compiler has to be told.
        Library::Built { rustc } => job.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1").args([
            "-Zbuild-std=std,panic_unwind",
            "--",
            "-C",
            "link-self-contained=no",
        ]),
    };
    bench.done(job, "building a static program")?;
    built(bench, MUSL)
}

fn zigbuild(bench: &Bench<'_>, verb: &str) -> Result<Job> {
    let target = bench.target()?.join("package-build");
    let tools = setup::zigbuild(bench.here)?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([tools.clone()].into_iter().chain(env::split_paths(&path)))?;
    let zigbuild = tools.join("cargo-zigbuild");
    Ok(bench
        .job(zigbuild.to_str().context("a path that is text")?)
        // It finds zig by the Python of the same environment.
        .env("PATH", path)
        .args([verb, "--package", "holdpoint", "--bin", "holdpoint", "--profile", &bench.profile])
        .args(["--target-dir".as_ref(), target.as_os_str()])
        .limit_minutes(90))
}

fn built(bench: &Bench<'_>, triple: &str) -> Result<PathBuf> {
    let folder = if bench.profile == "dev" { "debug" } else { &*bench.profile };
    let program = bench.target()?.join("package-build").join(triple).join(folder).join("holdpoint");
    ensure!(program.is_file(), "{} was not built", program.display());
    Ok(program)
}

enum Library {
    There,
    Built { rustc: PathBuf },
}

/// The standard library for a target: from rustup, or from the sources that Debian's `rust-web-src` has.
fn standard_library(target: &str) -> Result<Library> {
    let folder =
        super::said(Job::new("rustc").args(["--print", "target-libdir", "--target", target]));
    if folder.is_ok_and(|folder| Path::new(&folder).is_dir()) {
        return Ok(Library::There);
    }
    let added = Job::new("rustup").args(["target", "add", target]).quiet().run();
    if added.is_ok_and(|finished| finished.success) {
        return Ok(Library::There);
    }
    // Debian's own, which lies beside its sources.
    let rustc = env::var_os("RUSTC_WITH_SOURCES");
    let rustc = rustc.map_or_else(|| PathBuf::from("/usr/bin/rustc"), PathBuf::from);
    let sysroot = super::said(Job::new(&rustc).args(["--print", "sysroot"])).unwrap_or_default();
    ensure!(
        Path::new(&sysroot).join("lib/rustlib/src/rust/library/std").is_dir(),
        "there is no standard library for {target}: `rustup target add {target}`, or on Debian \
         `apt install rustc-web cargo-web rust-web-src`"
    );
    Ok(Library::Built { rustc })
}
