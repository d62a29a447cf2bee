//! Finds what a part needs, and installs it when the machine lacks it.
//!
//! Versions are pinned where the source lets us: cargo tools here, npm and Python packages by their
//! lock files. A system package has the version of the system's release.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::checkout::Checkout;
use crate::job::Job;

const CARGO_DENY: &str = "0.20.2";
const INFERNO: &str = "0.12.8";

pub(crate) fn has_nextest() -> bool {
    Job::cargo().args(["nextest", "--version"]).quiet().run().is_ok_and(|finished| finished.success)
}

/// Rustfmt and clippy, which a minimal toolchain comes without.
pub(crate) fn component(command: &str, component: &str) -> Result<()> {
    let there = Job::cargo().args([command, "--version"]).quiet().run()?.success;
    if !there {
        let added = Job::new("rustup").args(["component", "add", component]).run();
        ensure!(
            added.is_ok_and(|finished| finished.success),
            "`cargo {command}` is missing; install the toolchain's component `{component}`"
        );
    }
    Ok(())
}

/// Puts the counts of an instrumented program together; a component of the toolchain, and in no folder
/// that programs are looked for in.
pub(crate) fn llvm_profdata() -> Result<PathBuf> {
    let asked =
        Job::new("rustc").args(["--print", "target-libdir"]).keep(|_| true).quiet().run()?;
    ensure!(asked.success, "rustc does not say where its libraries are: {}", asked.kept.join(" "));
    let libraries = asked.kept.last().context("rustc does not say where its libraries are")?;
    let program = Path::new(libraries).with_file_name("bin").join("llvm-profdata");
    if !program.is_file() {
        let _ = Job::new("rustup").args(["component", "add", "llvm-tools"]).run();
    }
    ensure!(
        program.is_file(),
        "the toolchain's component `llvm-tools` is missing: `rustup component add llvm-tools`"
    );
    Ok(program)
}

/// Built without optimization: that takes a minute where the release build takes many, and our graph
/// is read in two seconds all the same.
pub(crate) fn cargo_deny(here: &Checkout) -> Result<PathBuf> {
    let program = here.tools().join("bin/cargo-deny");
    let version = format!("cargo-deny {CARGO_DENY}");
    let right = program.is_file() && {
        let asked = Job::new(&program).args(["--version"]).keep(|_| true).quiet().run()?;
        asked.kept.contains(&version)
    };
    if !right {
        let installed = Job::cargo()
            .args(["install", "cargo-deny", "--locked", "--debug", "--force"])
            .args(["--version", CARGO_DENY, "--root"])
            .args([here.tools()])
            .limit_minutes(20)
            .run()?;
        ensure!(installed.success, "{version} cannot be installed; see above");
    }
    Ok(program)
}

/// A tool that makes packages, in a version that we know.
pub(crate) fn cargo_tool(here: &Checkout, name: &str, version: &str) -> Result<PathBuf> {
    let program = here.tools().join("bin").join(name);
    // What cargo installed says it: not every tool tells its version.
    let record = fs::read_to_string(here.tools().join(".crates.toml")).unwrap_or_default();
    if !program.is_file() || !record.contains(&format!("\"{name} {version} ")) {
        let installed = Job::cargo()
            .args([
                "install",
                name,
                "--locked",
                "--debug",
                "--force",
                "--version",
                version,
                "--root",
            ])
            .args([here.tools()])
            .limit_minutes(30)
            .aside()
            .run()?;
        ensure!(installed.success, "{name} {version} cannot be installed; see above");
    }
    Ok(program)
}

/// Links against an older glibc than this machine has: cargo-zigbuild and zig, in an environment of their own.
/// Returns the folder with their programs.
pub(crate) fn zigbuild(here: &Checkout) -> Result<PathBuf> {
    let python = python(here, "package-tools", &here.join("xtask/package-requirements.txt"))?;
    Ok(python.parent().context("a program lies in a folder")?.to_path_buf())
}

/// Makes container images without a daemon.
pub(crate) fn buildah() -> Result<()> {
    match on_path("buildah") {
        Some(_) => Ok(()),
        None => install("buildah"),
    }
}

/// Draws flame graphs. A tool and not a dependency: its licence is not one that we link with.
pub(crate) fn inferno(here: &Checkout) -> Result<()> {
    let program = here.tools().join("bin/inferno-flamegraph");
    let version = format!("inferno {INFERNO}");
    // The programs of inferno do not tell their version; what cargo installed says it.
    let record = here.tools().join(".crates.toml");
    let right = program.is_file()
        && fs::read_to_string(record).is_ok_and(|record| record.contains(&format!("\"{version} ")));
    if !right {
        let installed = Job::cargo()
            .args(["install", "inferno", "--locked", "--debug", "--force", "--version", INFERNO])
            .args(["--no-default-features", "--features", "cli,nameattr", "--root"])
            .args([here.tools()])
            .limit_minutes(20)
            .run()?;
        ensure!(installed.success, "{version} cannot be installed; see above");
    }
    Ok(())
}

/// The packages of `web/`, exactly as locked.
pub(crate) fn web_packages(here: &Checkout) -> Result<()> {
    npm_packages(here, "web").context("the web page needs Node 20.19 or newer, with npm")
}

/// The packages of a folder with a lock file, exactly as locked.
pub(crate) fn npm_packages(here: &Checkout, folder: &str) -> Result<()> {
    npm_ci(&here.join(folder), &[])
}

