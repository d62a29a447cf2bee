//! Commits: all or nothing, in order, once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::digest::Digest;
use domain::event::{Event, GlobalEvent, SessionEvent};
use domain::id::{RunId, StreamId};
use domain::time::Timestamp;
use ports::clock::Clock;
use ports::store::{
    Commit, CommitError, Committed, Entry, KeptReply, Store, StoreError, StreamRows, WriteBefore,
};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::Opener;
use super::stage::{
    Stage, at, audience, commit, hold, hold_id, node, open_outside, person, session_id,
};

/// Commits all of these at the same time.
pub(super) async fn at_once(
    store: &Arc<dyn Store>,
    commits: Vec<Commit>,
) -> Vec<Result<Committed, CommitError>> {
    let mut tasks = JoinSet::new();
    for commit in commits {
        let store = store.clone();
        tasks.spawn(async move { store.commit(commit).await });
    }
    tasks.join_all().await
}

fn thawed(count: usize) -> Vec<Event> {
    (0..count).map(|_| Event::Global(GlobalEvent::Thawed { by: person("ana") })).collect()
}

fn same(entry: &Entry, commit: &Commit) -> bool {
    entry.id == commit.id
        && entry.stream == commit.stream()
        && entry.first == commit.expected + 1
        && entry.at == commit.at
        && entry.actor == commit.actor
        && entry.events == commit.events
}

pub async fn positions_are_consecutive(open: &Opener) {
    let store = open(node(1));
    assert_eq!(store.last().await.unwrap(), (0, None), "it begins with nothing");
    let mut stage = Stage::new(session_id(1), node(1));
    let commits = [
        stage.open(person("ana")),
        stage.say(1),
        stage.ask(1, hold_id(1), audience(&["bob"], &[])),
    ];
    let other = commit(StreamRows::Global, 0, thawed(3), person("ana"));
    let mut global = 1;
    for commit in commits.iter().take(2).chain([&other]).chain(commits.iter().skip(2)) {
        let committed = store.commit(commit.clone()).await.unwrap();
        assert_eq!(committed.global, global);
        assert_eq!(committed.version, commit.expected + commit.events.len() as u64);
        global += commit.events.len() as u64;
    }
    assert_eq!(store.last().await.unwrap(), (global - 1, Some(commits[2].at)));

    let loaded = store.load(StreamId::Session(stage.session.id)).await.unwrap();
    assert_eq!(loaded.len(), 3);
    for (entry, commit) in loaded.iter().zip(&commits) {
        assert!(same(entry, commit), "{entry:?}");
    }
    let everything = store.entries(None, 0, 100).await.unwrap();
    let positions: Vec<(u64, usize)> =
        everything.iter().map(|entry| (entry.global, entry.events.len())).collect();
    assert_eq!(positions, [(1, 1), (2, 2), (4, 3), (7, 4)]);
    assert_eq!(store.load(StreamId::Session(session_id(9))).await.unwrap(), []);
}

/// From every position on, everything and nothing twice.
pub async fn a_follower_misses_nothing(open: &Opener) {
    let store = open(node(1));
    let sizes = [1, 3, 1, 2, 5];
    let mut version = 0;
    for (index, size) in sizes.iter().enumerate() {
        store
            .commit(commit(StreamRows::Global, version, thawed(*size), person("ana")))
            .await
            .unwrap();
        version += *size as u64;
        let hold = hold(hold_id(index as u128), None, person("ana"), audience(&["bob"], &[]));
        store.commit(open_outside(hold)).await.unwrap();
    }
    let last = store.last().await.unwrap().0;
    for after in 0..=last + 1 {
        let globals: Vec<u64> = store
            .entries(None, after, 100)
            .await
            .unwrap()
            .iter()
            .flat_map(|entry| entry.global..entry.global + entry.events.len() as u64)
            .filter(|position| *position > after)
            .collect();
        assert_eq!(globals, (after + 1..=last).collect::<Vec<_>>());
    }
    for after in 0..=version + 1 {
        let entries = store.entries(Some(StreamId::Global), after, 100).await.unwrap();
        let positions: Vec<u64> = entries
            .iter()
            .flat_map(|entry| entry.first..entry.first + entry.events.len() as u64)
            .filter(|position| *position > after)
            .collect();
        assert_eq!(positions, (after + 1..=version).collect::<Vec<_>>());
        let ends = |entry: &Entry| entry.first + entry.events.len() as u64 - 1;
        assert!(entries.iter().all(|entry| ends(entry) > after), "nothing that was read already");
    }
    let one = store.entries(Some(StreamId::Global), 1, 1).await.unwrap();
    assert_eq!((one.len(), one[0].first), (1, 2));
}

