//! Fail points are for tests: no manifest may turn them on for a program that ships.
//!
//! The feature is handed down by name, and one program requires it. Everything else that names it
//! (a default, a dependency with features, another feature) would let it slip in.

use super::{Files, Finding};

const FEATURE: &str = "failpoints";

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.contains(FEATURE) && !line.starts_with('#') && !is_fine(path, line) {
                let remedy = "turns fail points on: only a feature of that name hands them down";
                findings.push(Finding::at_line(path, number, remedy));
            }
        }
    }
    findings
}

fn is_fine(path: &str, line: &str) -> bool {
    line.starts_with("failpoints = [")
        || path == "crates/testkit/Cargo.toml" && line == "required-features = [\"failpoints\"]"
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    #[test]
    fn only_a_feature_of_that_name_hands_them_down() {
        let fine = "[features]\n# failpoints are for tests\nfailpoints = [\"ports/failpoints\"]\n";
        assert_eq!(check(&tree(&[("crates/engine/Cargo.toml", fine)])), []);
        let required = "[[bin]]\nrequired-features = [\"failpoints\"]\n";
        assert_eq!(check(&tree(&[("crates/testkit/Cargo.toml", required)])), []);
        for line in [
            "default = [\"failpoints\"]",
            "ports = { workspace = true, features = [\"failpoints\"] }",
            "tests = [\"engine/failpoints\"]",
            "\"failpoints\",",
            "required-features = [\"failpoints\"]",
        ] {
            let files = tree(&[("crates/holdpoint/Cargo.toml", line)]);
            let found = "crates/holdpoint/Cargo.toml:1: turns fail points on";
            assert!(told(&check(&files)).starts_with(found), "{line}");
        }
    }
}
