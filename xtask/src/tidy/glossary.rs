//! Every code item that the glossary names exists: a reader who looks a word up finds its code.
//!
//! It reads the column *in code* of the tables of `docs/glossary.md`. A path such as
//! `domain::hold::Hold` names a crate, its modules and an item; `Session::requester` names a type of
//! the product and something inside. The forms of ids (`ses_…`) are no items.

use super::{Files, Finding, crates};
use crate::names::{self, Definition, ItemKind};

const GLOSSARY: &str = "docs/glossary.md";
const COLUMN: &str = "in code";

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let Some(page) = files.get(GLOSSARY) else { return Vec::new() };
    let definitions = names::product_definitions(files);
    let mut findings = Vec::new();
    for (number, item) in named_items(page) {
        if let Err(remedy) = find_item(files, &definitions, item) {
            findings.push(Finding::at_line(GLOSSARY, number, format!("`{item}`: {remedy}")));
        }
    }
    findings
}

/// The code spans of the column, with the numbers of their lines.
fn named_items(page: &str) -> Vec<(usize, &str)> {
    let mut items = Vec::new();
    let mut column = None;
    for (line, number) in page.lines().zip(1..) {
        if !line.starts_with('|') {
            column = None;
            continue;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match column {
            None => column = Some(cells.iter().position(|cell| *cell == COLUMN)),
            Some(Some(at)) => {
                let spans =
                    cells.get(at).copied().unwrap_or_default().split('`').skip(1).step_by(2);
                items.extend(spans.filter(|span| !span.ends_with('…')).map(|span| (number, span)));
            }
            Some(None) => {}
        }
    }
    items
}

fn find_item(files: &Files, definitions: &[Definition<'_>], item: &str) -> Result<(), String> {
    let segments: Vec<&str> = item.split("::").collect();
    let is_upper = |segment: &&str| segment.starts_with(|c: char| c.is_ascii_uppercase());
    let (modules, rest) =
        segments.split_at(segments.iter().position(is_upper).unwrap_or(segments.len()));
    let folder = match modules.split_first() {
        None => "crates/".to_owned(),
        Some((name, _)) if !crates(files).contains(name) => {
            return Err(format!("there is no crate `{name}`"));
        }
        Some((name, inner)) => module_folder(files, name, inner)?,
    };
    let Some((type_name, inside)) = rest.split_first() else { return Ok(()) };
    let within =
        if modules.is_empty() { folder.clone() } else { format!("crates/{}/", modules[0]) };
    let defined: Vec<&str> = definitions
        .iter()
        .filter(|found| found.kind == ItemKind::Type && found.name == *type_name)
        .map(|found| found.path)
        .filter(|path| path.starts_with(&within))
        .collect();
    if defined.is_empty() {
        return Err(format!("no type `{type_name}` is defined in {within}"));
    }
    // Defined elsewhere in the crate, a module may still hand it on.
    let is_there = |path: &str| path.starts_with(&folder) || path == format!("{folder}.rs");
    if !defined.iter().any(|path| is_there(path)) && !hands_on(files, &folder, type_name) {
        return Err(format!("`{type_name}` is not in {folder}"));
    }
    for name in inside {
        let type_folders = defined.iter().map(|path| path.trim_end_matches(".rs"));
        let mut type_folders = type_folders.map(|path| path.trim_end_matches("/mod"));
        if !type_folders.any(|folder| mentions(files, folder, name)) {
            return Err(format!("`{type_name}` has no `{name}`"));
        }
    }
    Ok(())
}

/// Where a module's code is, without `.rs`: `crates/domain/src/hold`.
fn module_folder(files: &Files, name: &str, modules: &[&str]) -> Result<String, String> {
    let mut folder = format!("crates/{name}/src");
    for module in modules {
        folder = format!("{folder}/{module}");
        let is_there = files.contains_key(&format!("{folder}.rs"))
            || files.contains_key(&format!("{folder}/mod.rs"));
        if !is_there {
            return Err(format!("there is no module {folder}"));
        }
    }
    Ok(folder)
}

fn hands_on(files: &Files, folder: &str, name: &str) -> bool {
    ["/lib.rs", "/mod.rs", ".rs"]
        .iter()
        .filter_map(|end| files.get(&format!("{folder}{end}")))
        .any(|text| has_word(text, name))
}

/// Whether the word stands in the file of that name or below its folder.
fn mentions(files: &Files, folder: &str, word: &str) -> bool {
    files
        .iter()
        .filter(|(path, _)| {
            path.strip_prefix(folder).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
        .any(|(path, text)| names::is_product(path) && has_word(text, word))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    #[track_caller]
    fn check_item(item: &str, wanted: &str) {
        let page = format!(
            "| word | meaning | in code |\n|---|---|---|\n| **Hold** | `Nonsense` | {item} |\n\n\
             | kind | asks |\n|---|---|\n| x | `Nonsense` |\n"
        );
        let files = tree(&[
            (GLOSSARY, &page),
            ("crates/domain/Cargo.toml", ""),
            ("crates/domain/src/lib.rs", "pub mod hold;\npub mod person;\n"),
            ("crates/domain/src/hold/mod.rs", "mod vote;\npub use vote::Vote;\npub struct Hold;\n"),
            ("crates/domain/src/hold/vote.rs", "pub struct Vote;\n"),
            ("crates/domain/src/person.rs", "pub enum Actor {\n    Program,\n}\n"),
            ("crates/server/Cargo.toml", ""),
            ("crates/server/src/lib.rs", "pub use setup::DoorSetup;\n"),
            ("crates/server/src/setup.rs", "pub struct DoorSetup;\nstruct Person;\n"),
        ]);
        assert_eq!(told(&check(&files)), wanted, "{item}");
    }

    #[test]
    fn items_that_exist_are_fine() {
        for item in [
            "`domain::hold::Hold`, `hold_…`",
            "`domain::hold::Vote`",
            "`domain::person::Actor::Program`",
            "`server::DoorSetup`",
            "`domain::hold`",
            "`domain`",
            "`Actor::Program`",
            "",
        ] {
            check_item(item, "");
        }
    }

    #[test]
    fn items_that_are_gone_are_found() {
        for (item, remedy) in [
            ("hall::Hold", "there is no crate `hall`"),
            ("domain::held::Hold", "there is no module crates/domain/src/held"),
            ("domain::hold::Held", "no type `Held` is defined in crates/domain/"),
            ("domain::hold::Actor", "`Actor` is not in crates/domain/src/hold"),
            ("domain::person::Person", "no type `Person` is defined in crates/domain/"),
            ("domain::person::Actor::Robot", "`Actor` has no `Robot`"),
            ("Holding::open", "no type `Holding` is defined in crates/"),
        ] {
            let wanted = format!("docs/glossary.md:3: `{item}`: {remedy}");
            check_item(&format!("`{item}`"), &wanted);
        }
    }
}
