//! Rules, checked, explained and tried on cases without a server.

mod cases;

pub use cases::test;

use domain::json::Arguments;
use domain::policy::{Facts, PolicyDecision, Verdict};
use domain::sql_facts::SqlFacts;
use domain::tool::Effects;
use domain::visible::visible;
use serde_json::{Value, json};
use tools::sql::{SqlDialect, facts_of_text};

use super::args::{PolicyCheckArgs, PolicyExplainArgs};
use super::exit::{Exit, UsageError};
use super::json;
use super::output::{Paint, Terminal};
use crate::config::{
    Config, ConfigError, ConfigErrors, SqlAccess, SqlDatabase, SqlTool, ToolConfig, ToolKind,
};

pub fn check(terminal: &Terminal, args: &PolicyCheckArgs) -> anyhow::Result<Exit> {
    let out = terminal.out();
    match Config::load(&args.file) {
        Ok(config) => {
            if args.json {
                out.print(&json::pretty(&json!({
                    "sound": true,
                    "policy": config.policy.version().to_string(),
                    "people": config.people.iter().count(),
                    "tools": config.tools.len(),
                    "agents": config.agents.len(),
                    "warnings": config.warnings,
                })))?;
            } else {
                out.line(&format!(
                    "{} {} agents, {} tools, {} people; policy {}",
                    out.paint(Paint::Green, "Sound:"),
                    config.agents.len(),
                    config.tools.len(),
                    config.people.iter().count(),
                    config.policy.version()
                ))?;
                config.warnings.iter().for_each(|warning| terminal.warn(&visible(warning)));
            }
            Ok(Exit::Done)
        }
        Err(errors) => tell_mistakes(terminal, errors, args.json),
    }
}

/// What is wrong with the files, so that nothing else can be said.
fn tell_mistakes(terminal: &Terminal, errors: ConfigErrors, json: bool) -> anyhow::Result<Exit> {
    if !json {
        return Err(errors.into());
    }
    let told =
        |one: &ConfigError| json!({"file": one.file, "line": one.line, "message": one.message});
    let mut report = errors.0.first().map_or_else(|| json!({}), told);
    report["sound"] = json!(false);
    report["mistakes"] = errors.0.iter().map(told).collect();
    terminal.out().print(&json::pretty(&report))?;
    Ok(Exit::Failed)
}

pub fn explain(terminal: &Terminal, args: &PolicyExplainArgs) -> anyhow::Result<Exit> {
    let arguments = Arguments::parse(args.args.as_bytes())
        .map_err(|why| UsageError(format!("--args is no good: {why}")))?;
    let config = args.config.config()?;
    if let Some(agent) = &args.agent
        && !config.agents.iter().any(|known| &*known.id == agent.as_str())
    {
        terminal.warn(&format!("there is no agent `{}` in this configuration", visible(agent)));
    }
    let effects = effects_of(&config, &args.tool);
    if effects.is_none() {
        terminal.warn(&format!(
            "there is no tool `{}` in this configuration: taken as a call of an outside program, {}",
            visible(&args.tool),
            Effects::default()
        ));
    }
    let sql = match facts_of_sql(&config, &args.tool, arguments.value()) {
        Some(Ok(facts)) => Some(SqlFacts { rows: args.rows.or(facts.rows), ..facts }),
        Some(Err(why)) => {
            terminal.warn(&format!("the tool would refuse this statement: {}", visible(&why)));
            None
        }
        None => None,
    };
    let facts = Facts {
        tool: &args.tool,
        agent: args.agent.as_deref().unwrap_or_default(),
        effects: effects.unwrap_or_default(),
        arguments: arguments.value(),
        sql: sql.as_ref(),
    };
    let lines = config.policy.explain(&facts);
    let out = terminal.out();
    if args.json {
        let mut told = ruling_json(&config.policy.rule(&facts), &lines);
        told["facts"] = Value::from(facts.describe());
        out.print(&json::pretty(&told))?;
        return Ok(Exit::Done);
    }
    out.line(&facts.describe())?;
    if let Some((verdict, story)) = lines.split_last() {
        for line in story {
            out.line(line)?;
        }
        out.line(&out.paint(Paint::Bold, &format!("→ {verdict}")))?;
    }
    Ok(Exit::Done)
}

