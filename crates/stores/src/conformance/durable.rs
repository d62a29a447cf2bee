//! What a store acknowledged or gives back is durable, and nothing else is.

use domain::event::{Event, SessionEvent};
use domain::id::StreamId;
use domain::session::Session;
use ports::durable::{Durable, Replay as _};
use ports::store::{Commit, CommitError, Store};
use tokio::sync::oneshot;

use super::Opener;
use super::stage::{Stage, commit, node, person, session_id};

async fn committed(
    store: &dyn Store,
    before: Option<&Durable<Session>>,
    commit: Commit,
) -> Result<Durable<Session>, CommitError> {
    let (told, fate) = oneshot::channel();
    Durable::enqueue(store, before, commit, |fate| drop(told.send(fate)));
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
