//! A store that fails: nothing is acknowledged that is not on disk, and nothing runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use engine::{Error, Followed, Saying};
use ports::store::*;
use serde_json::json;
use stores::MemoryStore;
use tokio::sync::Semaphore;

use crate::world::{Options, World, approve, node, results, status};

/// What the next commits meet.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum Fault {
    None = 0,
    /// Refused outright: a full disk, a lock.
    Unavailable = 1,
    /// Written, but the answer gets lost. Once.
    LostReply = 2,
    /// Not written, and nobody can say. Once.
    LostCommit = 3,
    /// Written, but the answer gets lost, and then the store cannot be read. Once.
    LostSight = 4,
    Unreadable = 5,
    /// A session cannot be loaded. Once.
    Unloadable = 6,
}

struct Faulty {
    inner: MemoryStore,
    fault: AtomicU8,
    /// Commits that were asked for, whatever came of them.
    asked: AtomicUsize,
    /// After a read of entries.
    seam: Seam,
    /// After a commit.
    late: Seam,
}

/// Where one caller is held back after the store has done what was asked, before it hears of it.
struct Seam {
    /// Which of those to come is held back: 1 for the next one, 0 for none.
    nth: AtomicUsize,
    is_done: Semaphore,
    may_go_on: Semaphore,
}

impl Seam {
    fn new() -> Seam {
        let (is_done, may_go_on) = (Semaphore::new(0), Semaphore::new(0));
        Seam { nth: AtomicUsize::new(0), is_done, may_go_on }
    }

    fn set(&self) {
        self.set_nth(1);
    }

    fn set_nth(&self, nth: usize) {
        self.nth.store(nth, Ordering::SeqCst);
    }

    async fn hold_back(&self) {
        let fewer = |nth: usize| nth.checked_sub(1);
        if self.nth.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer) == Ok(1) {
            self.is_done.add_permits(1);
            let _ = self.may_go_on.acquire().await;
        }
    }
}

impl Faulty {
    fn new(node: NodeId) -> Faulty {
        let (seam, late) = (Seam::new(), Seam::new());
        let inner = MemoryStore::new(node);
        Faulty { inner, fault: AtomicU8::new(0), asked: AtomicUsize::new(0), seam, late }
    }

    fn set(&self, fault: Fault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
    }

    fn is_now(&self, fault: Fault) -> bool {
        self.fault.load(Ordering::SeqCst) == fault as u8
    }
}

/// A session with a call that was approved.
async fn approved(world: &World) -> SessionId {
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    session
}

