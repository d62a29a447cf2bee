//! The annotated example is the documentation of the keys, so it must be whole and must work.

use serde::de::DeserializeOwned;

use super::opened;
use crate::config::*;

const EXAMPLE: &str = include_str!("../../../../../holdpoint.example.toml");

/// The keys of a table, from the words in which the reader refuses another one.
fn keys<T: DeserializeOwned>() -> Vec<String> {
    let refusal = toml::from_str::<T>("no_such_key = 1").err().expect("an unknown key is refused");
    let (_, known) = refusal.message().split_once("expected").expect("it names the known keys");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The lines of every section whose header begins like this, also of those that are commented out.
fn section(header: &str) -> String {
    let mut inside = false;
    let mut found = String::new();
    for line in EXAMPLE.lines() {
        let line = line.trim_start_matches("# ").trim_start_matches('#');
        if let Some(name) = line.strip_prefix('[').map(|line| line.trim_start_matches('[')) {
            inside = name.starts_with(header);
        }
        if inside {
            found.push_str(line);
            found.push('\n');
        }
    }
    found
}

#[test]
fn the_example_is_sound() {
    let config =
        Config::parse(EXAMPLE, "holdpoint.example.toml").unwrap_or_else(|why| panic!("{why}"));
    assert!(!config.agents.is_empty() && !config.tools.is_empty());
    for agent in &config.agents {
        opened(&config.models[&agent.model]).map(|_| ()).unwrap_or_else(|why| panic!("{why}"));
    }
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
}

#[test]
fn the_example_shows_every_key() {
    for (header, keys) in [
        ("server", keys::<server::ServerTable>()),
        ("server", keys::<server::TlsTable>()),
        ("store", keys::<store::StoreTable>()),
        ("models.", keys::<model::ModelTable>()),
        ("models.", keys::<model::TimeLimitsTable>()),
        ("agents", keys::<agent::AgentTable>()),
        ("agents", keys::<budgets::BudgetsTable>()),
        ("tools", keys::<tool::ToolTable>()),
        (
            "policy",
            keys::<policy::PolicyTable>().into_iter().filter(|key| key != "rules").collect(),
        ),
        ("policy.rules", keys::<policy::RuleTable>()),
        ("policy.rules", keys::<policy::MatchTable>()),
        ("policy.rules", keys::<policy::AskTable>()),
        ("policy.rules", domain::policy::Op::NAMES.map(str::to_owned).into()),
        ("people", keys::<people::PersonTable>()),
        ("callbacks", keys::<callbacks::CallbacksTable>()),
        ("push", keys::<push::PushTable>()),
        ("doors.", keys::<doors::DoorTable>()),
        ("mcp", keys::<mcp::McpGateTable>().into_iter().filter(|key| key != "upstreams").collect()),
        ("mcp.upstreams", keys::<mcp::McpUpstreamTable>()),
        ("channels.", keys::<channel::FeishuTable>()),
        ("channels.", keys::<channel::DingtalkTable>()),
        ("channels.", keys::<channel::SlackTable>()),
        ("channels.", keys::<channel::TelegramTable>()),
        ("channels.", keys::<channel::WebhookTable>()),
        ("channels.", keys::<channel::EmailTable>()),
    ] {
        assert!(!keys.is_empty(), "{header}");
        let text = section(header);
        for key in keys {
            let assigned = text.match_indices(&format!("{key} =")).any(|(at, _)| {
                !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            });
            // A key may also be a table of its own: `[tools.input_schema]`.
            let headed = text.contains(&format!(".{key}]"));
            assert!(
                assigned || headed,
                "holdpoint.example.toml does not show `{key}` in [{header}]"
            );
        }
    }
    for table in keys::<ConfigFile>() {
        assert!(!section(&table).is_empty(), "holdpoint.example.toml has no [{table}]");
    }
    for kind in ["command", "shell_cmd", "sql", "http", "client", "mcp", "human"] {
        assert!(section("tools").contains(&format!("kind = \"{kind}\"")), "{kind}");
    }
    for name in doors::DOORS.iter().chain(&channel::PLATFORMS) {
        assert!(EXAMPLE.contains(name), "{name}");
    }
}
