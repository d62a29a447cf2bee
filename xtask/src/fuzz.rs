//! `cargo xtask fuzz`: the fuzz targets of `testkit` under libFuzzer, on the toolchain that is there.
//!
//! The coverage that libFuzzer goes by is a pass of the compiler that stable has too, so neither
//! nightly nor cargo-fuzz is needed; only a C++ compiler is, for libFuzzer itself. Without an address
//! sanitizer: there is no unsafe code of ours for it to watch.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::checkout::Checkout;
use crate::job::Job;

const SECONDS: u64 = 60;
/// An input that takes this long is a finding.
const SECONDS_EACH_MAX: u64 = 10;
const MEGABYTES_MAX: u64 = 2_048;
const BYTES_MAX: u64 = 4_096;

/// Branches are counted and comparisons told to the fuzzer, which learns from both.
const COVERAGE: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=16",
];

#[derive(Debug, PartialEq, Eq)]
struct Options {
    targets: Vec<String>,
    seconds: u64,
    list: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options> {
        let mut options = Options { targets: Vec::new(), seconds: SECONDS, list: false };
        let mut args = args.iter();
        while let Some(word) = args.next() {
            match word.as_str() {
                "--list" => options.list = true,
                "--seconds" => {
                    let number = args.next().context("`--seconds` wants a number")?;
                    options.seconds = number.parse().context("`--seconds` wants a number")?;
                    ensure!(options.seconds > 0, "`--seconds` wants at least 1");
                }
                other if other.starts_with('-') => {
                    bail!("`fuzz` takes no `{other}`; see `cargo xtask fuzz --help`")
                }
                name => options.targets.push(name.to_owned()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(here: &Checkout, args: &[String]) -> Result<bool> {
    let options = Options::parse(args)?;
    let all = targets(here)?;
    if options.list {
        all.iter().for_each(|name| println!("{name}"));
        return Ok(true);
    }
    if let Some(name) = options.targets.iter().find(|name| !all.contains(name)) {
        bail!("there is no target `{name}`; there are: {}", all.join(", "));
    }
    let chosen = if options.targets.is_empty() { &all } else { &options.targets };
    has_compiler()?;
    let folder = here.built.parent().unwrap_or(&here.built).join("fuzz");
    let program = build(here, &folder)?;
    let mut told = Vec::new();
    for name in chosen {
        told.push(try_out(here, &folder, &program, name, options.seconds)?);
    }
    println!();
    for Tried { name, inputs, each_second, edges, corpus, sound } in &told {
        let verdict = if *sound { "nothing found" } else { "FOUND SOMETHING: see above" };
        println!(
            "{name:16} {inputs:>10} inputs  {each_second:>7}/s  {edges:>6} edges  \
             {corpus:>5} in the corpus  {verdict}"
        );
    }
    Ok(told.iter().all(|tried| tried.sound))
}

/// Every target has a folder of seeds; a test sees to that.
fn targets(here: &Checkout) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(here.join("fuzz/seeds")).context("fuzz/seeds")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The folders that a target begins with. For records there are better seeds than we could make up: one of
/// each kind that was ever written.
fn seeds(here: &Checkout, name: &str) -> Vec<PathBuf> {
    let mut folders = vec![here.join("fuzz/seeds").join(name)];
    if name == "record" {
        let versions = fs::read_dir(here.join("crates/stores/golden")).into_iter().flatten();
        folders.extend(versions.flatten().map(|version| version.path()));
    }
    folders
}

const WITHOUT: &str = "The same targets run without it, for a moment each: \
                       cargo test -p testkit --test proof fuzz";

/// Asked first: a build of many minutes would end with the same answer.
fn has_compiler() -> Result<()> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let asked = Job::new(&compiler).args(["--version"]).quiet().run();
    ensure!(
        asked.is_ok_and(|asked| asked.success),
        "libFuzzer is C++, and there is no compiler `{compiler}` here: install one (on Debian: apt \
         install g++), or name yours in CXX. {WITHOUT}"
    );
    Ok(())
}

fn build(here: &Checkout, folder: &Path) -> Result<PathBuf> {
    let host = host()?;
    let built = Job::cargo()
        // With a target, build scripts and macros stay as they are. Not `--locked`: each new arrow
        // between our own crates would stop it.
        .args(["build", "--release", "--bin", "any", "--target", &host])
        .args(["--manifest-path", "fuzz/Cargo.toml"])
        .within(&here.root)
        .env("CARGO_TARGET_DIR", folder)
        .env("RUSTFLAGS", COVERAGE.join(" "))
        .limit_minutes(60)
        .run()?;
    ensure!(built.success, "libFuzzer or the targets cannot be built here; see above. {WITHOUT}");
    Ok(folder.join(host).join("release/any"))
}

fn host() -> Result<String> {
    let asked = Job::new("rustc").args(["-vV"]).keep(|_| true).quiet().run()?;
    let host = asked.kept.iter().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what it builds for")?.to_owned())
}

struct Tried {
    name: String,
    inputs: u64,
    each_second: u64,
    /// Branches that the corpus reaches, of the whole program.
    edges: u64,
    corpus: usize,
    sound: bool,
}

fn try_out(
    here: &Checkout,
    folder: &Path,
    program: &Path,
    name: &str,
    seconds: u64,
) -> Result<Tried> {
    let (corpus, found) = (folder.join("corpus").join(name), folder.join("found"));
    for folder in [&corpus, &found] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    println!("\n== {name}");
    let finished = Job::new(program)
        .args([format!("-max_total_time={seconds}"), "-print_final_stats=1".to_owned()])
        .args([format!("-timeout={SECONDS_EACH_MAX}"), format!("-max_len={BYTES_MAX}")])
        .args([format!("-rss_limit_mb={MEGABYTES_MAX}"), "-verbosity=0".to_owned()])
        .args([format!("-artifact_prefix={}/{name}-", found.display())])
        .args([&corpus])
        .args(seeds(here, name))
        .within(&here.root)
        .env("HOLDPOINT_FUZZ", name)
        .keep(|line| line.starts_with("stat::"))
        .limit_minutes(seconds / 60 + 5)
        .run()?;
    let stat = |name: &str| {
        let told =
            finished.kept.iter().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
        told.and_then(|told| told.trim_start_matches(':').trim().parse().ok()).unwrap_or_default()
    };
    Ok(Tried {
        name: name.to_owned(),
        inputs: stat("number_of_executed_units"),
        each_second: stat("average_exec_per_sec"),
        edges: edges(here, program, name, &corpus)?,
        corpus: fs::read_dir(&corpus).map(Iterator::count).unwrap_or_default(),
        sound: finished.success,
    })
}

/// Runs the corpus once more and nothing new, to hear how far it gets.
fn edges(here: &Checkout, program: &Path, name: &str, corpus: &Path) -> Result<u64> {
    let finished = Job::new(program)
        .args(["-runs=0"])
        .args([corpus])
        .args(seeds(here, name))
        .within(&here.root)
        .env("HOLDPOINT_FUZZ", name)
        .keep(|line| reached(line).is_some())
        .quiet()
        .run()?;
    Ok(finished.kept.iter().rev().find_map(|line| reached(line)).unwrap_or_default())
}

/// `#123\tDONE   cov: 4567 ft: …`
fn reached(line: &str) -> Option<u64> {
    line.strip_prefix('#')?.split_once(" cov: ")?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn coverage_is_read_from_the_fuzzers_own_words() {
        assert_eq!(
            reached("#123\tDONE   cov: 4567 ft: 9 corp: 3/4Kb exec/s: 5 rss: 6Mb"),
            Some(4567)
        );
        assert_eq!(reached("#123\tDONE   exec/s: 5 rss: 6Mb"), None);
        assert_eq!(reached("INFO: cov: 4567"), None);
    }

    #[test]
    fn targets_and_seconds_are_told_apart() {
        let options = parsed(&["sql", "--seconds", "5"]).expect("sound");
        assert_eq!(options, Options { targets: vec!["sql".into()], seconds: 5, list: false });
        assert_eq!(parsed(&[]).expect("sound").seconds, SECONDS);
        for wrong in [&["--seconds"][..], &["--seconds", "x"], &["--seconds", "0"], &["--sceonds"]]
        {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
