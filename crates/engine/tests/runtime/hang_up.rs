//! Callers hang up, models and tools panic: what is on disk is followed up all the same.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::hold::Hold;
use domain::json::Arguments;
use domain::outcome::Outcome;
use domain::session::RunStatus;
use domain::tool::{Effects, Place, Tool};
use futures_util::FutureExt as _;
use holdpoint_engine::{Answering, NewMessage};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{Options, World, approve, node, status};

async fn on_disk() -> (World, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let node = node();
    let store = stores::SqliteStore::open(folder.path(), node).unwrap();
    (Options::new(store, node).start().await, folder)
}

/// Polls once, so that the commit is on its way, and hangs up.
macro_rules! hang_up {
    ($future:expr) => {
        assert!($future.now_or_never().is_none(), "it was over before anybody could hang up");
    };
}

/// A call whose approval is decided on and on its way to disk; whoever sent it has hung up.
async fn approved() -> (World, tempfile::TempDir, Arc<Hold>) {
    let (world, folder) = on_disk().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let paused = world.paused(session).await;
    let hold = paused.open_holds().next().unwrap().clone();
    // Refused when it has its turn: what led to the pause is followed up to its end by then, and the answer
    // does not wait for a turn of its own.
    let refused = world.engine.retry_run(&world.ana, hold.run().unwrap()).await;
    assert!(matches!(refused, Err(holdpoint_engine::Error::Refused(_))), "{refused:?}");
    let answering = Answering { digest: Some(hold.digest()), answer: approve() };
    hang_up!(world.engine.answer(&world.ana, hold.id, answering, None));
    (world, folder, hold)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_sender_hung_up_is_answered() {
    let (world, _folder) = on_disk().await;
    let session = world.session().await;
    world.model.will("hello", &[]);
    let saying = NewMessage { texts: vec!["hi".into()], files: Vec::new(), while_pending: None };
    hang_up!(world.engine.say(&world.ana, session, saying, None));
    let over = world.over(session).await;
    assert_eq!((status(&over), world.model.heard().len()), (Some(RunStatus::Completed), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_whose_sender_hung_up_runs_the_call_once() {
    let (world, _folder, hold) = approved().await;
    world.over(hold.session().unwrap()).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_begins_while_the_engine_closes_is_done_and_not_in_doubt() {
    let (world, _folder, hold) = approved().await;
    world.engine.close(Duration::from_secs(20)).await;
    assert_eq!(world.witness.arguments().len(), 1);
    let outcome = world.hold(hold.id).await.outcome().cloned();
    assert_eq!(outcome.as_ref().map(|outcome| outcome.name()), Some("succeeded"));
    assert_eq!(world.model.heard().len(), 1, "no thought is begun any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thaw_whose_sender_hung_up_wakes_what_waited() {
    let (world, _folder) = on_disk().await;
    let root = crate::world::person(&world.engine, "root").await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.engine.freeze(&root, "incident").await.unwrap();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    assert!(world.witness.arguments().is_empty(), "it waits");
    hang_up!(world.engine.thaw(&root));
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

/// A tool that cannot even look without falling over.
struct Clumsy(Tool);

#[async_trait]
impl ToolHost for Clumsy {
    fn tool(&self) -> &Tool {
        &self.0
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        panic!("oh no")
    }

    async fn run(
        &self,
        _: ClearedCall,
        _: Start,
        _: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        panic!("oh no")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i06_a_tool_that_panics_while_it_looks_runs_nothing_and_bricks_nothing() {
    let tool =
        Tool::new("clumsy", "", json!({}), Effects::AtMostOnce, Place::Server, "test").unwrap();
    let node = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(node)), node);
    options.extra = vec![Arc::new(Clumsy(tool))];
    let world = options.start().await;
    let session = world.session().await;
    world.model.will("", &[("clumsy", json!({}))]);
    world.say(session, "x").await;
    let failed = world.over(session).await;
    assert_eq!(status(&failed), Some(RunStatus::Failed));
    assert!(failed.holds.is_empty());
    world.say(session, "and now?").await;
    let over = world.until(session, "answered", |s| status(s) == Some(RunStatus::Completed)).await;
    assert_eq!(over.transcript.len(), 3);
}
