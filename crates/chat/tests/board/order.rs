//! What is new in a chat stands there in the order in which it happened, and no chat waits for another.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::answer::Answer;
use domain::time::Timestamp;
use engine::{Answering, SystemRng};
use holdpoint_chat::Limits;
use ports::backoff::{WHOLE_WAIT, wait_after};
use ports::channel::{ButtonAction, Inbox as _, PressReply};
use ports::clock::{Clock as _, Rng};
use ports::store::{OutboxChange, OutboxItem};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::chat::{Chat, Fault};
use crate::world::{Things, World};

/// More than anybody looks at in one go.
const MANY: usize = 250;
const THREADS: usize = 5;

async fn tried(chat: &Chat) {
    chat.until("tried", |_| chat.faults.lock().unwrap().is_empty().then_some(())).await;
}

/// The first thing to be sent, once it was written, taken up and put back after an attempt: nobody else changes it now.
async fn put_back(world: &World) -> OutboxItem {
    let store = world.engine.store();
    let looking = async {
        loop {
            let whenever = Timestamp::from_ms(i64::MAX);
            let items = store.outbox_items("chat.slack", whenever, 10).await.unwrap();
            let item = items.into_iter().next();
            if let Some(item) = item.filter(|item| item.version >= 3 && item.lease.is_none()) {
                return item;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), looking).await.unwrap()
}

/// Random bits that say which part of a wait it is.
struct PartOfWait(SystemRng, u128);

impl Rng for PartOfWait {
    fn bits(&self) -> u128 {
        let bits = self.0.bits();
        bits - bits % 501 + self.1
    }
}

#[tokio::test]
async fn what_failed_is_tried_again_after_a_random_part_of_the_wait() {
    for part in [0, WHOLE_WAIT] {
        let rng = Arc::new(PartOfWait(SystemRng::default(), part));
        let world = World::of(Things { rng, ..Things::new() }).await;
        world.chat.will(vec![Fault::Again(None); 10]);
        world.model.will("late", &[]);
        let began = world.clock.now();
        world.write("ana", "hello").await;
        let item = put_back(&world).await;
        let limits = Limits::default();
        let wait = wait_after(item.attempts - 1, limits.retry, limits.chat_retry_max, part);
        let due = |failed: Timestamp| failed.plus_ms(wait.as_millis() as u64);
        let noted = world.clock.now();
        assert!(item.due_at >= due(began) && item.due_at <= due(noted), "{part}: {item:?}");
        world.in_time(world.chat.text("late")).await;
    }
}

#[tokio::test]
async fn i35_a_long_text_goes_on_where_it_stopped() {
    for fault in [Fault::Again(None), Fault::UnknownNotDone] {
        let world = World::memory().await;
        world.model.will("one¶two¶three", &[]);
        world.chat.will([Fault::Nothing, fault.clone()]);
        world.write("ana", "tell me").await;
        world.chat.text("one").await;
        world.in_time(world.chat.text("three")).await;
        assert_eq!(world.chat.texts(), ["one", "two", "three"], "{fault:?}");
    }
}

#[tokio::test]
async fn i35_what_waits_for_its_platform_is_not_overtaken() {
    let world = World::memory().await;
    world.chat.will([Fault::Again(Some(Duration::from_secs(40)))]);
    for word in ["first", "second", "third"] {
        world.model.will(word, &[]);
    }
    world.write("ana", "one").await;
    tried(&world.chat).await;
    world.write("ana", "two").await;
    world.write("ana", "three").await;
    // Another chat does not wait.
    world.model.will("elsewhere", &[]);
    let mut wrote = world.wrote("ana", "hello");
    wrote.chat = "C2".into();
    world.board.wrote("slack", wrote).await.unwrap();
    world.chat.text("elsewhere").await;
    assert_eq!(world.chat.texts(), ["elsewhere"]);
    world.in_time(world.chat.text("third")).await;
    assert_eq!(world.chat.texts(), ["elsewhere", "first", "second", "third"]);
}

/// Some minutes in order, and no longer.
#[tokio::test]
async fn i35_a_message_that_its_platform_chokes_on_does_not_silence_a_chat() {
    let world = World::memory().await;
    world.chat.will((0..12).map(|_| Fault::Again(None)));
    for word in ["chokes", "fine"] {
        world.model.will(word, &[]);
    }
    world.write("ana", "one").await;
    world.write("ana", "two").await;
    world.in_time(world.chat.text("fine")).await;
    assert_eq!(world.chat.texts(), ["fine"], "it went on without the other");
    world.in_time(world.chat.text("chokes")).await;
}

/// Whoever keeps talking is served like those who said all at once.
#[tokio::test]
async fn i37_a_chat_that_gets_more_all_the_time_has_its_turn() {
    let world = World::of(Things { alone: true, at_once: 1, ..Things::new() }).await;
    let gate = Arc::new(Semaphore::new(0));
    *world.chat.gate.lock().unwrap() = Some(gate.clone());
    let mut written = 0;
    let mut say = async |chat: &str, text: &str| {
        world.model.will(text, &[]);
        let mut wrote = world.wrote("ana", "hello");
        wrote.chat = chat.into();
        world.board.wrote("slack", wrote).await.unwrap();
        written += 1;
        let store = world.engine.store();
        while store.notes("chat.slack.said", "s/", None, 1_000).await.unwrap().len() < written {
            tokio::task::yield_now().await;
        }
        world.clock.advance(Duration::from_millis(5));
    };
    for _ in 0..10 {
        for chat in ["A", "B", "C"] {
            say(chat, "much").await;
        }
    }
    say("X", "mine").await;
    for sent in 1..=10 {
        say("X", "more").await;
        gate.add_permits(1);
        world.chat.until("one more", |it| (it.texts.len() >= sent).then_some(())).await;
    }
    let texts = world.chat.texts();
    assert!(texts.contains(&"mine".to_owned()), "{texts:?}");
}

#[tokio::test]
async fn what_could_not_be_said_for_half_a_day_is_not_said() {
    let world = World::of(Things { alone: true, ..Things::new() }).await;
    world.chat.will([Fault::Again(Some(Duration::from_secs(3_000)))]);
    world.model.will("old", &[]);
    world.write("ana", "one").await;
    tried(&world.chat).await;
    world.clock.advance(Duration::from_secs(13 * 3_600));
    world.model.will("new", &[]);
    world.write("ana", "two").await;
    world.chat.text("new").await;
    assert_eq!(world.chat.texts(), ["new"]);
}

#[tokio::test]
async fn i35_what_an_agent_says_stands_before_what_it_asks() {
    let world = World::memory().await;
    world.model.will("I will.", &[("wipe", json!({"n": 1}))]);
    world.chat.will([Fault::Again(None)]);
    world.write("ana", "please wipe").await;
    tried(&world.chat).await;
    assert_eq!(world.chat.screen.lock().unwrap().shows, 0, "the prompt waits for the words");
    world.chat.card("pending").await;
    assert_eq!(world.chat.texts(), ["I will."]);
}

#[tokio::test]
async fn i37_a_prompt_overtakes_words_that_cannot_be_delivered() {
    let long = Fault::Again(Some(Duration::from_secs(60)));
    for faults in [vec![long.clone()], vec![Fault::Again(None), long.clone()]] {
        let world = World::memory().await;
        world.model.will("I will.", &[("wipe", json!({"n": 1}))]);
        world.chat.will(faults.clone());
        world.write("ana", "please wipe").await;
        // The clock is not set forward: a person would wait no longer than this test does.
        let card = world.chat.card("pending").await;
        assert_eq!(world.chat.texts(), Vec::<String>::new(), "{faults:?}");
        // Words that come later are no prompt, and keep their place behind those that are stuck.
        world.model.will("Denied, then.", &[]);
        assert!(matches!(
            world.press("bob", &card, ButtonAction::Deny).await,
            PressReply::Taken(_)
        ));
        world.chat.card("denied").await;
        world.in_time(world.chat.text("Denied, then.")).await;
        assert_eq!(world.chat.texts(), ["I will.", "Denied, then."], "{faults:?}");
    }
}

#[tokio::test]
async fn i37_a_prompt_overtakes_a_message_at_which_its_platform_hangs() {
    let world = World::memory().await;
    world.model.will("I will.", &[("wipe", json!({"n": 1}))]);
    world.chat.will([Fault::Hangs, Fault::Again(Some(Duration::from_secs(60)))]);
    world.write("ana", "please wipe").await;
    let hangs = |_: &_| (world.chat.faults.lock().unwrap().len() == 1).then_some(());
    world.chat.until("the words hang", hangs).await;
    world.clock.advance(Duration::from_secs(10));
    // Not the words again, at which the second fault would strike.
    world.chat.until("the prompt is tried", |screen| (screen.shows == 1).then_some(())).await;
}

#[tokio::test]
async fn prompts_do_not_overtake_each_other() {
    let world = World::memory().await;
    let long = Fault::Again(Some(Duration::from_secs(60)));
    world.model.will("I will.", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2}))]);
    world.chat.will([long.clone(), long]);
    world.write("ana", "please wipe").await;
    tried(&world.chat).await;
    let both = |screen: &crate::chat::Screen| {
        let holds: BTreeSet<String> =
            screen.cards.values().map(|card| card.hold.to_string()).collect();
        (holds.len() == 2).then_some(())
    };
    world.other.until("both are asked", both).await;
    assert_eq!(world.chat.screen.lock().unwrap().shows, 1, "the second waits for the first");
}

