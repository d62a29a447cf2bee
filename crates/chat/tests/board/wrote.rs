//! Words.

use std::time::Duration;

use engine::{NewMessage, NewSession};
use holdpoint_chat::OnAmbiguous;
use ports::channel::{ButtonAction, Inbox as _, PressReply};
use serde_json::json;

use crate::world::{Things, World};

#[tokio::test]
async fn words_approve_and_deny() {
    for (text, state) in
        [("confirm", "approved+succeeded"), ("确认", "approved+succeeded"), ("cancel", "denied")]
    {
        let world = World::memory().await;
        let card = world.held("wipe").await;
        world.write("bob", text).await;
        world.chat.card(state).await;
        let ack = world.chat.text(&format!("#{}:", card.tag)).await;
        assert!(ack.text.contains("by Bob"), "{ack:?}");
        assert_eq!(world.hold(card.hold).await.votes[0].by.as_str(), "bob");
        assert!(!world.model_heard().contains(text), "an answer is no message for the agent");
    }
}

#[tokio::test]
async fn i13_a_question_is_no_answer_and_is_not_lost() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.write("bob", "why do you want that?").await;
    let asked = world.chat.text("still waits").await;
    assert!(asked.text.contains(&card.tag) && asked.text.contains("it is a question"), "{asked:?}");
    assert!(world.hold(card.hold).await.is_pending());
    assert!(!world.model_heard().contains("why do you"), "not before the decision");
    // Not nagged: whatever comes so soon gets a sign and is kept.
    world.write("bob", "and which rows?").await;
    let sign = world.chat.text("decided nothing").await;
    assert!(sign.text.contains(&card.tag) && sign.text.contains("agent gets"), "{sign:?}");
    world.write("bob", "all of them?").await;
    world.write("bob", "confirm").await;
    world.chat.card("approved+succeeded").await;
    world.chat.text("nothing more").await;
    assert!(world.model_heard().contains("why do you want that?"));
    assert!(world.model_heard().contains("and which rows?"));
    assert!(world.model_heard().contains("all of them?"));
    let said = |what: &str| world.chat.texts().iter().filter(|text| text.contains(what)).count();
    assert_eq!((said("Please reply"), said("decided nothing")), (1, 2));
}

/// The session lives on the page; its hold is asked about in people's own chats.
#[tokio::test]
async fn i55_unclear_words_reach_the_agent_of_the_hold_and_no_other() {
    let world = World::memory().await;
    let new = NewSession { agent: "ops".into(), title: None, metadata: json!({}), home: None };
    let session = world.engine.open_session(&world.root, new, None).await.unwrap().id;
    world.model.will("I will.", &[("wipe", json!({"n": 1}))]);
    world.model.will("Finished.", &[]);
    let saying =
        NewMessage { texts: vec!["wipe it".into()], files: Vec::new(), while_pending: None };
    world.engine.say(&world.root, session, saying, None).await.unwrap();
    let card = world.chat.card("pending").await;
    // One of those who are asked, in a chat of their own.
    let who = card.posted.chat.strip_prefix("D-U-").expect("a direct chat").to_owned();
    let mut wrote = world.wrote(&who, "only the old ones, thanks for asking");
    (wrote.chat, wrote.direct) = (card.posted.chat.clone(), true);
    world.board.wrote("slack", wrote).await.unwrap();
    world.chat.text("still waits").await;
    let kept = world.engine.session(&world.root, session).await.unwrap();
    let last = kept.queue.back().expect("kept for the agent").message.clone();
    assert!(last.text().contains("only the old ones"), "{last:?}");
    assert_eq!(
        last.by.as_ref().map(|by| by.as_str()),
        Some(who.as_str()),
        "in the name of who wrote it"
    );
    let chats = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert!(chats.is_empty(), "no conversation of its own begins");
}

