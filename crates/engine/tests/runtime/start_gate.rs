//! A freeze reaches calls that a tool host was given before it and has not begun (I-52).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::call::Call;
use domain::id::SessionId;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::session::{CallState, RunStatus, Session};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::store::Store;
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use rusqlite::Connection;
use serde_json::{Value, json};
use stores::MemoryStore;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tools::demo::{ABANDONED_ORDERS, create_database};
use tools::sql::{ModifyConfig, SqlDatabases, SqlModify};

use crate::faulty::Faulty;
use crate::world::{Options, World, approve, node, person, status};

/// A host that waits for something of its own before it begins, and may be slow to begin.
struct Patient {
    tool: Tool,
    handed: Notify,
    entered: Notify,
    ready: CancellationToken,
    begun: CancellationToken,
    did: AtomicUsize,
    /// How often it was told that a result is on record.
    forgot: AtomicUsize,
}

impl Patient {
    fn new() -> Arc<Patient> {
        let schema = json!({"type": "object"});
        let tool = Tool::new("wipe_patiently", "", schema, Effects::AtMostOnce, Place::Server, "");
        Arc::new(Patient {
            tool: tool.unwrap(),
            handed: Notify::new(),
            entered: Notify::new(),
            ready: CancellationToken::new(),
            begun: CancellationToken::new(),
            did: AtomicUsize::new(0),
            forgot: AtomicUsize::new(0),
        })
    }

    /// One that begins at once when it may.
    fn quick() -> Arc<Patient> {
        let host = Patient::new();
        host.begun.cancel();
        host
    }

