//! Processes end in the middle of things.

use std::sync::Arc;
use std::time::Duration;

use domain::answer::{Answer, ApprovalScope};
use engine::Answering;
use ports::channel::{ButtonAction, Inbox as _, PressReply};
use ports::store::PutNote;
use stores::SqliteStore;

use crate::chat::Fault;
use crate::world::{Things, World, node};

pub(crate) struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    pub(crate) fn new() -> Disk {
        Disk { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) async fn start(&self, things: Things) -> (World, Arc<SqliteStore>) {
        let node = node();
        let store = SqliteStore::open(self.folder.path(), node).unwrap();
        (things.start(store.clone(), node).await, store)
    }
}

pub(crate) fn things_of(world: &World) -> Things {
    Things {
        clock: world.clock.clone(),
        chat: world.chat.clone(),
        other: world.other.clone(),
        model: world.model.clone(),
        done: world.done.clone(),
        tools_wait: world.tools_wait.clone(),
        ..Things::new()
    }
}

pub(crate) async fn restarted(
    disk: &Disk,
    world: World,
    store: Arc<SqliteStore>,
) -> (World, Arc<SqliteStore>) {
    let things = things_of(&world);
    world.close().await;
    store.close().await;
    disk.start(things).await
}

#[tokio::test]
async fn i34_redelivery_after_a_restart_changes_nothing() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    let asked = world.wrote("ana", "please wipe");
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.board.wrote("slack", asked.clone()).await.unwrap();
    let card = world.chat.card("pending").await;
    let yes = world.wrote("bob", "confirm");
    world.board.wrote("slack", yes.clone()).await.unwrap();
    world.chat.card("approved+succeeded").await;
    world.chat.text("nothing more").await;
    let press = world.press_of("bob", &card, ButtonAction::Allow);
    let (world, _store) = restarted(&disk, world, store).await;
    for _ in 0..100 {
        world.board.wrote("slack", asked.clone()).await.unwrap();
        world.board.wrote("slack", yes.clone()).await.unwrap();
        let told = world.board.pressed("slack", press.clone()).await.unwrap();
        assert!(matches!(told, PressReply::Already(_)), "{told:?}");
    }
    assert_eq!(world.done().len(), 1);
    assert_eq!(world.model.heard.lock().unwrap().len(), 2);
    assert_eq!(world.chat.screen.lock().unwrap().cards.len(), 1);
}

#[tokio::test]
async fn a_prompt_outlives_the_process_that_sent_it() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    let card = world.held("wipe").await;
    let (world, _store) = restarted(&disk, world, store).await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.chat.screen.lock().unwrap().shows, 1);
    assert_eq!(world.done().len(), 1);
}

#[tokio::test]
async fn i35_a_crash_between_sending_and_writing_it_down_makes_no_second_prompt() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    // It is shown, and the process ends before it hears so.
    world.chat.will([Fault::Hangs]);
    world.write("ana", "wipe").await;
    let card = world.chat.card("pending").await;
    let (world, _store) = restarted(&disk, world, store).await;
    // At once: nobody else has it in hand any more.
    world.chat.until("asked for again", |screen| (screen.shows >= 2).then_some(())).await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.chat.screen.lock().unwrap().cards.len(), 1);
    assert_eq!(world.done().len(), 1);
}

#[tokio::test]
async fn i35_no_button_stays_alive_on_a_prompt_that_nobody_knew_of() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::Hangs]);
    world.write("ana", "wipe").await;
    let card = world.chat.card("pending").await;
    let things = things_of(&world);
    world.board.close(Duration::from_millis(200)).await;
    // Decided elsewhere, before anybody knows where that card stands.
    let answer = Answer::Deny { reason: None, stop: false };
    let digest = Some(world.hold(card.hold).await.digest());
    let bob = world.engine.caller_in_channel("slack", "slack", "U-bob", "x").unwrap();
    let answering = Answering { digest, answer };
    world.engine.answer(&bob, card.hold, answering, None).await.unwrap();
    world.engine.close(Duration::from_secs(5)).await;
    store.close().await;
    let (world, _store) = disk.start(things).await;
    world.chat.card("denied").await;
    assert_eq!(world.chat.screen.lock().unwrap().cards.len(), 1);
}

#[tokio::test]
async fn i37_what_was_decided_while_the_chats_were_away_is_painted_later() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    let card = world.held("wipe").await;
    let things = things_of(&world);
    world.board.close(Duration::from_secs(1)).await;
    let answer = Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None };
    let digest = Some(world.hold(card.hold).await.digest());
    let bob = world.engine.caller_in_channel("slack", "slack", "U-bob", "x").unwrap();
    let answering = Answering { digest, answer };
    world.engine.answer(&bob, card.hold, answering, None).await.unwrap();
    assert_eq!(world.chat.screen.lock().unwrap().cards.values().next().unwrap().state(), "pending");
    world.engine.close(Duration::from_secs(5)).await;
    store.close().await;
    let (world, _store) = disk.start(things).await;
    world.chat.card("approved+succeeded").await;
    world.chat.text("Finished.").await;
}

#[tokio::test]
async fn a_hold_that_was_opened_before_there_were_chats_is_asked_about() {
    let node = node();
    let store = Arc::new(stores::MemoryStore::new(node));
    let things = Things::new();
    let engine = things.engine(store.clone(), node).await;
    let hold = crate::world::open_outside(&engine, "Deploy?").await;
    let board = things.board(&engine);
    let card = things.chat.card("pending").await;
    assert_eq!(card.hold, hold);
    board.close(Duration::from_secs(1)).await;
}

/// What a process that was killed had not written any more, or had written last.
async fn as_if_killed(world: &World, value: Option<String>) {
    let store = world.engine.store();
    let seen = store.notes("chat.slack.seen", "", None, 100).await.unwrap();
    assert!(!seen.is_empty());
    let puts = seen.into_iter().map(|note| PutNote {
        shelf: note.shelf,
        key: note.key,
        value: value.clone().map(String::into_bytes),
        expected: None,
        due_at: None,
        forget_at: None,
    });
    assert!(store.put_notes(puts.collect()).await.unwrap());
}

#[tokio::test]
async fn i34_killed_before_it_was_marked_as_seen_a_message_is_said_once() {
    let world = World::memory().await;
    let wrote = world.wrote("ana", "once only");
    world.board.wrote("slack", wrote.clone()).await.unwrap();
    world.chat.text("nothing more").await;
    as_if_killed(&world, None).await;
    world.board.wrote("slack", wrote).await.unwrap();
    assert_eq!(world.model.heard.lock().unwrap().len(), 1);
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    let session = world.engine.session(&world.root, sessions[0].id).await.unwrap();
    assert!(session.queue.is_empty() && session.transcript.len() == 2, "{:?}", session.transcript);
}

#[tokio::test]
async fn i34_killed_in_the_middle_of_an_answer_its_words_are_no_message_for_the_agent() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let yes = world.wrote("bob", "confirm");
    world.board.wrote("slack", yes.clone()).await.unwrap();
    world.chat.text("Finished.").await;
    as_if_killed(&world, Some(format!(r#"{{"answering":"{}"}}"#, card.hold))).await;
    world.board.wrote("slack", yes).await.unwrap();
    assert!(!world.model_heard().contains("confirm"));
    // Nor does it wait for its turn to be heard.
    for row in world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap() {
        let session = world.engine.session(&world.root, row.id).await.unwrap();
        let said = format!("{:?} {:?}", session.transcript, session.queue);
        assert!(!said.contains("confirm"), "{said}");
    }
    assert_eq!(world.done().len(), 1);
}
