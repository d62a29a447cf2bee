//! What `--help` says, with an example for each command.

use anyhow::{Result, bail};

pub(crate) const OVERVIEW: &str = "\
cargo xtask <command>: checks, set-up and tests of this repository

  test     install what the tests need, run them part by part, count
  check    formatting, lints, our own rules, dependencies
  ci       check, then test: what .ci/run runs
  tidy     our own rules only (a second or two)
  web      build the web page and refresh web/dist
  dist     the program as it goes to production
  pictures the pictures of the guide, taken anew
  clients  the packages for Python and TypeScript, and their types
  package  tarball, Debian package, container image, SBOM, checksums
  bench    the benchmark of that program
  torture  kills, power cuts and simulated stories, as many as you like
  fuzz     hostile bytes for every parser, under libFuzzer
  mutants  break promises on purpose, and see the tests notice
  names    how searchable the names of functions and types are

`cargo xtask <command> --help` says more and shows examples.";

const TEST: &str = "\
cargo xtask test [--quick | --only PART…] [--list]

Installs what the tests need and the machine lacks, runs the parts one after another, and goes on
after one that fails. Prints minutes per part; the last line is `N passed, M failed`. A part that
cannot run counts as one failed. Exits with 1 when anything failed.

  --quick  unit, property and documentation tests and 500 simulated stories: a few minutes

Examples:
  cargo xtask test                      everything
  cargo xtask test --quick              between two changes
  cargo xtask test --list               the parts, and what each does
  cargo xtask test --only rust doc      two parts
  CHROMIUM=/opt/chrome/chrome cargo xtask test --only browser";

const CHECK: &str = "\
cargo xtask check [--advisories]

cargo fmt --check, clippy with warnings as errors, also of the library with few features, `tidy`, lock files that fit, and cargo-deny (licences, banned and
duplicate crates, sources), which is installed into .tools when it is missing (about a minute).
Prints minutes per part.

  --advisories  ask the RustSec database too; it is fetched from GitHub, so that a machine
                without the open network can do all the rest

Examples:
  cargo xtask check
  cargo xtask check --advisories";

const CI: &str = "\
cargo xtask ci

`check`, then `test`, in one table. A check that fails counts as one failed in the last line.

Example:
  cargo xtask ci";

const TIDY: &str = "\
cargo xtask tidy

Our own rules on every file that git tracks or would track: no machine paths, no unfinished code,
no silenced lints, no file that outgrew its reader, a map that matches the crates, dependencies
that point inwards, no registry in a lock file, no type name that is defined more often than
xtask/src/tidy/repeated_types.txt admits, no glossary row and no path in the docs without its code.

Example:
  cargo xtask tidy";

const WEB: &str = "\
cargo xtask web

Installs the pinned packages of web/ when they are missing, checks the types, builds, and replaces
web/dist, which is committed so that building the server needs no Node.

Example:
  cargo xtask web && git status --short web/dist";

const DIST: &str = "\
cargo xtask dist

Builds the program for production: first one that counts which ways its code goes, which the benchmark
sends along the usual ones; then, with those counts, the one to be used (docs/decisions/0015 says why).
That takes half an hour on two cores. Needs the toolchain's component llvm-tools, which is added when it
is missing. Flags in RUSTFLAGS are added; those in cargo's configuration are not. The last line is where
the program is.

Example:
  cargo xtask dist";

const PICTURES: &str = "\
cargo xtask pictures

Starts the program with the demo, opens its page in Chromium, and takes the pictures of
README.md and docs/guide/start.md anew. Look at them before you commit them.

Example:
  cargo xtask pictures && git status --short docs/guide/pictures";

const CLIENTS: &str = "\
cargo xtask clients

Writes the types of clients/python and clients/typescript anew, from the OpenAPI document that a debug build of the
server serves, and builds what one would publish, in target/clients: a wheel, a source archive and an npm
archive. Nothing is published. What it needs is installed when missing, at the versions of
clients/python/requirements.txt and clients/typescript/package-lock.json.

Example:
  cargo xtask clients && git status --short clients";

const PACKAGE: &str = "\
cargo xtask package [--only STEP…] [--debug] [--list]

Makes what people install, in target/package: a tarball with a program that runs on any Linux with glibc
2.28 or newer, a Debian package, a container image with a static program, an SBOM, and SHA256SUMS of them
all. Each is tried out. What it needs is installed when missing: cargo-zigbuild and zig (Python packages in an
environment of their own), buildah (Debian), cargo-deb and cargo-cyclonedx (into .tools). The static program
of the image needs the target x86_64-unknown-linux-musl from rustup, or Debian's rustc-web, cargo-web and
rust-web-src. Two optimised builds: half an hour on two cores.

  --only   these steps, in this order
  --debug  with a debug build, to try the steps out
  --list   the steps