fn ruling_json(verdict: &Verdict, lines: &[String]) -> Value {
    let (decision, ask) = match &verdict.decision {
        PolicyDecision::Allow => ("allow", Value::Null),
        PolicyDecision::Deny => ("deny", Value::Null),
        PolicyDecision::Ask(ask) => (
            "ask",
            json!({
                "roles": ask.roles,
                "people": ask.people,
                "quorum": ask.quorum,
                "exclude_requester": ask.exclude_requester,
                "refuse_made_logins": ask.refuse_made_logins,
                "expires_in_s": ask.expires_ms / 1000,
            }),
        ),
    };
    json!({
        "decision": decision,
        "rule": verdict.rule(),
        "risk": verdict.risk.name(),
        "in_doubt": verdict.in_doubt,
        "ask": ask,
        "why": lines,
    })
}

/// What the SQL tool of this name would know about its statement without its database. `None`: it is
/// no SQL tool, or there is no statement.
fn facts_of_sql(
    config: &Config,
    name: &str,
    arguments: &Value,
) -> Option<Result<SqlFacts, String>> {
    let tool = config.tools.iter().find(|tool| &*tool.name == name)?;
    let ToolKind::Sql(sql) = &tool.kind else { return None };
    let dialect = match sql.database {
        SqlDatabase::Sqlite(_) => SqlDialect::Sqlite,
        SqlDatabase::Postgres(_) => SqlDialect::Postgres,
    };
    let text = arguments.get("sql").and_then(Value::as_str)?;
    Some(facts_of_text(dialect, text))
}

/// What a configured tool does to the world; the built-in kinds say it themselves.
fn effects_of(config: &Config, name: &str) -> Option<Effects> {
    // Of an MCP server's tool the operator says it, by the name that it has there.
    let (server, inner) = name.split_once("__").unwrap_or((name, ""));
    let of_a_server =
        |tool: &&ToolConfig| &*tool.name == server && matches!(tool.kind, ToolKind::Mcp(_));
    let tool = config.tools.iter().find(|tool| &*tool.name == name);
    let tool = tool.or_else(|| config.tools.iter().find(of_a_server))?;
    Some(match &tool.kind {
        ToolKind::Command(command) => command.effects,
        ToolKind::Client(client) => client.effects,
        ToolKind::Http(http) => http.setup.effects,
        ToolKind::ShellCmd(_) => Effects::AtMostOnce,
        ToolKind::Mcp(mcp) => mcp.effects_of.get(inner).copied().unwrap_or(mcp.effects),
        ToolKind::Sql(SqlTool { access: SqlAccess::Query, .. }) | ToolKind::Human { .. } => {
            Effects::ReadOnly
        }
        ToolKind::Sql(SqlTool { access: SqlAccess::Modify { .. }, .. }) => Effects::Transactional,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
[[tools]]
name = "sql_query"
kind = "sql"
database = "shop.db"
access = "query"

[[tools]]
name = "sql_modify"
kind = "sql"
database = "shop.db"
access = "modify"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "dba"]

[policy]
default = "ask"

[[policy.rules]]
name = "reading is free"
match = { effects = "read_only" }
then = "allow"

[[policy.rules]]
name = "deletes need a dba"
match = { tool = "sql_*", sql.kind = "delete" }
then = "ask"
ask = { roles = ["dba"] }
"#;

    #[test]
    fn a_rule_is_found_by_what_the_tool_does() {
        let config = Config::parse(CONFIG, "holdpoint.toml").unwrap();
        assert_eq!(effects_of(&config, "sql_query"), Some(Effects::ReadOnly));
        assert_eq!(effects_of(&config, "gate.exec"), None);
        let arguments = json!({"sql": "/*x*/ WITH y AS (SELECT 1) DELETE FROM orders"});
        let sql = facts_of_sql(&config, "sql_modify", &arguments).unwrap().unwrap();
        assert_eq!(facts_of_sql(&config, "sql_modify", &json!({})), None);
        assert_eq!(facts_of_sql(&config, "gate.exec", &arguments), None);
        assert!(
            facts_of_sql(&config, "sql_query", &json!({"sql": "DELETE;DROP"})).unwrap().is_err()
        );
        let facts = Facts {
            tool: "sql_modify",
            agent: "",
            effects: Effects::Transactional,
            arguments: &arguments,
            sql: Some(&sql),
        };
        let line = facts.describe();
        assert!(
            line.starts_with(
                "facts: tool = sql_modify, effects = transactional, sql.kind = delete"
            )
        );
        assert!(line.ends_with("sql.has_where = false, sql.rows = unknown"), "{line}");
        let told = ruling_json(&config.policy.rule(&facts), &config.policy.explain(&facts));
        assert_eq!(told["decision"], "ask");
        assert_eq!(told["rule"], "deletes need a dba");
        assert_eq!(told["ask"]["roles"], json!(["dba"]));
        assert_eq!(told["why"].as_array().map(Vec::len), Some(3));
    }
}