pub async fn a_stale_commit_leaves_no_trace(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    let before = store.last().await.unwrap();
    let mut stale = stage.clone().ask(1, hold_id(1), audience(&["bob"], &[]));
    for expected in [0, 2, 7] {
        stale.expected = expected;
        stale.reply = Some(reply("ana", "key"));
        match store.commit(stale.clone()).await {
            Err(CommitError::Conflict { actual: 1 }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.last().await.unwrap(), before);
    assert_eq!(store.hold(hold_id(1)).await.unwrap(), None);
    assert_eq!(store.session(session_id(1)).await.unwrap(), Some(stage.row()));
    assert_eq!(store.reply("ana", "key").await.unwrap(), None, "not even its reply");
    stale.expected = 1;
    store.commit(stale).await.unwrap();
}

pub async fn i09_of_many_at_once_one_wins(open: &Opener) {
    let store = open(node(1));
    for round in 0..3 {
        let commits = (0..100).map(|number| {
            let reason = format!("reason {number}");
            let frozen = Event::Global(GlobalEvent::Frozen { by: person("ana"), reason });
            commit(StreamRows::Global, round, vec![frozen], person("ana"))
        });
        let results = at_once(&store, commits.collect()).await;
        let won = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(won, 1, "round {round}");
        for result in results {
            match result {
                Ok(committed) => assert_eq!(committed.version, round + 1),
                Err(CommitError::Conflict { actual }) => assert_eq!(actual, round + 1),
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert_eq!(store.load(StreamId::Global).await.unwrap().len(), 3);
}

/// Also if what follows from one takes longer than the next commit.
pub async fn commits_are_told_in_the_order_of_the_journal(open: &Opener) {
    let store = open(node(1));
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    for number in 0..100 {
        let (store, told) = (store.clone(), told.clone());
        tasks.spawn(async move {
            let commit = Stage::new(session_id(number), node(1)).open(person("ana"));
            let (over, is_over) = oneshot::channel();
            let done = move |fate: Result<Committed, CommitError>| {
                let global = fate.unwrap().global;
                if global.is_multiple_of(7) {
                    std::thread::yield_now();
                }
                told.lock().unwrap().push(global);
                let _ = over.send(());
            };
            store.enqueue(commit, Box::new(done));
            is_over.await.unwrap();
        });
    }
    tasks.join_all().await;
    assert_eq!(*told.lock().unwrap(), (1..=100).collect::<Vec<u64>>());
}

pub async fn i10_what_was_acknowledged_is_there_again(open: &Opener) {
    let store = open(node(1));
    let mut stages: Vec<Stage> =
        (0..50).map(|number| Stage::new(session_id(number), node(1))).collect();
    type Step = fn(&mut Stage) -> Commit;
    let steps: [Step; 3] = [
        |stage| stage.open(person("ana")),
        |stage| stage.say(1),
        |stage| {
            let number = stage.session.id.0.random_part();
            stage.ask(number, hold_id(number), audience(&["bob"], &[]))
        },
    ];
    for step in steps {
        let commits = stages.iter_mut().map(step).collect();
        for result in at_once(&store, commits).await {
            result.unwrap();
        }
    }
    let last = store.last().await.unwrap();
    drop(store);

    let store = open(node(2));
    assert_eq!(store.last().await.unwrap(), last);
    for stage in &stages {
        let stream = StreamId::Session(stage.session.id);
        let mut folded = domain::session::Session::begin(stage.session.id);
        for entry in store.load(stream).await.unwrap() {
            let events = entry.events.iter().filter_map(Event::session_event);
            events.for_each(|event| folded.apply(event, entry.at));
        }
        assert_eq!(folded, stage.session);
        for hold in stage.session.holds.values() {
            assert_eq!(store.hold(hold.id).await.unwrap().as_ref(), Some(hold));
        }
    }
    let mut stage = stages.remove(0);
    let again = stage.commit(vec![], person("ana"));
    assert!(store.commit(again).await.is_ok(), "versions go on where they were");
    assert!(store.is_gone(node(1)).await.unwrap(), "the old process is gone");
    assert!(!store.is_gone(node(2)).await.unwrap());
}

pub async fn a_freeze_stops_commits_that_rely_on_it(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    let mut first = stage.open(person("ana"));
    first.global_version = Some(0);
    store.commit(first).await.unwrap();
    let frozen = Event::Global(GlobalEvent::Frozen { by: person("ana"), reason: "smoke".into() });
    store.commit(commit(StreamRows::Global, 0, vec![frozen], person("ana"))).await.unwrap();
    let mut late = stage.say(1);
    late.global_version = Some(0);
    assert!(matches!(store.commit(late.clone()).await, Err(CommitError::GlobalStateChanged)));
    assert_eq!(store.load(late.stream()).await.unwrap().len(), 1);
    late.global_version = Some(1);
    store.commit(late).await.unwrap();
}

/// A clock that stands still.
struct StoppedClock(Timestamp);

#[async_trait]
impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    async fn sleep(&self, _: Duration) {}
}

/// An answer counts if it is durable before its deadline (I-54).
pub async fn i54_a_commit_after_its_deadline_leaves_no_trace(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    let before = store.last().await.unwrap();
    let mut late = stage.ask(1, hold_id(1), audience(&["bob"], &[]));
    late.reply = Some(reply("ana", "key"));
    let deadline = at(1_000);
    let when = |ms| WriteBefore { at: deadline, clock: Arc::new(StoppedClock(at(ms))) };
    for ms in [1_000, 1_001, 60_000] {
        late.write_before = Some(when(ms));
        // Others that wait for the same sync are not held up by it.
        let mut others = Stage::new(session_id(2 + ms as u128), node(1));
        let results = at_once(&store, vec![late.clone(), others.open(person("ana"))]).await;
        let refused = |result: &Result<_, _>| matches!(result, Err(CommitError::TooLate));
        assert_eq!(results.iter().filter(|result| refused(result)).count(), 1, "{results:?}");
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    }
    assert_eq!(store.last().await.unwrap().0, before.0 + 3, "the others");
    assert_eq!(store.load(late.stream()).await.unwrap().len(), 1);
    assert_eq!(store.hold(hold_id(1)).await.unwrap(), None);
    assert_eq!(store.reply("ana", "key").await.unwrap(), None, "not even its reply");
    late.write_before = Some(when(999));
    store.commit(late.clone()).await.unwrap();
    // Whoever repeats a request gets its reply, however late.
    late.write_before = Some(when(60_000));
    assert!(matches!(store.commit(late).await, Err(CommitError::ReplyKept)));
}

pub(super) fn reply(caller: &str, key: &str) -> KeptReply {
    KeptReply {
        caller: caller.into(),
        key: key.into(),
        request: Digest::of(key.as_bytes()),
        status: 201,
        body: b"{\"id\":\"ses_\xf0\"}".to_vec(),
        at: at(5),
    }
}

pub async fn a_repeated_request_changes_nothing(open: &Opener) {
    let store = open(node(1));
    let commits: Vec<Commit> = (0..20)
        .map(|number| {
            let mut commit = Stage::new(session_id(number), node(1)).open(person("ana"));
            commit.reply = Some(reply("ana", "key-1"));
            commit
        })
        .collect();
    let results = at_once(&store, commits).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let kept = |result: &Result<_, CommitError>| matches!(result, Err(CommitError::ReplyKept));
    assert_eq!(results.iter().filter(|result| kept(result)).count(), 19);
    assert_eq!(store.last().await.unwrap().0, 1, "one session was opened");
    assert_eq!(store.reply("ana", "key-1").await.unwrap(), Some(reply("ana", "key-1")));
    assert_eq!(store.reply("bob", "key-1").await.unwrap(), None, "keys of callers never meet");

    // Even if it comes too late: the reply says what became of the request.
    let mut stale = Stage::new(session_id(0), node(1)).open(person("ana"));
    stale.expected = 5;
    stale.reply = Some(reply("ana", "key-1"));
    assert!(matches!(store.commit(stale).await, Err(CommitError::ReplyKept)));

    // A reply can be kept although nothing happened, such as for an answer given twice.
    let mut nothing = commit(StreamRows::Global, 0, vec![], person("bob"));
    nothing.reply = Some(reply("bob", "key-1"));
    assert_eq!(store.commit(nothing).await.unwrap().version, 0);
    assert!(store.reply("bob", "key-1").await.unwrap().is_some());
    assert_eq!(store.last().await.unwrap().0, 1);
}

pub async fn runs_lead_to_their_session(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    store.commit(stage.say(1)).await.unwrap();
    let first = stage.session.run.as_ref().map(|run| run.id).unwrap();
    store.commit(stage.say(2)).await.unwrap();
    let second = stage.session.run.as_ref().map(|run| run.id).unwrap();
    let waits = RunId::new(1, 77);
    let message = super::stage::user_message(9, "and then", at(0));
    let queued = SessionEvent::MessageQueued { message, run: waits, join: false };
    store.commit(stage.commit(vec![queued], person("ana"))).await.unwrap();
    for run in [first, second, waits] {
        assert_eq!(store.session_of_run(run).await.unwrap(), Some(session_id(1)));
    }
    assert_eq!(store.session_of_run(RunId::new(1, 78)).await.unwrap(), None);
    assert!(store.last().await.unwrap().1 > Some(Timestamp::from_ms(0)));
}

/// A stream says only what is true of it: a commit that says anything else could never be read back.
pub async fn an_event_of_another_stream_is_refused(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    let mut said = stage.clone().say(1);
    let outside = hold(hold_id(2), None, person("eve"), audience(&["ana"], &[]));
    let mut opened = open_outside(outside);
    let mut frozen = commit(StreamRows::Global, 0, thawed(1), person("ana"));
    let events = [said.events.clone(), opened.events.clone(), frozen.events.clone()];
    let own = [said.stream(), opened.stream(), frozen.stream()];
    for commit in [&mut said, &mut opened, &mut frozen] {
        for (events, stream) in events.iter().zip(own) {
            if stream == commit.stream() {
                continue;
            }
            commit.events = events.clone();
            let refused = store.commit(commit.clone()).await;
            let is_refused = matches!(refused, Err(CommitError::Store(StoreError::Unreadable(_))));
            assert!(is_refused, "{refused:?}");
        }
    }
    let other = hold(hold_id(3), None, person("eve"), audience(&["ana"], &[]));
    opened.events = open_outside(other).events;
    assert!(store.commit(opened).await.is_err(), "about another hold");
    assert_eq!(store.entries(None, 0, 9).await.unwrap().len(), 1, "nothing of it was written");
    store.commit(stage.say(1)).await.unwrap();
}
