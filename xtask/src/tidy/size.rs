//! A file that asks for scrolling hides a noun that wants its own room.

use super::Finding;

const LINES_MAX: usize = 600;

/// A component of the page: its markup is deep, and is read beside its picture (docs/decisions/0022-the-page.md).
const COMPONENT_LINES_MAX: usize = 250;

/// What people write and read. Data, snapshots and lock files have no readers to tire.
const WRITTEN: [&str; 11] =
    [".rs", ".ts", ".tsx", ".mjs", ".js", ".css", ".html", ".md", ".sql", ".sh", ".toml"];

/// A reference in which people search, and copy from: every key stands in it once.
const REFERENCE: &str = "holdpoint.example.toml";

pub(super) fn check(path: &str, text: &str) -> Option<Finding> {
    let written = path != REFERENCE && WRITTEN.iter().any(|end| path.ends_with(end));
    let generated = path.starts_with("web/dist/") || says_generated(text);
    let lines = text.lines().count();
    let (max, remedy) = if path.starts_with("web/src/") && path.ends_with(".tsx") {
        (COMPONENT_LINES_MAX, "find the part in it that wants its own component")
    } else {
        (LINES_MAX, "find the noun in it that wants its own file")
    };
    (written && !generated && lines > max)
        .then(|| Finding::in_file(path, format!("{lines} lines; {remedy}")))
}

/// The mark that tools put at the top of what they write.
fn says_generated(text: &str) -> bool {
    text.lines().take(5).any(|line| line.contains("@generated"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_files_for_readers_are_found() {
        let long = "line\n".repeat(LINES_MAX + 1);
        let just = "line\n".repeat(LINES_MAX);
        assert_eq!(
            check("crates/domain/src/call.rs", &long).expect("too long").to_string(),
            "crates/domain/src/call.rs: 601 lines; find the noun in it that wants its own file"
        );
        assert_eq!(check("crates/domain/src/call.rs", &just), None);
        for exempt in
            [REFERENCE, "Cargo.lock", "web/package-lock.json", "web/dist/app.js", "a/golden.jsonl"]
        {
            assert_eq!(check(exempt, &long), None, "{exempt}");
        }
        assert_eq!(check("src/wire.ts", &format!("// @generated\n{long}")), None);
    }

    #[test]
    fn a_component_of_the_page_is_shorter() {
        let long = "line\n".repeat(COMPONENT_LINES_MAX + 1);
        let just = "line\n".repeat(COMPONENT_LINES_MAX);
        assert_eq!(
            check("web/src/holds/edit.tsx", &long).expect("too long").to_string(),
            "web/src/holds/edit.tsx: 251 lines; find the part in it that wants its own component"
        );
        assert_eq!(check("web/src/holds/edit.tsx", &just), None);
        for other in
            ["web/src/live.ts", "clients/typescript/src/react.tsx", "web/tests/harness.mjs"]
        {
            assert_eq!(check(other, &long), None, "{other}");
        }
    }
}
