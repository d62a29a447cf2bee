//! What a sound file becomes.

use std::path::PathBuf;
use std::time::Duration;

use domain::budget::{Budgets, Prices};
use domain::context::WhilePending;
use domain::person::PersonId;
use domain::policy::{Facts, PolicyDecision};
use domain::sql_facts::{SqlFacts, SqlKind};
use domain::tool::{Confirm, Effects};
use serde_json::json;

use crate::config::*;
use crate::secret_source::SecretSource;

fn parsed(text: &str) -> Config {
    Config::parse(text, "conf/holdpoint.toml").unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn an_empty_file_is_a_sound_start() {
    let config = parsed("");
    assert_eq!(config.server.listen, LISTEN_DEFAULT);
    assert!(config.server.listen.ip().is_loopback());
    assert_eq!(
        config.store,
        StoreConfig::Sqlite { path: PathBuf::from("conf/holdpoint-data"), sealing_key: None }
    );
    assert!(config.people.is_admin(&PersonId::new("admin")), "somebody can log in");
    assert_eq!(config.policy.default_expires_ms(), 24 * 60 * 60 * 1000);
    assert!(config.agents.is_empty() && config.tools.is_empty() && config.warnings.is_empty());
    let arguments = json!({});
    let facts = Facts {
        tool: "any",
        agent: "",
        effects: Effects::ReadOnly,
        arguments: &arguments,
        sql: None,
    };
    assert!(matches!(config.policy.rule(&facts).decision, PolicyDecision::Ask(_)));
}

const WHOLE: &str = r#"
[server]
listen = "0.0.0.0:8443"
public_url = "https://hold.example.com/"
trusted_proxies = ["10.0.0.0/8", "::1"]
tls = { cert_file = "tls/cert.pem", key_file = "tls/key.pem" }

[store]
url = "sqlite:data/h.db"

[models.demo]
provider = "scripted"
script = "builtin:demo"

[models.claude]
provider = "anthropic"
model = "claude-x"
api_key_env = "ANTHROPIC_API_KEY"

[[agents]]
id = "ops"
model = "demo"
instructions = "Be careful."
tools = ["deploy", "sql_modify"]
while_pending = "deliver"
parallel = "run_as_decided"
budgets = { turns = 20, tokens = 100_000, time = "10m" }

[[tools]]
name = "deploy"
kind = "command"
description = "Deploys."
argv = ["deploy", "--json"]
cwd = "tools"
env = ["PATH"]
set_env = { LANG = "C" }
time_limit = "90s"
effects = "idempotent"
confirm = "two_phase"
approve_text = 'Yes, deploy "{name}".'
[tools.input_schema]
type = "object"
required = ["name"]
properties = { name = { type = "string" } }

[[tools]]
name = "sql_modify"
kind = "sql"
database = "shop.db"
access = "modify"
always_ask = false

[[tools]]
name = "browser_location"
kind = "client"
description = "Where the browser is."
input_schema = '{"type": "object"}'
effects = "read_only"
deny_values = ["no"]

[policy]
default = "deny"
expires = "2h"

[[policy.rules]]
name = "deletes need a dba"
match = { tool = "sql_*", sql.kind = "delete", sql.rows.more_than = 1 }
then = "ask"
risk = "high"
ask = { roles = ["dba"], quorum = 2, exclude_requester = true, expires = "10m" }

[[policy.rules]]
name = "reading is free"
match = { effects = ["read_only", "idempotent"], args = { "/n" = { at_most = 5, more_than = 1 } } }
then = "allow"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "dba"]
identities = { feishu = "ou_1", email = "ana@example.com" }

[[people]]
id = "bob"
roles = ["dba"]

[callbacks]
secret_envs = ["CI_SECRET"]
"#;

