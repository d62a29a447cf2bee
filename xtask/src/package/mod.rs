//! `cargo xtask package`: what people install. A tarball for any Linux, a Debian package, a container image,
//! an SBOM, and the checksums of them all, in `target/package`.
//!
//! Each step can be run alone. The tarball and the Debian package share one program, linked against an old
//! glibc by zig; the image has another one, which is static, since there is no libc in it. Times in the files are
//! those of the last commit, so that the same source gives the same bytes.

mod archive;
mod image;
mod program;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::checkout::Checkout;
use crate::job::Job;

/// One step, in the order in which all of them run.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Bench<'_>) -> Result<()>,
}

const STEPS: [Step; 6] = [
    Step {
        name: "tarball",
        about: "the program for any Linux, with man pages",
        run: archive::tarball,
    },
    Step { name: "deb", about: "the Debian package", run: archive::deb },
    Step { name: "image", about: "the container image, with a static program", run: image::build },
    Step {
        name: "image-check",
        about: "the image, run and asked for its health",
        run: image::check,
    },
    Step { name: "sbom", about: "the list of what is inside (CycloneDX)", run: archive::sbom },
    Step { name: "sums", about: "SHA256SUMS of everything there", run: archive::sums },
];

/// Where things are made, and how.
struct Bench<'a> {
    here: &'a Checkout,
    version: String,
    /// `packaged`, or `dev` for trying the steps out.
    profile: String,
    /// The time of the last commit, in seconds.
    epoch: String,
}

impl Bench<'_> {
    fn target(&self) -> Result<PathBuf> {
        Ok(self.here.built.parent().context("no target directory")?.to_path_buf())
    }

    /// The folder with everything that was made.
    fn out(&self) -> Result<PathBuf> {
        let out = self.target()?.join("package");
        fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
        Ok(out)
    }

    /// An empty folder of this name, for what only a step needs.
    fn scratch(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target()?.join("package-parts").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// A job whose output has the time of the last commit in it, and none of today.
    fn job(&self, program: &str) -> Job {
        Job::new(program).env("SOURCE_DATE_EPOCH", &self.epoch).within(&self.here.root).aside()
    }

    fn done(&self, job: Job, what: &str) -> Result<()> {
        ensure!(job.run()?.success, "{what} failed; see above");
        Ok(())
    }
}

pub(crate) fn run(here: &Checkout, args: &[String]) -> Result<bool> {
    let options = Options::parse(args)?;
    if options.list {
        print!("{}", listing());
        return Ok(true);
    }
    let bench = Bench {
        here,
        version: version(here)?,
        profile: options.profile,
        epoch: said(Job::new("git").args(["log", "-1", "--format=%ct"]).within(&here.root))?,
    };
    for step in options.steps {
        eprintln!("--- {}: {}", step.name, step.about);
        (step.run)(&bench).with_context(|| format!("step `{}`", step.name))?;
    }
    println!("{}", bench.out()?.display());
    Ok(true)
}

struct Options {
    steps: Vec<Step>,
    profile: String,
    list: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options> {
        let mut options = Options { steps: Vec::new(), profile: "packaged".into(), list: false };
        let mut args = args.iter().map(String::as_str).peekable();
        while let Some(word) = args.next() {
            match word {
                "--list" => options.list = true,
                "--debug" => options.profile = "dev".into(),
                "--only" => {
                    let before = options.steps.len();
                    while let Some(name) = args.next_if(|word| !word.starts_with('-')) {
                        let step = STEPS.iter().find(|step| step.name == name);
                        options.steps.push(*step.with_context(|| {
                            format!(
                                "there is no step `{name}`; `cargo xtask package --list` names them"
                            )
                        })?);
                    }
                    ensure!(options.steps.len() > before, "`--only` needs the name of a step");
                }
                other => bail!("`package` takes no `{other}`; see `cargo xtask package --help`"),
            }
        }
        if options.steps.is_empty() {
            options.steps = STEPS.to_vec();
        }
        Ok(options)
    }
}

fn listing() -> String {
    STEPS.iter().fold(String::new(), |mut text, step| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<12}{}", step.name, step.about);
        text
    })
}

fn version(here: &Checkout) -> Result<String> {
    let manifest = fs::read_to_string(here.join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|rest| rest.split('"').next());
    Ok(version.context("Cargo.toml has no version")?.to_owned())
}

/// What a program says in one line.
fn said(job: Job) -> Result<String> {
    let finished = job.keep(|_| true).quiet().run()?;
    ensure!(finished.success, "{}", finished.kept.join("\n"));
    Ok(finished.kept.join("\n").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name() {
        let names = |line: &str| -> Result<String> {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let options = Options::parse(&args)?;
            let names: Vec<&str> = options.steps.iter().map(|step| step.name).collect();
            Ok(format!("{} {}", options.profile, names.join(" ")))
        };
        assert_eq!(names("").unwrap(), "packaged tarball deb image image-check sbom sums");
        assert_eq!(names("--only deb sums --debug").unwrap(), "dev deb sums");
        assert!(names("--only rpm").unwrap_err().to_string().contains("no step `rpm`"));
        assert!(names("--only").is_err() && names("--fast").is_err());
    }
}
