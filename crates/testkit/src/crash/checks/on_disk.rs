//! What lies on disk when everything is over, and what still runs.

use std::time::Duration;

use tokio::time::sleep;

use crate::crash::report::Report;
use crate::crash::world::{Callers, World};
use crate::journal::{Journal, Row, gaps};

/// The log verifies, with our library and with the program's own command.
pub(in crate::crash) async fn audit(
    world: &World,
    callers: &Callers,
    report: &mut Report,
) -> Result<(), String> {
    let export = callers.auditor.download("/v1/audit/export").await.map_err(|lost| lost.0)?;
    match audit::verify(export.as_slice(), None, None) {
        Ok(sound) => report.commits = sound.entries,
        Err(failed) => report.wrong.push(format!("audit: {failed}")),
    }
    let file = world.folder().join("audit.jsonl");
    std::fs::write(&file, &export).map_err(|error| error.to_string())?;
    let command = world.binary().command().args(["audit", "verify"]).arg(&file).output().await;
    let command = command.map_err(|error| error.to_string())?;
    if !command.status.success() {
        let words = String::from_utf8_lossy(&command.stderr).into_owned();
        report.wrong.push(format!(
            "audit: `holdpoint audit verify` ended with {}: {words}",
            command.status
        ));
    }
    Ok(())
}

/// The database is whole, and its journal has no gap.
pub(in crate::crash) fn database(world: &World, report: &mut Report) -> Result<Vec<Row>, String> {
    let journal = Journal::open(&world.database())?;
    if let Err(broken) = journal.integrity() {
        report.wrong.push(format!("database: {broken}"));
    }
    let rows = journal.after(0)?;
    report.wrong.extend(gaps(&rows));
    if (rows.len() as u64) < report.commits {
        report.wrong.push(format!(
            "database: {} commits, and {} were exported",
            rows.len(),
            report.commits
        ));
    }
    Ok(rows)
}

/// Whatever tools started is gone, soon after the server that started them.
pub(in crate::crash) async fn leftovers(world: &World) -> Vec<String> {
    let folder = world.folder().display().to_string();
    let mut left = Vec::new();
    for _ in 0..50 {
        left = commands().into_iter().filter(|command| command.contains(&folder)).collect();
        if left.is_empty() {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    left.into_iter().map(|command| format!("processes: still running: {command}")).collect()
}

/// The command lines of everything that runs here.
fn commands() -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let lines = processes
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}
