//! What a pending hold costs: bytes on disk, memory, and the writer's time.
//!
//! `cargo run -p stores --example weigh -- 10000`

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use domain::event::Event;
use domain::grant::ClearedBy;
use domain::hold::{Decision, HoldState};
use domain::outcome::ToolResult;
use domain::person::Actor;
use ports::store::{Commit, HoldQuery, Store, Viewer};
use stores::SqliteStore;
use stores::conformance::stage::{Stage, at, audience, call, hold_id, node, person, session_id};
use tokio::task::JoinSet;

/// Callers at once, as in the benchmark.
const CALLERS: usize = 64;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let holds: usize = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let directory = tempfile::tempdir()?;
    let _keep = fs::remove_dir_all("/tmp/hp/scratch/weigh");
    let store = SqliteStore::open(directory.path(), node(1))?;
    let mut stages: Vec<Stage> =
        (0..holds).map(|number| Stage::new(session_id(number as u128), node(1))).collect();
    let mut out = std::io::stdout().lock();

    let opening: [fn(&mut Stage) -> Commit; 3] = [
        |stage| stage.open(person("ana")),
        |stage| stage.say(1),
        |stage| stage.ask(number(stage), hold_id(number(stage)), audience(&[], &["dba"])),
    ];
    let before = cpu_ns();
    for step in opening {
        commit_all(&store, &mut stages, step).await?;
    }
    let opened = cpu_ns();
    // What the row holds that somebody else wrote: the message, the model's words, the arguments.
    let payload = "delete the old orders".len()
        + "I will delete them.".len()
        + r#"{"sql": "DELETE FROM orders"}"#.len() * 2
        + "Delete 214 rows from orders".len() * 2;
    let bytes = store_bytes(&store, directory.path()).await?;
    writeln!(out, "{} bytes on disk per pending hold, {payload} of them payload", bytes / holds as u64)?;
    writeln!(out, "{} µs of the writer per commit of three", (opened - before) / 3 / holds as u64 / 1_000)?;

    let page = HoldQuery {
        viewer: Viewer::Everything,
        state: Some("pending".into()),
        agent: None,
        session: None,
        kind: None,
        risk: None,
        audience: None,
        text: None,
        after: None,
        limit: 100,
    };
    let found = store.holds(page).await?.len();
    writeln!(out, "{} KiB resident with {holds} pending ({found} listed)", resident_kib()? )?;

    fs::create_dir_all("/tmp/hp/scratch/weigh")?; fs::copy(directory.path().join("holdpoint.db"), "/tmp/hp/scratch/weigh/a.db")?;
    let rest: [fn(&mut Stage) -> Commit; 2] = [approve, finish];
    let before = cpu_ns();
    for step in rest {
        commit_all(&store, &mut stages, step).await?;
    }
    writeln!(out, "{} µs of the writer per commit of the last two", (cpu_ns() - before) / 2 / holds as u64 / 1_000)?;
    store.close().await;
    Ok(())
}

fn number(stage: &Stage) -> u128 {
    stage.session.id.0.chance()
}

fn approve(stage: &mut Stage) -> Commit {
    let hold = hold_id(number(stage));
    let by = ClearedBy::Rule(None);
    let state = HoldState::Approved(Decision::Automatic { allowed: true, by, at: at(1) });
    let id = call(None, number(stage), "{}").id;
    let events = vec![
        Event::HoldDecided { hold, state },
        Event::CallStarted { call: id, attempt: 1, node: node(1) },
    ];
    stage.commit(events, person("bob"))
}

fn finish(stage: &mut Stage) -> Commit {
    let id = call(None, number(stage), "{}").id;
    let mut events = vec![Event::CallSettled { call: id, result: ToolResult::output("done") }];
    events.extend(stage.session.run.as_ref().map(|run| Event::RunCompleted { run: run.id }));
    stage.commit(events, Actor::Runtime)
}

async fn commit_all(
    store: &Arc<SqliteStore>,
    stages: &mut [Stage],
    step: fn(&mut Stage) -> Commit,
) -> Result<(), Box<dyn Error>> {
    let mut tasks = JoinSet::new();
    for stage in stages {
        while tasks.len() >= CALLERS {
            if let Some(done) = tasks.join_next().await {
                done??;
            }
        }
        let (store, commit) = (store.clone(), step(stage));
        tasks.spawn(async move { store.commit(commit).await.map(drop) });
    }
    tasks.join_all().await.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(())
}

/// After the log has been moved into the database.
async fn store_bytes(store: &Arc<SqliteStore>, path: &Path) -> Result<u64, Box<dyn Error>> {
    store.probe().await?;
    // The writer tidies up in a quiet moment.
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    Ok(fs::metadata(path.join("holdpoint.db"))?.len())
}

/// Time that the writer's thread has spent on a processor.
fn cpu_ns() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let is_writer = |path: &Path| {
        fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "store-writer")
    };
    let mut writers = tasks.map(|task| task.path()).filter(|path| is_writer(path));
    let stat = writers.next().and_then(|path| fs::read_to_string(path.join("schedstat")).ok());
    stat.and_then(|stat| stat.split(' ').next()?.parse().ok()).unwrap_or_default()
}

fn resident_kib() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
