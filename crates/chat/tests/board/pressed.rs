//! Buttons.

use std::time::Duration;

use domain::answer::{Answer, ApprovalScope};
use domain::hold::{Choice, Question};
use engine::Answering;
use ports::channel::{ButtonAction, DeliveryKey, Form, Inbox as _, Nonce, PressReply};
use serde_json::json;

use crate::chat::Card;
use crate::world::{World, ask_outside};

#[tokio::test]
async fn a_button_approves_and_the_card_tells_how_it_went() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    assert_eq!(card.posted.chat, "C1");
    let link = format!("https://hold.example/holds/{}", card.hold);
    assert_eq!(card.link.as_deref(), Some(link.as_str()));
    let PressReply::Taken(redraw) = world.press("bob", &card, ButtonAction::Allow).await else {
        panic!("it counts");
    };
    assert_eq!(redraw.hold.state.name(), "approved");
    world.chat.card("approved+succeeded").await;
    world.chat.text("Finished.").await;
    assert_eq!(world.done(), [r#"wipe {"n":1}"#]);
    let vote = world.hold(card.hold).await.votes[0].clone();
    assert_eq!((vote.by.as_str(), vote.via.as_str()), ("bob", "slack"));
    assert_eq!(world.chat.texts()[..2], ["I will.", "Finished."], "in this order");
}

#[tokio::test]
async fn a_button_denies() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let mut press = world.press_of("bob", &card, ButtonAction::Deny);
    press.form = Form {
        fields: json!({"reason": "not today"}).as_object().unwrap().clone(),
        options: Vec::new(),
    };
    assert!(matches!(world.board.pressed("slack", press).await, Ok(PressReply::Taken(_))));
    world.chat.card("denied").await;
    assert!(world.done().is_empty());
    let hold = world.hold(card.hold).await;
    assert!(
        matches!(&hold.votes[0].answer, Answer::Deny { reason: Some(why), .. } if **why == *"not today")
    );
}

#[tokio::test]
async fn a_form_answers_in_words_or_with_what_its_schema_wants() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    for (schema, filled, answer) in [
        (None, json!({"text": "because"}), json!({"text": "because"})),
        (Some(schema), json!({"n": "3"}), json!({"n": 3})),
    ] {
        let world = World::memory().await;
        let question = Question::Fill { schema };
        let hold = ask_outside(&world.engine, "Why?", question).await;
        let bobs = |card: &&Card| card.posted.chat == "D-U-bob";
        let card =
            world.chat.until("Bob is asked", |screen| screen.cards.values().find(bobs).cloned());
        let mut press = world.press_of("bob", &card.await, ButtonAction::Form);
        press.form.fields = filled.as_object().unwrap().clone();
        let told = world.board.pressed("slack", press).await;
        assert!(matches!(told, Ok(PressReply::Taken(_))), "{told:?}");
        assert_eq!(world.hold(hold).await.votes[0].answer, Answer::Fill(answer));
    }
}

#[tokio::test]
async fn a_button_of_a_choice_means_the_option_that_stands_on_it() {
    let option = |id: &str| Choice { id: id.into(), label: id.to_uppercase(), description: None };
    let options = ["blue", "green", "canary"].map(option).to_vec();
    for (number, chosen) in [(1, Some("blue")), (2, Some("green")), (3, Some("canary")), (4, None)]
    {
        let world = World::memory().await;
        let question =
            Question::Choose { options: options.clone(), multiple: false, allow_other: false };
        let hold = ask_outside(&world.engine, "How?", question).await;
        let bobs = |card: &&Card| card.posted.chat == "D-U-bob";
        let card =
            world.chat.until("Bob is asked", |screen| screen.cards.values().find(bobs).cloned());
        world.press("bob", &card.await, ButtonAction::Option(number)).await;
        let votes = world.hold(hold).await.votes.clone();
        let answer = votes.first().map(|vote| vote.answer.clone());
        assert_eq!(answer, chosen.map(|id| Answer::Choose(vec![id.into()])), "{number}");
    }
}

