//! `cargo xtask check`: what a change must pass before anyone reads it.

mod features;

use anyhow::{Result, bail};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::ledger::Part;
use crate::setup;
use crate::tally::Tally;
use crate::tidy;

const PARTS: [Part; 7] = [
    Part {
        name: "toolchain",
        about: "the Rust version that the workspace is pinned to",
        run: toolchain,
    },
    Part { name: "fmt", about: "formatting", run: fmt },
    Part { name: "clippy", about: "lints, as errors", run: clippy },
    Part { name: "features", about: "the library with few of its features", run: features::run },
    Part { name: "tidy", about: "our own rules", run: our_rules },
    Part { name: "locks", about: "lock files that fit, also that of the fuzz targets", run: locks },
    Part { name: "deny", about: "licences, banned and duplicate crates, sources", run: deny },
];

const ADVISORIES: Part =
    Part { name: "advisories", about: "known holes in what we use", run: advisories };

pub(crate) fn parts(args: &[String]) -> Result<Vec<Part>> {
    let mut parts = PARTS.to_vec();
    for word in args {
        match word.as_str() {
            "--advisories" => parts.push(ADVISORIES),
            other => bail!("`check` takes no `{other}`; see `cargo xtask check --help`"),
        }
    }
    Ok(parts)
}

/// Lints, formatting and error texts of compile-fail tests change with the compiler. The pin is `rust-version` and no
/// `rust-toolchain.toml`, which makes rustup download a second copy of the same compiler where it is installed as `stable`.
fn toolchain(here: &Checkout) -> Result<Tally> {
    let manifest = std::fs::read_to_string(here.join("Cargo.toml"))?;
    let rustc = Job::new("rustc").args(["--version"]).keep(|_| true).quiet().run()?;
    let installed = rustc.kept.first().map(String::as_str).unwrap_or_default();
    Ok(match is_pinned(&manifest, installed) {
        Ok(()) => found(true),
        Err(remedy) => {
            eprintln!("{remedy}");
            found(false)
        }
    })
}

fn is_pinned(manifest: &str, installed: &str) -> Result<(), String> {
    let pinned = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let pinned =
        pinned.map(|quoted| quoted.trim_matches('"')).ok_or("Cargo.toml names no rust-version")?;
    let version = installed.split_whitespace().nth(1).unwrap_or_default();
    match version.strip_prefix(pinned).is_some_and(|rest| rest.starts_with('.')) {
        true => Ok(()),
        false => Err(format!(
            "checked with Rust {pinned}, and this is `{installed}`: rustup install {pinned}, or raise rust-version in Cargo.toml"
        )),
    }
}

fn fmt(here: &Checkout) -> Result<Tally> {
    setup::component("fmt", "rustfmt")?;
    step(Job::cargo().args(["fmt", "--all", "--check"]).within(&here.root))
}

fn clippy(here: &Checkout) -> Result<Tally> {
    setup::component("clippy", "clippy")?;
    let words = ["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    let clean = Job::cargo().args(words).within(&here.root).limit_minutes(30).run()?.success;
    // What only the program with fail points has in it.
    let words = ["clippy", "--workspace", "--features", "testkit/failpoints"];
    let failing = ["--bin", "holdpoint-failing", "--", "--deny", "warnings"];
    let job = Job::cargo().args(words).args(failing).within(&here.root).limit_minutes(30);
    Ok(found(job.run()?.success && clean))
}

fn our_rules(here: &Checkout) -> Result<Tally> {
    Ok(found(tidy::run(here)?))
}

/// The fuzz targets are a workspace of their own, which nothing else here builds.
fn locks(here: &Checkout) -> Result<Tally> {
    let fits = |manifest: &str| {
        let words = ["tree", "--locked", "--quiet", "--depth", "0", "--manifest-path", manifest];
        Job::cargo().args(words).within(&here.root).run()
    };
    Ok(found(fits("Cargo.toml")?.success && fits("fuzz/Cargo.toml")?.success))
}

fn deny(here: &Checkout) -> Result<Tally> {
    let words = ["--log-level", "warn", "check", "bans", "licenses", "sources"];
    step(Job::new(setup::cargo_deny(here)?).args(words).within(&here.root))
}

fn advisories(here: &Checkout) -> Result<Tally> {
    step(Job::new(setup::cargo_deny(here)?).args(["check", "advisories"]).within(&here.root))
}

fn step(job: Job) -> Result<Tally> {
    Ok(found(job.run()?.success))
}

/// A clean check adds nothing to the tests that passed; one that found something is a failure.
fn found(clean: bool) -> Tally {
    Tally { passed: 0, failed: u64::from(!clean) }
}

#[cfg(test)]
mod tests {
    use super::is_pinned;

    #[test]
    fn another_compiler_is_told() {
        let manifest = "[workspace.package]\nedition = \"2024\"\nrust-version = \"1.95\"\n";
        assert_eq!(is_pinned(manifest, "rustc 1.95.0 (59807616e 2026-04-14)"), Ok(()));
        for other in ["rustc 1.96.0 (abc 2026-05-28)", "rustc 1.9.5", "rustc 1.950.0", ""] {
            assert!(is_pinned(manifest, other).is_err(), "{other}");
        }
        assert!(is_pinned("[workspace]", "rustc 1.95.0").is_err());
    }
}
