//! What a store acknowledged or gives back is durable, and nothing else is.

use std::sync::Arc;

use domain::event::{Event, SessionEvent};
use domain::global_state::{GlobalCommand, GlobalState};
use domain::id::{CommitId, StreamId};
use domain::session::Session;
use domain::time::Timestamp;
use ports::durable::{CommitParts, Durable, PreparedCommit, Replay as _};
use ports::store::{Commit, CommitError, Store, StreamRows};
use tokio::sync::oneshot;

use super::Opener;
use super::stage::{Stage, commit, node, person, session_id};

async fn committed(
    store: &dyn Store,
    before: Option<&Durable<Session>>,
    commit: Commit,
) -> Result<Durable<Session>, CommitError> {
    let (told, fate) = oneshot::channel();
    let prepared = PreparedCommit::replayed(before, commit)?;
    prepared.enqueue(store, |fate| drop(told.send(fate)));
    fate.await.expect("the store tells what became of it").map(|(state, _)| state)
}

pub async fn i01_only_what_the_store_acknowledged_is_durable(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    let stream = StreamId::Session(session_id(1));
    let nothing = Durable::<Session>::load(&*store, stream).await.unwrap();
    assert!(nothing.is_none(), "{nothing:?}");

    let opened = committed(&*store, None, stage.open(person("ana"))).await.unwrap();
    assert_eq!(*opened, stage.session);
    let said = committed(&*store, Some(&opened), stage.say(1)).await.unwrap();
    assert_eq!(*said, stage.session);

    let rows = stage.clone().say(2).rows;
    let revised = |version| {
        let run = domain::id::RunId::new(1, 9);
        commit(
            rows.clone(),
            version,
            vec![Event::Session(SessionEvent::RunStarted { run })],
            person("ana"),
        )
    };
    for (before, version, why) in [
        (&opened, opened.version(), "the store has moved on"),
        (&opened, said.version(), "it was decided on another state than it names"),
    ] {
        let fate = committed(&*store, Some(before), revised(version)).await;
        assert!(matches!(fate, Err(CommitError::Conflict { .. })), "{why}: {fate:?}");
    }
    assert_eq!(store.load(stream).await.unwrap().len(), 2, "nothing else was written");
    let read = opened.read_on(&*store, stream, 1).await.unwrap();
    let loaded = Durable::<Session>::load(&*store, stream).await.unwrap().expect("it is there");
    assert_eq!((&*read, &*loaded), (&stage.session, &stage.session));
}

pub async fn i01_a_decision_counts_only_on_the_state_that_is_on_record(open: &Opener) {
    let store = open(node(1));
    let global = StreamId::Global;
    let loaded = Durable::<GlobalState>::load(&*store, global).await.unwrap();
    let before = loaded.expect("it is there from the beginning");
    let freeze = GlobalCommand::Freeze { by: person("ana"), reason: "drill".into() };
    let at = Timestamp::from_ms(1_000);
    let decide = |state: &Arc<GlobalState>| {
        GlobalState::decide_shared(Some(state), &freeze, at).unwrap().expect("it freezes")
    };
    let parts = || CommitParts {
        id: CommitId::new(1_000, 1),
        rows: StreamRows::Global,
        global_version: None,
        actor: person("ana"),
        reply: None,
        outbox: Vec::new(),
        write_before: None,
    };
    // The same in every member, and still nobody knows where it came from.
    let equal = Arc::new(GlobalState::clone(&before));
    for (basis, decided, why) in [
        (Some(&before), decide(&equal), "another state"),
        (None, decide(before.state()), "a state where the stream is to begin"),
    ] {
        let refused = PreparedCommit::decided(basis, decided, parts());
        assert!(matches!(refused, Err(CommitError::Conflict { .. })), "{why}: {refused:?}");
    }

    let decided = decide(before.state());
    let foretold = decided.next().clone();
    let prepared = PreparedCommit::decided(Some(&before), decided, parts()).unwrap();
    let (told, fate) = oneshot::channel();
    prepared.enqueue(&*store, |fate| drop(told.send(fate)));
    let (next, _) = fate.await.expect("the store tells what became of it").unwrap();
    assert!(Arc::ptr_eq(next.state(), &foretold), "it is not worked out again");
    let read = before.read_on(&*store, global, 10).await.unwrap();
    assert_eq!((&*read, read.frozen.is_some()), (&*next, true));
}