#[tokio::test]
async fn i31_who_may_not_answer_is_told_so_and_changes_nothing() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    for who in ["gus", "una", "stranger", ""] {
        assert!(
            matches!(world.press(who, &card, ButtonAction::Allow).await, PressReply::NotEntitled),
            "{who}"
        );
    }
    let mut nobody = world.press_of("bob", &card, ButtonAction::Allow);
    nobody.operator = None;
    assert!(matches!(world.board.pressed("slack", nobody).await, Ok(PressReply::NotEntitled)));
    let mut empty = world.press_of("bob", &card, ButtonAction::Allow);
    empty.operator.as_mut().unwrap().identity = String::new();
    assert!(matches!(world.board.pressed("slack", empty).await, Ok(PressReply::NotEntitled)));
    let hold = world.hold(card.hold).await;
    assert!(hold.is_pending() && hold.votes.is_empty());
}

#[tokio::test]
async fn i31_a_card_counts_only_where_it_stands() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let press = || world.press_of("bob", &card, ButtonAction::Allow);
    let mut forwarded = press();
    forwarded.chat = "C2".into();
    let mut copied = press();
    copied.message = "m999".into();
    let mut guessed = press();
    guessed.pointer.nonce = Nonce::new("aaaaaaaa").unwrap();
    let mut unknown = press();
    unknown.pointer.key = DeliveryKey::new("nosuchkey").unwrap();
    let option = world.press_of("bob", &card, ButtonAction::Option(1));
    for press in [forwarded, copied, guessed, unknown, option] {
        let told = world.board.pressed("slack", press.clone()).await;
        assert!(matches!(told, Ok(PressReply::NotHere)), "{press:?} {told:?}");
    }
    let elsewhere = world.board.pressed("lark", press()).await;
    assert!(matches!(elsewhere, Ok(PressReply::NotHere)));
    let nowhere = world.board.pressed("fax", press()).await;
    assert!(matches!(nowhere, Ok(PressReply::NotHere)));
    let hold = world.hold(card.hold).await;
    assert!(hold.is_pending() && hold.votes.is_empty());
    assert!(world.done().is_empty());
}

#[tokio::test]
async fn i09_i34_a_press_a_hundred_times_is_one_decision_and_one_run() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let press = world.press_of("bob", &card, ButtonAction::Allow);
    for number in 0..100 {
        let told = world.board.pressed("slack", press.clone()).await.unwrap();
        let fits = match number {
            0 => matches!(told, PressReply::Taken(_)),
            _ => matches!(told, PressReply::Already(_)),
        };
        assert!(fits, "{number}: {told:?}");
    }
    // And whoever comes later is told who was first.
    let PressReply::Already(redraw) = world.press("ana", &card, ButtonAction::Deny).await else {
        panic!("it is decided");
    };
    assert_eq!(redraw.hold.state.name(), "approved");
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done().len(), 1);
    assert_eq!(world.hold(card.hold).await.votes.len(), 1);
}

#[tokio::test]
async fn two_at_once_are_one_decision() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let (yes, no) = tokio::join!(
        world.press("bob", &card, ButtonAction::Allow),
        world.press("ana", &card, ButtonAction::Deny)
    );
    let taken = [&yes, &no].iter().filter(|told| matches!(told, PressReply::Taken(_))).count();
    let already = [&yes, &no].iter().filter(|told| matches!(told, PressReply::Already(_))).count();
    assert_eq!((taken, already), (1, 1), "{yes:?} {no:?}");
}

