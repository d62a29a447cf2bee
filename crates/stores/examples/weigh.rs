//! What a pending hold costs: bytes on disk, memory, and the writer's time.
//!
//! `cargo run -p stores --example weigh -- 10000`

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use domain::event::{HoldEvent, SessionEvent};
use domain::grant::ClearedBy;
use domain::hold::{Decision, HoldState, HoldStateName};
use domain::outcome::ToolResult;
use domain::person::{Actor, PersonId};
use holdpoint_stores::SqliteStore;
use holdpoint_stores::conformance::stage::{
    Stage, at, audience, call, hold_id, node, person, session_id,
};
use ports::store::{Commit, HoldOrder, HoldQuery, Store, Viewer};
use tokio::task::JoinSet;

/// Callers at once, as in the benchmark.
const CALLERS: usize = 64;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("look"), Some(data)) => look(Path::new(&data)).await,
        (Some(holds), _) => write(holds.parse()?).await,
        (None, _) => write(10_000).await,
    }
}

/// Sessions that pause at a hold, and then half of them go on.
async fn write(holds: usize) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let store = SqliteStore::open(directory.path(), node(1))?;
    let mut stages: Vec<Stage> =
        (0..holds).map(|number| Stage::new(session_id(number as u128), node(1))).collect();
    let opening: [fn(&mut Stage) -> Commit; 3] = [
        |stage| stage.open(person("ana")),
        |stage| stage.say(1),
        |stage| stage.ask(number(stage), hold_id(number(stage)), audience(&[], &["dba"])),
    ];
    let before = writer_ns();
    for step in opening {
        commit_all(&store, &mut stages, step).await?;
    }
    say(format_args!(
        "{} µs of the writer per commit",
        (writer_ns() - before) / 3_000 / holds as u64
    ))?;
    store.close().await;
    // What others wrote: the message, the model's words, the arguments, the title.
    let payload = "delete the old orders".len()
        + "I will delete them.".len()
        + r#"{"sql": "DELETE FROM orders"}"#.len()
        + "Delete 214 rows from orders".len();
    let bytes = fs::metadata(directory.path().join("holdpoint.db"))?.len() / holds as u64;
    say(format_args!("{bytes} bytes on disk per pending hold, {payload} of them payload"))?;
    let look = [OsStr::new("look"), directory.path().as_os_str()];
    Command::new(std::env::current_exe()?).args(look).status()?;

    let store = SqliteStore::open(directory.path(), node(1))?;
    let before = writer_ns();
    let half = stages.len() / 2;
    for step in [approve, finish] {
        commit_all(&store, &mut stages[..half], step).await?;
    }
    let spent = (writer_ns() - before) / 2_000 / half.max(1) as u64;
    say(format_args!("{spent} µs of the writer per commit that changes a hold"))?;
    store.close().await;
    Ok(())
}

/// In a process of its own, so that nothing but the store is weighed.
async fn look(data: &Path) -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::open(data, node(2))?;
    let viewer = Viewer::Caller {
        actor: person("dan"),
        person: Some((PersonId::new("dan"), vec!["dba".into()])),
    };
    let page = HoldQuery { state: Some(HoldStateName::Pending), ..HoldQuery::all(viewer, 100) };
    let (mut listed, mut after) = (0, None);
    loop {
        let found = store.holds(HoldQuery { after, ..page.clone() }).await?;
        let Some(last) = found.last() else { break };
        after = Some(last.id);
        listed += found.len();
    }
    let first = HoldQuery { limit: 50, ..page.clone() };
    let searched = |text: &str| HoldQuery { text: Some(text.into()), ..first.clone() };
    for (what, query) in [
        ("newest first", first.clone()),
        ("by urgency", HoldQuery { order: HoldOrder::Urgency, ..first.clone() }),
        ("that mention orders", searched("orders")),
        ("that mention what none does", searched("nothing like it")),
    ] {
        let (found, ms) = timed(store.holds(query)).await;
        say(format_args!("{ms:.1} ms for the first {} {what}", found?.len()))?;
    }
    let (count, ms) = timed(store.count_holds(page.clone())).await;
    say(format_args!("{ms:.1} ms to count {}", count?))?;
    let alike = HoldQuery {
        tool: Some("sql_modify".into()),
        source: Some("ops".into()),
        ..HoldQuery::all(Viewer::Everything, 2_000)
    };
    let (alike, ms) = timed(store.hold_facts(alike)).await;
    say(format_args!("{ms:.1} ms for the facts of {} alike", alike?.len()))?;
    let status = fs::read_to_string("/proc/self/status")?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("?");
    say(format_args!("{} resident after listing {listed} pending holds", resident.trim()))
}

async fn timed<T>(work: impl Future<Output = T>) -> (T, f64) {
    #[expect(clippy::disallowed_methods, reason = "what is measured is this machine")]
    let began = std::time::Instant::now();
    let done = work.await;
    (done, began.elapsed().as_secs_f64() * 1_000.0)
}

fn say(line: std::fmt::Arguments<'_>) -> Result<(), Box<dyn Error>> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

fn number(stage: &Stage) -> u128 {
    stage.session.id.0.random_part()
}

fn approve(stage: &mut Stage) -> Commit {
    let hold = hold_id(number(stage));
    let by = ClearedBy::Rule(None);
    let state = HoldState::Approved(Decision::Automatic { allowed: true, by, at: at(1) });
    let id = call(None, number(stage), "{}").id;
    let events = vec![
        SessionEvent::Hold(HoldEvent::Decided { hold, state }),
        SessionEvent::CallStarted { call: id, attempt: 1, node: node(1) },
    ];
    stage.commit(events, person("bob"))
}

fn finish(stage: &mut Stage) -> Commit {
    let id = call(None, number(stage), "{}").id;
    let mut events =
        vec![SessionEvent::CallSettled { call: id, result: ToolResult::output("done") }];
    events.extend(stage.session.run.as_ref().map(|run| SessionEvent::RunCompleted { run: run.id }));
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

/// Time that the writer's thread has spent on a processor.
fn writer_ns() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let is_writer = |path: &Path| {
        fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "store-writer")
    };
    let mut writers = tasks.map(|task| task.path()).filter(|path| is_writer(path));
    let stat = writers.next().and_then(|path| fs::read_to_string(path.join("schedstat")).ok());
    stat.and_then(|stat| stat.split(' ').next()?.parse().ok()).unwrap_or_default()
}
