//! The process dies in the middle. Here a dead process is an engine that is not asked any more and
//! whose tools never come back; the real thing is killed in `testkit`'s crash test.

use std::sync::Arc;

use domain::answer::{Answer, Settlement};
use domain::hold::{HoldOutcome, QuestionKind};
use domain::id::SessionId;
use domain::session::RunStatus;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{Options, World, approve, node, results, status};

/// An engine whose tools wait in the middle, and what starts again after it died.
struct Dying {
    store: stores::MemoryStore,
    world: World,
}

impl Dying {
    async fn new() -> Dying {
        let first = node();
        let store = stores::MemoryStore::new(first);
        let mut options = Options::new(Arc::new(store.clone()), first);
        options.gate = Some(CancellationToken::new());
        Dying { store, world: options.start().await }
    }

    async fn until_running(&self) {
        while self.world.witness.arguments().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    /// A call that runs when the process dies; all but `look` wait for a person first.
    async fn until_interrupted(&self, tool: &str) -> SessionId {
        let session = self.world.session().await;
        self.world.model.will("", &[(tool, json!({"n": 1}))]);
        self.world.say(session, "x").await;
        if tool != "look" {
            let hold = self.world.paused(session).await.open_holds().next().unwrap().clone();
            self.world.answer(&self.world.ana, &hold, approve()).await.unwrap();
        }
        self.until_running().await;
        session
    }

    async fn again(self) -> World {
        self.options_again().start().await
    }

    fn options_again(&self) -> Options {
        let next = node();
        let mut options = Options::new(Arc::new(self.store.again(next)), next);
        (options.model, options.witness) = (self.world.model.clone(), self.world.witness.clone());
        options
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i14_i16_a_call_that_was_running_is_in_doubt_and_never_run_again() {
    let dying = Dying::new().await;
    let session = dying.world.session().await;
    dying.world.model.will("", &[("wipe", json!({}))]);
    dying.world.say(session, "x").await;
    let hold = dying.world.paused(session).await.open_holds().next().unwrap().clone();
    dying.world.answer(&dying.world.ana, &hold, approve()).await.unwrap();
    dying.until_running().await;
    let world = dying.again().await;
    let paused = world.paused(session).await;
    let settle = paused.open_holds().next().unwrap().clone();
    assert_eq!(settle.question.kind(), QuestionKind::Settle);
    assert_eq!(world.hold(hold.id).await.outcome(), Some(&HoldOutcome::Unknown));
    let how = Answer::Settle { how: Settlement::Succeeded, content: Some("seen".into()) };
    world.answer(&world.bob, &settle, how).await.unwrap();
    let over = world.over(session).await;
    assert_eq!(results(&over), ["seen"]);
    assert_eq!(world.witness.arguments().len(), 1, "one effect, before the crash");
}

#[tokio::test(flavor = "multi_thread")]
async fn i15_i18_what_reads_or_is_idempotent_runs_again_with_the_same_key() {
    for tool in ["look", "wipe_again"] {
        let dying = Dying::new().await;
        let session = dying.until_interrupted(tool).await;
        let world = dying.again().await;
        let over = world.over(session).await;
        assert_eq!(results(&over), [r#"did {"n":1}"#], "{tool}");
        let digests = world.witness.digests();
        assert_eq!(digests.len(), 2, "{tool}: once before and once after");
        assert_eq!(digests[0], digests[1], "{tool}: the very same call");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i03_an_interrupted_call_whose_tool_changed_is_asked_about_again() {
    for tool in ["look", "wipe_again"] {
        let dying = Dying::new().await;
        let session = dying.until_interrupted(tool).await;
        let mut options = dying.options_again();
        options.description = "another tool";
        let world = options.start().await;
        let asked = |session: &domain::session::Session| session.open_holds().next().is_some();
        let paused = world.until(session, "asked again", asked).await;
        let hold = paused.open_holds().next().unwrap().clone();
        assert_eq!(hold.question.kind(), QuestionKind::Approve, "{tool}");
        assert_eq!(world.witness.arguments().len(), 1, "{tool}: nothing runs unasked");
        world.answer(&world.ana, &hold, approve()).await.unwrap();
        assert_eq!(results(&*world.over(session).await), [r#"did {"n":1}"#], "{tool}");
        let digests = world.witness.digests();
        assert_eq!(digests.len(), 2, "{tool}: once before and once after");
        assert_ne!(
            digests[0], digests[1],
            "{tool}: what was approved is the call with the new tool"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thought_that_was_cut_off_is_thought_again_and_messages_are_not_lost() {
    let first = node();
    let store = stores::MemoryStore::new(first);
    let world = Options::new(Arc::new(store.clone()), first).start().await;
    let session = world.session().await;
    world.engine.close(std::time::Duration::from_millis(100)).await;
    // Accepted while closing: it is on disk, and nobody thinks about it any more.
    world.say(session, "hello").await;
    assert!(world.model.heard().is_empty());
    let next = node();
    let world = Options::new(Arc::new(store.again(next)), next).start().await;
    let over = world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Completed));
    assert_eq!(world.model.heard().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i29_a_deadline_that_passed_while_nobody_ran_is_applied_at_the_start() {
    let first = node();
    let store = stores::MemoryStore::new(first);
    let world = Options::new(Arc::new(store.clone()), first).start().await;
    let new = holdpoint_engine::NewHold {
        diff: None,
        question: domain::hold::Question::Approve,
        title: "quick".into(),
        call: Some(("wipe".into(), domain::json::Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: Some(1),
        callback: None,
    };
    let hold = world.engine.open_hold(&world.ana, new, None).await.unwrap();
    drop(world);
    let next = node();
    let world = Options::new(Arc::new(store.again(next)), next).start().await;
    let settled = world
        .engine
        .wait(
            &world.ana,
            hold.id,
            holdpoint_engine::Until::Decided,
            std::time::Duration::from_secs(10),
        )
        .await;
    assert_eq!(settled.unwrap().unwrap().state.name(), "expired");
}
