//! A caller whom a door lets act in somebody's name has nothing to do with what is not of that door.

use domain::hold::Hold;
use domain::id::SessionId;
use domain::person::PersonId;
use domain::refusal::Refusal;
use domain::session::Home;
use holdpoint_engine::{Caller, Error, NewSession};
use serde_json::{Value, json};

use crate::world::{World, approve};

fn new(door: Option<&str>) -> NewSession {
    let home = door.map(|door| Home { door: door.into(), place: "chat-1".into() });
    NewSession { agent: "ops".into(), title: None, metadata: Value::Null, home }
}

async fn held(world: &World, door: Option<&str>) -> (SessionId, Hold) {
    let session = world.engine.open_session(&world.ana, new(door), None).await.unwrap().id;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    (session, (*hold).clone())
}

fn at_door(world: &World, door: &str) -> Caller {
    world.engine.caller_at_door(&PersonId::new("ana"), door, door).unwrap()
}

fn is_not_found<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Refused(Refusal::NotFound { .. })))
}

#[tokio::test(flavor = "multi_thread")]
async fn i30_a_door_without_credentials_answers_only_holds_of_its_own_sessions() {
    let world = World::memory().await;
    let worlds = at_door(&world, "worlds");
    for elsewhere in [None, Some("ai_sdk")] {
        let (session, hold) = held(&world, elsewhere).await;
        assert!(is_not_found(&world.answer(&worlds, &hold, approve()).await), "{elsewhere:?}");
        assert!(is_not_found(&world.engine.hold(&worlds, hold.id).await));
        assert!(is_not_found(&world.engine.cancel_hold(&worlds, hold.id, None, None).await));
        assert!(is_not_found(&world.engine.claim(&worlds, hold.id, true).await));
        assert!(is_not_found(&world.engine.reveal(&worlds, hold.id).await));
        assert!(is_not_found(&world.engine.session(&worlds, session).await));
    }
    assert!(world.witness.arguments().is_empty());
    let (session, hold) = held(&world, Some("worlds")).await;
    let answered = world.answer(&worlds, &hold, approve()).await.unwrap();
    assert_eq!(answered.votes[0].via, "worlds");
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_makes_nobody_an_admin() {
    let world = World::memory().await;
    let root = world.engine.caller_at_door(&PersonId::new("root"), "worlds", "worlds").unwrap();
    assert!(!root.is_admin());
    assert!(root.must_be_admin().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_open_one_session_at_once_all_get_the_same() {
    let world = World::memory().await;
    let id = world.engine.new_session_id();
    let opening = (0..8).map(|_| world.engine.open_once(&world.ana, id, new(Some("worlds"))));
    let opened = futures_util::future::join_all(opening).await;
    assert!(opened.iter().all(|session| session.as_ref().unwrap().id == id));
    assert_eq!(world.get(id).await.version, 1, "it was opened once");
    // Nobody gets into somebody else's session by naming it.
    assert!(is_not_found(&world.engine.open_once(&world.program, id, new(None)).await));
}
