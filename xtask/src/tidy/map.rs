//! The map in `ARCHITECTURE.md` and the crates agree: a newcomer who trusts it is never misled.
//!
//! The map is the section whose heading has the word *map*; it names each crate as `crates/NAME`, and each trait of
//! `crates/ports` as a code span: whoever writes an adapter finds its socket there.

use std::collections::BTreeSet;

use super::{Files, Finding, crates};

const PAGE: &str = "ARCHITECTURE.md";

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let Some(page) = files.get(PAGE) else {
        return vec![Finding::in_file(PAGE, "is missing: it holds the map of the crates")];
    };
    let Some(map) = section(page) else {
        return vec![Finding::in_file(PAGE, "has no section with the word `map` in its heading")];
    };
    let real = crates(files);
    let drawn = named(&map);
    let missing = real.difference(&drawn).map(|name| format!("the map lacks `crates/{name}`"));
    let gone = named(page).into_iter().filter(|name| !real.contains(name));
    let gone = gone.map(|name| format!("names `crates/{name}`, which is not there"));
    let sockets = ports_traits(files).filter(|name| !map.contains(&format!("`{name}`")));
    let sockets = sockets.map(|name| format!("the map lacks the trait `{name}` of `crates/ports`"));
    missing.chain(gone).chain(sockets).map(|remedy| Finding::in_file(PAGE, remedy)).collect()
}

/// Public traits at the top of a module: one further in seals another.
fn ports_traits(files: &Files) -> impl Iterator<Item = &str> {
    let sources = files.iter().filter(|(path, _)| path.starts_with("crates/ports/src/"));
    let lines = sources.flat_map(|(_, text)| text.lines());
    lines.filter_map(|line| {
        let rest = line.strip_prefix("pub trait ")?;
        rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
    })
}

/// From the heading to the next one of its rank or above.
fn section(page: &str) -> Option<String> {
    let mut lines = page.lines();
    let rank = lines.by_ref().find_map(|line| {
        let words = heading(line)?.1.to_lowercase();
        words.split(|c: char| !c.is_alphanumeric()).any(|word| word == "map").then(|| rank(line))
    })?;
    // A `#` inside a drawing is not a heading.
    let mut drawing = false;
    let section = lines.take_while(|line| {
        drawing ^= line.starts_with("```");
        drawing || heading(line).is_none_or(|(found, _)| found > rank)
    });
    Some(section.collect::<Vec<_>>().join("\n"))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let words = line.trim_start_matches('#').strip_prefix(' ')?;
    line.starts_with('#').then(|| (rank(line), words))
}

fn rank(line: &str) -> usize {
    line.chars().take_while(|c| *c == '#').count()
}

fn named(text: &str) -> BTreeSet<&str> {
    text.match_indices("crates/")
        .map(|(at, prefix)| {
            let rest = &text[at + prefix.len()..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            &rest[..end.unwrap_or(rest.len())]
        })
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    #[track_caller]
    fn check_page(page: &str, wanted: &str) {
        let files = tree(&[
            (PAGE, page),
            ("crates/domain/Cargo.toml", ""),
            ("crates/ports/Cargo.toml", ""),
        ]);
        assert_eq!(told(&check(&files)), wanted, "{page}");
    }

    #[test]
    fn the_map_names_every_crate_and_no_other() {
        let good = "# Architecture\n## The map\n| `crates/domain` |\n### More\n`crates/ports/`\n";
        check_page(good, "");
        check_page(
            "## Map\n`crates/domain`, `crates/mcp`\n",
            "ARCHITECTURE.md: the map lacks `crates/ports`\n\
             ARCHITECTURE.md: names `crates/mcp`, which is not there",
        );
    }

    #[test]
    fn a_crate_outside_the_map_is_not_on_it() {
        check_page(
            "## Map\ncrates/domain\n```\n# not a heading\n```\n## The walk\ncrates/ports\n",
            "ARCHITECTURE.md: the map lacks `crates/ports`",
        );
        check_page("## Map\n```\n# drawn\ncrates/domain\n```\ncrates/ports\n## Walk\n", "");
    }

    #[test]
    fn the_map_names_every_trait_of_ports() {
        let store = "pub trait Store: Send {\n    mod sealed {\n        pub trait Inner {}\n}\ntrait Own {}\n";
        let check_traits = |page: &str, wanted: &str| {
            let files = tree(&[
                (PAGE, page),
                ("crates/ports/Cargo.toml", ""),
                ("crates/ports/src/store.rs", store),
                ("crates/ports/src/push.rs", "pub trait Pusher<T> {}\n"),
                ("crates/ports/tests/store.rs", "pub trait Fake {}\n"),
            ]);
            assert_eq!(told(&check(&files)), wanted, "{page}");
        };
        check_traits("## Map\n`crates/ports`: `Pusher` and `Store`\n", "");
        check_traits(
            "## Map\n`crates/ports`: `Store`, Pusher\n## Walk\n`Pusher`\n",
            "ARCHITECTURE.md: the map lacks the trait `Pusher` of `crates/ports`",
        );
    }

    #[test]
    fn a_page_without_a_map_is_told_so() {
        let none = "ARCHITECTURE.md: has no section with the word `map` in its heading";
        check_page("# Mapping things\ncrates/domain crates/ports", none);
        let missing = "ARCHITECTURE.md: is missing: it holds the map of the crates";
        assert_eq!(told(&check(&tree(&[]))), missing);
    }
}
