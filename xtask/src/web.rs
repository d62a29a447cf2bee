//! The web page: its types, its build, and the proof that `web/dist` is what `web/` builds.
//!
//! The built files are committed, because building the server must not need Node.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::job::Job;
use crate::setup;
use crate::tally::Tally;

/// `cargo xtask web`: builds, and replaces what is committed.
pub(crate) fn refresh(here: &Checkout) -> Result<bool> {
    setup::web_packages(here)?;
    if !types(here)? {
        return Ok(false);
    }
    let fresh = build(here)?;
    let dist = here.join("web/dist");
    let notes = differences(&read_tree(&dist)?, &read_tree(&fresh)?);
    if dist.exists() {
        fs::remove_dir_all(&dist).context("web/dist cannot be replaced")?;
    }
    copy_tree(&fresh, &dist)?;
    match notes.as_slice() {
        [] => println!("web/dist is as it was"),
        notes => notes.iter().for_each(|note| println!("refreshed web/dist/{note}")),
    }
    Ok(true)
}

/// The `web` part of the tests: two checks, so that both are seen when both fail.
pub(crate) fn verify(here: &Checkout) -> Result<Tally> {
    setup::web_packages(here)?;
    let mut tally = Tally::of_step(types(here)?);
    let fresh = build(here)?;
    let notes = differences(&read_tree(&here.join("web/dist"))?, &read_tree(&fresh)?);
    for note in &notes {
        eprintln!("refreshed web/dist/{note}");
    }
    if !notes.is_empty() {
        eprintln!("web/dist is not what web/ builds; run `cargo xtask web` and commit it");
    }
    tally += Tally::of_step(notes.is_empty());
    Ok(tally)
}

fn types(here: &Checkout) -> Result<bool> {
    Ok(npm_run(here).args(["check"]).run()?.success)
}

/// Builds beside `web/dist` and never into it: a failed build must not leave half a page behind.
fn build(here: &Checkout) -> Result<PathBuf> {
    let fresh = here.tools().join("web-dist");
    let built =
        npm_run(here).args(["build", "--", "--emptyOutDir", "--outDir"]).args([&fresh]).run()?;
    ensure!(built.success, "the web page does not build; see above");
    Ok(fresh)
}

fn npm_run(here: &Checkout) -> Job {
    Job::new("npm").args(["run", "--silent"]).within(here.join("web"))
}

type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// A directory that is not there is an empty one.
fn read_tree(dir: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(at) = open.pop().filter(|at| at.exists()) {
        for entry in fs::read_dir(&at).with_context(|| at.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
                tree.insert(path.strip_prefix(dir)?.to_path_buf(), bytes);
            }
        }
    }
    Ok(tree)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    for (path, bytes) in read_tree(from)? {
        let path = to.join(path);
        fs::create_dir_all(path.parent().context("a file has a directory")?)?;
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn differences(committed: &Tree, fresh: &Tree) -> Vec<String> {
    let mut notes = Vec::new();
    for (path, bytes) in fresh {
        match committed.get(path) {
            None => notes.push(format!("{}: missing", path.display())),
            Some(old) if old != bytes => notes.push(format!("{}: differs", path.display())),
            Some(_) => {}
        }
    }
    let stale = committed.keys().filter(|path| !fresh.contains_key(*path));
    notes.extend(stale.map(|path| format!("{}: no longer built", path.display())));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let committed = tree(&[("index.html", "a"), ("app.js", "1"), ("old.js", "")]);
        let fresh = tree(&[("index.html", "a"), ("app.js", "2"), ("new.js", "")]);
        assert_eq!(
            differences(&committed, &fresh),
            ["app.js: differs", "new.js: missing", "old.js: no longer built"]
        );
        assert!(differences(&fresh, &fresh).is_empty());
    }
}