#[test]
fn every_section_arrives() {
    let config = parsed(WHOLE);
    assert_eq!(config.server.public_url.as_deref(), Some("https://hold.example.com"));
    let tls = config.server.tls.expect("TLS");
    assert_eq!(tls.key_file, PathBuf::from("conf/tls/key.pem"));
    assert!(config.server.trusted_proxies[0].contains("10.2.3.4".parse().expect("an address")));
    assert_eq!(
        config.store,
        StoreConfig::Sqlite { path: PathBuf::from("conf/data/h.db"), sealing_key: None }
    );

    let [agent] = &config.agents[..] else { panic!("one agent") };
    assert_eq!((&*agent.id, agent.model.as_str()), ("ops", "demo"));
    let budgets = Budgets { turns: 20, tokens: Some(100_000), money: None, time_ms: Some(600_000) };
    assert_eq!(agent.budgets, budgets);
    assert_eq!(agent.prices, Prices::default());
    assert_eq!((agent.while_pending, agent.run_as_decided), (WhilePending::Deliver, true));
    assert_eq!(
        agent.tools.iter().map(|tool| &**tool).collect::<Vec<_>>(),
        ["deploy", "sql_modify"]
    );

    let [deploy, sql, location] = &config.tools[..] else { panic!("three tools") };
    assert_eq!(deploy.confirm, Confirm::TwoPhase);
    assert_eq!(deploy.words.approve_text.as_deref(), Some(r#"Yes, deploy "{name}"."#));
    let ToolKind::Command(command) = &deploy.kind else { panic!("a command") };
    assert_eq!(command.argv, ["deploy", "--json"]);
    assert_eq!(command.cwd, PathBuf::from("conf/tools"));
    assert_eq!(command.effects, Effects::Idempotent);
    assert_eq!(command.time_limit, Some(Duration::from_secs(90)));
    assert_eq!(command.env.inherit, ["PATH"]);
    assert_eq!(command.env.set, [("LANG".into(), "C".into())]);
    assert_eq!(command.input_schema["properties"]["name"]["type"], "string");
    let modify = SqlAccess::Modify { allow_ddl: false, always_ask: false, rows_max: None };
    let database = SqlDatabase::Sqlite(PathBuf::from("conf/shop.db"));
    let wanted = SqlTool { database, access: modify, tables: None, time_limit: None };
    assert!(matches!(&sql.kind, ToolKind::Sql(sql) if *sql == wanted), "{sql:?}");
    let ToolKind::Client(client) = &location.kind else { panic!("a client tool") };
    assert_eq!((client.effects, &client.deny_values[..]), (Effects::ReadOnly, &["no".into()][..]));

    assert_eq!(config.people.name_of(&PersonId::new("bob")), "bob");
    let ana = config.people.get(&PersonId::new("ana")).expect("ana");
    assert_eq!(ana.identities["feishu"], "ou_1");
    assert_eq!(config.callbacks.secret_envs, ["CI_SECRET"]);
    assert!(!config.callbacks.allow_private_addresses);
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
}

#[test]
fn rules_rule() {
    let config = parsed(WHOLE);
    let rule = |tool, effects, arguments: serde_json::Value, kind| {
        let sql = SqlFacts { kind, rows: Some(2), ..SqlFacts::default() };
        let facts = Facts { tool, agent: "ops", effects, arguments: &arguments, sql: Some(&sql) };
        config.policy.rule(&facts)
    };
    let delete = json!({"sql": "DELETE FROM t"});
    let asked = rule("sql_modify", Effects::Transactional, delete, SqlKind::Delete);
    let PolicyDecision::Ask(ask) = &asked.decision else { panic!("asked: {asked:?}") };
    assert_eq!((&ask.roles[..], ask.quorum, ask.expires_ms), (&["dba".into()][..], 2, 600_000));
    let read = |n| rule("x", Effects::ReadOnly, json!({"n": n}), SqlKind::Unknown).decision;
    assert_eq!(read(3), PolicyDecision::Allow);
    assert_eq!(read(9), PolicyDecision::Deny);
    assert_eq!(config.policy.default_expires_ms(), 7_200_000);
}

#[test]
fn i06_rules_match_what_the_sql_tool_knows() {
    let config = parsed(WHOLE);
    let arguments = json!({"sql": "/*x*/DELETE FROM t"});
    let rule = |kind, rows| {
        let sql = SqlFacts { kind, rows, ..SqlFacts::default() };
        let effects = Effects::Transactional;
        let facts = Facts {
            tool: "sql_modify",
            agent: "",
            effects,
            arguments: &arguments,
            sql: Some(&sql),
        };
        let verdict = config.policy.rule(&facts);
        (verdict.rule().map(str::to_owned), verdict.in_doubt)
    };
    let deletes = Some("deletes need a dba".to_owned());
    assert_eq!(rule(SqlKind::Delete, Some(2)), (deletes, false));
    assert_eq!(rule(SqlKind::Delete, Some(1)), (None, false));
    // In doubt it would ask; the default, which denies, is stricter.
    assert_eq!(rule(SqlKind::Unknown, None), (None, false));
    assert_eq!(rule(SqlKind::Update, None), (None, false));
}

#[test]
fn rules_about_the_text_of_sql_and_about_every_tool_are_warned_about() {
    let rule = |matcher: &str| {
        format!("{WHOLE}\n[[policy.rules]]\nname = \"new\"\nmatch = {matcher}\nthen = \"ask\"\n")
    };
    let warned = |matcher: &str| parsed(&rule(matcher)).warnings.join("\n");
    let text = warned(r#"{ tool = "sql_*", args = { "/sql" = { regex = "(?i)^delete" } } }"#);
    assert!(text.contains("rule `new` looks for a pattern in the text of SQL"), "{text}");
    let all = warned("{ sql.has_where = false }");
    assert!(all.contains("rule `new` asks for facts about SQL and names no tool"), "{all}");
    assert_eq!(warned(r#"{ tool = "sql_modify", sql.tables.only = ["a"] }"#), "");
}

#[test]
fn a_listener_in_the_open_is_warned_about() {
    let config = parsed("[server]\nlisten = \"0.0.0.0:80\"\n");
    assert_eq!(config.warnings.len(), 1);
    assert!(config.warnings[0].contains("without TLS"), "{:?}", config.warnings);
}

#[test]
fn a_file_that_is_not_there_is_told_so() {
    let told = Config::load(std::path::Path::new("no/such/file.toml")).unwrap_err().to_string();
    assert!(
        told.starts_with("no/such/file.toml: there is no such file; `holdpoint init` writes one"),
        "{told}"
    );
}

#[test]
fn mcp_servers_are_programs_or_services() {
    let config = parsed(
        r#"
[models.m]
provider = "scripted"
script = "builtin:demo"

[[tools]]
name = "files"
kind = "mcp"
argv = ["server-filesystem", "/srv/docs"]
env = ["FILES_TOKEN"]
only = ["read_file", "write_file"]
effects_of = { read_file = "read_only" }
time_limit = "30s"

[[tools]]
name = "tickets"
kind = "mcp"
url = "https://tickets.example.com/mcp"
headers_env = { Authorization = "TICKETS_AUTH" }
effects = "idempotent"

[[tools]]
name = "wiki"
kind = "mcp"
url = "http://127.0.0.1:8080/mcp"
auth = "oauth"
client_id = "holdpoint"
client_secret_env = "WIKI_SECRET"
scopes = ["read", "write"]

[[agents]]
id = "a"
model = "m"
tools = ["files", "tickets__open", "wiki"]
"#,
    );
    let ToolKind::Mcp(files) = &config.tools[0].kind else { panic!("{:?}", config.tools[0]) };
    assert_eq!(
        files.reach,
        McpReach::Program {
            argv: vec!["server-filesystem".into(), "/srv/docs".into()],
            cwd: PathBuf::from("conf/."),
            env: ToolEnv { inherit: vec!["FILES_TOKEN".into()], set: Vec::new() },
            run_as: None,
        }
    );
    assert_eq!(files.effects, Effects::AtMostOnce, "nobody's word but the operator's");
    assert_eq!(files.effects_of["read_file"], Effects::ReadOnly);
    assert_eq!(files.time_limit, Some(Duration::from_secs(30)));
    let ToolKind::Mcp(tickets) = &config.tools[1].kind else { panic!("{:?}", config.tools[1]) };
    assert_eq!(tickets.effects, Effects::Idempotent);
    assert_eq!(
        tickets.reach,
        McpReach::Service {
            url: "https://tickets.example.com/mcp".into(),
            headers_env: vec![("Authorization".into(), "TICKETS_AUTH".into())],
            oauth: None,
        }
    );
    let ToolKind::Mcp(wiki) = &config.tools[2].kind else { panic!("{:?}", config.tools[2]) };
    let McpReach::Service { oauth: Some(oauth), .. } = &wiki.reach else { panic!("{wiki:?}") };
    assert_eq!(oauth.client_id.as_deref(), Some("holdpoint"));
    assert_eq!(oauth.client_secret, Some(SecretSource::Env("WIKI_SECRET".into())));
    assert_eq!(oauth.scopes, ["read", "write"]);
    assert!(!oauth.allow_private_addresses);
}

#[test]
fn a_shared_store_without_a_sealing_key_is_warned_of() {
    let store = "[store]\nurl = \"postgres://holdpoint@h/db\"\n";
    let warned = |more: &str| {
        let warnings = parsed(&format!("{store}{more}")).warnings;
        warnings.iter().any(|warning| warning.contains("`sealing_key_file`"))
    };
    assert!(warned(""));
    assert!(!warned("sealing_key_file = \"sealing.key\"\n"));
    assert!(!warned("sealing_key_env = \"SEALING_KEY\"\n"));
    let own = parsed("[store]\nurl = \"sqlite:data\"\nsealing_key_file = \"sealing.key\"\n");
    let file = SecretSource::File(PathBuf::from("conf/sealing.key"));
    assert_eq!(own.store.sealing_key(), Some(&file));
    assert!(parsed("").warnings.is_empty(), "a folder has a key of its own");
}
