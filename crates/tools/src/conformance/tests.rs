//! Every host of this crate, under the suite.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::outcome::Output;
use domain::tool::Tool;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::cleared::clear_call;
use crate::client::ClientTool;
use crate::closure::FnTool;
use crate::command::{CommandConfig, CommandTool};
use crate::demo::{DeployTool, create_database};
use crate::human::{HumanTool, HumanToolKind, NAME};
use crate::process::{Runner, Spool};
use crate::shell_cmd::{ShellCmd, ShellConfig};
use crate::sql::{ModifyConfig, QueryConfig, SqlDatabases, SqlModify, SqlQuery};

fn runner(dir: &TempDir) -> Runner {
    Runner::open(Spool::open(dir.path().join("spool")).unwrap(), None)
}

fn lines(path: &Path) -> u64 {
    fs::read_to_string(path).map(|text| text.lines().count() as u64).unwrap_or_default()
}

/// A script that writes down that it ran, once or until it is stopped.
fn witness(dir: &TempDir) -> PathBuf {
    dir.path().join("witness")
}

const ENDLESS: &str = "while :; do echo ran >> witness; sleep 0.02; done";

#[tokio::test]
async fn shell_cmd_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = ShellConfig::new(dir.path());
    config.allow_shell = true;
    let host = ShellCmd::new(config, runner(&dir)).unwrap();
    check_host(ConformanceCase {
        host: &host,
        works: json!({"command": "echo ran >> witness"}),
        effects: &|| lines(&witness(&dir)),
        effects_each: 1,
        unsound: Some(json!({"argv": ["no-such-program-here"]})),
        endless: Some(json!({"command": format!("setsid sh -c '{ENDLESS}' & {ENDLESS}")})),
        noisy: Some(json!({"argv": ["seq", "100000"]})),
        clear: &clear_call,
    })
    .await;
}

#[tokio::test]
async fn a_command_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "read -r line; case $line in
           *endless*) {ENDLESS};;
           *noisy*) seq 100000;;
           *) echo ran >> witness; echo \"$line\";;
         esac"
    );
    let schema = json!({"type": "object", "properties": {"mode": {"type": "string"}}});
    let argv = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let mut config = CommandConfig::new("work", "works", schema, argv);
    config.cwd = dir.path().into();
    let host = CommandTool::new(config, runner(&dir)).unwrap();
    check_host(ConformanceCase {
        host: &host,
        works: json!({"mode": "once"}),
        effects: &|| lines(&witness(&dir)),
        effects_each: 1,
        unsound: None,
        endless: Some(json!({"mode": "endless"})),
        noisy: Some(json!({"mode": "noisy"})),
        clear: &clear_call,
    })
    .await;
}

#[tokio::test]
async fn sql_modify_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    create_database(&path).unwrap();
    let databases = SqlDatabases::single("sql_modify", &path).unwrap();
    let host = SqlModify::new(ModifyConfig::new(databases)).unwrap();
    let count = || {
        let connection = Connection::open(&path).unwrap();
        let sum: i64 = connection
            .query_row("SELECT sum(total_cents) FROM orders", [], |row| row.get(0))
            .unwrap();
        sum as u64
    };
    check_host(ConformanceCase {
        host: &host,
        works: json!({"sql": "UPDATE orders SET total_cents = total_cents + 1 WHERE id = 1"}),
        effects: &count,
        effects_each: 1,
        unsound: Some(json!({"sql": "DELETE FROM no_such_table"})),
        endless: None,
        noisy: Some(json!({"sql": "UPDATE orders SET total_cents = total_cents + 0 RETURNING *"})),
        clear: &clear_call,
    })
    .await;
}

#[tokio::test]
async fn sql_query_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    create_database(&path).unwrap();
    let host =
        SqlQuery::new(QueryConfig::new(SqlDatabases::single("sql_query", &path).unwrap())).unwrap();
    let count = || {
        let connection = Connection::open(&path).unwrap();
        let count: u32 =
            connection.query_row("SELECT count(*) FROM orders", [], |row| row.get(0)).unwrap();
        u64::from(count)
    };
    check_host(ConformanceCase {
        host: &host,
        works: json!({"sql": "SELECT * FROM orders WHERE id < 3"}),
        effects: &count,
        effects_each: 0,
        unsound: Some(json!({"sql": "DELETE FROM orders"})),
        endless: None,
        noisy: Some(json!({"sql": "SELECT * FROM orders"})),
        clear: &clear_call,
    })
    .await;
}

#[tokio::test]
async fn the_demo_deployment_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let host = DeployTool::new(dir.path()).unwrap();
    check_host(ConformanceCase {
        host: &host,
        works: json!({"projectName": "my-app", "reason": "Store user data"}),
        effects: &|| lines(host.log_path()),
        effects_each: 1,
        unsound: Some(json!({"projectName": "My App"})),
        endless: None,
        noisy: None,
        clear: &clear_call,
    })
    .await;
}

#[tokio::test]
async fn questions_and_client_tools_conform() {
    let human = HumanTool::new(NAME, HumanToolKind::Options).unwrap();
    let schema = json!({"type": "object"});
    let client = ClientTool::new("dialog", "asks", schema, Effects::AtMostOnce, vec![]).unwrap();
    let hosts: [(&dyn ToolHost, _, _); 2] = [
        (
            &human,
            json!({"prompt": "Which?", "options": ["a", "b"]}),
            Some(json!({"prompt": "Which?"})),
        ),
        (&client, json!({"x": 1}), None),
    ];
    for (host, works, unsound) in hosts {
        check_host(ConformanceCase {
            host,
            works,
            effects: &|| 0,
            effects_each: 0,
            unsound,
            endless: None,
            noisy: None,
            clear: &clear_call,
        })
        .await;
    }
}

#[tokio::test]
async fn a_closure_conforms() {
    let effects = Arc::new(AtomicU64::new(0));
    let schema = json!({"type": "object"});
    let tool =
        Tool::new("count", "counts", schema, Effects::AtMostOnce, Place::Server, "test").unwrap();
    let counter = Arc::clone(&effects);
    let host = FnTool::new(tool, move |call| {
        let counter = Arc::clone(&counter);
        let endless = call.arguments.value()["endless"] == true;
        async move {
            loop {
                counter.fetch_add(1, Ordering::Relaxed);
                if !endless {
                    return Outcome::Succeeded(Output::text("done"));
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    check_host(ConformanceCase {
        host: &host,
        works: json!({}),
        effects: &|| effects.load(Ordering::Relaxed),
        effects_each: 1,
        unsound: None,
        endless: Some(json!({"endless": true})),
        noisy: None,
        clear: &clear_call,
    })
    .await;
}
