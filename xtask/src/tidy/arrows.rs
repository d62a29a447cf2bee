//! Which crate may depend on which: the plan, kept by a check, because a wrong arrow
//! compiles.
//!
//! Dev-dependencies are free. A test may need a store or a model, and ships nothing. For the same reason only
//! they, and the crate `testkit`, may enable the feature `test-support`, which takes checks away.

use super::{Files, Finding, crates};

/// Inwards only: hands never see the engine or one another, doors never see hands.
const MAY_USE: [(&str, &[&str]); 19] = [
    ("domain", &[]),
    ("audit", &[]),
    // Guards the way out for whichever hands call an address that others wrote.
    ("egress", &[]),
    // OAuth as a client speaks it, for whichever part needs tokens or logs people in.
    ("oauth", &["egress"]),
    ("ports", &["domain"]),
    ("agent", &["domain", "ports"]),
    ("stores", &["domain", "ports", "audit"]),
    ("models", &["domain", "ports"]),
    ("tools", &["domain", "ports", "egress", "oauth"]),
    // Pure: the cards print its codes, and whoever hears a reply asks it what that means.
    ("reply_parser", &["domain"]),
    ("channels", &["domain", "ports", "egress", "reply_parser"]),
    ("engine", &["domain", "ports", "agent"]),
    // A door, for chats: it calls the engine, and hands are handed to it.
    ("chat", &["domain", "ports", "engine", "reply_parser"]),
    // Pure: the command and the server's address for HTTP hooks judge alike by it.
    ("agent_hooks", &["domain"]),
    // The gate before MCP servers, which it calls over the one MCP stack of `tools`. Where Holdpoint is it is told.
    ("mcp_gate", &["domain", "ports", "tools"]),
    ("server", &["domain", "ports", "engine", "agent_hooks"]),
    ("holdpoint", EVERY_PART),
    (
        "testkit",
        &[
            "domain",
            "ports",
            "audit",
            "agent",
            "agent_hooks",
            "egress",
            "oauth",
            "engine",
            "stores",
            "models",
            "tools",
            "channels",
            "reply_parser",
            "chat",
            "mcp_gate",
            "server",
            "holdpoint",
        ],
    ),
    // Knows nothing of the product, so that it builds in seconds.
    ("xtask", &[]),
];

/// Only the binary wires the adapters, and so names them all.
const EVERY_PART: &[&str] = &[
    "domain",
    "ports",
    "audit",
    "agent",
    "agent_hooks",
    "egress",
    "oauth",
    "engine",
    "stores",
    "models",
    "tools",
    "channels",
    "reply_parser",
    "chat",
    "mcp_gate",
    "server",
];

pub(super) fn check(files: &Files) -> Vec<Finding> {
    let ours = crates(files);
    let mut findings = Vec::new();
    for name in ours.iter().copied().chain(["xtask"]) {
        let path = match name {
            "xtask" => "xtask/Cargo.toml".to_owned(),
            name => format!("crates/{name}/Cargo.toml"),
        };
        let Some(manifest) = files.get(&path) else { continue };
        let Some((_, may_use)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            let remedy = "a new crate: say in xtask/src/tidy/arrows.rs what it may depend on";
            findings.push(Finding::in_file(&path, remedy));
            continue;
        };
        if name != "testkit" {
            findings.extend(enables_test_support(manifest).map(|line| {
                let remedy =
                    format!("`{TEST_SUPPORT}` is for dev-dependencies and `testkit`: {line}");
                Finding::in_file(&path, remedy)
            }));
        }
        for used in dependencies(manifest) {
            if (ours.contains(used) || used == "xtask") && !may_use.contains(&used) {
                let may = match may_use {
                    [] => "nothing".to_owned(),
                    some => format!("`{}`", some.join("`, `")),
                };
                let remedy = format!("`{name}` may not depend on `{used}`; it may on {may}");
                findings.push(Finding::in_file(&path, remedy));
            }
        }
    }
    findings.extend(check_copy(files));
    findings
}

/// ARCHITECTURE.md has the table for readers, under this heading.
const COPY: (&str, &str) = ("ARCHITECTURE.md", "### Arrows");