/// What the platform shows struck out or quoted is no answer, whatever its letters are.
#[tokio::test]
async fn i48_formatted_words_decide_nothing() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let mut wrote = world.wrote("bob", "yes");
    wrote.formatted = true;
    world.board.wrote("slack", wrote).await.unwrap();
    world.chat.text("struck out").await;
    assert!(world.hold(card.hold).await.is_pending());
}

/// The requester asks the others; under a quorum that was a vote once.
#[tokio::test]
async fn i48_a_request_is_no_vote() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    for text in ["please approve", "请批准", "谢谢确认", "bitte genehmigen"] {
        world.write("bob", text).await;
    }
    let hold = world.hold(card.hold).await;
    assert!(hold.is_pending() && hold.votes.is_empty(), "{:?}", hold.votes);
}

#[tokio::test]
async fn a_text_may_also_be_dropped() {
    let world = World::of(Things { on_ambiguous: OnAmbiguous::ReaskOnly, ..Things::new() }).await;
    world.held("wipe").await;
    world.write("bob", "why do you want that?").await;
    world.chat.text("still waits").await;
    world.write("bob", "confirm").await;
    world.chat.text("Finished.").await;
    assert!(!world.model_heard().contains("why do you"));
}

#[tokio::test]
async fn wait_and_got_it_are_heard_in_silence() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    for text in ["wait", "got it", "等等"] {
        world.write("bob", text).await;
    }
    assert!(world.hold(card.hold).await.is_pending());
    world.write("bob", "confirm").await;
    world.chat.card("approved+succeeded").await;
    assert!(world.chat.texts().iter().all(|text| !text.contains("still waits")));
}

#[tokio::test]
async fn of_two_holds_the_tag_says_which() {
    let world = World::memory().await;
    world.model.will("", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2}))]);
    world.write("ana", "wipe both").await;
    let cards = world
        .chat
        .until("two", |screen| {
            let cards: Vec<_> = screen.cards.values().cloned().collect();
            (cards.len() == 2).then_some(cards)
        })
        .await;
    world.write("bob", "confirm").await;
    let which = world.chat.text("Several questions").await;
    assert!(cards.iter().all(|card| which.text.contains(&card.tag)), "{which:?}");
    for card in &cards {
        assert!(world.hold(card.hold).await.is_pending());
    }
    world.write("bob", &format!("confirm #{}", cards[0].tag)).await;
    let mut reply = world.wrote("bob", "cancel");
    reply.replies_to = Some(cards[1].posted.message.clone());
    world.board.wrote("slack", reply).await.unwrap();
    world.chat.card("approved+succeeded").await;
    world.chat.card("denied").await;
    assert_eq!(world.hold(cards[0].hold).await.state.name(), "approved");
    assert_eq!(world.hold(cards[1].hold).await.state.name(), "denied");
    assert_eq!(world.done().len(), 1);
}

#[tokio::test]
async fn i31_whoever_may_not_answer_is_told_privately() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.write("gus", "confirm").await;
    let told = world.chat.text("not for you").await;
    assert_eq!(told.whisper_to.as_deref(), Some("U-gus"));
    let hold = world.hold(card.hold).await;
    assert!(hold.is_pending() && hold.votes.is_empty());
}

#[tokio::test]
async fn i31_what_cannot_count_decides_nothing() {
    let world = World::memory().await;
    let early = world.wrote("bob", "confirm");
    world.clock.advance(Duration::from_secs(1));
    let card = world.held("wipe").await;
    let said = |change: fn(&mut ports::channel::IncomingMessage)| {
        let mut wrote = world.wrote("bob", "confirm");
        change(&mut wrote);
        wrote
    };
    let wrote = [
        early,
        said(|wrote| wrote.edited = true),
        said(|wrote| wrote.forwarded = true),
        said(|wrote| wrote.attachment = true),
        said(|wrote| wrote.from_a_person = false),
        said(|wrote| wrote.operator = None),
        said(|wrote| wrote.chat = "C2".into()),
        said(|wrote| (wrote.mentions_us, wrote.text) = (false, "confirm".into())),
    ];
    for wrote in wrote {
        world.board.wrote("slack", wrote.clone()).await.unwrap();
        let hold = world.hold(card.hold).await;
        assert!(hold.is_pending() && hold.votes.is_empty(), "{wrote:?}");
    }
    world.write("bob", "confirm").await;
    world.chat.card("approved+succeeded").await;
}

