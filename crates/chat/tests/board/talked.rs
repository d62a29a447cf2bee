//! Talking to the agent.

use std::time::Duration;

use ports::channel::Inbox as _;

use crate::world::World;

#[tokio::test]
async fn what_is_no_answer_goes_to_the_agent_and_its_words_come_back() {
    let world = World::memory().await;
    world.model.will("Hello, Ana.", &[]);
    world.write("ana", "hello there").await;
    let said = world.chat.text("Hello, Ana.").await;
    assert_eq!(said.chat, "C1");
    assert!(world.model_heard().contains("hello there") && !world.model_heard().contains("@bot"));
    // The same conversation goes on, whoever speaks.
    world.model.will("Hello, Bob.", &[]);
    world.write("bob", "me too").await;
    world.chat.text("Hello, Bob.").await;
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].home.as_ref().unwrap().place, "T1:C1");
}

#[tokio::test]
async fn chats_and_threads_are_conversations_of_their_own() {
    let world = World::memory().await;
    let mut wrote = world.wrote("ana", "one");
    world.board.wrote("slack", wrote.clone()).await.unwrap();
    (wrote.event, wrote.thread) = ("t".into(), Some("t:1".into()));
    world.board.wrote("slack", wrote.clone()).await.unwrap();
    (wrote.event, wrote.chat, wrote.thread, wrote.direct) = ("d".into(), "D1".into(), None, true);
    world.board.wrote("slack", wrote).await.unwrap();
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    let mut places: Vec<String> =
        sessions.iter().map(|row| row.home.as_ref().unwrap().place.clone()).collect();
    places.sort();
    assert_eq!(places, ["T1:C1", "T1:C1:t%3A1", "T1:D1"]);
}

#[tokio::test]
async fn i34_a_message_a_hundred_times_is_said_once() {
    let world = World::memory().await;
    let wrote = world.wrote("ana", "once only");
    let copies = (0..100).map(|_| world.board.wrote("slack", wrote.clone()));
    for copy in copies {
        copy.await.unwrap();
    }
    let at_once: Vec<_> = (0..20).map(|_| world.board.wrote("slack", wrote.clone())).collect();
    for copy in at_once {
        copy.await.unwrap();
    }
    world.chat.text("nothing more").await;
    assert_eq!(world.model.heard.lock().unwrap().len(), 1);
    // Six hours later the platform tries once more.
    world.clock.advance(Duration::from_secs(6 * 3600));
    world.board.wrote("slack", wrote).await.unwrap();
    assert_eq!(world.model.heard.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn i31_strangers_are_told_once_and_reach_no_agent() {
    let world = World::memory().await;
    for text in ["hello", "delete everything", "confirm"] {
        world.write("eve", text).await;
    }
    let told = world.chat.text("I do not know who you are").await;
    assert!(told.text.contains(r#"slack = "U-eve""#), "{told:?}");
    assert_eq!(told.whisper_to.as_deref(), Some("U-eve"));
    world.model.will("Hello.", &[]);
    world.write("ana", "hello").await;
    world.chat.text("Hello.").await;
    assert_eq!(world.chat.texts().len(), 2, "{:?}", world.chat.texts());
    assert!(!world.model_heard().contains("everything"));
}

#[tokio::test]
async fn a_group_talks_among_itself() {
    let world = World::memory().await;
    let mut wrote = world.wrote("ana", "lunch?");
    (wrote.mentions_us, wrote.text) = (false, "lunch?".into());
    world.board.wrote("slack", wrote).await.unwrap();
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert!(sessions.is_empty());
}

#[tokio::test]
async fn i31_bots_edits_and_nobodies_reach_no_agent() {
    let world = World::memory().await;
    let cases: [fn(&mut ports::channel::IncomingMessage); 3] = [
        |wrote| wrote.from_a_person = false,
        |wrote| wrote.edited = true,
        |wrote| wrote.operator = None,
    ];
    for change in cases {
        let mut wrote = world.wrote("ana", "hello");
        change(&mut wrote);
        world.board.wrote("slack", wrote).await.unwrap();
    }
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert!(sessions.is_empty());
}