Examples:
  cargo xtask package
  cargo xtask package --only tarball deb sums";

const BENCH: &str = "\
cargo xtask bench [ARGS…]
cargo xtask bench --profile

Builds the benchmark and the program as `cargo xtask dist` does (about half an hour on two cores, and again
when something has changed), and hands the benchmark the arguments as they are. With `--quick` a build
with the profile `packaged` has to do, and with `--help` or `--dry-run` that of the tests.

  --profile  samples the two hottest paths with `perf` instead, and writes flame graphs and lists
             of functions to docs/profiles; installs inferno into .tools when it is missing

Examples:
  cargo xtask bench
  cargo xtask bench --help              the benchmark's own options
  cargo xtask bench --page              also writes the figures into docs/benchmarks.md";

const FUZZ: &str = "\
cargo xtask fuzz [TARGET…] [--seconds N] [--list]

Builds the fuzz targets of crates/testkit/src/fuzz with libFuzzer (a few minutes the first time; it
takes a C++ compiler, and no nightly) and runs each for a minute, beginning with its seeds in
fuzz/seeds. What it learns stays in the target folder. Exits with 1 when something was found: the
input is named, and the panic says which promise it broke. Without libFuzzer the same targets run
for a moment in the tests.

  --seconds N  so long for each target
  --list       the targets

Examples:
  cargo xtask fuzz
  cargo xtask fuzz sql arguments --seconds 600";

const MUTANTS: &str = "\
cargo xtask mutants [NAME…] [--rest] [--page] [--list] [--json]

Each mutant in xtask/mutants takes one promise of the protocol back, at the lines that are marked
`// mutant: NAME` in the code (docs/proof/mutants.md says how). In a copy of the tree, with a target
folder of its own (the first run builds everything), one after another is put in, built, and the
tests that it names are run. A mutant counts as caught when a test fails; one that does not build
proves nothing. Exits with 1 when one was not caught. `tidy` sees to it that all have their places,
and that the page says of each what caught it. All of them take about an hour on two cores.

  --page  keeps what comes out of it in docs/proof/mutants.md, one after another
  --rest  only those of which that page does not say that they were caught: to go on after a break
  --list  the mutants, and what each breaks
  --json  one line of JSON for each

Examples:
  cargo xtask mutants
  cargo xtask mutants --list
  cargo xtask mutants no-fence expiry-allows";

const TORTURE: &str = "\
cargo xtask torture [--kills N] [--cuts N] [--points] [--seeds N] [ARGS…]

Builds the real program and kills or stops it at random moments, N times over, or cuts its power, or
kills it at every fail point; or plays so many simulated stories. Checks that nothing acknowledged was
lost and nothing ran twice; prints what was hit, and the bound by the rule of three.

Examples:
  cargo xtask torture --kills 1000
  cargo xtask torture --points execute.
  cargo xtask torture --seeds 100000
  cargo xtask torture --help            all of its options";

const NAMES: &str = "\
cargo xtask names [CRATE…] [--json] [--shrink]

Measures names in product code, without testkit and tests: functions with a one-word name, types with
a one-word name, types whose name is defined three times or more, and the names that are repeated
most. With crates, the figures of those; a name's definitions are counted over the whole tree.

  --json    one line of JSON
  --shrink  first lowers the counts of xtask/src/tidy/repeated_types.txt to those of the code

Examples:
  cargo xtask names
  cargo xtask names tools egress
  cargo xtask names --shrink";

pub(crate) fn about(verb: Option<&str>) -> Result<&'static str> {
    Ok(match verb {
        None => OVERVIEW,
        Some("test") => TEST,
        Some("check") => CHECK,
        Some("ci") => CI,
        Some("tidy") => TIDY,
        Some("web") => WEB,
        Some("dist") => DIST,
        Some("clients") => CLIENTS,
        Some("package") => PACKAGE,
        Some("pictures") => PICTURES,
        Some("bench") => BENCH,
        Some("fuzz") => FUZZ,
        Some("mutants") => MUTANTS,
        Some("torture") => TORTURE,
        Some("names") => NAMES,
        Some(other) => bail!("there is no `{other}`; `cargo xtask --help` lists what there is"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_command_has_help_with_an_example() {
        let listed: Vec<&str> = OVERVIEW
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let verbs = [
            "test", "check", "ci", "tidy", "web", "dist", "pictures", "clients", "package",
            "bench", "torture", "fuzz", "mutants", "names",
        ];
        assert_eq!(listed, verbs);
        for verb in listed {
            let text = about(Some(verb)).expect("help exists");
            assert!(text.contains(&format!("  cargo xtask {verb}")), "{verb}: no example");
        }
    }
}
