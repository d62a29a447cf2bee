//! The full circle over Socket Mode.

use ports::channel::PressReply;
use serde_json::json;

use crate::slack::stage::{ANA, OPS, Stage, eventually, socket_mode};

#[tokio::test]
async fn a_button_is_pressed_and_the_late_one_hears_the_truth() {
    let stage = Stage::socket().await;
    let asked = stage.asked();
    let posted = stage.show(&asked).await;
    let settled = asked.approved();
    stage.inbox.reply(PressReply::Taken(settled.redraw(&posted)));
    let press = stage.fake.press(ANA, OPS, &posted.message, "Approve once");
    let id = stage.fake.line.send("interactive", &press);
    assert_eq!(stage.fake.line.ack(&id).await, json!({"envelope_id": id}));
    let pressed = stage.inbox.presses().remove(0);
    assert_eq!(pressed.pointer.to_string(), "h1:7Q2:a:k3x9ab");
    assert_eq!(pressed.operator.unwrap().identity, "T0FAKE:U0ANA");
    assert_eq!((pressed.chat, pressed.message), (posted.chat.clone(), posted.message.clone()));

    for (told, text) in [
        (PressReply::Already(settled.redraw(&posted)), "Already decided: ✅ approved by Ana"),
        (PressReply::NotEntitled, "You may not answer this. Nothing was changed."),
    ] {
        stage.inbox.reply(told);
        let press = stage.fake.press(ANA, OPS, &posted.message, "Deny");
        let before = stage.fake.ephemerals().len();
        let id = stage.fake.line.send("interactive", &press);
        stage.fake.line.ack(&id).await;
        eventually("a word for their eyes", || stage.fake.ephemerals().len() > before).await;
        let told = stage.fake.ephemerals().pop().unwrap();
        assert_eq!((&told["user"], &told["channel"]), (&json!(ANA), &json!(OPS)));
        assert!(told["text"].as_str().unwrap().starts_with(text), "{told}");
    }
    assert_eq!(stage.fake.ephemerals().len(), 2, "a yes that counts is shown by the card itself");
    assert_eq!(stage.fake.messages(OPS).len(), 1, "nothing public was said");
}

#[tokio::test]
async fn messages_are_acknowledged_when_they_are_written_down() {
    let stage = Stage::socket().await;
    let direct = stage.fake.write(ANA, "D0ANA", "hello &amp; so on", json!({}));
    let id = stage.fake.line.send("events_api", &direct);
    stage.fake.line.ack(&id).await;
    let wrote = stage.inbox.wrote().remove(0);
    assert_eq!((wrote.text.as_str(), wrote.direct), ("hello & so on", true));

    // A mention comes as two events, under one name.
    let message = stage.fake.write(ANA, OPS, "<@U0BOT> yes", json!({}));
    let mention = stage.fake.mention(&message);
    for event in [&message, &mention] {
        let id = stage.fake.line.send("events_api", event);
        stage.fake.line.ack(&id).await;
    }
    let wrote = stage.inbox.wrote();
    assert_eq!(wrote[1].event, wrote[2].event);
    assert!(wrote[1].mentions_us && wrote[2].mentions_us);

    // Not written down: not acknowledged, and so it comes again.
    stage.inbox.busy(1);
    let later = stage.fake.write(ANA, "D0ANA", "later", json!({}));
    let id = stage.fake.line.send("events_api", &later);
    let after =
        stage.fake.line.send("events_api", &stage.fake.write(ANA, "D0ANA", "after", json!({})));
    stage.fake.line.ack(&after).await;
    assert!(stage.fake.line.acks(&id).is_empty());
    stage.fake.line.send_again(&id, "events_api", &later);
    stage.fake.line.ack(&id).await;
    assert_eq!(stage.inbox.wrote().last().unwrap().text, "later");
}

