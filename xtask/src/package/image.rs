//! The container image: the static program, the public authorities' certificates, a user, a volume.
//!
//! It is made without a daemon and without a base image. The check runs it as a careful operator would:
//! read only, without capabilities, without a network.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{Bench, program, said};
use crate::job::Job;
use crate::setup;

/// Nobody on the host, and the same number in every image that is built like this.
const USER: &str = "65532:65532";
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// For machines whose file system knows no overlays.
const STORAGE: [&str; 2] = ["--storage-driver", "vfs"];

fn name(bench: &Bench<'_>) -> String {
    format!("localhost/holdpoint:{}", bench.version)
}

fn archive(bench: &Bench<'_>) -> Result<PathBuf> {
    Ok(bench.out()?.join(format!("holdpoint-{}-image.tar", bench.version)))
}

fn buildah(words: &[&str]) -> Job {
    Job::new("buildah").args(STORAGE).args(words)
}

pub(super) fn build(bench: &Bench<'_>) -> Result<()> {
    let program = program::fixed(bench)?;
    let root = bench.scratch("image")?;
    for folder in ["usr/bin", "etc/ssl/certs", "etc/holdpoint", "var/lib", "tmp"] {
        fs::create_dir_all(root.join(folder))?;
    }
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777))?;
    fs::copy(&program, root.join("usr/bin/holdpoint"))?;
    fs::copy(AUTHORITIES, root.join(&AUTHORITIES[1..]))
        .with_context(|| format!("{AUTHORITIES}: `apt install ca-certificates`"))?;
    fs::write(
        root.join("etc/passwd"),
        "holdpoint:x:65532:65532::/var/lib/holdpoint:/sbin/nologin\n",
    )?;
    fs::write(root.join("etc/group"), "holdpoint:x:65532:\n")?;
    fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n")?;

    setup::buildah()?;
    let container = said(buildah(&["from", "scratch"]))?;
    let made = fill(bench, &container, &root);
    let _ = buildah(&["rm", &container]).quiet().run();
    made
}

fn fill(bench: &Bench<'_>, container: &str, root: &Path) -> Result<()> {
    let root = root.to_str().context("a path that is text")?;
    bench.done(buildah(&["copy", "--quiet", container, root, "/"]).aside(), "copying")?;
    // Owners are given to what lies in a folder that is copied, and not to the folder.
    let data = bench.scratch("image-data")?;
    let owned = data.join("holdpoint");
    fs::create_dir(&owned)?;
    fs::set_permissions(&owned, fs::Permissions::from_mode(0o700))?;
    let data = data.to_str().context("a path that is text")?;
    let copy = ["copy", "--quiet", "--chown", USER, container, data, "/var/lib"];
    bench.done(buildah(&copy).aside(), "copying the data folder")?;
    let config = [
        "config",
        "--user",
        USER,
        "--workingdir",
        "/var/lib/holdpoint",
        "--volume",
        "/var/lib/holdpoint",
        "--port",
        "7420",
        "--entrypoint",
        r#"["/usr/bin/holdpoint"]"#,
        "--cmd",
        "serve --config /etc/holdpoint/holdpoint.toml",
        "--label",
        "org.opencontainers.image.title=Holdpoint",
        "--label",
        "org.opencontainers.image.licenses=MIT OR Apache-2.0",
        container,
    ];
    bench.done(buildah(&config).aside(), "configuring")?;
    let name = name(bench);
    let commit = ["commit", "--quiet", "--timestamp", &bench.epoch, container, &name];
    bench.done(buildah(&commit).aside(), "committing")?;
    let archive = archive(bench)?;
    if archive.exists() {
        fs::remove_file(&archive)?;
    }
    let target = format!("docker-archive:{}:{name}", archive.display());
    bench.done(buildah(&["push", "--quiet", &name, &target]).aside(), "writing the archive")
}

/// Starts the image from its archive: it says its version, writes a set-up into its volume, and finds it sound.
pub(super) fn check(bench: &Bench<'_>) -> Result<()> {
    let archive = archive(bench)?;
    ensure!(archive.is_file(), "{} is not there: run the step `image` first", archive.display());
    let source = format!("docker-archive:{}", archive.display());
    let container = said(buildah(&["from", "--quiet", &source]))?;
    let tried = attempt(bench, &container);
    let _ = buildah(&["rm", &container]).quiet().run();
    tried
}

fn attempt(bench: &Bench<'_>, container: &str) -> Result<()> {
    // A volume that stays from one command to the next.
    let volume = bench.scratch("image-volume")?;
    chown(&volume, Some(65532), Some(65532))?;
    let mount = format!("{}:/var/lib/holdpoint", volume.display());
    // Without namespaces of its own, which many build machines refuse to give.
    let run = |words: &[&str]| {
        let how = ["run", "--isolation", "chroot", "-v", &mount, container, "--"];
        said(buildah(&how).args(["/usr/bin/holdpoint"]).args(words))
    };
    let told = run(&["--version"])?;
    ensure!(told == format!("holdpoint {}", bench.version), "it says `{told}`");
    run(&["init", "/var/lib/holdpoint/shop"]).context("it cannot write to its volume")?;
    let config = "/var/lib/holdpoint/shop/holdpoint.toml";
    let told = run(&["doctor", "--config", config])?;
    ensure!(told.contains("`sql_modify` is ready"), "the doctor in it says:\n{told}");
    Ok(())
}
