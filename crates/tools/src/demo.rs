//! What `holdpoint demo` works on: a database with orders to delete, and a cloud to deploy to that is
//! a log file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use domain::call::{Call, ExecutionContext};
use domain::caption::CaptionKind;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{PhraseCode, RunDetail};
use domain::tool::{Confirm, Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bad_tool::BadTool;
use crate::blocking::run_blocking;
use crate::title::titled;

/// Orders whose `status` is 1: those that the demo's agent wants to delete.
pub const ABANDONED_ORDERS: u32 = 214;

/// How long a change of the orders that runs just now may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// 500 orders, of which [`ABANDONED_ORDERS`] are abandoned.
const FILL: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO orders
        SELECT i, 'customer-' || (i * 7919 % 97),
               CASE WHEN i <= 214 THEN 1 ELSE 2 + i % 2 END,
               500 + i * 7919 % 20000
        FROM n";

/// Makes the demo's database, unless there is one: a second start goes on where the first left off.
pub fn create_database(path: &Path) -> rusqlite::Result<()> {
    // For its owner only; SQLite gives its other files the mode of this one. What is wrong with the path it
    // says itself.
    // mutant: the-demo-shop-is-open-to-all
    let _ = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let connection = Connection::open(path)?;
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS orders (
             id INTEGER PRIMARY KEY,
             customer TEXT NOT NULL,
             status INTEGER NOT NULL, -- 1 abandoned, 2 paid, 3 shipped
             total_cents INTEGER NOT NULL
         );
         {FILL} WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'demo_filled');
         CREATE TABLE IF NOT EXISTS demo_filled (at TEXT);
         COMMIT;"
    ))
}

/// Puts the orders back as they were at the beginning. Everything else in the file stays, such as the
/// marks of changes that ran.
pub async fn reset_orders(path: PathBuf) -> rusqlite::Result<()> {
    run_blocking(move || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch(&format!("BEGIN IMMEDIATE; DELETE FROM orders; {FILL}; COMMIT;"))
    })
    .await
}

pub const DEPLOY: &str = "deployToShipperCloud";

/// A two-phase tool that "deploys" by writing a line to a file.
#[derive(Debug)]
pub struct DeployTool {
    tool: Tool,
    log: PathBuf,
}

impl DeployTool {
    pub fn new(data: &Path) -> Result<DeployTool, BadTool> {
        let mut tool = Tool::new(
            DEPLOY,
            "Deploys a project to Shipper Cloud. A person confirms first.",
            json!({
                "type": "object",
                "properties": {
                    "projectName": {
                        "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$",
                        "description": "lowercase letters, digits and dashes",
                    },
                    "reason": {"type": "string", "maxLength": 1000, "description": "why it should be deployed"},
                },
                "required": ["projectName"],
                "additionalProperties": false,
            }),
            Effects::AtMostOnce,
            Place::Server,
            "demo",
        )
        .map_err(|why| BadTool::new(DEPLOY, why))?;
        tool.confirm = Confirm::TwoPhase;
        Ok(DeployTool { tool, log: data.join("deployments.log") })
    }

    pub fn log_path(&self) -> &Path {
        &self.log
    }
}

fn project_name(arguments: &Value) -> Result<&str, String> {
    let name = arguments.get("projectName").and_then(Value::as_str).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 63 || name.starts_with('-') || !name.chars().all(is_plain) {
        return Err("`projectName` must be lowercase letters, digits and dashes".into());
    }
    Ok(name)
}

fn execution_context() -> ExecutionContext {
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::DemoCloud, &[]);
    ExecutionContext { detail, ..ExecutionContext::default() }
}

fn deploy_outcome(project: &str) -> Outcome {
    Outcome::Succeeded(Output::text(
        json!({"url": format!("https://{project}.example")}).to_string(),
    ))
}

