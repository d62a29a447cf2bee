//! A file that asks for scrolling hides a noun that wants its own room.

use super::Finding;

const LINES_MAX: usize = 600;

/// What people write and read. Data, snapshots and lock files have no readers to tire.
const WRITTEN: [&str; 11] =
    [".rs", ".ts", ".tsx", ".mjs", ".js", ".css", ".html", ".md", ".sql", ".sh", ".toml"];

pub(super) fn check(path: &str, text: &str) -> Option<Finding> {
    let written = WRITTEN.iter().any(|end| path.ends_with(end));
    let generated = path.starts_with("web/dist/") || says_generated(text);
    let lines = text.lines().count();
    (written && !generated && lines > LINES_MAX).then(|| {
        let remedy = format!("{lines} lines; find the noun in it that wants its own file");
        Finding::in_file(path, remedy)
    })
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
        for exempt in ["Cargo.lock", "web/package-lock.json", "web/dist/app.js", "a/golden.jsonl"] {
            assert_eq!(check(exempt, &long), None, "{exempt}");
        }
        assert_eq!(check("src/wire.ts", &format!("// @generated\n{long}")), None);
    }
}
