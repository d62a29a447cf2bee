//! A mutant whose place has moved tests nothing: each must still fit the code, exactly once. And one
//! that was never tried proves nothing: the page must say of each what caught it.

use std::collections::BTreeSet;

use super::{Files, Finding};
use crate::mutants;

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    let told = files.get(mutants::PAGE).map(|page| mutants::rows(page)).unwrap_or_default();
    let mut names = BTreeSet::new();
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
            names.insert(mutant.name.clone());
            // Edits of one file are made one after another, as they are when it is tried.
            let mut edited = Files::new();
            for edit in &mutant.edits {
                let text = edited.get(&edit.file).or_else(|| files.get(&edit.file));
                let applied = match text {
                    Some(text) => edit.apply(text),
                    None => Err(anyhow::anyhow!("{} is not there", edit.file)),
                };
                match applied {
                    Ok(text) => drop(edited.insert(edit.file.clone(), text)),
                    Err(error) => {
                        let remedy = format!("mutant `{}` fits no more: {error}", mutant.name);
                        findings.push(Finding::in_file(path, remedy));
                    }
                }
            }
        }
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
        target = \"lib\"\ntests = \"t\"\n[[mutant.edit]]\nfile = \"a.rs\"\nfind = \"one\"\n\
        replace = \"two\"\n[[mutant.edit]]\nfile = \"a.rs\"\nfind = \"two\"\nreplace = \"three\"\n";

    const CAUGHT: &str = "| `a` | x | `t` |\n";

    fn checked(code: &str, page: &str) -> String {
        let files = [("xtask/mutants/m.toml", LIST), ("a.rs", code), (mutants::PAGE, page)];
        told(&check(&tree(&files)))
    }

    #[test]
    fn a_mutant_must_fit_exactly_once() {
        let found = |code: &str| checked(code, CAUGHT);
        assert_eq!(found("one"), "", "the second edit finds what the first has made");
        let often = found("one one");
        assert!(often.contains("mutant `a` fits no more: a.rs: the text to find stands 2 times"));
        assert!(found("nil").contains("stands 0 times"));
    }

    #[test]
    fn the_page_says_of_each_what_caught_it_and_of_no_other() {
        for page in ["", "| `a` | y | `t` |\n", "| `a` | x | **SURVIVED** |\n"] {
            let found = checked("one", page);
            assert!(found.contains("does not say what caught it"), "{page}: {found}");
        }
        let gone = checked("one", &format!("{CAUGHT}| `b` | x | `t` |\n"));
        assert!(gone.contains("there is no mutant `b`"), "{gone}");
    }

    #[test]
    fn a_missing_file_and_a_broken_list_are_named() {
        let lost = told(&check(&tree(&[("xtask/mutants/m.toml", LIST)])));
        assert!(lost.contains("a.rs is not there"), "{lost}");
        let broken = told(&check(&tree(&[("xtask/mutants/m.toml", "# words\n[[mutant]]\n")])));
        assert!(broken.contains("`name` is missing"), "{broken}");
    }
}
