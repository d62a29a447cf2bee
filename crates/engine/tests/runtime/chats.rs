//! A session that lives in a chat: several people speak in it, and each answers for their own words.

use std::sync::Arc;

use domain::context::WhilePending;
use domain::id::SessionId;
use domain::policy::{AskSpec, MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::refusal::Refusal;
use domain::session::Home;
use holdpoint_engine::{Caller, Error, NewMessage, NewSession};
use serde_json::{Value, json};

use crate::world::{Options, World, approve, node};

/// Dbas wipe, and never on their own request.
fn four_eyes() -> Policy {
    let rule = RuleSpec {
        name: "four eyes".into(),
        line: 1,
        matcher: MatchSpec::default(),
        then: Then::Ask,
        risk: None,
        ask: Some(AskSpec {
            roles: vec!["dba".into()],
            exclude_requester: true,
            ..AskSpec::default()
        }),
    };
    Policy::compile(PolicySpec { rules: vec![rule], ..PolicySpec::default() }).unwrap()
}

async fn world() -> World {
    let node = node();
    let store = Arc::new(stores::MemoryStore::new(node));
    Options { policy: four_eyes(), ..Options::new(store, node) }.start().await
}

async fn chat(world: &World) -> SessionId {
    let creator = world.engine.caller_for_program("slack").await.unwrap();
    let home = Some(Home { door: "slack".into(), place: "T1:C1".into() });
    let new = NewSession { agent: "ops".into(), title: None, metadata: Value::Null, home };
    world.engine.open_session(&creator, new, None).await.unwrap().id
}

fn in_slack(world: &World, identity: &str) -> Caller {
    world.engine.caller_in_channel("slack", "slack", identity, "m1").expect("is linked")
}

async fn say(
    world: &World,
    who: &Caller,
    session: SessionId,
    while_pending: Option<WhilePending>,
) -> Result<(), Error> {
    let saying = NewMessage { texts: vec!["wipe it".into()], files: Vec::new(), while_pending };
    world.engine.say(who, session, saying, None).await.map(|_| ())
}

fn is_refused(said: Result<(), Error>) -> bool {
    matches!(said, Err(Error::Refused(Refusal::NotEntitled { .. } | Refusal::NotFound { .. })))
}

#[tokio::test]
async fn i32_whoever_began_the_run_in_a_chat_is_who_asked() {
    let world = world().await;
    let session = chat(&world).await;
    let (ana, bob) = (in_slack(&world, "U-ana"), in_slack(&world, "U-bob"));
    for (asks, answers) in [(&ana, &bob), (&bob, &ana)] {
        world.model.will("", &[("wipe", json!({"n": 1}))]);
        world.model.will("done", &[]);
        say(&world, asks, session, None).await.unwrap();
        let paused = world
            .until_as(asks, session, "held", |session| session.open_holds().next().is_some())
            .await;
        let hold = paused.open_holds().next().unwrap().clone();
        assert_eq!(hold.requester.as_ref(), asks.person().map(|person| person.id()));
        let own = world.answer(asks, &hold, approve()).await;
        assert!(is_refused(own.map(|_| ())), "nobody approves their own request");
        let decided = world.answer(answers, &hold, approve()).await.unwrap();
        let vote = decided.state.decision().unwrap().vote().unwrap();
        assert_eq!((vote.via.as_str(), vote.proof.name()), ("slack", "channel"));
        world
            .until_as(asks, session, "over", |session| {
                session.run.as_ref().is_some_and(|run| run.is_over())
            })
            .await;
    }
    let by = world.engine.session(&ana, session).await.unwrap().transcript.clone();
    let said = by.iter().filter_map(|message| message.by.as_ref()).map(ToString::to_string);
    assert_eq!(said.collect::<Vec<_>>(), ["ana", "bob"]);
}

#[tokio::test]
async fn i32_nobody_joins_the_run_of_somebody_else() {
    for how in [WhilePending::Supersede, WhilePending::Deliver] {
        let world = world().await;
        let session = chat(&world).await;
        let (ana, bob) = (in_slack(&world, "U-ana"), in_slack(&world, "U-bob"));
        // Ana asks for something in two phases, so that a message may go on at once.
        world.model.will("", &[("deploy", json!({"n": 1}))]);
        world.model.will("waiting", &[]);
        say(&world, &ana, session, None).await.unwrap();
        world
            .until_as(&ana, session, "held", |session| session.open_holds().next().is_some())
            .await;
        world.model.will("", &[("wipe", json!({"n": 2}))]);
        say(&world, &bob, session, Some(how)).await.unwrap();
        let wipes = |session: &domain::session::Session| {
            session.open_holds().any(|hold| hold.call().is_some_and(|call| &*call.tool == "wipe"))
        };
        // Where Ana's hold still waits, Bob's message waits behind it.
        if how == WhilePending::Deliver {
            let waiting = world.engine.session(&ana, session).await.unwrap();
            assert!(waiting.queue.iter().all(|queued| !queued.join), "{how:?}");
            continue;
        }
        let held = world.until_as(&bob, session, "held", wipes).await;
        let hold = held.open_holds().next().unwrap().clone();
        assert_eq!(hold.requester.as_ref(), bob.person().map(|person| person.id()));
        let own = world.answer(&bob, &hold, approve()).await;
        assert!(is_refused(own.map(|_| ())), "{how:?}");
    }
}

#[tokio::test]
async fn i31_only_the_channel_itself_says_who_speaks_in_its_chats() {
    let world = world().await;
    let session = chat(&world).await;
    assert!(is_refused(say(&world, &world.ana, session, None).await), "a token is no chat");
    let elsewhere = world.engine.caller_in_channel("feishu", "slack", "U-ana", "m1").unwrap();
    assert!(is_refused(say(&world, &elsewhere, session, None).await));
    let own = world.session().await;
    let ana = in_slack(&world, "U-ana");
    let bob = in_slack(&world, "U-bob");
    say(&world, &ana, own, None).await.expect("she opened it");
    assert!(is_refused(say(&world, &bob, own, None).await), "that session lives in no chat");
    let strangers = [("slack", "U-eve"), ("slack", ""), ("feishu", "U-ana")];
    for (platform, identity) in strangers {
        assert!(world.engine.caller_in_channel("team", platform, identity, "m1").is_none());
    }
    let root = in_slack(&world, "U-root");
    assert!(!root.is_admin(), "in a chat nobody is an admin");
}

#[tokio::test]
async fn i27_questions_of_a_chat_wait_as_long_as_its_channel_says() {
    let node = node();
    let store = Arc::new(stores::MemoryStore::new(node));
    let world = Options::new(store, node).with_home_expiry("slack", 300_000).start().await;
    let session = chat(&world).await;
    let ana = in_slack(&world, "U-ana");
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    say(&world, &ana, session, None).await.unwrap();
    let held = world
        .until_as(&ana, session, "held", |session| session.open_holds().next().is_some())
        .await;
    let waits = |session: &domain::session::Session| {
        let hold = session.open_holds().next().unwrap().clone();
        hold.expires_at.unwrap().ms_since(hold.opened_at)
    };
    assert_eq!(waits(&held), 300_000);
    let own = world.session().await;
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.say(own, "wipe").await;
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(waits(&*world.paused(own).await), day, "no chat, no haste");
}