#[tokio::test]
async fn i12_one_of_two_votes_counts_and_the_hold_waits() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Counted(_)));
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Counted(_)));
    assert!(world.hold(card.hold).await.is_pending());
    // Everybody sees that somebody has answered.
    let repainted = |screen: &crate::chat::Screen| {
        screen.cards.values().any(|card| card.states == ["pending", "pending"]).then_some(())
    };
    world.chat.until("repainted", repainted).await;
    assert!(matches!(world.press("ana", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done().len(), 1);
}

#[tokio::test]
async fn i27_when_the_time_runs_out_the_card_says_so_and_is_dead() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.clock.advance(Duration::from_secs(301));
    world.chat.card("expired").await;
    let said = world.chat.text("the time ran out").await;
    assert_eq!(said.reply_to.as_deref(), Some(card.posted.message.as_str()));
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Already(_)));
    world.chat.text("Finished.").await;
    assert!(world.done().is_empty());
}

#[tokio::test]
async fn i37_what_is_decided_on_the_web_is_seen_in_every_chat() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let elsewhere = world.other.card("pending").await;
    assert_eq!(elsewhere.hold, card.hold);
    let answer = Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None };
    let hold = world.hold(card.hold).await;
    let answering = Answering { digest: Some(hold.digest()), answer };
    let bob = world.engine.caller_in_channel("lark", "feishu", "U-bob", "x").unwrap();
    world.engine.answer(&bob, card.hold, answering, None).await.unwrap();
    let settled = async {
        world.chat.card("approved+succeeded").await;
        world
            .other
            .until("all settled", |screen| {
                screen.cards.values().all(|card| card.state() == "approved+succeeded").then_some(())
            })
            .await;
    };
    tokio::time::timeout(Duration::from_secs(2), settled).await.expect("within two seconds");
    assert!(matches!(world.press("ana", &card, ButtonAction::Deny).await, PressReply::Already(_)));
}

#[tokio::test]
async fn i02_a_card_that_shows_something_else_decides_nothing() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    // Somebody changes the call; their vote is for the new one.
    // The repaint is held back, so that the old card is still there.
    world.chat.will([crate::chat::Fault::Again(Some(Duration::from_secs(60)))]);
    world.revised_by_bob(card.hold, r#"{"n": 2}"#).await;
    let early = world.press_of("ana", &card, ButtonAction::Allow);
    let told = world.board.pressed("slack", early.clone()).await.unwrap();
    assert!(matches!(told, PressReply::Changed(_)), "{told:?}");
    let PressReply::Changed(redraw) = told else { panic!() };
    let repainted = world.in_time(world.chat.painted_times(2)).await;
    assert_eq!(repainted.nonce, redraw.nonce, "drawn alike, whoever draws it");
    // What was pressed before the card changed still means the old one, whenever it arrives.
    for late in [early, world.press_of("ana", &card, ButtonAction::Allow)] {
        let told = world.board.pressed("slack", late).await.unwrap();
        assert!(matches!(told, PressReply::Changed(_)), "{told:?}");
        assert!(world.hold(card.hold).await.is_pending());
    }
    assert!(matches!(
        world.press("ana", &repainted, ButtonAction::Allow).await,
        PressReply::Taken(_)
    ));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done(), [r#"bury {"n": 2}"#]);
}

#[tokio::test]
async fn a_card_that_was_cut_takes_no_yes() {
    let world = World::memory().await;
    *world.chat.accepts_approval.lock().unwrap() = false;
    let card = world.held("wipe").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::NotHere));
    world.write("bob", "confirm").await;
    world.chat.text("does not fit here as a whole").await;
    assert!(world.hold(card.hold).await.is_pending());
    assert!(matches!(world.press("bob", &card, ButtonAction::Deny).await, PressReply::Taken(_)));
}

#[tokio::test]
async fn i13_what_becomes_dangerous_gets_a_code() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    assert_eq!(card.code, None);
    world.revised_by_bob(card.hold, r#"{"n": 9}"#).await;
    let repainted = world.chat.painted_times(2).await;
    let code = repainted.code.expect("nine at once are dangerous");
    world.clock.advance(Duration::from_secs(2));
    world.write("ana", "confirm").await;
    world.chat.text("the code of the prompt is missing").await;
    assert!(world.hold(card.hold).await.is_pending());
    world.write("ana", &format!("confirm {code}")).await;
    world.chat.card("approved+succeeded").await;
}