#[tokio::test]
async fn what_was_given_up_holds_nothing_back() {
    let world = World::memory().await;
    world.chat.will([Fault::Never]);
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.write("ana", "please wipe").await;
    tried(&world.chat).await;
    world.write("gus", "what now?").await;
    world.other.card("pending").await;
    let card = world.other.card("pending").await;
    let deny = Answer::Deny { reason: None, stop: false };
    let bob = world.engine.caller_in_channel("slack", "slack", "U-bob", "x").unwrap();
    let answering = Answering { digest: None, answer: deny };
    world.engine.answer(&bob, card.hold, answering, None).await.unwrap();
    world.chat.text("nothing more").await;
}

#[tokio::test]
async fn a_prompt_that_nobody_need_see_any_more_holds_nothing_back() {
    let world = World::memory().await;
    world.chat.will([Fault::Again(Some(Duration::from_secs(3_000)))]);
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.model.will("As you wish.", &[]);
    world.write("ana", "please wipe").await;
    let card = world.other.card("pending").await;
    tried(&world.chat).await;
    let deny = Answer::Deny { reason: None, stop: false };
    let bob = world.engine.caller_in_channel("slack", "slack", "U-bob", "x").unwrap();
    let answering = Answering { digest: None, answer: deny };
    world.engine.answer(&bob, card.hold, answering, None).await.unwrap();
    world.chat.text("As you wish.").await;
    assert!(world.chat.screen.lock().unwrap().cards.is_empty());
}

