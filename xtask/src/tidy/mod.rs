//! `cargo xtask tidy`: rules of this project that no compiler knows. Each is a pure function of text,
//! with its tests at the end of its file.
//!
//! The rules read what git tracks, and what it would track, so that a new file is judged before it
//! is added and a build directory never is.

mod arrows;
mod doc_paths;
mod failpoints;
mod glossary;
mod map;
mod mutants;
mod past_engine;
mod size;
mod text;
mod type_names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use anyhow::{Context, Result};

pub(crate) use type_names::{REPEATED_TYPES, shrink_repeated_types};

use crate::checkout::Checkout;

/// What a rule has to say: where, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: Option<usize>,
    remedy: String,
}

impl Finding {
    fn in_file(path: &str, remedy: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line: None, remedy: remedy.into() }
    }

    fn at_line(path: &str, line: usize, remedy: impl Into<String>) -> Self {
        Finding { line: Some(line), ..Finding::in_file(path, remedy) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.remedy),
            None => write!(f, "{}: {}", self.path, self.remedy),
        }
    }
}

/// The text files of the checkout, by path from the root.
pub(crate) type Files = BTreeMap<String, String>;

pub(crate) fn run(here: &Checkout) -> Result<bool> {
    let files = read(here)?;
    let findings = judge(&files);
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} files read, {} to mend", files.len(), findings.len());
    Ok(findings.is_empty())
}

fn judge(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files {
        findings.extend(text::check(path, text));
        findings.extend(size::check(path, text));
    }
    findings.extend(map::check(files));
    findings.extend(arrows::check(files));
    findings.extend(mutants::check(files));
    findings.extend(failpoints::check(files));
    findings.extend(past_engine::check(files));
    findings.extend(type_names::check(files));
    findings.extend(glossary::check(files));
    findings.extend(doc_paths::check(files));
    findings.sort();
    findings
}

/// The names of the folders in `crates/`.
pub(crate) fn crates(files: &Files) -> BTreeSet<&str> {
    files
        .keys()
        .filter_map(|path| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
        .filter(|name| !name.contains('/'))
        .collect()
}

pub(crate) fn read(here: &Checkout) -> Result<Files> {
    let mut files = Files::new();
    for path in here.tracked()? {
        let bytes = fs::read(here.join(&path)).with_context(|| path.clone())?;
        if !bytes.contains(&0) {
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(files)
}

#[cfg(test)]
fn told(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
fn tree(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_all_rules_come_together_in_order() {
        let manifest = "[dependencies]\ndomain.workspace = true\n";
        let files = tree(&[
            ("ARCHITECTURE.md", "## The map\ncrates/domain\n"),
            ("crates/domain/Cargo.toml", manifest),
            ("crates/domain/src/lib.rs", concat!("fn later() { to", "do!() }\n")),
        ]);
        assert_eq!(
            told(&judge(&files)),
            "crates/domain/Cargo.toml: `domain` may not depend on `domain`; it may on nothing\n\
             crates/domain/src/lib.rs:1: unfinished: write it, or leave it out"
        );
    }

    #[test]
    fn a_crate_is_a_folder_directly_in_crates() {
        let files = tree(&[
            ("crates/domain/Cargo.toml", ""),
            ("crates/testkit/tests/ui/Cargo.toml", ""),
            ("xtask/Cargo.toml", ""),
        ]);
        assert_eq!(crates(&files).into_iter().collect::<Vec<_>>(), ["domain"]);
    }
}
