//! The page of the documentation that says what caught each mutant when it was last tried.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};

use super::list::Mutant;
use super::trial::Verdict;
use crate::checkout::Checkout;

pub(crate) const PAGE: &str = "docs/proof/mutants.md";
const BEGIN: &str = "<!-- what caught them: written by `cargo xtask mutants --page` -->";
const END: &str = "<!-- end of what caught them -->";

/// What the page says of each mutant, by its name: the promise, and what caught it.
pub(crate) fn rows(page: &str) -> BTreeMap<&str, (&str, &str)> {
    page.lines()
        .filter_map(|line| {
            let cells = line.strip_prefix("| `")?.strip_suffix(" |")?;
            let (name, rest) = cells.split_once("` | ")?;
            let (breaks, by) = rest.rsplit_once(" | ")?;
            Some((name, (breaks, by)))
        })
        .collect()
}

/// Whether the page says what caught this mutant, with the promise that it breaks now.
pub(crate) fn is_told(rows: &BTreeMap<&str, (&str, &str)>, mutant: &Mutant) -> bool {
    let told = rows.get(mutant.name.as_str());
    told.is_some_and(|(breaks, by)| *breaks == mutant.breaks && by.starts_with('`'))
}

/// Puts new verdicts in the place of older ones, and leaves the rest as it was.
pub(super) fn write(here: &Checkout, all: &[Mutant], tried: &[(String, Verdict)]) -> Result<()> {
    let path = here.join(PAGE);
    let page = fs::read_to_string(&path).context(PAGE)?;
    fs::write(&path, written(&page, all, tried)?).context(PAGE)
}

fn written(page: &str, all: &[Mutant], tried: &[(String, Verdict)]) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).context("the page has no place for verdicts")?;
    let (_, after) = rest.split_once(END).context("the page has no end of verdicts")?;
    let old = rows(page);
    let mut text = String::new();
    let mut group = "";
    for mutant in all {
        let new = tried.iter().find(|(name, _)| *name == mutant.name);
        let by = match (new, old.get(mutant.name.as_str())) {
            (Some((_, verdict)), _) => cell(verdict),
            (None, Some((breaks, by))) if *breaks == mutant.breaks => (*by).to_owned(),
            // A mutant that breaks another promise than when it was tried was not tried.
            (None, _) => continue,
        };
        if mutant.group != group {
            group = &mutant.group;
            write!(
                text,
                "## {group}\n\n| mutant | the promise it breaks | caught by |\n|---|---|---|\n"
            )?;
        }
        writeln!(text, "| `{}` | {} | {by} |", mutant.name, mutant.breaks)?;
    }
    // A heading has an empty line before it.
    let text = text.replace("\n## ", "\n\n## ");
    Ok(format!("{before}{BEGIN}\n\n{text}\n{END}{after}"))
}

fn cell(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Caught(by) => {
            let first = by.first().map(String::as_str).unwrap_or_default();
            match by.len() {
                0 => "**failed without naming a test**".to_owned(),
                1 => format!("`{first}`"),
                more => format!("`{first}` and {} more", more - 1),
            }
        }
        other => format!("**{other}**"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(group: &str, name: &str) -> Mutant {
        let (group, name) = (group.to_owned(), name.to_owned());
        Mutant { group, name, breaks: "I-1: nothing runs".into(), ..Mutant::default() }
    }

    #[test]
    fn new_verdicts_go_where_older_ones_were() {
        let page = format!("words\n\n{BEGIN}\nold\n{END}\n\nmore\n");
        let all = [mutant("One", "a"), mutant("One", "b"), mutant("Two", "c")];
        let caught = |by: &[&str]| Verdict::Caught(by.iter().map(|&by| by.to_owned()).collect());
        let first = [("a".to_owned(), caught(&["x", "y"])), ("c".to_owned(), Verdict::Survived)];
        let page = written(&page, &all, &first).expect("there is a place");
        assert!(page.starts_with("words\n") && page.ends_with("\nmore\n"), "{page}");
        assert_eq!(rows(&page)["a"], ("I-1: nothing runs", "`x` and 1 more"));
        assert_eq!(rows(&page)["c"].1, "**SURVIVED**");
        assert!(!rows(&page).contains_key("b") && !page.contains("old"), "{page}");
        let page = written(&page, &all, &[("c".to_owned(), caught(&["z"]))]).expect("again");
        assert_eq!(rows(&page)["a"].1, "`x` and 1 more", "what was not tried stays");
        assert_eq!(rows(&page)["c"].1, "`z`");
        assert_eq!(page.matches("## ").count(), 2, "{page}");
        assert!(is_told(&rows(&page), &all[0]) && !is_told(&rows(&page), &all[1]));
        let changed = [Mutant { breaks: "I-2: another".into(), ..all[0].clone() }, all[2].clone()];
        let page = written(&page, &changed, &[]).expect("again");
        assert_eq!(rows(&page).into_keys().collect::<Vec<_>>(), ["c"], "it was not tried so");
        assert!(written("no marks", &all, &[]).is_err());
    }
}
