//! Words that must not stand in the tree. The needles are written in two halves, so that this file
//! passes its own rules.

use super::Finding;

struct Rule {
    needles: &'static [&'static str],
    applies: fn(&str) -> bool,
    remedy: &'static str,
}

const RULES: [Rule; 6] = [
    Rule {
        needles: &[concat!("to", "do!("), concat!("unimple", "mented!("), concat!("FIX", "ME")],
        applies: is_rust,
        remedy: "unfinished: write it, or leave it out",
    },
    Rule {
        needles: &[concat!("db", "g!(")],
        applies: is_rust,
        remedy: "left from debugging: use `tracing`, or remove it",
    },
    Rule {
        needles: &[concat!("#[ign", "ore")],
        applies: is_rust,
        remedy: "a test that does not run proves nothing: mend it, or remove it",
    },
    Rule {
        needles: &[concat!("#[al", "low("), concat!("#![al", "low(")],
        applies: is_rust,
        remedy: "use `#[expect(lint, reason = \"…\")]`, which complains when it is not needed",
    },
    Rule {
        needles: &[
            concat!("test.sk", "ip("),
            concat!("it.sk", "ip("),
            concat!("describe.sk", "ip("),
        ],
        applies: is_script,
        remedy: "a test that does not run proves nothing: mend it, or remove it",
    },
    Rule {
        needles: &[
            concat!("crates", ".io"),
            concat!("npm", "js."),
            concat!("yarn", "pkg.com"),
            concat!("pypi", ".org"),
            concat!("python", "hosted.org"),
            concat!("deb.", "debian.org"),
        ],
        // Cargo's lock files must name their source; `cargo deny` sees to it that the product's is the default one.
        applies: |path| !path.ends_with("Cargo.lock"),
        remedy: "names a package registry: which one is used is the machine's business",
    },
];

/// Directories of the machines that we work on.
const MACHINE: [&str; 4] = ["work", "farm", "root", "home"];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        for rule in RULES.iter().filter(|rule| (rule.applies)(path)) {
            if rule.needles.iter().any(|needle| line.contains(needle)) {
                findings.push(Finding::at_line(path, number, rule.remedy));
            }
        }
        if names_a_machine_path(line) {
            let remedy = "a path of one machine: make it relative, or ask for it";
            findings.push(Finding::at_line(path, number, remedy));
        }
        if path.ends_with("package-lock.json") && line.contains(concat!("\"res", "olved\"")) {
            let remedy =
                "names where a package came from: set omit-lockfile-registry-resolved=true";
            findings.push(Finding::at_line(path, number, remedy));
        }
    }
    findings
}

/// Only at the start of a path: an address or a relative path may well have such a folder inside.
fn names_a_machine_path(line: &str) -> bool {
    MACHINE.iter().any(|dir| {
        line.match_indices(&format!("/{dir}/")).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "_.-".contains(c))
        })
    })
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

fn is_script(path: &str) -> bool {
    [".mjs", ".js", ".ts", ".tsx"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(path: &str, line: &str, found: bool) {
        let findings = check(path, &format!("first\n{line}\n"));
        assert_eq!(!findings.is_empty(), found, "{path}: {line}");
        assert!(findings.iter().all(|finding| finding.line == Some(2)));
    }

    #[test]
    fn unfinished_and_silenced_code_is_found_in_rust_only() {
        for line in [
            concat!("    to", "do!(\"later\")"),
            concat!("unimple", "mented!()"),
            concat!("let x = db", "g!(y);"),
            concat!("#[ign", "ore = \"slow\"]"),
            concat!("#[al", "low(dead_code)]"),
            concat!("#![al", "low(unused)]"),
        ] {
            check_line("crates/domain/src/lib.rs", line, true);
            check_line("docs/style.md", line, false);
        }
        check_line("a.rs", "#[expect(dead_code, reason = \"…\")]", false);
        check_line("a.rs", "items.iter().skip(1)", false);
    }

    #[test]
    fn skipped_page_tests_are_found() {
        check_line("web/tests/a.test.mjs", concat!("test.sk", "ip('x', () => {})"), true);
        check_line("web/tests/a.test.mjs", "test('x', () => {})", false);
    }

    #[test]
    fn machine_paths_are_found_at_the_start_of_a_path_only() {
        for dir in MACHINE {
            check_line("docs/a.md", &format!("see /{dir}/main"), true);
            check_line("docs/a.md", &format!("`/{dir}/x`"), true);
            check_line("docs/a.md", &format!("/{dir}/"), true);
            check_line("docs/a.md", &format!("https://example.com/{dir}/x"), false);
            check_line("docs/a.md", &format!("web/{dir}/x ../{dir}/x"), false);
            check_line("docs/a.md", &format!("/{dir}ing/x and /{dir} alone"), false);
        }
    }

    #[test]
    fn registries_are_found_everywhere_but_in_the_lock_file() {
        let line = concat!("https://crates", ".io/x");
        check_line("README.md", line, true);
        check_line("Cargo.lock", line, false);
        check_line("web/.npmrc", concat!("registry=https://registry.npm", "js.org/"), true);
    }

    #[test]
    fn a_lock_file_does_not_say_where_packages_came_from() {
        let line = concat!("      \"res", "olved\": \"https://example.com/a.tgz\",");
        check_line("web/package-lock.json", line, true);
        check_line("web/src/a.ts", line, false);
    }
}