/// The npm packages that the lock file in `folder` names, beside what cargo builds and not beside the
/// source. Returns the folder that they lie in.
pub(crate) fn node(here: &Checkout, name: &str, folder: &Path) -> Result<PathBuf> {
    let home = here.built.parent().context("target/")?.join(name);
    fs::create_dir_all(&home).with_context(|| home.display().to_string())?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(folder.join(file), home.join(file)).context(file)?;
    }
    npm_ci(&home, &["--ignore-scripts"]).context("these packages need Node 20.19 or newer")?;
    Ok(home.join("node_modules"))
}

fn npm_ci(within: &Path, words: &[&str]) -> Result<()> {
    let lock = within.join("package-lock.json");
    let lock = fs::read(&lock).with_context(|| lock.display().to_string())?;
    // npm's own record inside node_modules is written in another form than the lock file, so we
    // leave a copy of the lock file that was installed.
    let record = within.join("node_modules/.installed-lock.json");
    if fs::read(&record).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let installed = Job::new("npm")
        .args(["ci", "--no-audit", "--no-fund"])
        .args(words)
        .within(within)
        .limit_minutes(15)
        .run()?;
    ensure!(installed.success, "npm could not install the packages of {}", within.display());
    fs::write(&record, lock).with_context(|| record.display().to_string())
}

/// A Python with exactly the packages that `lock` names, in an environment of its own beside what
/// cargo builds. Each name is another environment.
pub(crate) fn python(here: &Checkout, name: &str, lock: &Path) -> Result<PathBuf> {
    let home = here.built.parent().context("target/")?.join(name);
    let python = home.join("bin/python");
    let wanted = fs::read(lock).with_context(|| lock.display().to_string())?;
    // A copy of the lock file that was installed, left there when everything was.
    let record = home.join("installed-requirements.txt");
    if python.is_file() && fs::read(&record).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    // `--clear`: of another lock file nothing may be left.
    let make = || Job::new("python3").args(["-m", "venv", "--clear"]).args([&home]).run();
    if !make().context("these tests need Python 3.11 or newer")?.success {
        install("python3-venv")?;
        ensure!(make()?.success, "python3 cannot make an environment; see above");
    }
    let installed = Job::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"])
        .args([lock])
        .limit_minutes(15)
        .run()?;
    ensure!(installed.success, "the packages of {} cannot be installed; see above", lock.display());
    fs::write(&record, wanted).with_context(|| record.display().to_string())?;
    Ok(python)
}

/// A browser for the page tests: the one that `CHROMIUM` names, one on the path, or the system's
/// package.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        ensure!(named.is_file(), "CHROMIUM names {}, which is not there", named.display());
        return Ok(named);
    }
    if let Some(found) = browser_on_path() {
        return Ok(found);
    }
    let how = "the page tests need a browser; CHROMIUM=<program> names one";
    install("chromium").context(how)?;
    browser_on_path().context("Chromium was installed and is not on the path")
}

/// Programs that tests call, each of a package of its own name: `strace` makes calls to the system fail,
/// `sqlite3` runs the guide's backup, `openssl` makes certificates. Where one cannot be had, its tests say so
/// and fail; the others run all the same.
pub(crate) fn test_programs() {
    for program in ["strace", "sqlite3", "openssl"] {
        if on_path(program).is_none()
            && let Err(error) = install(program)
        {
            eprintln!("xtask: {error:#}");
        }
    }
}

/// The database server on which the SQL tools are tried. Each test makes a cluster of its own; the
/// package's is never made. Where the server cannot be had, those tests say so and fail.
pub(crate) fn postgres() {
    let there = on_path("initdb").is_some()
        || fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut versions| versions.next().is_some());
    if there {
        return;
    }
    let installed = install("postgresql-common").and_then(|()| {
        // Read when the server's package is set up. A machine that has rules of its own keeps them.
        let rules = Path::new("/etc/postgresql-common/createcluster.conf");
        let text = fs::read_to_string(rules).unwrap_or_default();
        if !text.lines().any(|line| line.starts_with("create_main_cluster")) {
            fs::write(rules, format!("{text}\ncreate_main_cluster = false\n"))
                .with_context(|| rules.display().to_string())?;
        }
        install("postgresql")
    });
    if let Err(error) = installed {
        eprintln!("xtask: {error:#}");
    }
}

/// A package of the system, on systems whose packages we know how to install.
fn install(package: &str) -> Result<()> {
    let Some(apt) = on_path("apt-get") else { bail!("no {package} here; install it") };
    let get = |words: &[&str]| {
        Job::new(&apt).args(words).env("DEBIAN_FRONTEND", "noninteractive").limit_minutes(15).run()
    };
    // A machine with an old or empty list of packages learns of them first; if it cannot, the
    // installation says why.
    get(&["update", "--quiet=2"])?;
    let installed = get(&["install", "--yes", "--quiet=2", "--no-install-recommends", package])?;
    ensure!(
        installed.success,
        "{package} cannot be installed; try `sudo apt-get install {package}`"
    );
    Ok(())
}

fn browser_on_path() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(on_path)
}

pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path_and_directories_are_not() {
        assert!(on_path("sh").is_some_and(|file| file.ends_with("sh")));
        assert_eq!(on_path("no-such-program-here"), None);
        assert!(!is_program(Path::new("/")));
    }
}
