//! A mutant whose place has moved tests nothing: each must still fit the code, exactly once.

use super::{Files, Finding};
use crate::mutants;

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
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
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    const LIST: &str = "[[mutant]]\nname = \"a\"\nbreaks = \"x\"\npackage = \"p\"\n\
        target = \"lib\"\ntests = \"t\"\n[[mutant.edit]]\nfile = \"a.rs\"\nfind = \"one\"\n\
        replace = \"two\"\n[[mutant.edit]]\nfile = \"a.rs\"\nfind = \"two\"\nreplace = \"three\"\n";

    #[test]
    fn a_mutant_must_fit_exactly_once() {
        let found =
            |code: &str| told(&check(&tree(&[("xtask/mutants/m.toml", LIST), ("a.rs", code)])));
        assert_eq!(found("one"), "", "the second edit finds what the first has made");
        let often = found("one one");
        assert!(often.contains("mutant `a` fits no more: a.rs: the text to find stands 2 times"));
        assert!(found("nil").contains("stands 0 times"));
    }

    #[test]
    fn a_missing_file_and_a_broken_list_are_named() {
        let lost = told(&check(&tree(&[("xtask/mutants/m.toml", LIST)])));
        assert!(lost.contains("a.rs is not there"), "{lost}");
        let broken = told(&check(&tree(&[("xtask/mutants/m.toml", "[[mutant]]\n")])));
        assert!(broken.contains("`name` is missing"), "{broken}");
    }
}