fn check_copy(files: &Files) -> Vec<Finding> {
    let (path, heading) = COPY;
    let Some((_, text)) = files.get(path).and_then(|text| text.split_once(heading)) else {
        return Vec::new();
    };
    let table = text.split("\n#").next().unwrap_or_default();
    let rows: Vec<(Vec<&str>, Vec<&str>)> = table
        .lines()
        .filter_map(|line| line.split_once('→'))
        .map(|(from, to)| (list(from), list(to)))
        .collect();
    let mut findings = Vec::new();
    for (name, may_use) in MAY_USE {
        let wanted = match may_use {
            [] => vec!["none of ours"],
            all if all.len() >= EVERY_PART.len() => vec!["all of the above"],
            some => some.to_vec(),
        };
        let shown = rows.iter().find(|(from, _)| from.contains(&name)).map(|(_, to)| to);
        if shown != Some(&wanted) {
            let remedy = format!(
                "the table of arrows wants `{name} → {}`, as the check has it",
                wanted.join(", ")
            );
            findings.push(Finding::in_file(path, remedy));
        }
    }
    findings
}

fn list(names: &str) -> Vec<&str> {
    names.split(',').map(str::trim).collect()
}

/// The feature by which tests skip the checks that make callers, durable states and cleared calls.
const TEST_SUPPORT: &str = "test-support";

/// The lines of a manifest by which something that ships would enable it. A crate may pass it on from a
/// feature of the same name.
fn enables_test_support(manifest: &str) -> impl Iterator<Item = &str> {
    let mut section = "";
    manifest.lines().map(str::trim).filter(move |line| {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        }
        let is_free = section.contains("dev-dependencies")
            || line.starts_with('#')
            || (section == "features" && line.starts_with(TEST_SUPPORT));
        line.contains(TEST_SUPPORT) && !is_free
    })
}

/// The packages that a manifest depends on. It reads the few forms that our manifests have, rather
/// than all of TOML: this tool must build in seconds.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let (table, name) = dependency_table(section);
            inside = table && name.is_none();
            found.extend(name);
        } else if inside && !line.starts_with('#') {
            let key = line.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
            if !key.is_empty() {
                found.push(renamed(line).unwrap_or(key));
            }
        }
    }
    found
}

/// Whether a section holds dependencies that we ship, and the one that `[dependencies.NAME]` names.
fn dependency_table(section: &str) -> (bool, Option<&str>) {
    let section = match section.strip_prefix("target.") {
        // The quoted condition may itself have dots.
        Some(rest) if rest.starts_with(['\'', '"']) => {
            rest[1..].rsplit_once(['\'', '"']).map_or("", |(_, rest)| rest.trim_start_matches('.'))
        }
        Some(rest) => rest.split_once('.').map_or("", |(_, rest)| rest),
        None => section,
    };
    let (kind, name) = match section.split_once('.') {
        Some((kind, name)) => (kind, Some(name)),
        None => (section, None),
    };
    let ships = kind == "dependencies" || kind == "build-dependencies";
    (ships, name.filter(|_| ships))
}

/// The folder of a dependency that has another name here. Our packages carry our name in front of their folder's.
fn renamed(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("package = \"")?;
    rest.split('"').next().map(|package| package.strip_prefix("holdpoint-").unwrap_or(package))
}

#[cfg(test)]
mod tests {
    use super::super::{told, tree};
    use super::*;

    #[track_caller]
    fn check_manifest(name: &str, manifest: &str, wanted: &str) {
        let all = ["domain", "ports", "audit", "agent", "engine", "stores", "models", "server"];
        let mut files = tree(&[]);
        for other in all {
            files.insert(format!("crates/{other}/Cargo.toml"), String::new());
        }
        let path = if name == "xtask" { "xtask".to_owned() } else { format!("crates/{name}") };
        files.insert(format!("{path}/Cargo.toml"), manifest.to_owned());
        assert_eq!(told(&check(&files)), wanted, "{name}: {manifest}");
    }

    #[test]
    fn arrows_that_point_inwards_are_fine() {
        let manifest = "[dependencies]\ndomain.workspace = true\nports = { path = \"../ports\" }\n\
                        tokio = { version = \"1\", features = [\"rt\"] }\n";
        check_manifest("models", manifest, "");
        check_manifest("holdpoint", "[dependencies]\nstores.workspace = true\n", "");
        check_manifest("testkit", "[dependencies]\nholdpoint.workspace = true\n", "");
    }

