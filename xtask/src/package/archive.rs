//! Files for people: the tarball, the Debian package, the SBOM, the checksums.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{Bench, program};
use crate::job::Job;
use crate::setup;

const CARGO_DEB: (&str, &str) = ("cargo-deb", "3.8.0");
const CARGO_CYCLONEDX: (&str, &str) = ("cargo-cyclonedx", "0.5.9");
/// What goes along, from the root of the checkout.
const PAPERS: [&str; 5] = [
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "holdpoint.example.toml",
    "ops/holdpoint.service",
];

pub(super) fn tarball(bench: &Bench<'_>) -> Result<()> {
    let name = format!("holdpoint-{}-x86_64-linux", bench.version);
    let folder = bench.scratch("tarball")?;
    let root = folder.join(&name);
    fs::create_dir_all(&root)?;
    let program = copy(&program::portable(bench)?, &root.join("holdpoint"), 0o755)?;
    companions(bench, &program, &root)?;
    for paper in PAPERS {
        let file = Path::new(paper).file_name().context("a file")?;
        copy(&bench.here.join(paper), &root.join(file), 0o644)?;
    }
    let out = bench.out()?.join(format!("{name}.tar.gz"));
    let job = bench
        .job("tar")
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args([format!("--mtime=@{}", bench.epoch)])
        .args(["--use-compress-program", "gzip -9n"])
        .args(["-cf".as_ref(), out.as_os_str(), "-C".as_ref(), folder.as_os_str(), name.as_ref()]);
    bench.done(job, "tar")?;
    // As somebody who downloaded it would.
    let tried = bench.scratch("tarball-tried")?;
    let unpack =
        bench.job("tar").args(["-xf".as_ref(), out.as_os_str(), "-C".as_ref(), tried.as_os_str()]);
    bench.done(unpack, "unpacking")?;
    says_version(bench, &tried.join(&name).join("holdpoint"))
}

/// Man pages and completions, written by the program itself.
fn companions(bench: &Bench<'_>, program: &Path, root: &Path) -> Result<()> {
    let man = root.join("man/man1");
    fs::create_dir_all(&man)?;
    let job = Job::new(program).args(["man".as_ref(), man.as_os_str()]).aside();
    bench.done(job, "writing man pages")?;
    let completions = root.join("completions");
    fs::create_dir_all(&completions)?;
    for (shell, file) in
        [("bash", "holdpoint.bash"), ("zsh", "_holdpoint"), ("fish", "holdpoint.fish")]
    {
        let job = Job::new(program).args(["completions", shell]).keep(|_| true).quiet();
        let finished = job.run()?;
        ensure!(finished.success && !finished.kept.is_empty(), "no completions for {shell}");
        fs::write(completions.join(file), finished.kept.join("\n") + "\n")?;
    }
    Ok(())
}

fn says_version(bench: &Bench<'_>, program: &Path) -> Result<()> {
    let told = super::said(Job::new(program).args(["--version"]))?;
    ensure!(told == format!("holdpoint {}", bench.version), "it says `{told}`");
    Ok(())
}

/// What cargo-deb reads is in `crates/holdpoint/Cargo.toml`; it wants files beside that, or at fixed places.
pub(super) fn deb(bench: &Bench<'_>) -> Result<()> {
    let parts = bench.scratch("deb")?;
    let program = copy(&program::portable(bench)?, &parts.join("holdpoint"), 0o755)?;
    companions(bench, &program, &parts)?;
    let out = bench.out()?.join(format!("holdpoint_{}-1_amd64.deb", bench.version));
    let tool = setup::cargo_tool(bench.here, CARGO_DEB.0, CARGO_DEB.1)?;
    let job = Job::new(tool)
        .env("SOURCE_DATE_EPOCH", &bench.epoch)
        .within(bench.here.join("crates/holdpoint"))
        .args(["--no-build", "--no-strip", "--manifest-path", "Cargo.toml"])
        .args(["--output".as_ref(), out.as_os_str()])
        .aside();
    bench.done(job, "cargo-deb")?;
    let list = super::said(Job::new("dpkg-deb").args(["-c".as_ref(), out.as_os_str()]))?;
    for file in ["./usr/bin/holdpoint", "./usr/lib/systemd/system/holdpoint.service", "holdpoint.1"]
    {
        ensure!(list.contains(file), "the package has no {file}:\n{list}");
    }
    let tried = bench.scratch("deb-tried")?;
    let unpack = bench.job("dpkg-deb").args(["-x".as_ref(), out.as_os_str(), tried.as_os_str()]);
    bench.done(unpack, "unpacking")?;
    says_version(bench, &tried.join("usr/bin/holdpoint"))
}

pub(super) fn sbom(bench: &Bench<'_>) -> Result<()> {
    let tool = setup::cargo_tool(bench.here, CARGO_CYCLONEDX.0, CARGO_CYCLONEDX.1)?;
    let job = Job::new(tool)
        .env("SOURCE_DATE_EPOCH", &bench.epoch)
        .within(&bench.here.root)
        .args(["cyclonedx", "--format", "json", "--spec-version", "1.5"])
        .args([
            "--manifest-path",
            "crates/holdpoint/Cargo.toml",
            "--override-filename",
            "holdpoint.cdx",
        ])
        .aside();
    bench.done(job, "cargo-cyclonedx")?;
    // It writes one beside every manifest of the workspace; ours is the program's.
    let made = bench.here.join("crates/holdpoint/holdpoint.cdx.json");
    let out = bench.out()?.join(format!("holdpoint-{}.cdx.json", bench.version));
    fs::copy(&made, &out).with_context(|| made.display().to_string())?;
    let folders =
        fs::read_dir(bench.here.join("crates"))?.filter_map(|entry| Some(entry.ok()?.path()));
    for folder in folders.chain([bench.here.join("xtask")]) {
        let file = folder.join("holdpoint.cdx.json");
        if file.exists() {
            fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
    }
    let text = fs::read_to_string(&out)?;
    ensure!(text.contains("\"rusqlite\"") && text.contains("CycloneDX"), "this is no SBOM of ours");
    Ok(())
}

pub(super) fn sums(bench: &Bench<'_>) -> Result<()> {
    let out = bench.out()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&out)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "SHA256SUMS" {
            names.push(name);
        }
    }
    ensure!(!names.is_empty(), "nothing was made yet");
    names.sort();
    let job = Job::new("sha256sum").args(&names).within(&out).keep(|_| true).quiet();
    let finished = job.run()?;
    ensure!(finished.success, "sha256sum failed: {}", finished.kept.join("\n"));
    fs::write(out.join("SHA256SUMS"), finished.kept.join("\n") + "\n")?;
    bench.done(
        Job::new("sha256sum").args(["--check", "SHA256SUMS"]).within(&out).aside(),
        "checking",
    )
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<PathBuf> {
    fs::copy(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
    Ok(to.to_path_buf())
}