#[tokio::test]
async fn i13_something_dangerous_takes_its_code_and_a_moment() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    let code = card.code.clone().expect("has one");
    let at_once = world.wrote("bob", &format!("confirm {code}"));
    world.board.wrote("slack", at_once).await.unwrap();
    assert!(world.hold(card.hold).await.is_pending(), "nobody has read it yet");
    world.clock.advance(Duration::from_secs(2));
    world.write("bob", "confirm").await;
    world.chat.text("the code of the prompt is missing").await;
    world.write("bob", &format!("confirm {code} but later")).await;
    assert!(world.hold(card.hold).await.is_pending());
    world.write("bob", &format!("confirm {}", code.to_lowercase())).await;
    world.chat.card("approved+succeeded").await;
    world.chat.text("nothing more").await;
    assert!(world.model_heard().contains("but later"));
    assert!(!world.model_heard().to_lowercase().contains(&code.to_lowercase()));
}

#[tokio::test]
async fn i13_codes_cannot_be_tried_out() {
    let world = World::memory().await;
    *world.chat.has_dialog.lock().unwrap() = true;
    let card = world.held("burn").await;
    let code = card.code.clone().expect("has one");
    world.clock.advance(Duration::from_secs(2));
    for guess in ["2A2A", "2B2B", "2C2C"] {
        world.write("bob", &format!("confirm {guess}")).await;
    }
    world.chat.text("too many wrong codes").await;
    world.write("bob", &format!("confirm {code}")).await;
    assert!(world.hold(card.hold).await.is_pending(), "words do not answer it any more");
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
}

#[tokio::test]
async fn an_ok_is_enough_for_little_and_beside_the_prompt() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.write("bob", "ok").await;
    world.chat.text("a clear word is needed").await;
    assert!(world.hold(card.hold).await.is_pending());
    // The question back stands below the prompt now, so "ok" may mean that.
    let mut reply = world.wrote("bob", "ok");
    reply.replies_to = Some(card.posted.message.clone());
    world.board.wrote("slack", reply).await.unwrap();
    assert!(world.hold(card.hold).await.is_pending());
}

#[tokio::test]
async fn i31_a_reply_to_a_decided_prompt_answers_no_other() {
    let world = World::memory().await;
    let first = world.held("wipe").await;
    assert!(matches!(world.press("bob", &first, ButtonAction::Deny).await, PressReply::Taken(_)));
    world.chat.card("denied").await;
    world.chat.text("Finished.").await;
    let second = world.held("bury").await;
    let mut reply = world.wrote("bob", "确认");
    reply.replies_to = Some(first.posted.message.clone());
    world.board.wrote("slack", reply).await.unwrap();
    let hold = world.hold(second.hold).await;
    assert!(hold.is_pending() && hold.votes.is_empty(), "{:?}", hold.votes);
}

#[tokio::test]
async fn i31_words_in_a_thread_answer_only_what_is_asked_there() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let mut elsewhere = world.wrote("bob", "confirm");
    elsewhere.thread = Some("another conversation".into());
    world.board.wrote("slack", elsewhere).await.unwrap();
    assert!(world.hold(card.hold).await.is_pending());
    world.write("bob", "confirm").await;
    world.chat.card("approved+succeeded").await;
}

#[tokio::test]
async fn i13_what_is_said_to_somebody_else_too_is_no_answer() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    // The text need not show it: platforms write names as they like.
    let mut wrote = world.wrote("bob", "confirm");
    wrote.mentions_others = true;
    world.board.wrote("slack", wrote).await.unwrap();
    world.chat.text("still waits").await;
    assert!(world.hold(card.hold).await.is_pending());
}
