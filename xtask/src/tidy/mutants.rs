//! A mutant without its place tests nothing: each marker in the code belongs to a mutant, each mutant
//! has its markers, and no marker stands twice. And a mutant that was never tried proves nothing: the
//! page must say of each what caught it.

use std::collections::BTreeSet;

use super::{Files, Finding};
use crate::mutants;

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    let told = files.get(mutants::PAGE).map(|page| mutants::rows(page)).unwrap_or_default();
    let index = mutants::MarkerIndex::read(files);
    let (mut names, mut markers) = (BTreeSet::new(), BTreeSet::new());
    for (path, text) in files {
        if !(path.starts_with("xtask/mutants/") && path.ends_with(".toml")) {
            continue;
        }
        let listed = match mutants::read(path, text) {
            Ok(listed) => listed,
            Err(error) => {
                findings.push(Finding::in_file(path, format!("{error:#}")));
                continue;
            }
        };
        for mutant in listed {
            if !mutants::is_told(&told, &mutant) {
                let name = &mutant.name;
                let remedy = format!(
                    "mutant `{name}`: {} does not say what caught it; run `cargo xtask mutants --page {name}`",
                    mutants::PAGE
                );
                findings.push(Finding::in_file(path, remedy));
            }
            markers.extend(mutant.changes.iter().map(|change| change.marker(&mutant.name)));
            if let Err(error) = index.mutate(files, &mutant) {
                let remedy = format!("mutant `{}`: {error:#}", mutant.name);
                findings.push(Finding::in_file(path, remedy));
            }
            names.insert(mutant.name);
        }
    }
    for (path, line, problem) in index.broken() {
        findings.push(Finding::at_line(path, *line, problem));
    }
    for (name, place) in index.iter().filter(|(name, _)| !markers.contains(*name)) {
        let remedy = format!("marks lines for `{name}`, which no list in xtask/mutants has");
        findings.push(Finding::at_line(place.path, place.comment, remedy));
    }
    for name in told.keys().filter(|name| !names.contains(**name)) {
        let remedy = format!("there is no mutant `{name}`; take it out");
        findings.push(Finding::in_file(mutants::PAGE, remedy));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    const LIST: &str = "# words\n[[mutant]]\nname = \"a\"\nbreaks = \"x\"\npackage = \"p\"\n\
        target = \"lib\"\ntests = \"t\"\ninstead = \"two\"\n";

    const MARKED: &str = "// mutant: a\none\n";

    const CAUGHT: &str = "| `a` | x | `t` |\n";

    fn checked(code: &str, page: &str) -> String {
        let files = [("xtask/mutants/m.toml", LIST), ("a.rs", code), (mutants::PAGE, page)];
        told(&check(&tree(&files)))
    }

    #[test]
    fn a_mutant_has_exactly_one_marker() {
        assert_eq!(checked(MARKED, CAUGHT), "");
        let twice = checked(&MARKED.repeat(2), CAUGHT);
        assert!(
            twice.contains("mutant `a`: `// mutant: a` stands 2 times: a.rs:1, a.rs:3"),
            "{twice}"
        );
        let none = checked("one\n", CAUGHT);
        assert!(none.contains("mutant `a`: no line is marked `// mutant: a`"), "{none}");
    }

    #[test]
    fn a_marker_has_a_mutant_and_marks_lines_that_fit() {
        let stray = checked(&format!("{MARKED}// mutant: b\nmore\n"), CAUGHT);
        assert!(stray.starts_with("a.rs:3: marks lines for `b`"), "{stray}");
        let cut = checked("// mutant: a\none(\n", CAUGHT);
        assert!(cut.contains("mutant `a`: a.rs:1: `instead` does not open and close"), "{cut}");
        let unended = checked(&format!("{MARKED}// mutant: b begins\nmore\n"), CAUGHT);
        assert!(unended.contains("a.rs:3: `b` begins and does not end"), "{unended}");
    }

    #[test]
    fn the_page_says_of_each_what_caught_it_and_of_no_other() {
        for page in ["", "| `a` | y | `t` |\n", "| `a` | x | **SURVIVED** |\n"] {
            let found = checked(MARKED, page);
            assert!(found.contains("does not say what caught it"), "{page}: {found}");
        }
        let gone = checked(MARKED, &format!("{CAUGHT}| `b` | x | `t` |\n"));
        assert!(gone.contains("there is no mutant `b`"), "{gone}");
    }

    #[test]
    fn a_broken_list_is_named() {
        let broken = told(&check(&tree(&[("xtask/mutants/m.toml", "# words\n[[mutant]]\n")])));
        assert!(broken.contains("`name` is missing"), "{broken}");
    }
}
