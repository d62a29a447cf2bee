//! The full circle over long polling.

use std::time::Duration;

use channels::telegram::TelegramMode;
use ports::channel::{Channel, PressReply};
use serde_json::json;
use testkit::asked::Asked;
use testkit::fake_telegram::From;

use crate::telegram::stage::{ANA, GROUP, Stage, number};

/// Until the platform shows it; nothing is waited for longer than it takes.
async fn eventually(what: &str, seen: impl Fn() -> bool) {
    let came = tokio::time::timeout(Duration::from_secs(15), async {
        while !seen() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(came.await.is_ok(), "{what}");
}

#[tokio::test]
async fn a_key_is_pressed_and_answered_once() {
    let mut stage = Stage::polling().await;
    stage.listen();
    let asked = Asked::deletion();
    let posted = stage.show(&asked).await;
    let settled = asked.approved();
    stage.inbox.reply(PressReply::Taken(settled.redraw(&posted)));
    let first = stage.fake.press(ANA, GROUP, number(&posted.message), "Approve once");
    let press = stage.inbox.pressed(1).await.remove(0);
    assert_eq!(press.pointer.to_string(), "h1:7Q2:a:k3x9ab");
    assert_eq!(press.operator.unwrap().identity, "7");
    assert_eq!((press.chat, press.message), (posted.chat.clone(), posted.message.clone()));
    eventually("it is answered", || !stage.fake.answers(&first).is_empty()).await;
    let answer = &stage.fake.answers(&first)[0];
    assert!(answer["text"].as_str().unwrap().starts_with("✅ approved by Ana"), "{answer}");
    assert_eq!(answer["show_alert"], false);

    // The second one is told the truth; a stranger is told nothing but no.
    stage.inbox.reply(PressReply::Already(settled.redraw(&posted)));
    let second = stage.fake.press(ANA, GROUP, number(&posted.message), "Deny");
    eventually("it is answered", || !stage.fake.answers(&second).is_empty()).await;
    let answer = &stage.fake.answers(&second)[0];
    assert!(answer["text"].as_str().unwrap().starts_with("Already decided: ✅ approved by Ana"));
    assert_eq!(answer["show_alert"], true);
    stage.inbox.reply(PressReply::NotEntitled);
    let third = stage.fake.press(ANA, GROUP, number(&posted.message), "Approve once");
    eventually("it is answered", || !stage.fake.answers(&third).is_empty()).await;
    assert_eq!(
        stage.fake.answers(&third)[0]["text"],
        "You may not answer this. Nothing was changed."
    );
    for query in [first, second, third] {
        assert_eq!(stage.fake.answers(&query).len(), 1, "exactly once");
    }
    eventually("everything is confirmed", || stage.fake.pending() == 0).await;
}

#[tokio::test]
async fn a_key_that_is_none_of_ours_is_answered_too() {
    let mut stage = Stage::polling().await;
    stage.listen();
    let query = stage.fake.press_data(ANA, GROUP, 99, "buy:now");
    eventually("it is answered", || !stage.fake.answers(&query).is_empty()).await;
    assert!(stage.inbox.presses().is_empty());
    assert_eq!(stage.fake.answers(&query)[0]["text"], "This cannot be answered here.");
}

#[tokio::test]
async fn messages_come_in_their_order_with_what_makes_them_count() {
    let mut stage = Stage::polling().await;
    let prompt = stage.show(&Asked::deletion()).await;
    let entities = json!({"entities": [{"type": "mention", "offset": 0, "length": 9}]});
    stage.fake.write(ANA.within(GROUP), "@hold_bot yes", entities);
    let reply = json!({"reply_to_message": {"message_id": number(&prompt.message), "from": {"id": 424_242, "is_bot": true}}});
    stage.fake.write(ANA.within(GROUP), "yes", reply);
    stage.fake.write(ANA.directly(), "hello", json!({}));
    stage.fake.write(From { user: ANA, chat: GROUP, topic: Some(9) }, "in a topic", json!({}));
    stage.fake.write(
        ANA.within(GROUP),
        "from elsewhere",
        json!({"forward_origin": {"type": "user"}}),
    );
    stage.fake.write(
        ANA.within(GROUP),
        "a channel",
        json!({"sender_chat": {"id": GROUP, "type": "channel"}}),
    );
    stage.fake.send_update("edited_message", json!({"text": "yes"}));
    stage.fake.send_update("never_heard_of", json!({}));
    stage.listen();
    let wrote = stage.inbox.written(6).await;
    let here: Vec<&str> = wrote
        .iter()
        .filter(|one| one.chat == GROUP.to_string())
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(here, ["@hold_bot yes", "yes", "in a topic", "from elsewhere", "a channel"]);
    let find = |text: &str| wrote.iter().find(|one| one.text == text).unwrap();
    assert_eq!(find("@hold_bot yes").mentions, ["@hold_bot"]);
    assert_eq!(find("yes").replies_to.as_deref(), Some(prompt.message.as_str()));
    assert!(find("hello").direct && find("hello").from_a_person);
    assert_eq!(find("in a topic").thread.as_deref(), Some("9"));
    assert!(find("from elsewhere").forwarded);
    assert!(!find("a channel").from_a_person && find("a channel").operator.is_none());
    eventually("the unknown ones are confirmed too", || stage.fake.pending() == 0).await;
}

#[tokio::test]
async fn what_could_not_be_written_down_comes_again_and_nothing_is_confirmed_before() {
    let mut stage = Stage::polling().await;
    stage.inbox.busy(1);
    stage.fake.write(ANA.directly(), "hello", json!({}));
    stage.listen();
    let wrote = stage.inbox.written(1).await;
    assert_eq!(wrote[0].text, "hello");
    eventually("confirmed", || stage.fake.pending() == 0).await;
    let polls = stage.fake.requests("getUpdates");
    assert!(polls[1].body["offset"].is_null(), "the second asks for the same: {:?}", polls[1].body);
}

#[tokio::test]
async fn a_restart_loses_nothing() {
    let mut stage = Stage::polling().await;
    stage.listen();
    stage.fake.write(ANA.directly(), "before", json!({}));
    stage.inbox.written(1).await;
    stage.stop().await;
    stage.fake.write(ANA.directly(), "between", json!({}));
    stage.restart(TelegramMode::Polling).await;
    let wrote = stage.inbox.written(2).await;
    // What was not confirmed before the restart comes twice under one name.
    let mut events: Vec<String> = wrote.iter().map(|one| one.event.clone()).collect();
    events.dedup();
    assert!(wrote.iter().any(|one| one.text == "between"));
    assert_eq!(events.len(), 2);
}

#[tokio::test]
async fn a_webhook_that_stands_in_the_way_is_taken_away() {
    let mut stage = Stage::polling().await;
    stage.fake.webhook("http://127.0.0.1:9/somebody-elses");
    let checked = stage.bot.check().await;
    let wrong = checked.iter().find(|one| one.what == "updates by polling").unwrap();
    assert!(wrong.wrong.as_deref().unwrap().starts_with("a webhook is set"), "{checked:?}");
    stage.listen();
    stage.fake.write(ANA.directly(), "hello", json!({}));
    stage.inbox.written(1).await;
    assert_eq!(stage.fake.requests("deleteWebhook")[0].body["drop_pending_updates"], false);
}
