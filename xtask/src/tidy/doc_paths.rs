//! A path that a page names exists: a reader who follows it finds the file.
//!
//! It looks at code spans of the pages for readers. A span is a path when its first part is a folder
//! of the root (`crates/domain/src/call.rs`), or a crate (`engine/submit.rs`, from its `src` or from
//! the crate's root), or `…` for the folder of the crates (`…/domain/src/call.rs`). The changelog is
//! left out: it tells of trees as they were.

use super::{Files, Finding, crates};

/// Folders of the root whose names begin a path.
const ROOTS: [&str; 6] = ["crates", "docs", "fuzz", "ops", "web", "xtask"];

/// Spans that look like a path in a crate and are something else.
const NOT_PATHS: [&str; 3] = [
    // Methods of MCP.
    "tools/call",
    "tools/list",
    // In a person's configuration folder.
    "holdpoint/tokens.json",
];

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (page, text) in files.iter().filter(|(path, _)| is_page(path)) {
        let mut drawing = false;
        for (line, number) in text.lines().zip(1..) {
            drawing ^= line.trim_start().starts_with("```");
            if drawing {
                continue;
            }
            for span in line.split('`').skip(1).step_by(2) {
                if !exists(files, span) {
                    let remedy = format!("names `{span}`, which is not there");
                    findings.push(Finding::at_line(page, number, remedy));
                }
            }
        }
    }
    findings
}

fn is_page(path: &str) -> bool {
    let at_root = !path.contains('/') && path != "CHANGELOG.md";
    path.ends_with(".md") && (at_root || path.starts_with("docs/"))
}

/// Whether what the span names is there. A span that is no path is nowhere, and no mistake.
fn exists(files: &Files, span: &str) -> bool {
    let path = span.trim_end_matches('/');
    if let Some(rest) = path.strip_prefix("…/") {
        return is_there(files, &format!("crates/{rest}"));
    }
    let is_path = path.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let Some((first, rest)) = path.split_once('/').filter(|_| is_path) else { return true };
    if NOT_PATHS.contains(&path) {
        return true;
    }
    if ROOTS.contains(&first) {
        return is_there(files, path);
    }
    if crates(files).contains(first) {
        return is_there(files, &format!("crates/{first}/src/{rest}"))
            || is_there(files, &format!("crates/{first}/{rest}"));
    }
    true
}

/// A file, or a folder with files; a module may be named without `.rs`.
fn is_there(files: &Files, path: &str) -> bool {
    files.contains_key(path)
        || files.contains_key(&format!("{path}.rs"))
        || files
            .range(format!("{path}/")..)
            .next()
            .is_some_and(|(next, _)| next.starts_with(&format!("{path}/")))
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    fn found(page: &str, text: &str) -> String {
        let files = tree(&[
            (page, text),
            ("crates/engine/Cargo.toml", ""),
            ("crates/engine/src/submit.rs", ""),
            ("crates/engine/src/effects/think.rs", ""),
            ("crates/engine/tests/late.rs", ""),
            ("web/src/page.ts", ""),
        ]);
        told(&check(&files))
    }

    #[test]
    fn paths_that_exist_are_fine() {
        for span in [
            "crates/engine",
            "crates/engine/src/submit.rs",
            "crates/engine/",
            "engine/submit.rs",
            "engine/submit",
            "engine/effects",
            "engine/effects/think.rs",
            "engine/tests/late.rs",
            "…/engine/tests/late.rs",
            "web/src",
        ] {
            assert_eq!(found("docs/guide.md", &format!("see `{span}`.\n")), "", "{span}");
        }
    }

    #[test]
    fn paths_that_are_gone_are_found() {
        for span in [
            "crates/engine/src/gone.rs",
            "crates/eng",
            "engine/gone.rs",
            "engine/effect",
            "…/engine/src/gone.rs",
            "web/src/gone.ts",
        ] {
            let wanted = format!("ARCHITECTURE.md:2: names `{span}`, which is not there");
            assert_eq!(found("ARCHITECTURE.md", &format!("\na `b` and `{span}`\n")), wanted);
        }
    }

    #[test]
    fn spans_that_are_no_paths_are_left_alone() {
        for span in ["POST /v1/holds", "application/json", "tools/list", "engine", "a/b/c"] {
            assert_eq!(found("docs/guide.md", &format!("`{span}`\n")), "", "{span}");
        }
        assert_eq!(found("docs/guide.md", "```sh\necho `crates/gone`\n```\n"), "");
        assert_eq!(found("CHANGELOG.md", "`crates/gone`\n"), "");
        assert_eq!(found("crates/engine/notes.md", "`crates/gone`\n"), "");
    }
}