fn is_logged(log: &Path, key: &str) -> io::Result<bool> {
    match fs::read_to_string(log) {
        Ok(text) => Ok(text.lines().any(|line| line.split(' ').next() == Some(key))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn append_line(log: &Path, key: &str, project: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
    file.write_all(format!("{key} {project}\n").as_bytes())?;
    file.sync_all()
}

#[async_trait]
impl ToolHost for DeployTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let project = project_name(arguments.value()).map_err(PrepareError::Unsound)?;
        Ok(Prepared {
            context: execution_context(),
            title: Some(titled(CaptionKind::Deploy {
                project: project.to_owned(),
                target: "Shipper Cloud".into(),
            })),
            ..Prepared::default()
        })
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let project = match project_name(call.call().arguments.value()) {
            Ok(project) => project.to_owned(),
            Err(why) => return Ok(Outcome::Failed(Output::text(why))),
        };
        if call.call().context != execution_context() {
            let why = "Nothing was run: another target was approved.";
            return Ok(Outcome::Failed(Output::text(why)));
        }
        if stop.is_cancelled() {
            return Ok(Outcome::Failed(Output::text("Stopped before it started.")));
        }
        let (log, key, name) = (self.log.clone(), call.call().idempotency_key(), project.clone());
        // A thread may have to be waited for, so the gate is behind it.
        let appended = run_blocking(move || {
            let _starting = start.enter_blocking()?;
            Ok(append_line(&log, &key, &name))
        });
        Ok(match appended.await? {
            Ok(()) => deploy_outcome(&project),
            // The line may be there in part.
            Err(error) => {
                Outcome::Unknown { evidence: format!("the log could not be written: {error}") }
            }
        })
    }

    async fn recover(&self, call: &Call, _attempt: u32) -> Recovery {
        let (log, key) = (self.log.clone(), call.idempotency_key());
        let unknown = |evidence: String| Recovery::Unknown { evidence };
        match (
            project_name(call.arguments.value()),
            run_blocking(move || is_logged(&log, &key)).await,
        ) {
            (Ok(project), Ok(true)) => Recovery::Done(deploy_outcome(project)),
            (_, Ok(_)) => unknown("The log has no line about this deployment.".into()),
            (_, Err(error)) => unknown(format!("The log cannot be read: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &Path, filter: &str) -> u32 {
        let connection = Connection::open(path).unwrap();
        let sql = format!("SELECT count(*) FROM orders WHERE {filter}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    #[tokio::test]
    async fn the_database_is_made_once_and_then_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("demo.db");
        create_database(&path).unwrap();
        assert_eq!(count(&path, "status = 1"), ABANDONED_ORDERS);
        assert_eq!(count(&path, "true"), 500);
        Connection::open(&path).unwrap().execute_batch("DELETE FROM orders").unwrap();
        create_database(&path).unwrap();
        assert_eq!(count(&path, "true"), 0, "what was deleted stays deleted");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE mark (at TEXT)").unwrap();
        reset_orders(path.clone()).await.unwrap();
        reset_orders(path.clone()).await.unwrap();
        assert_eq!(count(&path, "status = 1"), ABANDONED_ORDERS);
        assert_eq!(count(&path, "true AND NOT EXISTS (SELECT 1 FROM mark)"), 500);
    }

    #[tokio::test]
    async fn a_project_name_cannot_forge_anything() {
        let dir = tempfile::tempdir().unwrap();
        let host = DeployTool::new(dir.path()).unwrap();
        let prepare = async |name: &str| {
            let arguments = Arguments::from_value(json!({"projectName": name})).unwrap();
            host.prepare(&arguments).await.map(|prepared| prepared.title.unwrap())
        };
        assert_eq!(prepare("my-app").await.unwrap(), "Deploy my-app to Shipper Cloud");
        for name in ["", "-a", "My App", "a\nb", "a/../b", "evil.com/"] {
            assert!(prepare(name).await.is_err(), "{name}");
        }
        assert!(!host.log_path().exists(), "preparing has no effects");
        assert_eq!(host.tool().confirm, Confirm::TwoPhase);
    }
}