#[tokio::test]
async fn i37_a_decision_does_not_wait_behind_a_message_that_is_stuck() {
    for fault in [Fault::Hangs, Fault::Again(Some(Duration::from_secs(3_000)))] {
        let world = World::memory().await;
        let card = world.held("wipe").await;
        world.chat.text("I will.").await;
        world.chat.will([fault.clone()]);
        // A question that decides nothing is answered in the chat, and that message is stuck.
        world.write("bob", "why?").await;
        tried(&world.chat).await;
        let began = world.clock.now();
        assert!(matches!(
            world.press("bob", &card, ButtonAction::Deny).await,
            PressReply::Taken(_)
        ));
        world.chat.card("denied").await;
        assert!(world.clock.now().ms_since(began) < 5_000, "{fault:?}");
    }
}

#[tokio::test]
async fn i41_a_chat_with_many_messages_starves_no_other() {
    // Room for one at a time: each chat has its turn.
    let world = World::of(Things { alone: true, at_once: 1, ..Things::new() }).await;
    let gate = Arc::new(Semaphore::new(0));
    *world.chat.gate.lock().unwrap() = Some(gate.clone());
    // One chat, in which several threads ask for much.
    for thread in 0..THREADS {
        let calls: Vec<_> = (0..MANY / THREADS).map(|n| ("wipe", json!({"n": n}))).collect();
        world.model.will("", &calls);
        let mut wrote = world.wrote("ana", "wipe");
        wrote.thread = Some(format!("t{thread}"));
        world.board.wrote("slack", wrote).await.unwrap();
    }
    world.chat.until("one is on its way", |screen| (screen.shows == 1).then_some(())).await;
    while world.model.heard.lock().unwrap().len() < THREADS {
        tokio::task::yield_now().await;
    }
    let mut wrote = world.wrote("ana", "hello");
    wrote.chat = "C2".into();
    world.model.will("Hello.", &[]);
    world.board.wrote("slack", wrote).await.unwrap();
    let said = async || world.engine.store().notes("chat.slack.said", "s/", None, 1).await.unwrap();
    while said().await.is_empty() {
        tokio::task::yield_now().await;
    }
    // The busy chat may have its turn once or twice more: what is written down for it meanwhile can bring
    // its earlier time back.
    gate.add_permits(6);
    world.chat.text("Hello.").await;
    assert!(world.chat.screen.lock().unwrap().cards.len() <= 6);
    // And with repaints.
    gate.add_permits(MANY);
    let all = |screen: &crate::chat::Screen| (screen.cards.len() == MANY).then_some(());
    world.chat.until("all are asked", all).await;
    let mut wrote = world.wrote("ana", "wipe");
    wrote.chat = "C3".into();
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.board.wrote("slack", wrote).await.unwrap();
    gate.add_permits(1);
    let there = |screen: &crate::chat::Screen, state: &str| {
        let mut cards = screen.cards.values().filter(|card| card.posted.chat == "C3");
        cards.any(|card| card.state() == state).then_some(())
    };
    world.chat.until("asked", |screen| there(screen, "pending")).await;
    gate.forget_permits(MANY);
    world.clock.advance(Duration::from_secs(301));
    let expired = |screen: &crate::chat::Screen| {
        screen.cards.values().filter(|card| card.state() == "expired").count()
    };
    let admit_few = async {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            gate.add_permits(2);
        }
    };
    tokio::select! {
        () = world.chat.until("expired", |screen| there(screen, "expired")) => {}
        () = admit_few => {}
    }
    let count = expired(&world.chat.screen.lock().unwrap());
    assert!(count < MANY / 2, "{count} of the other chat came first");
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_put_off_and_holds_nothing_back() {
    let world = World::memory().await;
    world.chat.will([Fault::Again(None)]);
    world.model.will("lost", &[]);
    world.write("ana", "one").await;
    tried(&world.chat).await;
    let store = world.engine.store();
    let item = put_back(&world).await;
    let put = async |item: &OutboxItem, payload: &[u8]| {
        let item = OutboxItem { payload: payload.to_vec(), ..item.clone() };
        let change = OutboxChange { item: Some(item.clone()), ..item.remove() };
        assert!(store.write_outbox(change.into(), world.clock.now()).await.unwrap());
    };
    put(&item, b"{").await;
    world.model.will("found", &[]);
    world.write("ana", "two").await;
    world.in_time(world.chat.text("found")).await;
    assert_eq!(world.chat.texts(), ["found"]);
    // A newer version may read it.
    let aside = store.outbox_item("chat.slack", &item.key).await.unwrap().unwrap();
    assert_eq!((aside.order, aside.payload.as_slice()), (None, &b"{"[..]));
    put(&aside, &item.payload).await;
    world.clock.advance(Duration::from_secs(3_601));
    world.in_time(world.chat.text("lost")).await;
}
