//! A type's name is defined at most twice in product code: a search for a name that is defined more
//! often finds several things.
//!
//! The tree is not there yet. `repeated_types.txt` lists the names that are defined more often, with
//! their counts, and may only shrink: a name above its count is a finding, and so is a count that the
//! code no longer needs. `cargo xtask names --shrink` lowers the counts and never raises one.
//!
//! Associated types are left out: their traits chose those names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};

use super::{Files, Finding};
use crate::names::{self, Definition, ItemKind};

/// The list of exceptions.
pub(crate) const REPEATED_TYPES: &str = "xtask/src/tidy/repeated_types.txt";

const DEFINITIONS_MAX: usize = 2;

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let listed = match listed_counts(files) {
        Ok(listed) => listed,
        Err(error) => return vec![Finding::in_file(REPEATED_TYPES, format!("{error:#}"))],
    };
    let defined = defined_types(files);
    let mut findings = Vec::new();
    for (name, places) in &defined {
        let most = listed.get(name).copied().unwrap_or(DEFINITIONS_MAX);
        if places.len() > most {
            let last = places[places.len() - 1];
            let remedy = format!(
                "type `{name}` is defined {} times, at most {most} are allowed: give it its subject",
                places.len()
            );
            findings.push(Finding::at_line(last.path, last.line, remedy));
        }
    }
    for (name, most) in listed {
        let count = defined.get(name).map_or(0, Vec::len);
        if count < most {
            let remedy = format!(
                "`{name}` is defined {count} times and not {most}: run `cargo xtask names --shrink`"
            );
            findings.push(Finding::in_file(REPEATED_TYPES, remedy));
        }
    }
    findings
}

/// The text of the list with each count lowered to what the code needs. It adds no name and raises
/// no count.
pub(crate) fn shrink_repeated_types(files: &Files) -> Result<String> {
    let defined = defined_types(files);
    let mut out: String = list_text(files)
        .lines()
        .filter(|line| line.starts_with('#'))
        .flat_map(|line| [line, "\n"])
        .collect();
    for (name, most) in listed_counts(files)? {
        let count = defined.get(name).map_or(0, Vec::len).min(most);
        if count > DEFINITIONS_MAX {
            let _ = writeln!(out, "{name} {count}");
        }
    }
    Ok(out)
}

fn list_text(files: &Files) -> &str {
    files.get(REPEATED_TYPES).map(String::as_str).unwrap_or_default()
}

/// The list: `Name count` on each line, in the order of the alphabet.
fn listed_counts(files: &Files) -> Result<BTreeMap<&str, usize>> {
    let mut counts = BTreeMap::new();
    let mut before = "";
    let lines = list_text(files).lines().zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.starts_with('#')) {
        let at = || format!("line {number} is not `Name count`");
        let (name, count) = line.split_once(' ').with_context(at)?;
        let count: usize = count.parse().ok().with_context(at)?;
        ensure!(before < name, "line {number}: `{name}` stands out of order or twice");
        ensure!(
            count > DEFINITIONS_MAX,
            "line {number}: {DEFINITIONS_MAX} definitions need no exception"
        );
        counts.insert(name, count);
        before = name;
    }
    Ok(counts)
}

fn defined_types(files: &Files) -> BTreeMap<&str, Vec<Definition<'_>>> {
    let mut defined = BTreeMap::<&str, Vec<Definition<'_>>>::new();
    for definition in names::product_definitions(files) {
        if definition.kind == ItemKind::Type {
            defined.entry(definition.name).or_default().push(definition);
        }
    }
    defined
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    /// A tree in which `Kind` is defined so many times.
    fn files(kinds: usize, list: &str) -> Files {
        let mut files = tree(&[(REPEATED_TYPES, list)]);
        for at in 0..kinds {
            files.insert(format!("crates/a/src/m{at}.rs"), "\nenum Kind {}\n".to_owned());
        }
        files
    }

    #[test]
    fn a_third_definition_is_found() {
        assert_eq!(told(&check(&files(2, ""))), "");
        let found = "crates/a/src/m2.rs:2: type `Kind` is defined 3 times, at most 2 are allowed: \
                     give it its subject";
        assert_eq!(told(&check(&files(3, ""))), found);
    }

    #[test]
    fn the_list_admits_so_many_and_no_more() {
        assert_eq!(told(&check(&files(4, "# why\nKind 4\n"))), "");
        let more = told(&check(&files(5, "Kind 4\n")));
        assert!(more.contains("defined 5 times, at most 4 are allowed"), "{more}");
    }

    #[test]
    fn a_count_that_is_too_high_is_found() {
        for (kinds, list) in [(3, "Kind 4\n"), (2, "Kind 3\n"), (0, "Kind 3\n")] {
            let found = told(&check(&files(kinds, list)));
            assert!(found.contains("run `cargo xtask names --shrink`"), "{kinds}, {list}: {found}");
        }
    }

    #[test]
    fn shrinking_lowers_and_never_raises() {
        let shrunk = |kinds, list| shrink_repeated_types(&files(kinds, list)).expect("sound");
        assert_eq!(shrunk(3, "# why\nKind 5\nLine 4\n"), "# why\nKind 3\n");
        assert_eq!(shrunk(2, "# why\nKind 5\n"), "# why\n");
        assert_eq!(shrunk(6, "# why\nKind 5\n"), "# why\nKind 5\n");
        assert_eq!(shrunk(6, "# why\n"), "# why\n");
    }

    #[test]
    fn a_list_that_is_half_written_is_found() {
        for list in ["Kind\n", "Kind many\n", "Kind 2\n", "Kind 3\nBody 3\n", "Kind 3\nKind 3\n"] {
            let found = told(&check(&files(3, list)));
            assert!(found.starts_with(REPEATED_TYPES), "{list}: {found}");
        }
    }

    #[test]
    fn associated_types_and_tests_do_not_count() {
        let mut files = files(2, "");
        files.insert(
            "crates/b/src/lib.rs".into(),
            "impl T for X {\n    type Kind = u8;\n}\n".into(),
        );
        files.insert("crates/b/tests/all.rs".into(), "enum Kind {}\n".into());
        assert_eq!(told(&check(&files)), "");
    }
}