#[async_trait]
impl Store for Faulty {
    async fn commit(&self, commit: Commit) -> Result<Committed, CommitError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match self.fault.load(Ordering::SeqCst) {
            1 => Err(StoreError::Unavailable("the disk is full".into()).into()),
            2 => {
                self.set(Fault::None);
                self.inner.commit(commit).await?;
                Err(CommitError::Unknown("the connection broke".into()))
            }
            3 => {
                self.set(Fault::None);
                Err(CommitError::Unknown("the connection broke".into()))
            }
            4 => {
                self.inner.commit(commit).await?;
                self.set(Fault::Unreadable);
                Err(CommitError::Unknown("the connection broke".into()))
            }
            _ => {
                let committed = self.inner.commit(commit).await;
                self.late.hold_back().await;
                committed
            }
        }
    }

    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError> {
        if self.is_now(Fault::Unloadable) {
            self.set(Fault::None);
            return Err(StoreError::Unavailable("it is being opened again".into()));
        }
        self.inner.load(stream).await
    }
    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        if self.is_now(Fault::Unreadable) {
            self.set(Fault::None);
            return Err(StoreError::Unavailable("it is being opened again".into()));
        }
        let read = self.inner.entries(stream, after, limit).await;
        self.seam.hold_back().await;
        read
    }
    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError> {
        self.inner.last().await
    }
    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError> {
        self.inner.hold(id).await
    }
    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError> {
        self.inner.holds(query).await
    }
    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError> {
        self.inner.count_holds(query).await
    }
    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError> {
        self.inner.sessions(query).await
    }
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.inner.session(id).await
    }
    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError> {
        self.inner.session_of_run(run).await
    }
    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.inner.grants(viewer).await
    }
    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError> {
        self.inner.reply(caller, key).await
    }
    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError> {
        self.inner.forget_replies(before).await
    }
    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError> {
        self.inner.due(now, limit).await
    }
    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_due().await
    }
    async fn owing(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError> {
        self.inner.owing(after, limit).await
    }
    /// As on one machine: nobody else writes deadlines, so nobody looks for them now and then.
    fn is_shared(&self) -> bool {
        false
    }
    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError> {
        self.inner.is_gone(node).await
    }
    async fn deliveries(&self, now: Timestamp, limit: usize) -> Result<Vec<Delivery>, StoreError> {
        self.inner.deliveries(now, limit).await
    }
    async fn next_delivery(&self) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_delivery().await
    }
    async fn delivered(&self, key: &str, again_at: Option<Timestamp>) -> Result<(), StoreError> {
        self.inner.delivered(key, again_at).await
    }
    async fn put_secret(&self, secret: Secret) -> Result<(), StoreError> {
        self.inner.put_secret(secret).await
    }
    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<Secret>, StoreError> {
        self.inner.find_secret(kind, digest).await
    }
    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<Secret>, StoreError> {
        self.inner.take_secret(kind, digest).await
    }
    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError> {
        self.inner.seal(sealed).await
    }
    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError> {
        self.inner.sealed(scope).await
    }
    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        self.inner.forget_sealed(ids).await
    }
    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError> {
        self.inner.note(shelf, key).await
    }
    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.inner.notes(shelf, prefix, after, limit).await
    }
    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.inner.due_notes(shelf, now, limit).await
    }
    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_due_note(shelf).await
    }
    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError> {
        self.inner.put_notes(puts).await
    }
    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError> {
        self.inner.forget_notes(now).await
    }
    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        self.inner.audit(after, limit).await
    }
    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError> {
        self.inner.checkpoints(after).await
    }
    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError> {
        self.inner.checkpoint_now(at).await
    }
    fn audit_key(&self) -> Vec<u8> {
        self.inner.audit_key()
    }
    async fn probe(&self) -> Result<(), StoreError> {
        self.inner.probe().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i39_a_store_that_is_away_lets_nothing_run_and_loses_nothing() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    store.set(Fault::Unavailable);
    let refused = world.answer(&world.ana, &hold, approve()).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(world.hold(hold.id).await.is_pending());
    assert!(world.witness.arguments().is_empty(), "no intent on disk, no effect");
    store.set(Fault::None);
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i38_an_answer_whose_commit_is_unknown_is_looked_up_before_anything_is_said() {
    for fault in [Fault::LostReply, Fault::LostCommit] {
        let node = node();
        let store = Arc::new(Faulty::new(node));
        let world = Options::new(store.clone(), node).start().await;
        let session = world.session().await;
        world.model.will("", &[("wipe", json!({}))]);
        world.say(session, "x").await;
        let hold = world.paused(session).await.open_holds().next().unwrap().clone();
        store.set(fault);
        let answered = world.answer(&world.ana, &hold, approve()).await.unwrap();
        assert_eq!(answered.state.name(), "approved");
        let over = world.over(session).await;
        assert_eq!(world.witness.arguments().len(), 1, "run once, whatever the store said");
        assert_eq!(results(&over).len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i38_a_message_whose_commit_is_unknown_is_said_once() {
    for fault in [Fault::LostReply, Fault::LostCommit] {
        let node = node();
        let store = Arc::new(Faulty::new(node));
        let world = Options::new(store.clone(), node).start().await;
        let session = world.session().await;
        world.model.will("done", &[]);
        store.set(fault);
        world.say(session, "x").await;
        let over = world.over(session).await;
        let said = over.transcript.iter().filter(|message| message.text() == "x").count();
        assert_eq!((said, over.queue.len()), (1, 0), "neither lost nor said twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i39_a_result_that_cannot_be_written_yet_is_kept_until_it_can() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let gate = tokio_util::sync::CancellationToken::new();
    let mut options = Options::new(store.clone(), node);
    options.gate = Some(gate.clone());
    let world = options.start().await;
    let session = approved(&world).await;
    store.set(Fault::Unavailable);
    gate.cancel();
    tokio::time::sleep(std::time::Duration::from_millis(120)).await;
    store.set(Fault::None);
    let over = world.over(session).await;
    assert_eq!(results(&over), ["did {}"]);
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_what_happens_between_the_stored_and_the_live_is_not_lost() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let session = world.session().await;
    store.seam.set();
    let following = world.engine.follow_session(session, Some(0));
    let meanwhile = async {
        let _ = store.seam.is_done.acquire().await;
        // The follower has read what was stored, and does not listen yet. Nothing happens after
        // this that could make it look again.
        world.model.will("done", &[]);
        world.say(session, "x").await;
        let last = world.over(session).await.version;
        store.seam.may_go_on.close();
        last
    };
    let (follow, last) = tokio::join!(following, meanwhile);
    let mut follow = follow.unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&last) {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next());
        if let Some(Followed::Event(happening)) = next.await.expect("nothing is lost").unwrap() {
            seen.push(happening.position);
        }
    }
    assert_eq!(seen, (1..=last).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_entries_that_are_heard_of_out_of_order_are_followed_in_order() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = crate::world::person(&world.engine, "root").await;
    let (begin, _) = store.last().await.unwrap();
    let mut follow = world.engine.follow_all(&root, Some(begin)).await.unwrap();
    // It has read what is stored, and from now on listens.
    world.session().await;
    let (before, _) = store.last().await.unwrap();
    let first = follow.next().await.unwrap();
    assert!(matches!(first, Some(Followed::Event(happening)) if happening.position == before));
    // The first of two commits is on disk, but the second is heard of before it.
    store.late.set();
    let first = world.session();
    let second = async {
        let _ = store.late.is_done.acquire().await;
        world.session().await;
        store.late.may_go_on.close();
    };
    tokio::join!(first, second);
    let (last, _) = store.last().await.unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&last) {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next());
        if let Some(Followed::Event(happening)) = next.await.expect("nothing is lost").unwrap() {
            seen.push(happening.position);
        }
    }
    assert_eq!(seen, (before + 1..=last).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn i29_a_deadline_whose_commit_was_lost_sight_of_is_kept() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let new = engine::NewHold {
        question: domain::hold::Question::Approve,
        title: "quick".into(),
        call: Some(("wipe".into(), domain::json::Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: Some(200),
        callback: None,
    };
    store.set(Fault::LostSight);
    let opened = world.engine.open_hold(&world.ana, new, None).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))), "{opened:?}");
    // It is on disk all the same, and nobody asks for it.
    let open = store.inner.due(Timestamp::from_ms(i64::MAX), 1).await.unwrap();
    let StreamId::Outside(hold) = open[0] else { panic!("{open:?}") };
    let decided = async {
        while store.inner.hold(hold).await.unwrap().unwrap().is_pending() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), decided).await.expect("it expires");
    assert_eq!(store.inner.hold(hold).await.unwrap().unwrap().state.name(), "expired");
}

#[tokio::test]
async fn nobody_decides_on_what_is_just_being_changed() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    store.late.set();
    let mut answering = std::pin::pin!(world.answer(&world.ana, &hold, approve()));
    assert!(futures_util::poll!(&mut answering).is_pending(), "nobody knows of it yet");
    let before = store.asked.load(Ordering::SeqCst);
    let mut saying = ["a", "b", "c"].map(|text| Box::pin(world.say(session, text)));
    for one in &mut saying {
        assert!(futures_util::poll!(one).is_pending());
    }
    assert_eq!(store.asked.load(Ordering::SeqCst), before, "they would be refused");
    store.late.may_go_on.close();
    let (answered, _) = tokio::join!(answering, futures_util::future::join_all(saying));
    answered.unwrap();
    world.over(session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i15_what_follows_late_from_a_commit_does_not_run_a_call_again() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let mut options = Options::new(store.clone(), node);
    let gate = tokio_util::sync::CancellationToken::new();
    options.gate = Some(gate.clone());
    options.limits.cached_sessions = 1;
    let world = options.start().await;
    let session = approved(&world).await;
    // A message is written while the call runs, and nobody hears that it is.
    store.late.set();
    let saying = world.say(session, "and then");
    let meanwhile = async {
        let _ = store.late.is_done.acquire().await;
        gate.cancel();
        let over = |session: &domain::session::Session| {
            let settled = session.calls.values().all(|record| record.state.is_settled());
            settled && session.queue.is_empty() && status(session).is_some_and(|it| it.is_over())
        };
        world.until(session, "all is said", over).await;
        // The cache has room for one. Whoever is still about to look at the session has done so by the last.
        for _ in 0..20 {
            world.session().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        store.late.may_go_on.close();
    };
    tokio::join!(saying, meanwhile);
    world.engine.close(Duration::from_secs(10)).await;
    assert_eq!(world.witness.arguments().len(), 1, "it ran again");
}

/// The last words of a run are on disk with the next message, and nobody has heard of it. Meanwhile what is
/// remembered is in doubt, and the one who has to take up the next thought cannot read the session.
#[tokio::test(flavor = "multi_thread")]
async fn a_thought_that_is_owed_is_not_forgotten_because_the_store_could_not_be_read() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let gate = tokio_util::sync::CancellationToken::new();
    let mut options = Options::new(store.clone(), node);
    options.gate = Some(gate.clone());
    let world = options.start().await;
    let session = approved(&world).await;
    world.say(session, "second").await;
    // After the result come the last words.
    store.late.set_nth(2);
    gate.cancel();
    let _ = store.late.is_done.acquire().await;
    world.say(session, "third").await;
    store.set(Fault::Unavailable);
    let saying = Saying { texts: vec!["fourth".into()], while_pending: None };
    let refused = world.engine.say(&world.ana, session, saying, None).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    // Whoever looks again after that failure finds the thought still being done.
    tokio::time::sleep(Duration::from_millis(50)).await;
    store.set(Fault::Unloadable);
    store.late.may_go_on.close();
    while store.is_now(Fault::Unloadable) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let over = world.over(session).await;
    let said: Vec<_> = over.transcript.iter().map(|message| message.text()).collect();
    assert!(said.iter().any(|text| text == "third"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thaw_while_an_answer_is_being_acknowledged_lets_its_call_start() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = crate::world::person(&world.engine, "root").await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.engine.freeze(&root, "incident").await.unwrap();
    store.late.set();
    let answering = world.answer(&world.ana, &hold, approve());
    let thawing = async {
        // The answer is on disk, and this process does not know it yet.
        let _ = store.late.is_done.acquire().await;
        world.engine.thaw(&root).await.unwrap();
        store.late.may_go_on.close();
    };
    let (answered, ()) = tokio::join!(answering, thawing);
    answered.unwrap();
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_a_commit_that_was_lost_sight_of_is_followed() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = crate::world::person(&world.engine, "root").await;
    let mut follow = world.engine.follow_all(&root, None).await.unwrap();
    let mut next = std::pin::pin!(follow.next());
    assert!(futures_util::poll!(&mut next).is_pending(), "it listens");
    let new = engine::NewHold {
        question: domain::hold::Question::Approve,
        title: "slow".into(),
        call: Some(("wipe".into(), domain::json::Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: Some(600_000),
        callback: None,
    };
    store.set(Fault::LostSight);
    let opened = world.engine.open_hold(&world.ana, new, None).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))), "{opened:?}");
    let told = tokio::time::timeout(Duration::from_secs(10), next).await.expect("it is told");
    assert!(matches!(told, Ok(Some(engine::Followed::Event(_)))), "{told:?}");
}