    #[test]
    fn nothing_that_ships_takes_the_checks_away() {
        let dev = "[features]\ntest-support = [\"ports/test-support\"]\n[dev-dependencies]\n\
                   ports = { workspace = true, features = [\"test-support\"] }\n";
        check_manifest("engine", dev, "");
        let ships = "[dependencies]\nports = { workspace = true, features = [\"test-support\"] }\n";
        check_manifest("testkit", ships, "");
        let wrong =
            "crates/engine/Cargo.toml: `test-support` is for dev-dependencies and `testkit`: ";
        let line = "ports = { workspace = true, features = [\"test-support\"] }";
        check_manifest("engine", ships, &format!("{wrong}{line}"));
        let default = "[features]\ndefault = [\"test-support\"]\n";
        check_manifest("engine", default, &format!("{wrong}default = [\"test-support\"]"));
    }

    #[test]
    fn arrows_that_point_outwards_are_found_in_every_form() {
        let wrong = "crates/server/Cargo.toml: `server` may not depend on `stores`; it may on \
                     `domain`, `ports`, `engine`, `agent_hooks`";
        for manifest in [
            "[dependencies]\nstores.workspace = true",
            "[dependencies]\n\"stores\" = { path = \"../stores\" }",
            "[dependencies]\nrows = { package = \"holdpoint-stores\", path = \"../stores\" }",
            "[dependencies.stores]\npath = \"../stores\"",
            "[build-dependencies]\nstores.workspace = true",
            "[target.'cfg(feature = \"a.b\")'.dependencies]\nstores.workspace = true",
            "[target.x86_64-unknown-linux-gnu.dependencies.stores]\nworkspace = true",
        ] {
            check_manifest("server", manifest, wrong);
        }
    }

    #[test]
    fn audit_is_for_the_store_and_the_binary() {
        check_manifest("stores", "[dependencies]\naudit.workspace = true\n", "");
        let wrong = "crates/agent/Cargo.toml: `agent` may not depend on `audit`; it may on \
                     `domain`, `ports`";
        check_manifest("agent", "[dependencies]\naudit.workspace = true\n", wrong);
    }

    #[test]
    fn tests_may_use_what_they_need() {
        check_manifest("engine", "[dev-dependencies]\nstores.workspace = true\n", "");
        check_manifest("engine", "[dependencies]\n# stores.workspace = true\n[lints]\n", "");
    }

    #[test]
    fn the_tools_know_nothing_of_the_product() {
        let wrong = "xtask/Cargo.toml: `xtask` may not depend on `domain`; it may on nothing";
        check_manifest(
            "xtask",
            "[dependencies]\nanyhow.workspace = true\ndomain.workspace = true",
            wrong,
        );
    }

    #[test]
    fn a_new_crate_must_be_put_on_the_plan() {
        let told = "crates/mcp/Cargo.toml: a new crate: say in xtask/src/tidy/arrows.rs what it may \
                    depend on";
        check_manifest("mcp", "[dependencies]\ndomain.workspace = true\n", told);
    }

    #[test]
    fn the_table_for_readers_is_the_one_that_is_checked() {
        let row = |(name, may): &(&str, &[&str])| match may {
            [] => format!("{name} → none of ours\n"),
            all if all.len() >= EVERY_PART.len() => format!("{name} → all of the above\n"),
            some => format!("{name} → {}\n", some.join(", ")),
        };
        let rows: String = MAY_USE.iter().map(row).collect();
        let page =
            |rows: &str| tree(&[("ARCHITECTURE.md", &format!("### Arrows\n{rows}## Next\n"))]);
        assert_eq!(check(&page(&rows)), []);
        for (old, new) in
            [("oauth → egress\n", ""), ("tools → domain, ports, egress, oauth", "tools → domain")]
        {
            assert!(rows.contains(old), "{old}");
            let found = told(&check(&page(&rows.replacen(old, new, 1))));
            assert!(found.starts_with("ARCHITECTURE.md: the table of arrows wants"), "{found}");
        }
    }
}
