//! A copy of the tree to break things in, with a target folder of its own. Both stay between runs,
//! so that only what a mutant touches is built again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::list::Mutant;
use super::markers::MarkerIndex;
use crate::checkout::Checkout;
use crate::job::Job;
use crate::tidy::{self, Files};

pub(super) struct Workshop {
    tree: PathBuf,
    target: PathBuf,
    /// The texts of the sound tree.
    files: Files,
}

impl Workshop {
    pub(super) fn open(here: &Checkout) -> Result<Workshop> {
        // Next to our own binaries: the one place that is sure to be ignored.
        let folder = here.built.parent().unwrap_or(&here.built).join("mutants");
        let files = tidy::read(here)?;
        let workshop = Workshop { tree: folder.join("tree"), target: folder.join("target"), files };
        workshop.mirror(here)?;
        Ok(workshop)
    }

    /// Makes the copy equal to what git tracks, or would track. A file that is right is not touched:
    /// cargo looks at times.
    fn mirror(&self, here: &Checkout) -> Result<()> {
        let tracked: BTreeSet<String> = here.tracked()?.into_iter().collect();
        fs::create_dir_all(&self.tree).with_context(|| self.tree.display().to_string())?;
        for path in &tracked {
            let (from, to) = (here.join(path), self.tree.join(path));
            let wanted = fs::read(&from).with_context(|| path.clone())?;
            if fs::read(&to).is_ok_and(|there| there == wanted) {
                continue;
            }
            let folder = to.parent().context("a file is in a folder")?;
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            // With its permissions: some of our files are programs.
            fs::copy(&from, &to).with_context(|| path.clone())?;
        }
        for path in files_in(&self.tree, "")? {
            if !tracked.contains(&path) {
                fs::remove_file(self.tree.join(&path)).with_context(|| path.clone())?;
            }
        }
        Ok(())
    }

    /// Does something with the tree broken in this way. The tree is whole again afterwards, also if
    /// that fails.
    pub(super) fn with<T>(&self, mutant: &Mutant, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let mutated = MarkerIndex::read(&self.files)
            .mutate(&self.files, mutant)
            .with_context(|| format!("mutant `{}`", mutant.name))?;
        let _mend = Mend { tree: &self.tree, sound: &self.files, paths: mutated.keys().collect() };
        for (path, text) in &mutated {
            fs::write(self.tree.join(path), text).with_context(|| path.clone())?;
        }
        act()
    }

    pub(super) fn cargo(&self) -> Job {
        Job::cargo()
            .within(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .limit_minutes(20)
            .aside()
    }
}

struct Mend<'a> {
    tree: &'a Path,
    sound: &'a Files,
    paths: Vec<&'a String>,
}

impl Drop for Mend<'_> {
    fn drop(&mut self) {
        for path in &self.paths {
            // The next run compares every file with the original, so nothing broken can stay.
            if let Err(error) = fs::write(self.tree.join(path), &self.sound[*path]) {
                eprintln!("xtask: {path} could not be mended: {error}");
            }
        }
    }
}

fn files_in(folder: &Path, prefix: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files.extend(files_in(&entry.path(), &format!("{path}/"))?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}