    fn did(&self) -> usize {
        self.did.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ToolHost for Patient {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        Ok(Prepared::default())
    }

    async fn run(
        &self,
        _: ClearedCall,
        start: Start,
        _: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        self.handed.notify_one();
        self.ready.cancelled().await;
        let starting = start.enter().await?;
        self.entered.notify_one();
        self.begun.cancelled().await;
        self.did.fetch_add(1, Ordering::SeqCst);
        drop(starting);
        Ok(Outcome::Succeeded(Output::text("done")))
    }

    async fn forget(&self, _: &Call) {
        self.forgot.fetch_add(1, Ordering::SeqCst);
    }
}

fn options(store: Arc<dyn Store>, id: domain::id::NodeId, host: &Arc<Patient>) -> Options {
    let mut options = Options::new(store, id);
    options.extra.push(host.clone());
    options
}

/// A session with an approved call of this tool.
async fn approved(world: &World, tool: &str, arguments: Value) -> SessionId {
    let session = world.session().await;
    world.model.will("", &[(tool, arguments)]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    session
}

/// The same, given to its host.
async fn handed(world: &World, host: &Patient) -> SessionId {
    let session = approved(world, "wipe_patiently", json!({})).await;
    host.handed.notified().await;
    session
}

fn is_cleared(session: &Session) -> bool {
    session.calls.values().any(|record| matches!(record.state, CallState::Cleared { .. }))
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_call_that_its_host_was_given_does_not_begin_after_a_freeze() {
    let (shared, alone) = (node(), node());
    let stores: [(Arc<dyn Store>, _); 2] =
        [(Arc::new(MemoryStore::new(shared)), shared), (Arc::new(Faulty::new(alone)), alone)];
    for (store, id) in stores {
        let host = Patient::quick();
        let world = options(store, id, &host).start().await;
        let root = person(&world.engine, "root").await;
        let session = handed(&world, &host).await;
        world.engine.freeze(&root, "incident").await.unwrap();
        host.ready.cancel();
        world.until(session, "cleared again", is_cleared).await;
        assert_eq!(host.did(), 0, "it began after the freeze");
        world.engine.thaw(&root).await.unwrap();
        world.over(session).await;
        assert_eq!(host.did(), 1, "the thaw lets it go on, once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_freeze_by_another_node_reaches_a_host_that_waits() {
    let store = MemoryStore::new(node());
    let (one, two) = (node(), node());
    let first = Options::new(Arc::new(store.beside(one)), one).start().await;
    let host = Patient::quick();
    let second = options(Arc::new(store.beside(two)), two, &host).start().await;
    let root = person(&first.engine, "root").await;
    let session = handed(&second, &host).await;
    first.engine.freeze(&root, "incident").await.unwrap();
    host.ready.cancel();
    second.until(session, "cleared again", is_cleared).await;
    assert_eq!(host.did(), 0, "it began after the freeze");
}

#[tokio::test(flavor = "multi_thread")]
async fn i17_a_call_does_not_begin_when_its_node_lost_the_lease_while_the_host_waited() {
    let (id, host) = (node(), Patient::quick());
    let store = Faulty::shared(id);
    let world = options(Arc::new(store.clone()), id, &host).start().await;
    let session = handed(&world, &host).await;
    store.set_leased(false);
    host.ready.cancel();
    world.until(session, "cleared again", is_cleared).await;
    assert_eq!(host.did(), 0, "it began though others may have taken it over");
    store.set_leased(true);
    world.over(session).await;
    assert_eq!(host.did(), 1, "with the lease it goes on, once");
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_freeze_is_acknowledged_when_what_entered_before_it_has_begun() {
    let (id, host) = (node(), Patient::new());
    let world = options(Arc::new(MemoryStore::new(id)), id, &host).start().await;
    let root = person(&world.engine, "root").await;
    host.ready.cancel();
    let session = approved(&world, "wipe_patiently", json!({})).await;
    host.entered.notified().await;
    let engine = world.engine.clone();
    let mut freezing = JoinSet::new();
    freezing.spawn(async move { engine.freeze(&root, "incident").await });
    while world.engine.frozen().is_none() {
        tokio::task::yield_now().await;
    }
    let early = tokio::time::timeout(Duration::from_millis(300), freezing.join_next()).await;
    assert!(early.is_err(), "it is in force, and a call is half begun");
    host.begun.cancel();
    freezing.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(host.did(), 1, "what had entered has begun");
    world
        .until(session, "its call has ended", |session| {
            !session.calls.values().any(|record| matches!(record.state, CallState::Running { .. }))
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_a_host_that_hangs_while_it_begins_keeps_no_freeze_from_being_acknowledged() {
    let (id, host) = (node(), Patient::new());
    let mut options = options(Arc::new(MemoryStore::new(id)), id, &host);
    options.hurry = 50;
    let world = options.start().await;
    let root = person(&world.engine, "root").await;
    host.ready.cancel();
    approved(&world, "wipe_patiently", json!({})).await;
    host.entered.notified().await;
    let freezing = world.engine.freeze(&root, "incident");
    tokio::time::timeout(Duration::from_secs(20), freezing).await.expect("it has a bound").unwrap();
    assert_eq!(host.did(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_that_its_host_was_given_does_not_begin() {
    let (id, host) = (node(), Patient::quick());
    let world = options(Arc::new(MemoryStore::new(id)), id, &host).start().await;
    let session = handed(&world, &host).await;
    let run = world.get(session).await.run.as_ref().unwrap().id;
    world.engine.cancel_run(&world.ana, run, None).await.unwrap();
    host.ready.cancel();
    let over = world.over(session).await;
    assert_eq!((status(&over), host.did()), (Some(RunStatus::Cancelled), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_a_host_forgets_its_traces_once_the_result_is_on_record() {
    let (id, host) = (node(), Patient::quick());
    let world = options(Arc::new(MemoryStore::new(id)), id, &host).start().await;
    host.ready.cancel();
    let session = approved(&world, "wipe_patiently", json!({})).await;
    world.over(session).await;
    world.engine.close(Duration::from_secs(20)).await;
    assert_eq!(host.forgot.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_a_host_keeps_its_traces_when_its_report_came_too_late() {
    let store = MemoryStore::new(node());
    let (one, two) = (node(), node());
    let (slow, other) = (Patient::new(), Patient::quick());
    let first = options(Arc::new(store.beside(one)), one, &slow).start().await;
    slow.ready.cancel();
    let session = approved(&first, "wipe_patiently", json!({})).await;
    slow.entered.notified().await;
    // Another node takes it for gone, and its work up: nobody can say what became of the call.
    let store = Faulty::giving_up(store.beside(two), two, one);
    let second = options(Arc::new(store), two, &other).start().await;
    let is_in_doubt = |session: &Session| {
        session.calls.values().any(|record| matches!(record.state, CallState::InDoubt { .. }))
    };
    second.until(session, "in doubt", is_in_doubt).await;
    slow.begun.cancel();
    let closing = first.engine.close(Duration::from_secs(20));
    tokio::time::timeout(Duration::from_secs(15), closing).await.expect("its report was refused");
    assert_eq!(slow.did(), 1);
    assert_eq!(slow.forgot.load(Ordering::SeqCst), 0, "what lies there may be the only trace");
}

/// The real host of changes on SQLite. Another program takes the database the moment its first call comes.
struct Contended {
    inner: SqlModify,
    path: PathBuf,
    other: Mutex<Option<Connection>>,
    handed: Notify,
}

#[async_trait]
impl ToolHost for Contended {
    fn tool(&self) -> &Tool {
        self.inner.tool()
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        self.inner.prepare(arguments).await
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        if call.attempt() == 1 {
            let other = Connection::open(&self.path).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            *self.other.lock().unwrap() = Some(other);
            self.handed.notify_one();
        }
        self.inner.run(call, start, stop).await
    }

    async fn announce(&self, call: &Call, attempt: u32) -> Result<(), String> {
        self.inner.announce(call, attempt).await
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        self.inner.recover(call, attempt).await
    }
}

fn number(path: &Path, sql: &str) -> i64 {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_change_that_waits_for_a_lock_does_not_begin_after_a_freeze() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    create_database(&path).unwrap();
    let mut config = ModifyConfig::new(SqlDatabases::single("wipe_rows", &path).unwrap());
    config.name = "wipe_rows".into();
    let host = Arc::new(Contended {
        inner: SqlModify::new(config).unwrap(),
        path: path.clone(),
        other: Mutex::default(),
        handed: Notify::new(),
    });
    let id = node();
    let mut options = Options::new(Arc::new(Faulty::new(id)), id);
    options.extra.push(host.clone());
    let world = options.start().await;
    let root = person(&world.engine, "root").await;
    let delete = json!({"sql": "DELETE FROM orders WHERE status = 1"});
    let session = approved(&world, "wipe_rows", delete).await;
    host.handed.notified().await;
    world.engine.freeze(&root, "incident").await.unwrap();
    // The other program ends its transaction: the change could begin now.
    drop(host.other.lock().unwrap().take());
    world.until(session, "cleared again", is_cleared).await;
    assert_eq!(number(&path, "SELECT count(*) FROM orders"), 500, "rows went after the freeze");
    let begun = "SELECT count(*) FROM holdpoint_marker WHERE result <> 'announced'";
    assert_eq!(number(&path, begun), 0, "nothing says that it began");
    world.engine.thaw(&root).await.unwrap();
    world.over(session).await;
    let left = 500 - i64::from(ABANDONED_ORDERS);
    assert_eq!(number(&path, "SELECT count(*) FROM orders"), left, "the thaw lets it go on");
    let made = "SELECT count(*) FROM holdpoint_marker WHERE rows IS NOT NULL";
    assert_eq!(number(&path, made), 1, "once");
}