#[tokio::test]
async fn what_is_unknown_or_not_a_persons_is_acknowledged_and_left_alone() {
    let stage = Stage::socket().await;
    let payloads = [
        ("events_api", stage.fake.event(&json!({"type": "reaction_added", "user": ANA}))),
        ("events_api", stage.fake.write("U0X", OPS, "a bot", json!({"bot_id": "B9"}))),
        ("events_api", stage.fake.write("U0BOT", OPS, "ourselves", json!({}))),
        (
            "events_api",
            stage.fake.write(ANA, OPS, "changed", json!({"subtype": "message_changed"})),
        ),
        ("slash_commands", json!({"command": "/hold"})),
        ("something_new", json!({})),
        (
            "interactive",
            json!({"type": "shortcut", "api_app_id": "A0FAKE", "team": {"id": "T0FAKE"}}),
        ),
    ];
    for (kind, payload) in payloads {
        let id = stage.fake.line.send(kind, &payload);
        assert_eq!(stage.fake.line.ack(&id).await, json!({"envelope_id": id}), "{kind}");
    }
    stage.fake.line.raw("not JSON");
    stage.fake.line.say(&json!({"type": "hello"}));
    for (place, value) in [("team_id", "T0OTHER"), ("api_app_id", "A0OTHER")] {
        let mut foreign = stage.fake.write(ANA, OPS, "yes", json!({}));
        foreign[place] = value.into();
        let id = stage.fake.line.send("events_api", &foreign);
        stage.fake.line.ack(&id).await;
    }
    assert!(stage.inbox.wrote().is_empty() && stage.inbox.presses().is_empty());
    let fine = stage.fake.line.send("events_api", &stage.fake.write(ANA, OPS, "yes", json!({})));
    stage.fake.line.ack(&fine).await;
    assert_eq!(stage.inbox.wrote().len(), 1, "and it goes on");
}

#[tokio::test]
async fn the_next_connection_is_opened_before_the_old_one_is_closed() {
    let stage = Stage::socket().await;
    stage.fake.line.say(&json!({"type": "disconnect", "reason": "refresh_requested"}));
    stage.fake.line.until("a second one", |line| line.connections().1 == 2).await;
    assert_eq!(stage.fake.line.connections().0, 2, "both stand");
    // What still comes over the old one is taken.
    let old = stage.fake.line.send("events_api", &stage.fake.write(ANA, OPS, "old", json!({})));
    stage.fake.line.ack(&old).await;
    stage.fake.line.cut();
    stage.fake.line.until("the old one is gone", |line| line.connections().0 == 1).await;
    let new = stage.fake.line.send("events_api", &stage.fake.write(ANA, OPS, "new", json!({})));
    stage.fake.line.ack(&new).await;
    assert_eq!(stage.inbox.wrote().len(), 2);
    assert_eq!(stage.fake.line.connections(), (1, 2), "and no third was opened");
}

#[tokio::test]
async fn a_connection_that_breaks_is_opened_again_and_nothing_is_lost() {
    let mut stage = Stage::socket().await;
    stage.fake.line.cut();
    stage.fake.line.until("another one", |line| line.connections() == (1, 2)).await;
    let event = stage.fake.write(ANA, OPS, "hello", json!({}));
    let id = stage.fake.line.send("events_api", &event);
    stage.fake.line.ack(&id).await;
    // A new process hears the same envelope again, under the same name.
    stage.stop().await;
    stage.reborn(socket_mode());
    stage.listen().await;
    for _ in 0..100 {
        stage.fake.line.send_again(&id, "events_api", &event);
    }
    let wrote = stage.inbox.written(101).await;
    assert!(wrote.iter().all(|one| one.event == wrote[0].event));
}

#[tokio::test]
async fn one_chat_does_not_wait_for_another_to_be_looked_up() {
    // The first event asks who we are; the platform does not answer that at once.
    let mut stage = Stage::new(socket_mode()).await;
    stage.fake.fail("auth.test", testkit::fake_chat::Fault::Garbage);
    stage.listen().await;
    let event = stage.fake.write(ANA, OPS, "one", json!({}));
    let id = stage.fake.line.send("events_api", &event);
    let next = stage.fake.line.send("events_api", &stage.fake.write(ANA, OPS, "two", json!({})));
    stage.fake.line.ack(&next).await;
    assert!(stage.fake.line.acks(&id).is_empty(), "nobody knows whether we were meant");
    stage.fake.line.send_again(&id, "events_api", &event);
    stage.fake.line.ack(&id).await;
}
